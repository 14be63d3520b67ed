//! A frame as the file that `tests/frames/player.c` reads: little-endian words, and bytes behind their number.

use super::frame::{Attribute, Content, Draw, Frame, Image, Texels};
use super::language;

/// What a file begins with: `VC4F`, and the version that both sides know.
const MAGIC: [u8; 8] = *b"VC4F\x01\0\0\0";
/// In the place of what is not there.
const NONE: u32 = u32::MAX;

#[derive(Default)]
struct File(Vec<u8>);

impl File {
    fn word(&mut self, word: u32) {
        self.0.extend(word.to_le_bytes());
    }

    fn number(&mut self, number: usize) {
        self.word(number as u32);
    }

    fn floats(&mut self, floats: &[f32]) {
        self.number(floats.len());
        floats.iter().for_each(|float| self.word(float.to_bits()));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.extend(bytes);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut File, &T)) {
        self.number(items.len());
        items.iter().for_each(|item| write(self, item));
    }
}

/// The file's bytes.
pub fn write(frame: &Frame) -> Vec<u8> {
    let mut file = File(MAGIC.to_vec());
    file.word(frame.samples);
    file.list(&frame.images, image);
    file.list(&frame.buffers, |file, buffer| file.bytes(buffer));
    file.list(&frame.programs, |file, program| {
        for text in language::es(program) {
            // The player hands them on as they are.
            file.bytes(&[text.as_bytes(), &[0]].concat());
        }
        file.list(program.attributes, |file, attribute| match attribute {
            Attribute::Floats(count) => file.word(*count),
            Attribute::Bytes => file.word(0),
        });
        file.number(program.samplers.len());
    });
    file.list(&frame.passes, |file, pass| {
        file.number(pass.target);
        file.floats(&pass.clear.unwrap_or([0.0; 4]));
        file.list(&pass.draws, draw);
    });
    file.0
}

fn image(file: &mut File, image: &Image) {
    let [width, height] = image.size;
    for word in [width, height, u32::from(image.smooth), u32::from(image.repeats)] {
        file.word(word);
    }
    match &image.content {
        Content::Texels(Texels::Rgba, levels) => {
            file.word(0);
            file.list(levels, |file, level| file.bytes(level));
        }
        Content::Texels(Texels::Luminance, levels) => {
            file.word(1);
            file.list(levels, |file, level| file.bytes(level));
        }
        Content::Cube(faces) => {
            file.word(2);
            file.list(faces, |file, face| file.bytes(face));
        }
        Content::Target { depth } => {
            file.word(3);
            file.word(u32::from(*depth));
        }
    }
}

fn draw(file: &mut File, draw: &Draw) {
    file.number(draw.program);
    file.number(draw.vertices);
    file.word(draw.indices.map_or(NONE, |buffer| buffer as u32));
    let flags = [draw.points, draw.writes_depth, draw.writes_color, draw.culls, draw.scissor.is_some()];
    let flags = flags.iter().zip(0..).map(|(flag, bit)| u32::from(*flag) << bit).sum();
    let states = [draw.blend as u32, draw.depth as u32, draw.stencil as u32];
    let words = [draw.first, draw.count, flags].into_iter().chain(states);
    words.chain(draw.scissor.unwrap_or_default()).for_each(|word| file.word(word));
    file.list(&draw.textures, |file, image| file.number(*image));
    file.floats(&draw.words(|transform| *transform));
    file.floats(&draw.fragment_words);
}

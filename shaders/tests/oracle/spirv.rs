//! What must hold for any words given as a SPIR-V module, and how to damage a good one. Fuzz target and tests share it.

use std::time::{Duration, Instant};

use vc4::state::blend::ColorOutput;
use vc4::state::depth_stencil::{DepthStencilPlan, StencilPlan};
use vc4_shaders::compile::{CompileError, PipelineState, compile_shaders};
use vc4_shaders::ir::verify::verify;
use vc4_shaders::ir::{Builder, Output, Shader, Stage};
use vc4_shaders::pass;
use vc4_shaders::program::Pipeline;
use vc4_shaders::spirv::{SpirvError, StageSource, translate};

/// Marsaglia's xorshift: the same modules on every run.
pub struct Random(pub u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit.max(1)
    }
}

/// Word offset and length of every instruction, as far as they tile.
fn instructions(words: &[u32]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 5;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        if length == 0 || at + length > words.len() {
            break;
        }
        found.push((at, length));
        at += length;
    }
    found
}

/// Most mutations keep the tiling, to get behind the first check.
pub fn mutate(words: &mut Vec<u32>, random: &mut Random) {
    for _ in 0..1 + random.below(3) {
        let places = instructions(words);
        if places.is_empty() {
            return;
        }
        let (start, length) = places[random.below(places.len())];
        let operand = start + 1 + random.below(length - 1);
        let operand = operand.min(words.len() - 1);
        match random.below(20) {
            0 => words.truncate(random.below(words.len())),
            1 => words[start] = random.next(),
            2 => words[operand] = random.next(),
            3 | 4 => words[operand] ^= 1 << random.below(32),
            5 => drop(words.drain(start..start + length)),
            6 => {
                let again = words[start..start + length].to_vec();
                words.splice(start..start, again);
            }
            7 | 8 => {
                let (other, other_length) = places[random.below(places.len())];
                let moved = words[other..other + other_length].to_vec();
                words.splice(start..start, moved);
            }
            // Another operation of the same length.
            9 | 10 => words[start] = words[start] & 0xffff_0000 | (random.next() % 400),
            11 | 12 => {
                let same: Vec<_> = places.iter().filter(|&&(_, other)| other == length).collect();
                let &(other, _) = same[random.below(same.len())];
                for offset in 0..length {
                    words.swap(start + offset, other + offset);
                }
            }
            // Small numbers are ids: another one of the module.
            _ => words[operand] = 1 + random.next() % words[3].clamp(1, 1000),
        }
    }
}

/// The words of a file of SPIR-V.
pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect()
}

/// Damages whole instructions of the module in the first `size` bytes, which has then at most `most`: how many.
pub fn damage(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let mut module = words(&data[..size]);
    mutate(&mut module, &mut Random(seed | 1));
    module.truncate(most / 4);
    for (bytes, word) in data.chunks_exact_mut(4).zip(&module) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    4 * module.len()
}

/// Translates and optimises; fails when the IR is not valid or it takes long.
pub fn compile(words: &[u32], stage: Stage) -> Result<Shader, SpirvError> {
    let begin = Instant::now();
    let mut shader = translate(&StageSource { words, entry: "main", specialization: &[] }, stage)?;
    if let Err(error) = verify(&shader) {
        panic!("{error}\n{shader}");
    }
    pass::optimize(&mut shader);
    assert!(begin.elapsed() < Duration::from_secs(20), "took {:?}", begin.elapsed());
    Ok(shader)
}

/// A vertex stage that puts every vertex into the middle; what a fragment stage reads is undefined.
fn plain_vertex() -> Shader {
    let mut shader = Shader::new(Stage::Vertex);
    let block = shader.entry().expect("a new shader has a block");
    let mut b = Builder::new(&mut shader, block);
    for component in 0..4 {
        let value = b.float(1.0);
        b.store_output(Output::Position(component), value);
    }
    shader
}

/// What stands behind the front end: linking, state and the back end, with one of a few states.
pub fn finish(shader: Shader, state: u32) -> Result<Pipeline, CompileError> {
    let begin = Instant::now();
    let format =
        [vc4::image::format::Format::R8G8B8A8, vc4::image::format::Format::B8G8R8A8][state as usize & 1];
    let state = PipelineState {
        points: state & 2 != 0,
        color: (state & 4 == 0).then(|| ColorOutput::plain(format.info(), false)),
        depth_stencil: DepthStencilPlan { write_z: state & 8 != 0, stencil: StencilPlan::Off },
        ..PipelineState::default()
    };
    let pipeline = match shader.stage {
        Stage::Vertex => compile_shaders(shader, None, &state),
        Stage::Fragment => compile_shaders(plain_vertex(), Some(shader), &state),
        // The door to the QPU does not know it; the back end says so.
        Stage::Compute => compile_shaders(shader, None, &state),
    };
    assert!(begin.elapsed() < Duration::from_secs(20), "took {:?}", begin.elapsed());
    pipeline
}

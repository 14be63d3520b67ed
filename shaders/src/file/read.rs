//! From bytes to programs: any bytes give a pipeline or an error, and no memory beyond a small multiple of the file.

use smallvec::SmallVec;

use super::fault::{Fault, FileError};
use super::layout::{
    ATTRIBUTE_WORDS, DIGEST_AT, HEADER_BYTES, MAGIC, SAMPLE_WORDS, STAGES, STEP, TEXTURE_WORDS, VERSION,
    digest,
};
use super::slot;
use crate::binding::{Descriptor, Texture, UniformSlot};
use crate::ir::computed::{OPERATIONS, Step, operands};
use crate::program::{AttributeArray, AttributeSource, Pipeline, Program, ProgramKind, SampleBo};

/// Where the parts of a program stand, in bytes from the start of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which program.
    pub kind: ProgramKind,
    /// Its first word.
    pub head: usize,
    /// Its instructions, 8 bytes each.
    pub code: usize,
    /// Each of its uniforms.
    pub uniforms: Vec<usize>,
    /// Its TMU requests, 16 bytes each.
    pub samples: usize,
}

/// A file's programs and where they stand.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The programs; those that the file lacks have no code.
    pub pipeline: Pipeline,
    /// The programs that there are.
    pub places: Vec<Place>,
}

/// Reads a file. Programs that it lacks have no code.
///
/// # Errors
/// The first fault and its byte offset.
pub fn read(bytes: &[u8]) -> Result<Pipeline, FileError> {
    read_with_places(bytes).map(|contents| contents.pipeline)
}

/// Reads a file whose digest is known to be right: it was written by this process or was part of something whose own
/// digest was.
///
/// # Errors
/// The first other fault and its byte offset.
pub fn read_intact(bytes: &[u8]) -> Result<Pipeline, FileError> {
    contents(bytes, |_| true).map(|contents| contents.pipeline)
}

/// Reads a file and remembers where things stood.
///
/// # Errors
/// The first fault and its byte offset.
pub fn read_with_places(bytes: &[u8]) -> Result<Contents, FileError> {
    contents(bytes, |bytes| digest(&bytes[HEADER_BYTES..]) == bytes[DIGEST_AT..HEADER_BYTES])
}

fn contents(bytes: &[u8], is_intact: impl Fn(&[u8]) -> bool) -> Result<Contents, FileError> {
    let mut cursor = Cursor { bytes, at: 0 };
    let count = header(&mut cursor, is_intact)?;
    let mut pipeline = interface(&mut cursor)?;
    let mut places = Vec::new();
    let mut next_stage = 0;
    for _ in 0..count {
        let head = cursor.at;
        let (stage, place, program) = program(&mut cursor)?;
        if stage < next_stage {
            return Err(FileError { offset: head, fault: Fault::Order });
        }
        next_stage = stage + 1;
        *match place.kind {
            ProgramKind::Vertex => &mut pipeline.vertex,
            ProgramKind::Coordinate => &mut pipeline.coordinate,
            ProgramKind::Fragment => &mut pipeline.fragment,
        } = program;
        places.push(place);
    }
    match cursor.left() {
        0 => Ok(Contents { pipeline, places }),
        left => Err(cursor.fault(Fault::Trailing(left))),
    }
}

/// Checks the header; the cursor ends behind it. Returns the number of programs.
fn header(cursor: &mut Cursor<'_>, is_intact: impl Fn(&[u8]) -> bool) -> Result<u32, FileError> {
    let at = |offset, fault| Err(FileError { offset, fault });
    if !cursor.bytes.starts_with(&MAGIC) {
        return at(0, Fault::Magic);
    }
    cursor.need(HEADER_BYTES as u64)?;
    let [_, version, size, count] = cursor.words()?;
    if version != VERSION {
        return at(4, Fault::Version(version));
    }
    if size as usize != cursor.bytes.len() {
        return at(8, Fault::Size { stated: size, actual: cursor.bytes.len() });
    }
    if count as usize > STAGES.len() {
        return at(12, Fault::Unknown { what: "number of programs", value: count });
    }
    cursor.at = HEADER_BYTES;
    if !is_intact(cursor.bytes) {
        return at(DIGEST_AT, Fault::Digest);
    }
    Ok(count)
}

fn interface(cursor: &mut Cursor<'_>) -> Result<Pipeline, FileError> {
    let [vertex_attribute_bytes, coordinate_attribute_bytes, varyings, flat_varyings] = cursor.words()?;
    let flags = cursor.masked(0x1f)?;
    let [attributes, textures] = cursor.words()?;
    let count = cursor.fits(attributes, 4 * ATTRIBUTE_WORDS)?;
    let attributes = (0..count).map(|_| attribute(cursor)).collect::<Result<_, _>>()?;
    let count = cursor.fits(textures, 4 * TEXTURE_WORDS)?;
    let textures = (0..count).map(|_| texture(cursor)).collect::<Result<_, _>>()?;
    let flag = |bit: u32| flags >> bit & 1 == 1;
    Ok(Pipeline {
        attributes,
        vertex_attribute_bytes,
        coordinate_attribute_bytes,
        varyings,
        flat_varyings,
        point_size: flag(0),
        writes_depth: flag(1),
        discards: flag(2),
        reads_color: flag(3),
        per_sample: flag(4),
        textures,
        ..Pipeline::default()
    })
}

fn attribute(cursor: &mut Cursor<'_>) -> Result<AttributeArray, FileError> {
    let offset = cursor.at;
    let fault = |fault| Err(FileError { offset, fault });
    let head = cursor.masked(0xffff_07ff)?;
    let [location, bytes] = cursor.words()?;
    let source = match (head & 0xff, location) {
        (0, location) => AttributeSource::Location(location),
        (1, 0) => AttributeSource::VertexIndex,
        (2, 0) => AttributeSource::Dummy,
        (kind @ 3..=5, location) => AttributeSource::Corner { corner: kind as u8 - 3, location },
        (kind @ 6..=8, 0) => AttributeSource::CornerIndex(kind as u8 - 6),
        (9, 0) => AttributeSource::Place,
        (1 | 2 | 6..=9, _) => return fault(Fault::Reserved(location)),
        (value, _) => return fault(Fault::Unknown { what: "source of an attribute", value }),
    };
    let [_, flags, vertex, coordinate] = head.to_le_bytes();
    let (in_vertex, in_coordinate) = (flags & 1 != 0, flags & 2 != 0);
    let unused = (u32::from(vertex) * u32::from(!in_vertex)) << 16
        | (u32::from(coordinate) * u32::from(!in_coordinate)) << 24;
    if unused != 0 {
        return fault(Fault::Reserved(unused));
    }
    Ok(AttributeArray {
        source,
        bytes,
        joined: flags & 4 != 0,
        vertex_offset: in_vertex.then_some(vertex),
        coordinate_offset: in_coordinate.then_some(coordinate),
    })
}

fn texture(cursor: &mut Cursor<'_>) -> Result<Texture, FileError> {
    let sampled = cursor.masked(1)? == 1;
    let mut descriptor = || {
        let offset = cursor.at;
        cursor.words().map(|[set, binding, element]| (offset, Descriptor { set, binding, element }))
    };
    let ((_, image), (offset, sampler)) = (descriptor()?, descriptor()?);
    let unused = [sampler.set, sampler.binding, sampler.element].into_iter().find(|word| *word != 0);
    match (sampled, unused) {
        (true, _) => Ok(Texture { image, sampler: Some(sampler) }),
        (false, None) => Ok(Texture::alone(image)),
        (false, Some(word)) => Err(FileError { offset, fault: Fault::Reserved(word) }),
    }
}

/// The stage number, the place and the program.
fn program(cursor: &mut Cursor<'_>) -> Result<(usize, Place, Program), FileError> {
    let head = cursor.at;
    let flags = cursor.masked(0x1ff)?;
    let stage = flags & 0xff;
    let kind = *STAGES
        .get(stage as usize)
        .ok_or(FileError { offset: head, fault: Fault::Unknown { what: "stage", value: stage } })?;
    let [instructions, uniforms, samples, steps] = cursor.words()?;
    if instructions == 0 {
        // Such a program would be left out when written.
        let fault = Fault::Unknown { what: "number of instructions", value: 0 };
        return Err(FileError { offset: head + 4, fault });
    }
    let code = cursor.at;
    let mut program = Program { threaded: flags >> 8 & 1 == 1, ..Program::default() };
    program.code = (0..cursor.fits(instructions, 8)?).map(|_| cursor.long()).collect::<Result<_, _>>()?;
    let count = cursor.fits(uniforms, 4)?;
    program.uniforms.reserve_exact(count);
    let mut places = Vec::with_capacity(count);
    for _ in 0..count {
        places.push(cursor.at);
        program.uniforms.push(uniform(cursor)?);
    }
    let samples_at = cursor.at;
    let count = cursor.fits(samples, 4 * SAMPLE_WORDS)?;
    program.samples = (0..count).map(|_| sample(cursor)).collect::<Result<_, _>>()?;
    let count = cursor.fits(steps, 4)?;
    program.computed = (0..steps).take(count).map(|number| step(cursor, number)).collect::<Result<_, _>>()?;
    for (slot, &offset) in program.uniforms.iter().zip(&places) {
        if let UniformSlot::Computed(value) = *slot {
            if value >= steps {
                return Err(FileError { offset, fault: Fault::Unknown { what: "step", value } });
            }
        }
    }
    let place = Place { kind, head, code, uniforms: places, samples: samples_at };
    Ok((stage as usize, place, program))
}

fn uniform(cursor: &mut Cursor<'_>) -> Result<UniformSlot, FileError> {
    let offset = cursor.at;
    let head = cursor.masked(0xffff)?;
    let [kind, detail, ..] = head.to_le_bytes();
    let fault = FileError { offset, fault: Fault::Unknown { what: "kind of uniform", value: head } };
    let Some(count) = slot::words_of(kind) else { return Err(fault) };
    let mut words = [0; slot::MAX_WORDS];
    for word in words.iter_mut().take(count) {
        *word = cursor.word()?;
    }
    slot::from_parts(kind, detail, &words[..count]).ok_or(fault)
}

/// A step, which takes those before it.
fn step(cursor: &mut Cursor<'_>, number: u32) -> Result<Step, FileError> {
    let offset = cursor.at;
    let fault = |offset, what, value| Err(FileError { offset, fault: Fault::Unknown { what, value } });
    let head = cursor.word()?;
    if head & 0xff != STEP.into() {
        cursor.at = offset;
        return match uniform(cursor)? {
            UniformSlot::Computed(_) => fault(offset, "word of a step", head),
            slot if slot.is_step_word() => Ok(Step::Word(slot)),
            _ => fault(offset, "word of a step", head),
        };
    }
    let Some(&op) = OPERATIONS.get((head >> 8) as usize) else {
        return fault(offset, "operation of a step", head);
    };
    let mut args = SmallVec::new();
    for _ in 0..operands(op) {
        let offset = cursor.at;
        match cursor.word()? {
            earlier if earlier < number => args.push(earlier),
            later => return fault(offset, "step", later),
        }
    }
    Ok(Step::Op { op, args })
}

fn sample(cursor: &mut Cursor<'_>) -> Result<SampleBo, FileError> {
    let offset = cursor.at;
    let [kind, set, binding, element] = cursor.words()?;
    let descriptor = Descriptor { set, binding, element };
    match kind {
        0 => Ok(SampleBo::Texture(descriptor)),
        1 => Ok(SampleBo::Ubo(descriptor)),
        value => Err(FileError { offset, fault: Fault::Unknown { what: "kind of TMU request", value } }),
    }
}

/// A place in the file.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    fn fault(&self, fault: Fault) -> FileError {
        FileError { offset: self.at, fault }
    }

    fn need(&self, wanted: u64) -> Result<(), FileError> {
        let left = self.left();
        if wanted <= left as u64 { Ok(()) } else { Err(self.fault(Fault::Truncated { wanted, left })) }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], FileError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        match rest.first_chunk() {
            Some(chunk) => {
                self.at += N;
                Ok(*chunk)
            }
            None => Err(self.fault(Fault::Truncated { wanted: N as u64, left: rest.len() })),
        }
    }

    fn word(&mut self) -> Result<u32, FileError> {
        self.array().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> Result<u64, FileError> {
        self.array().map(u64::from_le_bytes)
    }

    fn words<const N: usize>(&mut self) -> Result<[u32; N], FileError> {
        self.need(4 * N as u64)?;
        let mut words = [0; N];
        for word in &mut words {
            *word = self.word()?;
        }
        Ok(words)
    }

    /// A word that has no bits outside of `mask`.
    fn masked(&mut self, mask: u32) -> Result<u32, FileError> {
        let offset = self.at;
        match self.word()? {
            word if word & !mask == 0 => Ok(word),
            word => Err(FileError { offset, fault: Fault::Reserved(word & !mask) }),
        }
    }

    /// `count`, if so many things of at least `bytes` bytes can follow: nothing is reserved for more.
    fn fits(&self, count: u32, bytes: usize) -> Result<usize, FileError> {
        self.need(u64::from(count) * bytes as u64)?;
        Ok(count as usize)
    }
}

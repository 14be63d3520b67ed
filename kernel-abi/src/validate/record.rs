//! Shader records and uniforms (kernel-abi.md §9): checked and relocated after the whole bin list.

use super::bo::BoInfo;
use super::frame::Layout;
use super::raw::RawField;
use super::rule::Rule;
use super::shader::ShaderInfo;
use super::texture;
use super::violation::{Mode, Place, Violation};
use crate::gpu::Submit;
use vc4::cl::records::{CODE_AT, UNIFORMS_AT, attribute_at, record_size, stride_at};
use vc4::cl::words::ShaderFlags;

/// Programs of a record in the kernel's order: fragment, vertex, coordinate.
const STAGES: [&str; 3] = ["FS", "VS", "CS"];

/// A GL_SHADER_STATE packet.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// Attribute arrays, 1 to 8.
    pub attributes: usize,
    /// The record has extended strides.
    pub extended: bool,
    /// Largest index that draws with this state use (BIN-15).
    pub max_index: u32,
}

/// The hardware's copies.
#[derive(Debug, Default)]
pub struct Copies {
    /// Records, each padded to 16 bytes.
    pub records: Vec<u8>,
    /// Uniforms.
    pub uniforms: Vec<u8>,
}

/// Checks the records of `states` in turn. `room` is how many bytes of uniforms the copy has space for.
pub fn records(
    job: &Submit,
    bos: &[BoInfo<'_>],
    states: &[State],
    layout: &Layout,
    room: u32,
    mode: Mode,
) -> Result<Copies, Violation> {
    let mut walk = Walk {
        job,
        bos,
        layout,
        room,
        mode,
        number: 0,
        records: &job.shader_rec,
        uniforms: 0,
        copies: Copies::default(),
    };
    for (number, state) in states.iter().enumerate() {
        walk.number = number as u32;
        walk.record(state)?;
    }
    Ok(walk.copies)
}

struct Walk<'a> {
    job: &'a Submit,
    bos: &'a [BoInfo<'a>],
    layout: &'a Layout,
    room: u32,
    mode: Mode,
    number: u32,
    /// What is left of the records.
    records: &'a [u8],
    /// Where the next block of uniforms begins.
    uniforms: usize,
    copies: Copies,
}

impl<'a> Walk<'a> {
    fn fail<T>(&self, rule: Rule, what: impl Into<String>) -> Result<T, Violation> {
        Err(Violation::new(rule, Place::Record(self.number), what))
    }

    fn record(&mut self, state: &State) -> Result<(), Violation> {
        let handles = self.take(Rule::Rec1, "BO indices", 4 * (STAGES.len() + state.attributes))?;
        let source = self.take(Rule::Rec2, "record", record_size(state.attributes, state.extended))?;
        let (code, attributes) = handles.split_at(4 * STAGES.len());
        let shaders = self.code_bos(code)?;
        let attributes = self.attribute_bos(attributes)?;
        self.threads(source, &shaders)?;

        let mut record = source.to_vec();
        for stage in 0..STAGES.len() {
            let (address, shader) = shaders[stage];
            let offset = word(source, CODE_AT[stage]);
            if offset != 0 {
                return self.fail(Rule::Rec8, format!("{} code at offset {offset:#x}", STAGES[stage]));
            }
            let uniforms = self.uniform_block(stage, shader)?;
            put(&mut record, CODE_AT[stage], address);
            put(&mut record, UNIFORMS_AT[stage], uniforms);
        }
        for (index, (number, bo)) in attributes.into_iter().enumerate() {
            let address = self.attribute(source, state, index, number, bo)?;
            put(&mut record, attribute_at(index), address);
        }
        record.resize(record.len().next_multiple_of(16), 0);
        self.copies.records.extend_from_slice(&record);
        Ok(())
    }

    /// REC-1, REC-2.
    fn take(&mut self, rule: Rule, what: &str, size: usize) -> Result<&'a [u8], Violation> {
        match self.records.split_at_checked(size) {
            Some((taken, rest)) => {
                self.records = rest;
                Ok(taken)
            }
            None => self.fail(rule, format!("{what} of {size} bytes, {} are left", self.records.len())),
        }
    }

    /// REC-3, REC-7. The kernel lets an index equal to the count through and reads behind its array, and looks
    /// into the missing validation of a BO that is no shader: neither can be followed.
    fn code_bos(&self, handles: &[u8]) -> Result<[(u32, &'a ShaderInfo); 3], Violation> {
        let shader = |stage: usize| {
            let index = word(handles, 4 * stage);
            let Some(bo) = self.bos.get(index as usize) else {
                let crash =
                    if index as usize == self.bos.len() { "; Linux reads behind its array" } else { "" };
                let what = format!("{}: BO {index} of {}{crash}", STAGES[stage], self.bos.len());
                return self.fail(Rule::Rec3, what);
            };
            match bo.shader {
                Some(shader) => Ok((bo.bus_address, shader)),
                None => self.fail(
                    Rule::Rec7,
                    format!(
                        "{}: BO {index} is no shader; Linux follows a null pointer: the kernel crashes",
                        STAGES[stage]
                    ),
                ),
            }
        };
        Ok([shader(0)?, shader(1)?, shader(2)?])
    }

    /// REC-4: index and BO of each attribute.
    fn attribute_bos(&self, handles: &[u8]) -> Result<Vec<(u32, &'a BoInfo<'a>)>, Violation> {
        (0..handles.len() / 4)
            .map(|attribute| {
                let index = word(handles, 4 * attribute);
                match self.bos.get(index as usize) {
                    Some(bo) if bo.shader.is_none() => Ok((index, bo)),
                    Some(_) => {
                        self.fail(Rule::Rec4, format!("attribute {attribute}: BO {index} is a shader"))
                    }
                    None => {
                        let what = format!("attribute {attribute}: BO {index} of {}", self.bos.len());
                        self.fail(Rule::Rec4, what)
                    }
                }
            })
            .collect()
    }

    /// REC-5, REC-6.
    fn threads(&self, record: &[u8], shaders: &[(u32, &ShaderInfo); 3]) -> Result<(), Violation> {
        const SINGLE: RawField = RawField::of(ShaderFlags::FIELDS, "single_threaded");
        let single = SINGLE.get(word(record, 0).into()) != 0;
        let [(_, fragment), (_, vertex), (_, coordinate)] = shaders;
        if single == fragment.threaded {
            let says = if single { "single threaded" } else { "threaded" };
            return self.fail(Rule::Rec5, format!("the record says {says}, the fragment shader differs"));
        }
        for (stage, shader) in [(STAGES[1], vertex), (STAGES[2], coordinate)] {
            if shader.threaded {
                return self.fail(Rule::Rec6, format!("the {stage} is threaded"));
            }
        }
        Ok(())
    }

    /// REC-9, and the textures of the block: the address of its copy.
    fn uniform_block(&mut self, stage: usize, shader: &ShaderInfo) -> Result<u32, Violation> {
        let start = self.copies.uniforms.len();
        let left = self.job.uniforms.len().saturating_sub(self.uniforms);
        // The kernel compares with all uniforms; up to the end of its pages that goes well.
        let available = if self.mode == Mode::Strict { left } else { self.job.uniforms.len() };
        let copied = start as u64 + u64::from(shader.uniforms_size);
        if shader.source_size as usize > available || copied > u64::from(self.room) {
            return self.fail(
                Rule::Rec9,
                format!("{} needs {} bytes of uniforms, {left} are left", STAGES[stage], shader.source_size),
            );
        }
        let block = Block { bytes: self.job.uniforms.get(self.uniforms..).unwrap_or_default() };
        let data_at = 4 * shader.samples.len();
        let data = block.bytes.get(data_at..).unwrap_or_default();
        let mut copy = data[..data.len().min(shader.uniforms_size as usize)].to_vec();
        copy.resize(shader.uniforms_size as usize, 0);
        for (number, sample) in shader.samples.iter().enumerate() {
            let place = Place::Sample(self.number, STAGES[stage], number as u32);
            let bo_index = block.word(4 * number);
            let p = sample.p.map(|at| at.map(|at| block.word(data_at.saturating_add(at as usize))));
            let p0 = texture::check(self.bos, bo_index, sample.direct, p, place, self.mode)?;
            if let Some(at) = sample.p[0] {
                put(&mut copy, at as usize, p0);
            }
        }
        let address = self.layout.uniforms.wrapping_add(start as u32);
        for slot in &shader.uniform_addr_slots {
            put(&mut copy, 4 * *slot as usize, address);
        }
        self.copies.uniforms.extend_from_slice(&copy);
        self.uniforms += shader.source_size as usize;
        Ok(address)
    }

    /// REC-11 to REC-13: the attribute's address.
    fn attribute(
        &self,
        record: &[u8],
        state: &State,
        index: usize,
        number: u32,
        bo: &BoInfo<'_>,
    ) -> Result<u32, Violation> {
        let at = attribute_at(index);
        let offset = word(record, at);
        let [size, stride, ..] = word(record, at + 4).to_le_bytes();
        let size = u32::from(size) + 1;
        // REC-12.
        let upper = if state.extended { word(record, stride_at(index)) & !0xff } else { 0 };
        let stride = u32::from(stride) | upper;
        let what = || {
            format!(
                "attribute {index}: {size} bytes at offset {offset:#x}, stride {stride}, of BO {number}, \
                 which has {} bytes",
                bo.size
            )
        };
        let Some(room) = bo.size.checked_sub(offset).and_then(|left| left.checked_sub(size)) else {
            return self.fail(Rule::Rec11, what());
        };
        if stride != 0 && state.max_index > room / stride {
            return self.fail(Rule::Rec13, format!("{}: largest index {}", what(), state.max_index));
        }
        Ok(bo.bus_address.wrapping_add(offset))
    }
}

/// A block of uniforms, which may leave the submission's data (REC-9); the kernel then reads what it has behind
/// them, taken for zero here.
struct Block<'a> {
    bytes: &'a [u8],
}

impl Block<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|byte| self.byte(at.saturating_add(byte))))
    }
}

/// The little-endian word at a position that the record's size covers.
fn word(bytes: &[u8], at: usize) -> u32 {
    Block { bytes }.word(at)
}

/// Writes a word; positions come from the shader's own validation and lie inside.
fn put(bytes: &mut [u8], at: usize, value: u32) {
    if let Some(place) = bytes.get_mut(at..at + 4) {
        place.copy_from_slice(&value.to_le_bytes());
    }
}

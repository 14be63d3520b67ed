//! The shader record of a piece: programs, attribute arrays, and the uniform streams that its programs read
//! (kernel-abi.md §5.3).

use vc4::cl::records::{Attribute, ShaderRecord, VertexProgram};
use vc4::cl::words::ShaderFlags;
use vc4_shaders::program::{AttributeArray, AttributeSource, Pipeline, Program, SampleBo, UniformSlot};

use super::bindings::Bindings;
use super::geometry::{Piece, source};
use super::iota::ZEROS_AT;
use super::job::JobBuilder;
use crate::device::Device;
use crate::error::Error;
use crate::recording::Snapshot;

/// Largest stride of the plain form of record.
const MAX_PLAIN_STRIDE: u32 = 255;

/// Appends the record and its streams.
pub(super) fn write(
    device: &Device,
    job: &mut JobBuilder,
    bindings: &Bindings<'_>,
    piece: &Piece,
    instance: u32,
) -> Result<(), Error> {
    let variant = &bindings.variant;
    let programs = &variant.programs;
    let programs_of_record = [&variant.fragment, &variant.vertex, &variant.coordinate];
    let mut handles: Vec<u32> = programs_of_record.map(|program| job.program(program)).to_vec();
    let mut attributes = Vec::with_capacity(programs.attributes.len());
    for array in &programs.attributes {
        let (handle, attribute) = attribute(device, job, bindings.state, array, piece)?;
        handles.push(handle);
        attributes.push(attribute);
    }
    let record = ShaderRecord {
        flags: ShaderFlags {
            clipping: true,
            point_size: programs.point_size,
            single_threaded: !programs.fragment.threaded,
        },
        varyings: programs.varyings as u8,
        vertex: program(programs, programs.vertex_attribute_bytes, |array| array.vertex_offset),
        coordinate: program(programs, programs.coordinate_attribute_bytes, |array| array.coordinate_offset),
        extended: attributes.iter().any(|attribute| attribute.stride > MAX_PLAIN_STRIDE),
        attributes,
        ..ShaderRecord::default()
    };
    job.record(&handles, &record)?;
    let stream = Stream { bindings, piece, instance };
    [&programs.fragment, &programs.vertex, &programs.coordinate]
        .into_iter()
        .try_for_each(|program| stream.write(job, program))
}

fn program(programs: &Pipeline, bytes: u32, offset: fn(&AttributeArray) -> Option<u8>) -> VertexProgram {
    let select = |(index, array)| if offset(array).is_some() { 1u8 << index } else { 0 };
    VertexProgram {
        attribute_select: programs.attributes.iter().enumerate().map(select).sum(),
        attribute_bytes: bytes as u8,
        ..VertexProgram::default()
    }
}

/// An attribute array and its BO's place.
fn attribute(
    device: &Device,
    job: &mut JobBuilder,
    state: &Snapshot,
    array: &AttributeArray,
    piece: &Piece,
) -> Result<(u32, Attribute), Error> {
    let plain = Attribute {
        bytes: array.bytes as u16,
        vertex_offset: array.vertex_offset.unwrap_or(0),
        coordinate_offset: array.coordinate_offset.unwrap_or(0),
        ..Attribute::default()
    };
    let found = match array.source {
        AttributeSource::Location(location) => {
            let source = source(state, location)?;
            source.filter(|source| source.limit(array.bytes).is_some())
        }
        AttributeSource::VertexIndex => {
            let numbers = job.bo(&device.iota().bo(device)?);
            return Ok((numbers, Attribute { stride: 4, ..plain }));
        }
        AttributeSource::Dummy => None,
    };
    match found {
        Some(source) => {
            // Inside of the buffer: pieces keep to the limits of their sources.
            let address = source.base as i64 + i64::from(source.stride) * piece.base_vertex;
            Ok((job.bo(&source.bo), Attribute { address: address as u32, stride: source.stride, ..plain }))
        }
        // Reads of what is not there give zeros (T-ROBUST).
        None => {
            let zeros = job.bo(&device.iota().bo(device)?);
            Ok((zeros, Attribute { address: ZEROS_AT, ..plain }))
        }
    }
}

/// What the words of a stream are taken from.
struct Stream<'a> {
    bindings: &'a Bindings<'a>,
    piece: &'a Piece,
    instance: u32,
}

impl Stream<'_> {
    /// Appends the block of one program: BO places of its lookups, then its words.
    fn write(&self, job: &mut JobBuilder, program: &Program) -> Result<(), Error> {
        for sample in &program.samples {
            let bo = match sample {
                SampleBo::Texture(image) => self.bindings.texture(*image)?.binding.bo.clone(),
                SampleBo::Ubo(buffer) => self.bindings.range(*buffer)?.bo,
            };
            let place = job.bo(&bo);
            job.uniform(place);
        }
        for slot in &program.uniforms {
            job.uniform(self.word(slot)?);
        }
        Ok(())
    }

    fn word(&self, slot: &UniformSlot) -> Result<u32, Error> {
        let bindings = self.bindings;
        Ok(match *slot {
            UniformSlot::Const(word) => word,
            UniformSlot::State(state) => bindings.words.word(state),
            UniformSlot::Push(offset) => bindings.state.push_word(offset),
            UniformSlot::Ubo { buffer, offset } => bindings.range(buffer)?.word(offset),
            UniformSlot::UboBase(buffer) => bindings.range(buffer)?.offset as u32,
            UniformSlot::UboLimit(buffer) => bindings.range(buffer)?.size.saturating_sub(4) as u32,
            UniformSlot::TextureP0(image) => bindings.texture(image)?.words[0],
            UniformSlot::TextureP1(image) => bindings.texture(image)?.words[1],
            UniformSlot::TextureP2 { image, explicit_lod } => {
                bindings.texture(image)?.extra[usize::from(explicit_lod)]
            }
            UniformSlot::TextureSize { image, axis } => {
                let (width, height) = bindings.texture(image)?.extent;
                (if axis == 0 { width as f32 } else { height as f32 }).to_bits()
            }
            UniformSlot::VertexIndexBias => self.piece.base_vertex as u32,
            UniformSlot::InstanceIndex => self.instance,
            UniformSlot::InstanceAttribute { location, word } => {
                instance_word(bindings.state, location, self.instance, word)?
            }
            UniformSlot::StreamAddress => 0,
        })
    }
}

/// A word of an instance-rate attribute; 0 where its buffer ends.
fn instance_word(state: &Snapshot, location: u32, instance: u32, word: u8) -> Result<u32, Error> {
    let Some(source) = source(state, location)? else { return Ok(0) };
    let at = source.base + u64::from(source.stride) * u64::from(instance) + 4 * u64::from(word);
    let mut bytes = [0; 4];
    let have = source.end.saturating_sub(at).min(4) as usize;
    if have > 0 {
        source.bo.map()?.read(at as usize, &mut bytes[..have]);
    }
    Ok(u32::from_le_bytes(bytes))
}

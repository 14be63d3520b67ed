//! From programs to bytes.

use super::layout::{DIGEST_AT, HEADER_BYTES, MAGIC, STAGES, STEP, VERSION, digest};
use super::slot;
use crate::binding::{Descriptor, UniformSlot};
use crate::ir::computed::{OPERATIONS, Step};
use crate::program::{AttributeArray, AttributeSource, Pipeline, Program, ProgramKind, SampleBo};

/// The file of a pipeline. A program without code is left out.
pub fn write(pipeline: &Pipeline) -> Vec<u8> {
    let mut out = vec![0; HEADER_BYTES];
    interface(&mut out, pipeline);
    let mut count = 0;
    for (stage, kind) in STAGES.into_iter().enumerate() {
        let of_kind = match kind {
            ProgramKind::Vertex => &pipeline.vertex,
            ProgramKind::Coordinate => &pipeline.coordinate,
            ProgramKind::Fragment => &pipeline.fragment,
        };
        if !of_kind.code.is_empty() {
            program(&mut out, stage as u32, of_kind);
            count += 1;
        }
    }
    let contents = digest(&out[HEADER_BYTES..]);
    // Code reaches 4 GiB in no machine: a program counter has 32 bits.
    let size = out.len() as u32;
    out[..4].copy_from_slice(&MAGIC);
    for (at, value) in [(4, VERSION), (8, size), (12, count)] {
        out[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    out[DIGEST_AT..DIGEST_AT + contents.len()].copy_from_slice(&contents);
    out
}

fn word(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn interface(out: &mut Vec<u8>, pipeline: &Pipeline) {
    let flags = [
        pipeline.point_size,
        pipeline.writes_depth,
        pipeline.discards,
        pipeline.reads_color,
        pipeline.per_sample,
    ];
    let flags = flags.into_iter().enumerate().fold(0, |word, (bit, flag)| word | u32::from(flag) << bit);
    for value in [
        pipeline.vertex_attribute_bytes,
        pipeline.coordinate_attribute_bytes,
        pipeline.varyings,
        pipeline.flat_varyings,
        flags,
        pipeline.attributes.len() as u32,
        pipeline.textures.len() as u32,
    ] {
        word(out, value);
    }
    for array in &pipeline.attributes {
        attribute(out, array);
    }
    for texture in &pipeline.textures {
        word(out, u32::from(texture.sampler.is_some()));
        let none = Descriptor { set: 0, binding: 0, element: 0 };
        for Descriptor { set, binding, element } in [texture.image, texture.sampler.unwrap_or(none)] {
            [set, binding, element].into_iter().for_each(|value| word(out, value));
        }
    }
}

fn attribute(out: &mut Vec<u8>, array: &AttributeArray) {
    let (source, location) = match array.source {
        AttributeSource::Location(location) => (0, location),
        AttributeSource::VertexIndex => (1, 0),
        AttributeSource::Dummy => (2, 0),
        AttributeSource::Corner { corner, location } => (3 + u32::from(corner.min(2)), location),
        AttributeSource::CornerIndex(corner) => (6 + u32::from(corner.min(2)), 0),
        AttributeSource::Place => (9, 0),
    };
    let loaded = |offset: Option<u8>, flag: u32, shift: u32| {
        offset.map_or(0, |offset| 1 << flag | u32::from(offset) << shift)
    };
    let joined = u32::from(array.joined) << 10;
    word(out, source | joined | loaded(array.vertex_offset, 8, 16) | loaded(array.coordinate_offset, 9, 24));
    word(out, location);
    word(out, array.bytes);
}

fn program(out: &mut Vec<u8>, stage: u32, program: &Program) {
    word(out, stage | u32::from(program.threaded) << 8);
    for length in [program.code.len(), program.uniforms.len(), program.samples.len(), program.computed.len()]
    {
        word(out, length as u32);
    }
    for instruction in &program.code {
        out.extend_from_slice(&instruction.to_le_bytes());
    }
    program.uniforms.iter().for_each(|&slot| uniform(out, slot));
    for sample in &program.samples {
        let (kind, Descriptor { set, binding, element }) = match *sample {
            SampleBo::Texture(image) => (0, image),
            SampleBo::Ubo(buffer) => (1, buffer),
        };
        [kind, set, binding, element].into_iter().for_each(|value| word(out, value));
    }
    for step in &program.computed {
        match step {
            Step::Word(slot) => uniform(out, *slot),
            Step::Op { op, args } => {
                let number = OPERATIONS.iter().position(|known| known == op).unwrap_or(0) as u32;
                word(out, u32::from(STEP) | number << 8);
                args.iter().for_each(|&arg| word(out, arg));
            }
        }
    }
}

fn uniform(out: &mut Vec<u8>, slot: UniformSlot) {
    let parts = slot::to_parts(slot);
    word(out, u32::from(parts.kind) | u32::from(parts.detail) << 8);
    parts.words.into_iter().for_each(|value| word(out, value));
}

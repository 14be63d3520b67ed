//! Model to bytes.

use super::model::*;

impl Mbs {
    /// The file's bytes: exactly those read, for a model that was read and not changed.
    ///
    /// Sizes are computed; the counts of tables are written as stored. A payload of 4 GiB or more, which no
    /// size field can say, would be cut short in its field; no reader makes such a model.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        chunk(&mut out, *b"MBS1", |out| self.parts.iter().for_each(|part| write_part(out, part)));
        out.extend_from_slice(&self.trailing);
        out
    }
}

fn chunk(out: &mut Vec<u8>, id: [u8; 4], payload: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(&id);
    words(out, &[0]);
    let start = out.len();
    payload(out);
    let size = (out.len() - start) as u32;
    out[start - 4..start].copy_from_slice(&size.to_le_bytes());
}

fn words(out: &mut Vec<u8>, values: &[u32]) {
    values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
}

fn halves(out: &mut Vec<u8>, values: &[u16]) {
    values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
}

fn unknown(out: &mut Vec<u8>, unknown: &Unknown) {
    chunk(out, unknown.id, |out| out.extend_from_slice(&unknown.payload));
}

fn write_part(out: &mut Vec<u8>, part: &Part) {
    match part {
        Part::Program(program) => chunk(out, program.stage.id(), |out| {
            words(out, &[program.core_version]);
            program.chunks.iter().for_each(|chunk| program_chunk(out, chunk));
        }),
        Part::Unknown(raw) => unknown(out, raw),
    }
}

fn program_chunk(out: &mut Vec<u8>, part: &ProgramChunk) {
    match part {
        ProgramChunk::Stack(s) => chunk(out, *b"FSTA", |out| words(out, &[s.size, s.start])),
        ProgramChunk::Discard(d) => chunk(out, *b"FDIS", |out| words(out, &[d.can_discard])),
        ProgramChunk::Buffers(b) => chunk(out, *b"FBUU", |out| out.extend_from_slice(&b.flags)),
        ProgramChunk::Instructions(i) => {
            chunk(out, *b"FINS", |out| words(out, &[i.unknown, i.count, i.attribute_prefetch]));
        }
        ProgramChunk::Table(t) => chunk(out, t.kind.table_id(), |out| table(out, t)),
        ProgramChunk::Code(code) => chunk(out, *b"DBIN", |out| out.extend_from_slice(&code.bytes)),
        ProgramChunk::Unknown(raw) => unknown(out, raw),
    }
}

fn table(out: &mut Vec<u8>, table: &Table) {
    words(out, &[table.count]);
    if let Some(space) = table.space {
        words(out, &[space]);
    }
    for entry in &table.entries {
        match entry {
            TableEntry::Symbol(s) => chunk(out, s.kind.id(), |out| symbol(out, s)),
            TableEntry::Unknown(raw) => unknown(out, raw),
        }
    }
}

fn symbol(out: &mut Vec<u8>, s: &Symbol) {
    chunk(out, *b"STRI", |out| out.extend_from_slice(&s.name.payload));
    out.extend_from_slice(&[s.unknown, s.type_byte]);
    halves(out, &[s.component_count, s.component_size, s.entries, s.stride]);
    out.extend_from_slice(&[s.destination_stride, s.precision]);
    match s.tail {
        Tail::Full { invariant, offset, parent } => {
            words(out, &[invariant]);
            halves(out, &[offset, parent]);
        }
        Tail::Short { unknown, offset } => halves(out, &[unknown, offset]),
    }
    for sub in &s.sub_chunks {
        match sub {
            SubChunk::Index(index) => chunk(out, *b"VIDX", |out| {
                for (id, value) in [(b"ITDR", index.itdr), (b"IYUV", index.iyuv), (b"IGRD", index.igrd)] {
                    chunk(out, *id, |out| words(out, &[value as u32]));
                }
            }),
            SubChunk::Init { values, .. } => chunk(out, *b"VINI", |out| {
                words(out, &[values.len() as u32]);
                words(out, values);
            }),
            SubChunk::Unknown(raw) => unknown(out, raw),
        }
    }
}

//! Bytes to model. Depth is fixed by the format; what a size or count claims is compared with what is there
//! before anything is reserved.

use super::model::*;
use crate::{At, Finding, Reader};

/// A chunk whose header has been read.
struct RawChunk<'a> {
    id: [u8; 4],
    at: At,
    payload: Reader<'a>,
}

const HEADER: usize = 8;

impl Mbs {
    /// Reads the structure of a file; [`Mbs::check`] says what is wrong inside it.
    ///
    /// # Errors
    /// M01, M02, M03, M07, M09, M10, M13 or M18 with the place: the chunks cannot be followed.
    pub fn parse(bytes: &[u8]) -> Result<Mbs, Finding> {
        if bytes.len() < HEADER {
            let message = format!("a chunk header needs 8 bytes, the file has {}", bytes.len());
            return Err(Finding::new("M01", 0, message));
        }
        let mut file = Reader::new(bytes, "M03");
        if file.rest()[..4] != *b"MBS1" {
            return Err(Finding::new("M02", 0, format!("expected MBS1, found {}", spell(&bytes[..4]))));
        }
        let mut outer = chunk(&mut file)?;
        let parts = all(&mut outer.payload, part)?;
        Ok(Mbs { parts, trailing: file.rest().to_vec(), trailing_at: At::new(file.at()) })
    }

    /// Reads a file and refuses it if [`Mbs::check`] finds an error.
    ///
    /// # Errors
    /// The first error found; see [`CODES`](super::CODES).
    pub fn read(bytes: &[u8]) -> Result<Mbs, Finding> {
        let mbs = Mbs::parse(bytes)?;
        match mbs.check().into_iter().find(Finding::is_error) {
            Some(error) => Err(error),
            None => Ok(mbs),
        }
    }
}

/// Identity bytes for a message.
pub(super) fn spell(id: &[u8]) -> String {
    format!("`{}`", id.escape_ascii())
}

fn chunk<'a>(parent: &mut Reader<'a>) -> Result<RawChunk<'a>, Finding> {
    let at = parent.at();
    let id: [u8; 4] = parent.array("chunk identity")?;
    let size_at = parent.at();
    let size = parent.u32("chunk size")? as usize;
    if size > parent.left() {
        let message =
            format!("{} has {size} payload bytes, its parent has {} left", spell(&id), parent.left());
        return Err(Finding::new("M03", size_at, message));
    }
    if size % 4 != 0 {
        let (code, offset) = if id == *b"STRI" { ("M09", size_at) } else { ("M18", size_at) };
        let message = format!("{} has {size} payload bytes, not a multiple of 4", spell(&id));
        return Err(Finding::new(code, offset, message));
    }
    Ok(RawChunk { id, at: At::new(at), payload: parent.split(size, "chunk payload")? })
}

/// Every chunk of a range. Counted first, so that the list is reserved once and never twice as large as needed.
fn all<T>(
    range: &mut Reader<'_>,
    mut each: impl FnMut(RawChunk<'_>) -> Result<T, Finding>,
) -> Result<Vec<T>, Finding> {
    let mut ahead = range.clone();
    let mut count = 0;
    while !ahead.is_empty() {
        chunk(&mut ahead)?;
        count += 1;
    }
    let mut list = Vec::with_capacity(count);
    while !range.is_empty() {
        list.push(each(chunk(range)?)?);
    }
    Ok(list)
}

fn unknown(raw: RawChunk<'_>) -> Unknown {
    Unknown { id: raw.id, at: raw.at, payload: raw.payload.rest().to_vec() }
}

fn sized(raw: &RawChunk<'_>, size: usize) -> Result<(), Finding> {
    let have = raw.payload.left();
    if have == size {
        return Ok(());
    }
    let message = format!("{} has {have} payload bytes, expected {size}", spell(&raw.id));
    Err(Finding::new("M07", raw.at.offset() + 4, message))
}

fn part(mut raw: RawChunk<'_>) -> Result<Part, Finding> {
    let stage = match &raw.id {
        b"CFRA" => Stage::Fragment,
        b"CVER" => Stage::Vertex,
        _ => return Ok(Part::Unknown(unknown(raw))),
    };
    let core_version = raw.payload.u32("core version")?;
    let chunks = all(&mut raw.payload, program_chunk)?;
    Ok(Part::Program(Box::new(Program { stage, core_version, chunks, at: raw.at })))
}

fn program_chunk(mut raw: RawChunk<'_>) -> Result<ProgramChunk, Finding> {
    let at = raw.at;
    Ok(match &raw.id {
        b"FSTA" => {
            sized(&raw, 8)?;
            let (size, start) = (raw.payload.u32("stack size")?, raw.payload.u32("stack start")?);
            ProgramChunk::Stack(Stack { size, start, at })
        }
        b"FDIS" => {
            sized(&raw, 4)?;
            ProgramChunk::Discard(DiscardUse { can_discard: raw.payload.u32("discard flag")?, at })
        }
        b"FBUU" => {
            sized(&raw, 8)?;
            ProgramChunk::Buffers(BufferUse { flags: raw.payload.array("buffer flags")?, at })
        }
        b"FINS" => {
            sized(&raw, 12)?;
            ProgramChunk::Instructions(InstructionCount {
                unknown: raw.payload.u32("unknown word")?,
                count: raw.payload.u32("instruction count")?,
                attribute_prefetch: raw.payload.u32("attribute prefetch")?,
                at,
            })
        }
        b"DBIN" => ProgramChunk::Code(Box::new(Code { bytes: raw.payload.rest().to_vec(), at })),
        _ => match SymbolKind::from_table_id(raw.id) {
            Some(kind) => ProgramChunk::Table(Box::new(table(kind, raw)?)),
            None => ProgramChunk::Unknown(unknown(raw)),
        },
    })
}

fn table(kind: SymbolKind, mut raw: RawChunk<'_>) -> Result<Table, Finding> {
    let count = raw.payload.u32("symbol count")?;
    let older_form = raw.payload.is_empty() || raw.payload.rest().starts_with(b"VUNI");
    let space = match kind {
        SymbolKind::Uniform if !older_form => Some(raw.payload.u32("uniform space")?),
        _ => None,
    };
    let entries = all(&mut raw.payload, table_entry)?;
    Ok(Table { kind, count, space, entries, at: raw.at })
}

fn table_entry(raw: RawChunk<'_>) -> Result<TableEntry, Finding> {
    Ok(match SymbolKind::from_id(raw.id) {
        Some(kind) => TableEntry::Symbol(Box::new(symbol(kind, raw)?)),
        None => TableEntry::Unknown(unknown(raw)),
    })
}

fn symbol(kind: SymbolKind, mut raw: RawChunk<'_>) -> Result<Symbol, Finding> {
    let name = name(&mut raw.payload)?;
    let record_at = At::new(raw.payload.at());
    let left = raw.payload.left();
    let short = kind == SymbolKind::Attribute && left == 16;
    if left < 20 && !short {
        let message = format!("symbol record of {left} bytes, expected 20");
        return Err(Finding::new("M07", record_at.offset(), message));
    }
    let r = &mut raw.payload;
    let (unknown, type_byte) = (r.u8("unknown byte")?, r.u8("symbol type")?);
    let (component_count, component_size) = (r.u16("component count")?, r.u16("component size")?);
    let (entries, stride) = (r.u16("entry count")?, r.u16("stride")?);
    let (destination_stride, precision) = (r.u8("destination stride")?, r.u8("precision")?);
    let tail = if short {
        Tail::Short { unknown: r.u16("unknown half")?, offset: r.u16("offset")? }
    } else {
        Tail::Full { invariant: r.u32("invariant flag")?, offset: r.u16("offset")?, parent: r.u16("parent")? }
    };
    let sub_chunks = all(r, sub_chunk)?;
    Ok(Symbol {
        kind,
        unknown,
        type_byte,
        destination_stride,
        precision,
        component_count,
        component_size,
        entries,
        stride,
        tail,
        at: raw.at,
        record_at,
        name,
        sub_chunks,
    })
}

fn name(range: &mut Reader<'_>) -> Result<Text, Finding> {
    let at = range.at();
    if !range.rest().starts_with(b"STRI") {
        return Err(Finding::new("M10", at, "a symbol must start with a STRI chunk"));
    }
    let text = chunk(range)?.payload;
    if text.is_empty() {
        return Err(Finding::new("M09", at, "empty STRI"));
    }
    if !text.rest().contains(&0) {
        return Err(Finding::new("M09", text.at(), format!("no NUL in the {} bytes of STRI", text.left())));
    }
    Ok(Text { payload: text.rest().to_vec() })
}

fn sub_chunk(mut raw: RawChunk<'_>) -> Result<SubChunk, Finding> {
    match &raw.id {
        b"VIDX" => index(raw),
        b"VINI" => {
            let at = raw.at;
            let size = raw.payload.left();
            let wrong = |offset, count: u32| {
                let message = format!("VINI of {count} values has {size} payload bytes, expected 4 + 4n");
                Finding::new("M13", offset, message)
            };
            if size < 4 {
                return Err(wrong(at.offset() + 4, 0));
            }
            let count = raw.payload.u32("value count")?;
            if count as usize != raw.payload.left() / 4 {
                return Err(wrong(at.offset() + 8, count));
            }
            let values = raw.payload.rest().chunks_exact(4);
            let values =
                values.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
            Ok(SubChunk::Init { values, at })
        }
        _ => Ok(SubChunk::Unknown(unknown(raw))),
    }
}

/// A `VIDX` whose members are not the three known ones is kept raw.
fn index(mut raw: RawChunk<'_>) -> Result<SubChunk, Finding> {
    sized(&raw, 36)?;
    let kept = RawChunk { id: raw.id, at: raw.at, payload: raw.payload.clone() };
    let mut values = [0i32; 3];
    for (value, id) in values.iter_mut().zip([b"ITDR", b"IYUV", b"IGRD"]) {
        let mut member = chunk(&mut raw.payload)?;
        if member.id != *id {
            return Ok(SubChunk::Unknown(unknown(kept)));
        }
        sized(&member, 4)?;
        *value = member.payload.u32("index")? as i32;
    }
    let [itdr, iyuv, igrd] = values;
    Ok(SubChunk::Index(Index { itdr, iyuv, igrd, at: raw.at }))
}

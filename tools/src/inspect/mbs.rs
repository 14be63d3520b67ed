//! MBS as tree and JSON.

use crate::json::{Value, hex};
use shader_containers::mbs::*;
use std::io::{self, Write};

/// Prints the tree below the file's line.
pub fn text(mbs: &Mbs, out: &mut impl Write, code: bool) -> io::Result<()> {
    for part in &mbs.parts {
        match part {
            Part::Program(program) => print_program(program, out, code)?,
            Part::Unknown(raw) => print_unknown(raw, "  ", out)?,
        }
    }
    if !mbs.trailing.is_empty() {
        writeln!(out, "  0x{:04x} {} bytes behind the file", mbs.trailing_at.offset(), mbs.trailing.len())?;
    }
    Ok(())
}

fn print_unknown(raw: &Unknown, indent: &str, out: &mut impl Write) -> io::Result<()> {
    let id = raw.id.escape_ascii();
    writeln!(out, "{indent}0x{:04x} {id}: unknown chunk, {} bytes", raw.at.offset(), raw.payload.len())
}

fn print_program(program: &Program, out: &mut impl Write, code: bool) -> io::Result<()> {
    let core = core_version_name(program.stage, program.core_version).unwrap_or("unknown core");
    let (at, stage) = (program.at.offset(), program.stage.name());
    writeln!(out, "  0x{at:04x} {stage} program, core version {} ({core})", program.core_version)?;
    for chunk in &program.chunks {
        match chunk {
            ProgramChunk::Stack(s) => {
                writeln!(out, "    0x{:04x} FSTA stack size {}, start {}", s.at.offset(), s.size, s.start)?;
            }
            ProgramChunk::Discard(d) => {
                let text = if d.can_discard == 0 { "cannot discard" } else { "can discard" };
                writeln!(out, "    0x{:04x} FDIS {text}", d.at.offset())?;
            }
            ProgramChunk::Buffers(b) => {
                let used = buffers(b.flags);
                let used = if used.is_empty() { "nothing".into() } else { used.join(", ") };
                writeln!(out, "    0x{:04x} FBUU {used}", b.at.offset())?;
            }
            ProgramChunk::Instructions(i) => {
                let (at, count, prefetch) = (i.at.offset(), i.count, i.attribute_prefetch);
                writeln!(out, "    0x{at:04x} FINS {count} instructions, attributes read before {prefetch}")?;
            }
            ProgramChunk::Table(table) => print_table(table, out)?,
            ProgramChunk::Code(c) => print_code(program.stage, c, out, code)?,
            ProgramChunk::Unknown(raw) => print_unknown(raw, "    ", out)?,
        }
    }
    Ok(())
}

fn buffers(flags: [u8; 8]) -> Vec<&'static str> {
    const NAMES: [&str; 8] = [
        "reads colour",
        "writes colour",
        "reads depth",
        "writes depth",
        "reads stencil",
        "writes stencil",
        "unknown flag 6",
        "unknown flag 7",
    ];
    NAMES.iter().zip(flags).filter(|(_, flag)| *flag != 0).map(|(name, _)| *name).collect()
}

fn precision(symbol: &Symbol) -> &'static str {
    match symbol.precision {
        1 => "lowp",
        2 => "mediump",
        3 => "highp",
        4 => "super",
        _ => "?",
    }
}

fn print_table(table: &Table, out: &mut impl Write) -> io::Result<()> {
    let space = table.space.map_or(String::new(), |space| format!(", space {space} floats"));
    writeln!(out, "    0x{:04x} {} {}{space}", table.at.offset(), table.count, table.kind.name())?;
    for entry in &table.entries {
        match entry {
            TableEntry::Symbol(symbol) => print_symbol(symbol, out)?,
            TableEntry::Unknown(raw) => print_unknown(raw, "      ", out)?,
        }
    }
    Ok(())
}

fn print_symbol(symbol: &Symbol, out: &mut impl Write) -> io::Result<()> {
    let place = match symbol.offset() {
        Some(offset) => format!("at {offset}"),
        None => "unused".into(),
    };
    let parent = symbol.parent().map_or(String::new(), |parent| format!(" in struct {parent}"));
    let sampled = if symbol.destination_stride == 24 { ", goes into a texture fetch" } else { "" };
    let (at, name, kind) = (symbol.at.offset(), symbol.name.to_text(), symbol.type_name());
    let (size, stride, precision) = (symbol.component_size, symbol.stride, precision(symbol));
    writeln!(
        out,
        "      0x{at:04x} {name}: {precision} {kind} {place}{parent}, size {size}, stride {stride}{sampled}"
    )?;
    if let Some(values) = symbol.init() {
        let values: Vec<_> = values.iter().map(|&bits| f32::from_bits(bits).to_string()).collect();
        writeln!(out, "             = {}", values.join(", "))?;
    }
    Ok(())
}

fn print_code(stage: Stage, code: &Code, out: &mut impl Write, show: bool) -> io::Result<()> {
    writeln!(out, "    0x{:04x} DBIN {} bytes", code.at.offset(), code.bytes.len())?;
    if !show {
        return Ok(());
    }
    let start = code.at.offset() + 8;
    if stage == Stage::Vertex {
        for (index, words) in code.bytes.chunks(16).enumerate() {
            writeln!(out, "      0x{:04x} {index:4}: {}", start + 16 * index, spaced(words))?;
        }
        return Ok(());
    }
    for step in pp_walk(&code.bytes) {
        match step {
            Ok(instruction) => {
                let mut notes: Vec<_> = instruction.units().map(|unit| unit.name).collect();
                notes.extend(instruction.is_sync().then_some("sync"));
                notes.extend(instruction.is_end().then_some("end"));
                let (at, words) = (start + instruction.offset, instruction.words());
                writeln!(out, "      0x{at:04x} {words:2} words: {}", notes.join(" "))?;
                for words in instruction.bytes.chunks(32) {
                    writeln!(out, "             {}", spaced(words))?;
                }
            }
            Err(at) => writeln!(out, "      0x{:04x} {}", start + at, spaced(&code.bytes[at..]))?,
        }
    }
    Ok(())
}

/// Code as little-endian words.
fn spaced(bytes: &[u8]) -> String {
    let words = bytes.chunks(4).map(|word| hex(&word.iter().rev().copied().collect::<Vec<_>>()));
    words.collect::<Vec<_>>().join(" ")
}

/// The `content` field of the JSON document.
pub fn json(mbs: &Mbs, code: bool) -> Value {
    let unknown = mbs.parts.iter().filter_map(|part| match part {
        Part::Unknown(raw) => Some(unknown_json(raw)),
        Part::Program(_) => None,
    });
    Value::object([
        ("programs", mbs.programs().map(|program| program_json(program, code)).collect()),
        ("unknown_chunks", unknown.collect()),
        ("trailing_bytes", Value::from(mbs.trailing.len())),
    ])
}

fn unknown_json(raw: &Unknown) -> Value {
    Value::object([
        ("id", Value::from(raw.id.escape_ascii().to_string())),
        ("offset", Value::from(raw.at.offset())),
        ("payload", Value::hex(&raw.payload)),
    ])
}

fn program_json(program: &Program, code: bool) -> Value {
    let mut fields = vec![
        ("stage", Value::from(program.stage.name())),
        ("offset", Value::from(program.at.offset())),
        ("core_version", Value::from(program.core_version)),
        ("core", Value::from(core_version_name(program.stage, program.core_version))),
    ];
    let mut unknown = Vec::new();
    for chunk in &program.chunks {
        match chunk {
            ProgramChunk::Stack(s) => {
                fields.push(("stack", Value::object([("size", s.size.into()), ("start", s.start.into())])));
            }
            ProgramChunk::Discard(d) => fields.push(("discard", (d.can_discard != 0).into())),
            ProgramChunk::Buffers(b) => fields.push(("buffers", b.flags.into_iter().collect())),
            ProgramChunk::Instructions(i) => {
                fields.push(("instructions", i.count.into()));
                fields.push(("attribute_prefetch", i.attribute_prefetch.into()));
            }
            ProgramChunk::Table(table) => fields.push((table.kind.name(), table_json(table))),
            ProgramChunk::Code(c) => {
                let mut list = vec![("offset", (c.at.offset() + 8).into()), ("size", c.bytes.len().into())];
                if code {
                    list.push(("bytes", Value::hex(&c.bytes)));
                }
                fields.push(("code", Value::object(list)));
            }
            ProgramChunk::Unknown(raw) => unknown.push(unknown_json(raw)),
        }
    }
    fields.push(("unknown_chunks", Value::Array(unknown)));
    Value::object(fields)
}

fn table_json(table: &Table) -> Value {
    Value::object([
        ("offset", Value::from(table.at.offset())),
        ("count", table.count.into()),
        ("space", table.space.into()),
        ("symbols", table.symbols().map(symbol_json).collect()),
    ])
}

fn symbol_json(symbol: &Symbol) -> Value {
    let invariant = match symbol.tail {
        Tail::Full { invariant, .. } => Value::from(invariant != 0),
        Tail::Short { .. } => Value::Null,
    };
    Value::object([
        ("name", Value::from(symbol.name.to_text())),
        ("file_offset", symbol.at.offset().into()),
        ("type", symbol.type_name().into()),
        ("type_code", symbol.type_byte.into()),
        ("component_count", symbol.component_count.into()),
        ("component_size", symbol.component_size.into()),
        ("entries", symbol.entries.into()),
        ("stride", symbol.stride.into()),
        ("destination_stride", symbol.destination_stride.into()),
        ("precision", symbol.precision.into()),
        ("invariant", invariant),
        ("offset", symbol.offset().into()),
        ("parent", symbol.parent().into()),
        (
            "init",
            symbol.init().map(|bits| bits.iter().map(|&bits| f32::from_bits(bits)).collect::<Value>()).into(),
        ),
    ])
}

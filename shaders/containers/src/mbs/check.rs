//! What is wrong or odd inside a file whose structure could be read (containers.md §1.6).

use super::layout::{Rules, measure_record};
use super::model::*;
use super::read::spell;
use super::walk::pp_walk;
use crate::{At, Finding, Findings};
use std::collections::BTreeMap;
use std::ops::Range;

impl Mbs {
    /// All errors and warnings, with their places in the file the model was read from.
    pub fn check(&self) -> Vec<Finding> {
        let mut out = Findings::default();
        if self.programs().next().is_none() {
            out.add("M05", 8, "neither CFRA nor CVER inside");
        }
        let mut seen = Vec::new();
        for part in &self.parts {
            match part {
                Part::Program(program) => {
                    once(&mut seen, program.stage.id(), program.at, &mut out);
                    check_program(program, &mut out);
                }
                Part::Unknown(raw) => unknown(raw, &mut out),
            }
        }
        if !self.trailing.is_empty() {
            let message = format!("{} bytes after the MBS1 chunk", self.trailing.len());
            out.add("W-trailing", self.trailing_at.offset(), message);
        }
        out.into_list()
    }
}

fn unknown(raw: &Unknown, out: &mut Findings) {
    let message = format!("unknown chunk {} of {} bytes, kept", spell(&raw.id), raw.payload.len());
    out.add("W-unknown-chunk", raw.at.offset(), message);
}

/// `seen` holds known identities only, a dozen at most.
fn once(seen: &mut Vec<[u8; 4]>, id: [u8; 4], at: At, out: &mut Findings) {
    if seen.contains(&id) {
        out.add("M06", at.offset(), format!("a second {} chunk", spell(&id)));
    } else {
        seen.push(id);
    }
}

impl ProgramChunk {
    /// Identity, place, and the one stage the chunk belongs to.
    fn header(&self) -> ([u8; 4], At, Option<Stage>) {
        match self {
            ProgramChunk::Stack(c) => (*b"FSTA", c.at, Some(Stage::Fragment)),
            ProgramChunk::Discard(c) => (*b"FDIS", c.at, Some(Stage::Fragment)),
            ProgramChunk::Buffers(c) => (*b"FBUU", c.at, Some(Stage::Fragment)),
            ProgramChunk::Instructions(c) => (*b"FINS", c.at, Some(Stage::Vertex)),
            ProgramChunk::Table(c) => {
                let stage = (c.kind == SymbolKind::Attribute).then_some(Stage::Vertex);
                (c.kind.table_id(), c.at, stage)
            }
            ProgramChunk::Code(c) => (*b"DBIN", c.at, None),
            ProgramChunk::Unknown(c) => (c.id, c.at, None),
        }
    }
}

fn check_program(program: &Program, out: &mut Findings) {
    let (stage, at) = (program.stage, program.at.offset());
    if core_version_name(stage, program.core_version).is_none() {
        let message = format!("core version {} in a {} program", program.core_version, stage.name());
        out.add("W-version", at + 8, message);
    }
    let mut seen = Vec::new();
    for chunk in &program.chunks {
        let (id, at, only) = chunk.header();
        if let ProgramChunk::Unknown(raw) = chunk {
            unknown(raw, out);
            continue;
        }
        once(&mut seen, id, at, out);
        if only.is_some_and(|only| only != stage) {
            out.add("M17", at.offset(), format!("{} in a {} program", spell(&id), stage.name()));
        }
        match chunk {
            ProgramChunk::Table(table) => check_table(table, stage, out),
            ProgramChunk::Instructions(count) if count.attribute_prefetch > count.count => {
                let message =
                    format!("prefetch {} above {} instructions", count.attribute_prefetch, count.count);
                out.add("W-prefetch", at.offset() + 16, message);
            }
            _ => {}
        }
    }
    let needed: &[[u8; 4]] = match stage {
        Stage::Fragment => &[*b"FSTA", *b"FDIS", *b"FBUU"],
        Stage::Vertex => &[*b"FINS"],
    };
    for id in needed.iter().filter(|id| !seen.contains(*id)) {
        out.add("W-missing", at, format!("no {} chunk", spell(id)));
    }
    check_code(program, out);
}

fn check_code(program: &Program, out: &mut Findings) {
    let Some(code) = program.code_chunk() else {
        return out.add("M14", program.at.offset(), "no DBIN chunk");
    };
    if code.bytes.is_empty() {
        return out.add("M14", code.at.offset() + 4, "empty DBIN chunk");
    }
    match program.stage {
        Stage::Fragment => check_pp_code(code, out),
        Stage::Vertex => check_gp_code(program, code, out),
    }
}

fn check_gp_code(program: &Program, code: &Code, out: &mut Findings) {
    let Some(fins) = program.instruction_count() else { return };
    if u64::from(fins.count) * 16 != code.bytes.len() as u64 {
        let message = format!("{} instructions of 16 bytes, DBIN has {} bytes", fins.count, code.bytes.len());
        out.add("M15", fins.at.offset() + 12, message);
    }
}

fn check_pp_code(code: &Code, out: &mut Findings) {
    let start = code.at.offset() + 8;
    let mut walk = pp_walk(&code.bytes).peekable();
    while let Some(step) = walk.next() {
        let instruction = match step {
            Ok(instruction) => instruction,
            Err(offset) => {
                let left = code.bytes.len() - offset;
                let message =
                    format!("instruction length is zero or leaves DBIN, which has {left} bytes left");
                return out.add("M16", start + offset, message);
            }
        };
        let at = start + instruction.offset;
        let (have, need) = (instruction.words(), instruction.words_needed());
        if have != need {
            out.add("W-pp-size", at, format!("instruction of {have} words, its units need {need}"));
        }
        let next = match walk.peek() {
            Some(Ok(next)) => next.words(),
            Some(Err(_)) => continue,
            None => 0,
        };
        if next != instruction.next_words() {
            let message = format!("next length says {}, the next has {next}", instruction.next_words());
            out.add("W-pp-next", at, message);
        }
    }
}

fn check_table(table: &Table, stage: Stage, out: &mut Findings) {
    let at = table.at.offset();
    let symbols: Vec<&Symbol> = table.symbols().collect();
    if u64::from(table.count) != symbols.len() as u64 {
        out.add("M08", at + 8, format!("count {}, {} symbols follow", table.count, symbols.len()));
    }
    if table.kind == SymbolKind::Uniform && table.space.is_none() {
        out.add("W-no-space", at + 12, "SUNI without the space word");
    }
    for entry in &table.entries {
        match entry {
            TableEntry::Unknown(raw) => unknown(raw, out),
            TableEntry::Symbol(symbol) => check_symbol(symbol, table.kind, out),
        }
    }
    check_parents(&symbols, out);
    // Varyings of a vertex program have two legal layouts: nothing to hold them against (containers.md §1.3).
    let rules = match (stage, table.kind) {
        (Stage::Fragment, _) => Some(Rules::Packed),
        (Stage::Vertex, SymbolKind::Uniform) => Some(Rules::Rows),
        (Stage::Vertex, SymbolKind::Attribute) => Some(Rules::Slots),
        (Stage::Vertex, SymbolKind::Varying) => None,
    };
    if let Some(rules) = rules {
        symbols.iter().for_each(|symbol| check_measure(symbol, rules, out));
        if let Some(space) = table.space {
            check_space(&symbols, space, out);
        }
        check_overlap(&symbols, out);
    }
}

fn check_symbol(symbol: &Symbol, kind: SymbolKind, out: &mut Findings) {
    let at = symbol.record_at.offset();
    let name = symbol.name.to_text();
    if symbol.kind != kind {
        out.add("M17", symbol.at.offset(), format!("{} among {}", spell(&symbol.kind.id()), kind.name()));
    }
    let pad_at = symbol.at.offset() + 16 + symbol.name.bytes().len() + 1;
    if let Some(byte) = symbol.name.padding().iter().position(|&byte| byte != 0) {
        out.add("W-string-pad", pad_at + byte, format!("`{name}`: padding is not zero"));
    }
    if symbol.symbol_type().is_none() {
        out.add("W-type", at + 1, format!("`{name}`: unknown type {}", symbol.type_byte));
    }
    if !matches!(symbol.destination_stride, 16 | 24) {
        let message =
            format!("`{name}`: destination stride {}, expected 16 or 24", symbol.destination_stride);
        out.add("W-dst", at + 10, message);
    }
    if !(1..=4).contains(&symbol.precision) {
        out.add("W-prec", at + 11, format!("`{name}`: precision {}, expected 1 to 4", symbol.precision));
    }
    for sub in &symbol.sub_chunks {
        match sub {
            SubChunk::Init { values, at } if values.len() != usize::from(symbol.component_count) => {
                let message = format!(
                    "`{name}`: {} start values for {} components",
                    values.len(),
                    symbol.component_count
                );
                out.add("W-init", at.offset() + 8, message);
            }
            SubChunk::Unknown(raw) => unknown(raw, out),
            _ => {}
        }
    }
}

fn check_parents(symbols: &[&Symbol], out: &mut Findings) {
    // For each symbol the walk that reached it: a walk that meets itself is a cycle, any other is known to end.
    let mut reached_by = vec![0u32; symbols.len()];
    for (index, symbol) in symbols.iter().enumerate() {
        let Some(parent) = symbol.parent() else { continue };
        let problem = match symbols.get(usize::from(parent)) {
            None => Some("outside the table"),
            Some(_) if usize::from(parent) == index => Some("the symbol itself"),
            Some(parent) if parent.symbol_type() != Some(SymbolType::Struct) => Some("not a struct"),
            Some(_) if walks_in_circle(symbols, index, &mut reached_by) => Some("inside a cycle"),
            Some(_) => None,
        };
        if let Some(problem) = problem {
            let message = format!("`{}`: parent index {parent} is {problem}", symbol.name.to_text());
            out.add("M11", symbol.record_at.offset() + 18, message);
        }
    }
}

fn walks_in_circle(symbols: &[&Symbol], start: usize, reached_by: &mut [u32]) -> bool {
    let mark = start as u32 + 1;
    let mut at = start;
    loop {
        match reached_by[at] {
            0 => reached_by[at] = mark,
            by => return by == mark,
        }
        match symbols[at].parent().map(usize::from) {
            Some(parent) if parent < symbols.len() => at = parent,
            _ => return false,
        }
    }
}

fn check_measure(symbol: &Symbol, rules: Rules, out: &mut Findings) {
    let at = symbol.record_at.offset();
    let Some(symbol_type) = symbol.symbol_type().filter(|&known| known != SymbolType::Struct) else { return };
    let name = symbol.name.to_text();
    let Some(expected) = measure_record(symbol_type, symbol.component_count, rules) else {
        let message =
            format!("`{name}`: no {} with {} components here", symbol.type_name(), symbol.component_count);
        return out.add("W-layout", at + 2, message);
    };
    let have = (symbol.component_size, symbol.stride);
    if have != (expected.component_size, expected.stride) {
        let message = format!(
            "`{name}` ({}): component size {} and stride {}, expected {} and {}",
            symbol.type_name(),
            have.0,
            have.1,
            expected.component_size,
            expected.stride
        );
        out.add("W-layout", at + 4, message);
    }
    if let Some(offset) = symbol.offset().filter(|offset| offset % expected.alignment != 0) {
        let message = format!("`{name}`: offset {offset} is no multiple of {}", expected.alignment);
        out.add("W-align", symbol.offset_at(), message);
    }
    if rules == Rules::Rows {
        check_row(symbol, &name, out);
    }
}

/// A vector must not run over the end of its row.
fn check_row(symbol: &Symbol, name: &str, out: &mut Findings) {
    let Some(offset) = symbol.offset() else { return };
    let is_vector = symbol.symbol_type() != Some(SymbolType::Matrix);
    if is_vector && offset % 4 + symbol.component_count > 4 {
        let message = format!("`{name}`: {} floats from column {}", symbol.component_count, offset % 4);
        out.add("W-align", symbol.offset_at(), message);
    }
}

impl Symbol {
    fn offset_at(&self) -> usize {
        let field = match self.tail {
            Tail::Full { .. } => 16,
            Tail::Short { .. } => 14,
        };
        self.record_at.offset() + field
    }

    /// Floats of the last element that are really used: narrow symbols of the geometry processor have stride 4 but
    /// use their own columns only.
    fn used(&self) -> u32 {
        let (count, size) = (u32::from(self.component_count), u32::from(self.component_size));
        match self.symbol_type() {
            Some(SymbolType::Struct) => size,
            Some(SymbolType::Matrix) => count.saturating_sub(1) * size + count.min(size),
            Some(SymbolType::Sampler2D | SymbolType::SamplerCube | SymbolType::SamplerExternal) => 1,
            _ => count,
        }
    }

    /// Just past the last float used, from the start of the area or parent.
    fn end(&self) -> Option<u64> {
        let last = u64::from(self.entries.max(1) - 1) * u64::from(self.stride);
        Some(u64::from(self.offset()?) + last + u64::from(self.used()))
    }
}

/// How ARM's compiler for the geometry processor names the literal constants of a program. It puts them behind the area whose
/// size it records (seen in every file of it that has some; containers.md §1.3).
const LITERAL: &str = "?__maligp2_constant_";

fn check_space(symbols: &[&Symbol], space: u32, out: &mut Findings) {
    for symbol in symbols.iter().filter(|symbol| !symbol.name.to_text().starts_with(LITERAL)) {
        let room = match symbol.parent() {
            None => Some(space),
            Some(parent) => symbols.get(usize::from(parent)).map(|parent| u32::from(parent.component_size)),
        };
        let (Some(room), Some(end)) = (room, symbol.end()) else { continue };
        if end > u64::from(room) {
            let message = format!("`{}` ends at {end}, the area at {room}", symbol.name.to_text());
            out.add("W-space", symbol.offset_at(), message);
        }
    }
}

/// Marks the floats of each symbol; a symbol stops at the first float it finds taken, so that the work is bounded
/// by the area and not by what a file claims.
fn check_overlap(symbols: &[&Symbol], out: &mut Findings) {
    let mut groups: BTreeMap<Option<u16>, Vec<&Symbol>> = BTreeMap::new();
    for symbol in symbols {
        groups.entry(symbol.parent()).or_default().push(symbol);
    }
    for group in groups.values().filter(|group| group.len() > 1) {
        let most = group.iter().filter_map(|symbol| symbol.end()).max().unwrap_or(0).min(1 << 16);
        let mut taken = vec![false; most as usize];
        for symbol in group {
            if let Some(float) = symbol.spans().map_while(|span| mark(&mut taken, span)).flatten().next() {
                let message = format!("`{}` shares float {float} with another symbol", symbol.name.to_text());
                out.add("W-overlap", symbol.offset_at(), message);
            }
        }
    }
}

/// Marks a span: `None` outside the area, else the first float that was taken already.
fn mark(taken: &mut [bool], span: Range<u64>) -> Option<Option<u64>> {
    let area = taken.len() as u64;
    let start = usize::try_from(span.start).ok()?;
    let cells = taken.get_mut(start..span.end.min(area) as usize).filter(|cells| !cells.is_empty())?;
    let found = cells.iter().position(|&cell| cell).map(|cell| span.start + cell as u64);
    cells.fill(true);
    Some(found)
}

impl Symbol {
    /// The floats used as runs, ascending for every layout the format knows.
    fn spans(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        let (entries, stride) = (u64::from(self.entries.max(1)), u64::from(self.stride));
        let (used, size) = (u64::from(self.used()), u64::from(self.component_size));
        let (columns, width) = match self.symbol_type() {
            Some(SymbolType::Matrix) => {
                (u64::from(self.component_count), used.min(u64::from(self.component_count)))
            }
            _ => (1, used),
        };
        // Elements that touch are one run.
        let (entries, stride, columns, width) = match used == stride && columns <= 1 {
            true => (1, 0, 1, entries * stride),
            false => (entries, stride, columns, width),
        };
        let start = self.offset().map(u64::from).filter(|_| width > 0);
        let places = start.into_iter().flat_map(move |start| {
            (0..entries)
                .flat_map(move |entry| (0..columns).map(move |column| start + entry * stride + column * size))
        });
        places.map(move |start| start..start + width)
    }
}

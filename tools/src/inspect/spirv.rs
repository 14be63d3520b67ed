//! SPIR-V modules: header, capabilities and entry points.

use crate::json::Value;
use rspirv::dr::{self, Operand};
use shader_containers::Finding;
use std::io::{self, Write};

const MAGIC: u32 = 0x0723_0203;
const HEADER_WORDS: usize = 5;

/// A module that rspirv could read.
pub struct Module {
    version: (u8, u8),
    generator: u32,
    bound: u32,
    big_endian: bool,
    instructions: usize,
    capabilities: Vec<String>,
    entry_points: Vec<EntryPoint>,
}

struct EntryPoint {
    model: String,
    name: String,
    interface: usize,
    modes: Vec<String>,
}

/// Whether the first word is the magic in either byte order.
pub fn is_spirv(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|first| [MAGIC.to_le_bytes(), MAGIC.to_be_bytes()].contains(first))
}

impl Module {
    /// Reads a module.
    ///
    /// # Errors
    /// V01 no SPIR-V, V02 sizes do not tile the module, V03 rspirv refuses it.
    pub fn parse(bytes: &[u8]) -> Result<Module, Finding> {
        if !is_spirv(bytes) {
            return Err(Finding::new("V01", 0, "no SPIR-V magic"));
        }
        let big_endian = bytes[0] == MAGIC.to_be_bytes()[0];
        let words = words(bytes, big_endian)?;
        let instructions = walk(&words)?;
        let refused = |error| Finding::new("V03", 0, format!("{error}"));
        let module = dr::load_words(&words).map_err(refused)?;
        let (version, generator, bound) = (words[1], words[2], words[3]);
        Ok(Module {
            version: ((version >> 16) as u8, (version >> 8) as u8),
            generator,
            bound,
            big_endian,
            instructions,
            capabilities: module.capabilities.iter().filter_map(|i| i.operands.first()).map(name).collect(),
            entry_points: module.entry_points.iter().map(|entry| entry_point(entry, &module)).collect(),
        })
    }

    /// Prints the tree below the file's line.
    pub fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let order = if self.big_endian { ", big endian" } else { "" };
        let (major, minor) = self.version;
        let (generator, bound) = (self.generator, self.bound);
        writeln!(out, "  SPIR-V {major}.{minor}, generator 0x{generator:08x}, bound {bound}{order}")?;
        writeln!(out, "  {} instructions, capabilities: {}", self.instructions, self.capabilities.join(" "))?;
        for entry in &self.entry_points {
            let modes = entry.modes.join(", ");
            let modes = if modes.is_empty() { modes } else { format!(", {modes}") };
            writeln!(
                out,
                "  entry {} {}: {} interface variables{modes}",
                entry.model, entry.name, entry.interface
            )?;
        }
        Ok(())
    }

    /// The `content` field of the JSON document.
    pub fn json(&self) -> Value {
        let entries = self.entry_points.iter().map(|entry| {
            Value::object([
                ("model", Value::from(&entry.model[..])),
                ("name", Value::from(&entry.name[..])),
                ("interface", Value::from(entry.interface)),
                ("modes", entry.modes.iter().map(|mode| &mode[..]).collect()),
            ])
        });
        Value::object([
            ("version", [self.version.0, self.version.1].into_iter().collect()),
            ("generator", Value::from(self.generator)),
            ("bound", Value::from(self.bound)),
            ("big_endian", Value::from(self.big_endian)),
            ("instructions", Value::from(self.instructions)),
            ("capabilities", self.capabilities.iter().map(|name| &name[..]).collect()),
            ("entry_points", entries.collect()),
        ])
    }
}

fn words(bytes: &[u8], big_endian: bool) -> Result<Vec<u32>, Finding> {
    if bytes.len() % 4 != 0 || bytes.len() < 4 * HEADER_WORDS {
        let message = format!("{} bytes are no whole words with a header", bytes.len());
        return Err(Finding::new("V02", bytes.len() & !3, message));
    }
    let word = |four: &[u8]| {
        let four = [four[0], four[1], four[2], four[3]];
        if big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
    };
    Ok(bytes.chunks_exact(4).map(word).collect())
}

/// Word counts must not be zero and must tile the module exactly: rspirv panics on modules cut inside a string.
fn walk(words: &[u32]) -> Result<usize, Finding> {
    let (mut at, mut count) = (HEADER_WORDS, 0);
    while at < words.len() {
        let size = (words[at] >> 16) as usize;
        if size == 0 || size > words.len() - at {
            let message = format!("instruction of {size} words, {} left", words.len() - at);
            return Err(Finding::new("V02", 4 * at, message));
        }
        at += size;
        count += 1;
    }
    Ok(count)
}

fn name(operand: &Operand) -> String {
    match operand {
        Operand::Capability(value) => format!("{value:?}"),
        Operand::ExecutionModel(value) => format!("{value:?}"),
        Operand::ExecutionMode(value) => format!("{value:?}"),
        Operand::LiteralString(text) => text.clone(),
        other => other.to_string(),
    }
}

fn entry_point(entry: &dr::Instruction, module: &dr::Module) -> EntryPoint {
    let operand = |index: usize| entry.operands.get(index).map(name).unwrap_or_default();
    let function = entry.operands.get(1);
    let modes = module.execution_modes.iter().filter(|mode| mode.operands.first() == function);
    let modes =
        modes.map(|mode| mode.operands.iter().skip(1).map(name).collect::<Vec<_>>().join(" ")).collect();
    EntryPoint {
        model: operand(0),
        name: operand(2),
        interface: entry.operands.len().saturating_sub(3),
        modes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OpCapability Shader, OpMemoryModel, OpEntryPoint Fragment %4 "main", OpExecutionMode OriginUpperLeft, and
    /// an empty function.
    #[rustfmt::skip]
    const SMALL: [u32; 32] = [
        MAGIC, 0x0001_0000, 0, 5, 0,
        0x0002_0011, 1,
        0x0003_000E, 0, 1,
        0x0005_000F, 4, 4, 0x6E69_616D, 0,
        0x0003_0010, 4, 7,
        0x0002_0013, 2,
        0x0003_0021, 3, 2,
        0x0005_0036, 2, 4, 0, 3,
        0x0002_00F8, 1,
        0x0001_00FD, 0x0001_0038,
    ];

    fn bytes(words: &[u32], order: fn(u32) -> [u8; 4]) -> Vec<u8> {
        words.iter().flat_map(|&word| order(word)).collect()
    }

    #[test]
    fn entry_points_in_both_byte_orders() {
        for order in [u32::to_le_bytes, u32::to_be_bytes] {
            let module = Module::parse(&bytes(&SMALL, order)).unwrap_or_else(|finding| panic!("{finding}"));
            assert_eq!(module.capabilities, ["Shader"]);
            let entry = &module.entry_points[0];
            assert_eq!((&entry.model[..], &entry.name[..], entry.interface), ("Fragment", "main", 0));
            assert_eq!(entry.modes, ["OriginUpperLeft"]);
        }
    }

    #[test]
    fn truncation_never_panics() {
        let file = bytes(&SMALL, u32::to_le_bytes);
        for length in 0..file.len() {
            let _ = Module::parse(&file[..length]);
        }
        let mut long_string = SMALL;
        long_string[10] = 0x0004_000F;
        let _ = Module::parse(&bytes(&long_string[..14], u32::to_le_bytes));
    }
}

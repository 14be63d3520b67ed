//! SPIR-V files: their entry points, declared vertex inputs, and the text of their source lines.

use crate::input;
use crate::output::Error;
use rspirv::dr::{self, Operand};
use rspirv::spirv::{Decoration, ExecutionModel, Op, StorageClass};
use std::path::Path;
use vc4_shaders::ir::{SourceLine, Stage};

const MAGIC: u32 = 0x0723_0203;
const HEADER_WORDS: usize = 5;

/// A SPIR-V file.
pub struct Module {
    /// The file's name.
    pub name: String,
    /// Its words, in the machine's byte order.
    pub words: Vec<u32>,
    /// What rspirv makes of it; `None` if it refuses, the compiler then says why.
    parsed: Option<dr::Module>,
}

/// A vertex input as its type says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Vertex input location.
    pub location: u32,
    /// Components, 1 to 4.
    pub components: u8,
}

impl Module {
    /// Reads a file, or standard input for `-`.
    pub fn read(path: &Path) -> Result<Module, Error> {
        let input::Input { name, bytes } = input::read(Some(path))?;
        let wrong = |what: String| Err(Error::Input(format!("{name}: {what}")));
        if bytes.len() % 4 != 0 || bytes.len() < 4 * HEADER_WORDS {
            return wrong(format!("{} bytes are no SPIR-V: whole words and a header", bytes.len()));
        }
        let word = |four: &[u8]| u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        let mut words: Vec<u32> = bytes.chunks_exact(4).map(word).collect();
        if words[0] == MAGIC.swap_bytes() {
            words.iter_mut().for_each(|word| *word = word.swap_bytes());
        }
        if words[0] != MAGIC {
            return wrong(format!("no SPIR-V: the first word is {:#010x}, not {MAGIC:#010x}", words[0]));
        }
        // rspirv panics on modules that end within a string: only those that tile reach it.
        let tiles = instructions(&words).last().is_none_or(|(at, length, _)| at + length == words.len());
        let parsed = if tiles { dr::load_words(&words).ok() } else { None };
        Ok(Module { name, words, parsed })
    }

    /// Stage and name of every vertex, fragment and compute entry point.
    pub fn entry_points(&self) -> Vec<(Stage, String)> {
        let Some(module) = &self.parsed else { return Vec::new() };
        let entry = |inst: &dr::Instruction| match (inst.operands.first()?, inst.operands.get(2)?) {
            (Operand::ExecutionModel(model), Operand::LiteralString(name)) => {
                let stage = match model {
                    ExecutionModel::Vertex => Stage::Vertex,
                    ExecutionModel::Fragment => Stage::Fragment,
                    ExecutionModel::GLCompute => Stage::Compute,
                    _ => return None,
                };
                Some((stage, name.clone()))
            }
            _ => None,
        };
        module.entry_points.iter().filter_map(entry).collect()
    }

    /// The vertex inputs, one row per location.
    pub fn inputs(&self) -> Vec<Declared> {
        let Some(module) = &self.parsed else { return Vec::new() };
        let mut out = Vec::new();
        for variable in &module.types_global_values {
            let input = variable.class.opcode == Op::Variable
                && variable.operands.first() == Some(&Operand::StorageClass(StorageClass::Input));
            let location = variable.result_id.and_then(|id| decoration(module, id, Decoration::Location));
            if let (true, Some(location), Some(pointer)) = (input, location, variable.result_type) {
                if let Some(Operand::IdRef(pointee)) =
                    definition(module, pointer).and_then(|d| d.operands.get(1))
                {
                    locations(module, *pointee, location, &mut out);
                }
            }
        }
        out.sort_by_key(|input| input.location);
        out
    }

    /// The text of a line, if OpSource and OpSourceContinued hold it.
    pub fn source_text(&self, place: &SourceLine) -> Option<String> {
        let module = self.parsed.as_ref()?;
        let mut text = None::<String>;
        for inst in &module.debug_string_source {
            let literal = inst.operands.iter().rev().find_map(|operand| match operand {
                Operand::LiteralString(text) => Some(text),
                _ => None,
            });
            let is_file = |id: u32| self.string(id).is_some_and(|name| *name == *place.file);
            match inst.class.opcode {
                Op::Source if text.is_some() => break,
                Op::Source
                    if inst.operands.iter().any(|o| matches!(o, Operand::IdRef(id) if is_file(*id))) =>
                {
                    text = literal.cloned();
                }
                Op::SourceContinued => {
                    if let (Some(text), Some(more)) = (&mut text, literal) {
                        text.push_str(more);
                    }
                }
                _ => {}
            }
        }
        let index = usize::try_from(place.line).ok()?.checked_sub(1)?;
        text?.lines().nth(index).map(str::to_owned)
    }

    /// The text that OpString gives an id.
    fn string(&self, id: u32) -> Option<&str> {
        let module = self.parsed.as_ref()?;
        let is_it = |inst: &&dr::Instruction| inst.class.opcode == Op::String && inst.result_id == Some(id);
        match module.debug_string_source.iter().find(is_it)?.operands.first()? {
            Operand::LiteralString(text) => Some(text),
            _ => None,
        }
    }
}

/// Offset, length and opcode of every instruction, as far as they tile.
fn instructions(words: &[u32]) -> impl Iterator<Item = (usize, usize, u32)> + '_ {
    let mut at = HEADER_WORDS;
    std::iter::from_fn(move || {
        let head = *words.get(at)?;
        let (start, length) = (at, (head >> 16) as usize);
        if length == 0 || length > words.len() - at {
            return None;
        }
        at += length;
        Some((start, length, head & 0xffff))
    })
}

fn definition(module: &dr::Module, id: u32) -> Option<&dr::Instruction> {
    module.types_global_values.iter().find(|inst| inst.result_id == Some(id))
}

/// The number that a decoration gives an id.
fn decoration(module: &dr::Module, id: u32, wanted: Decoration) -> Option<u32> {
    module.annotations.iter().find_map(|inst| match &inst.operands[..] {
        [Operand::IdRef(target), Operand::Decoration(kind), Operand::LiteralBit32(value)]
            if *target == id && *kind == wanted =>
        {
            Some(*value)
        }
        _ => None,
    })
}

/// Locations are as many as the machine could never fetch: what is beyond is wrong anyway.
const LOCATIONS: usize = 64;

/// Adds the locations of a type and returns the one behind them.
fn locations(module: &dr::Module, ty: u32, location: u32, out: &mut Vec<Declared>) -> u32 {
    let Some(inst) = definition(module, ty) else { return location };
    let repeated = |out: &mut Vec<Declared>, element: u32, count: u32| {
        let mut next = location;
        for _ in 0..count {
            if out.len() >= LOCATIONS {
                break;
            }
            next = locations(module, element, next, out);
        }
        next
    };
    match (inst.class.opcode, &inst.operands[..]) {
        (Op::TypeInt | Op::TypeFloat, _) => {
            out.push(Declared { location, components: 1 });
            location.saturating_add(1)
        }
        (Op::TypeVector, [_, Operand::LiteralBit32(count)]) => {
            out.push(Declared { location, components: (*count).clamp(1, 4) as u8 });
            location.saturating_add(1)
        }
        (Op::TypeMatrix, [Operand::IdRef(column), Operand::LiteralBit32(count)]) => {
            repeated(out, *column, *count)
        }
        (Op::TypeArray, [Operand::IdRef(element), Operand::IdRef(length)]) => {
            let length = definition(module, *length).and_then(|inst| inst.operands.first());
            match length {
                Some(Operand::LiteralBit32(count)) => repeated(out, *element, *count),
                _ => location,
            }
        }
        _ => location,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rspirv::binary::Assemble;
    use rspirv::dr::Builder;
    use rspirv::spirv::{AddressingModel, Capability, MemoryModel, SourceLanguage};

    fn module(build: impl FnOnce(&mut Builder)) -> Module {
        let mut builder = Builder::new();
        builder.set_version(1, 0);
        builder.capability(Capability::Shader);
        builder.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
        build(&mut builder);
        let parsed = builder.module();
        Module { name: "test".into(), words: parsed.assemble(), parsed: Some(parsed) }
    }

    #[test]
    fn lines_have_their_text() {
        let module = module(|b| {
            let (file, other) = (b.string("a.frag"), b.string("b.frag"));
            b.source(SourceLanguage::GLSL, 450, Some(other), Some("other\n"));
            b.source(SourceLanguage::GLSL, 450, Some(file), Some("first\nsecond\nthird\n"));
        });
        let text = |file: &str, line| module.source_text(&SourceLine { file: file.into(), line, column: 0 });
        assert_eq!(text("a.frag", 2).as_deref(), Some("second"));
        assert_eq!(text("b.frag", 1).as_deref(), Some("other"));
        assert_eq!(text("a.frag", 4), None);
        assert_eq!(text("a.frag", 0), None);
        assert_eq!(text("c.frag", 1), None);
    }

    #[test]
    fn inputs_are_as_declared() {
        let module = module(|b| {
            let (word, float) = (b.type_int(32, 0), b.type_float(32, None));
            let vec3 = b.type_vector(float, 3);
            let matrix = b.type_matrix(vec3, 2);
            let two = b.constant_bit32(word, 2);
            let array = b.type_array(float, two);
            for (ty, location) in [(array, 7), (matrix, 2), (word, 0)] {
                let pointer = b.type_pointer(None, StorageClass::Input, ty);
                let variable = b.variable(pointer, None, StorageClass::Input, None);
                b.decorate(variable, Decoration::Location, [Operand::LiteralBit32(location)]);
            }
        });
        let inputs: Vec<_> = module.inputs().iter().map(|i| (i.location, i.components)).collect();
        assert_eq!(inputs, [(0, 1), (2, 3), (3, 3), (7, 1), (8, 1)]);
    }
}

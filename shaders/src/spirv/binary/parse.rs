//! Words to instructions: byte order, tiling, grammar.
//!
//! rspirv decodes operands. Before it may look, a walk of our own makes sure that word counts are not zero and tile the
//! module exactly, because its decoder panics on string literals that run past the end. `OpSpecConstantOp` is
//! decoded here: rspirv reads one operand where the grammar allows many, and panics on some opcodes inside it.

use rspirv::binary::{Consumer, ParseAction, ParseState, Parser};
use rspirv::dr;
use spirv::Op;

use super::line::Lines;
use crate::ir::LineId;
use crate::spirv::error::{Result, SpirvError};

pub use rspirv::dr::Operand;

/// A result id; 0 is none.
pub type Id = u32;

pub const HEADER_WORDS: usize = 5;

/// An instruction with its place.
#[derive(Clone, Debug)]
pub struct Inst {
    /// Operation.
    pub op: Op,
    /// Result type id, 0 if none.
    pub ty: Id,
    /// Result id, 0 if none.
    pub id: Id,
    /// Operands after type and result.
    pub operands: Vec<Operand>,
    /// Word offset in the module.
    pub word: usize,
    /// Source line.
    pub line: LineId,
}

impl Inst {
    /// A broken rule of SPIR-V at this instruction.
    pub fn invalid(&self, reason: impl Into<String>) -> SpirvError {
        let instruction = match self.id {
            0 => format!("Op{:?}", self.op),
            id => format!("%{id} = Op{:?}", self.op),
        };
        SpirvError::Invalid { word: self.word, instruction, reason: reason.into() }
    }

    /// Something at this instruction that the compiler lacks.
    pub fn unsupported(&self, what: impl Into<String>, supported: &'static str) -> SpirvError {
        SpirvError::Unsupported { word: self.word, what: what.into(), supported }
    }

    /// A limit exceeded by this instruction.
    pub const fn too_large(&self, what: &'static str, limit: usize) -> SpirvError {
        SpirvError::TooLarge { word: self.word, what, limit }
    }

    /// Operand `index` as an id.
    pub fn id_at(&self, index: usize) -> Result<Id> {
        match self.operands.get(index) {
            Some(&(Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id))) => Ok(id),
            other => Err(self.invalid(format!("operand {index} is {other:?}, not an id"))),
        }
    }

    /// Operand `index` as a literal word.
    pub fn literal_at(&self, index: usize) -> Result<u32> {
        match self.operands.get(index) {
            Some(&(Operand::LiteralBit32(word) | Operand::LiteralExtInstInteger(word))) => Ok(word),
            other => Err(self.invalid(format!("operand {index} is {other:?}, not a literal"))),
        }
    }

    /// Operand `index` as a string.
    pub fn string_at(&self, index: usize) -> Result<&str> {
        match self.operands.get(index) {
            Some(Operand::LiteralString(text)) => Ok(text),
            other => Err(self.invalid(format!("operand {index} is {other:?}, not a string"))),
        }
    }

    /// The ids among the operands, in order.
    pub fn ids(&self) -> impl Iterator<Item = Id> + '_ {
        self.operands.iter().filter_map(|operand| match *operand {
            Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id) => Some(id),
            _ => None,
        })
    }

    /// The literal words among the operands, in order.
    pub fn literals(&self) -> Vec<u32> {
        let literal = |operand: &Operand| match *operand {
            Operand::LiteralBit32(word) => Some(word),
            _ => None,
        };
        self.operands.iter().filter_map(literal).collect()
    }
}

/// Decodes a module's instructions.
pub fn parse(words: &[u32]) -> Result<(Vec<Inst>, Lines)> {
    let words = in_host_order(words)?;
    let lines = Lines::read(&words);
    let Walk { padded, offsets, mut spec_ops } = walk(words)?;
    let mut collector = Collector { instructions: Vec::with_capacity(offsets.len()) };
    let mut bytes = Vec::with_capacity(4 * padded.len());
    padded.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    if let Err(state) = Parser::new(&bytes, &mut collector).parse() {
        let word = offsets.get(collector.instructions.len()).copied().unwrap_or(0);
        return Err(SpirvError::Decode { word, reason: reason_of(&state) });
    }
    let decoded = collector.instructions.into_iter().zip(&offsets).map(|(inst, &word)| Inst {
        op: inst.class.opcode,
        ty: inst.result_type.unwrap_or(0),
        id: inst.result_id.unwrap_or(0),
        operands: inst.operands,
        word,
        line: lines.at(word),
    });
    let mut instructions: Vec<Inst> = decoded.filter(|inst| inst.op != Op::Nop).collect();
    instructions.append(&mut spec_ops);
    instructions.sort_by_key(|inst| inst.word);
    Ok((instructions, lines))
}

fn reason_of(state: &ParseState) -> String {
    match state {
        ParseState::OpcodeUnknown(_, _, opcode) => format!("unknown opcode {opcode}"),
        ParseState::OperandExpected(..) => "an operand is missing".into(),
        ParseState::OperandExceeded(..) => "there are more operands than the grammar allows".into(),
        other => other.to_string(),
    }
}

/// The words with the magic number as it is written.
pub fn in_host_order(words: &[u32]) -> Result<Vec<u32>> {
    match words.first().copied() {
        Some(spirv::MAGIC_NUMBER) => Ok(words.to_vec()),
        Some(word) if word.swap_bytes() == spirv::MAGIC_NUMBER => {
            Ok(words.iter().map(|word| word.swap_bytes()).collect())
        }
        found => Err(SpirvError::Magic { found: found.unwrap_or(0) }),
    }
}

/// Outcome of the walk over word counts.
struct Walk {
    /// The words, with every `OpSpecConstantOp` replaced by `OpNop`s.
    padded: Vec<u32>,
    /// Word offset of every instruction of `padded`.
    offsets: Vec<usize>,
    spec_ops: Vec<Inst>,
}

fn walk(words: Vec<u32>) -> Result<Walk> {
    let total = words.len();
    let mut walk = Walk { padded: words, offsets: Vec::new(), spec_ops: Vec::new() };
    let mut word = HEADER_WORDS;
    if total < HEADER_WORDS {
        return Err(SpirvError::Tiling { word: 0, length: HEADER_WORDS, total });
    }
    while word < total {
        let length = (walk.padded[word] >> 16) as usize;
        if length == 0 || length > total - word {
            return Err(SpirvError::Tiling { word, length, total });
        }
        let opcode = walk.padded[word] & 0xffff;
        if opcode == Op::SpecConstantOp as u32 {
            walk.spec_ops.push(spec_constant_op(word, &walk.padded[word..word + length])?);
            walk.padded[word..word + length].fill(1 << 16 | Op::Nop as u32);
            walk.offsets.extend(word..word + length);
        } else {
            walk.offsets.push(word);
        }
        word += length;
    }
    Ok(walk)
}

/// Decodes `OpSpecConstantOp`: all operands are ids, except the literal indices of three composite operations.
fn spec_constant_op(word: usize, words: &[u32]) -> Result<Inst> {
    let &[_, ty, id, opcode, ref rest @ ..] = words else {
        return Err(SpirvError::Decode { word, reason: "an operand is missing".into() });
    };
    let Some(inner) = Op::from_u32(opcode) else {
        return Err(SpirvError::Decode { word, reason: format!("unknown opcode {opcode}") });
    };
    let ids = match inner {
        Op::CompositeExtract => 1,
        Op::CompositeInsert | Op::VectorShuffle => 2,
        _ => rest.len(),
    };
    let mut operands = vec![Operand::LiteralSpecConstantOpInteger(inner)];
    operands.extend(rest.iter().take(ids).map(|&id| Operand::IdRef(id)));
    operands.extend(rest.iter().skip(ids).map(|&word| Operand::LiteralBit32(word)));
    Ok(Inst { op: Op::SpecConstantOp, ty, id, operands, word, line: LineId::NONE })
}

struct Collector {
    instructions: Vec<dr::Instruction>,
}

impl Consumer for Collector {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_header(&mut self, _header: dr::ModuleHeader) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_instruction(&mut self, inst: dr::Instruction) -> ParseAction {
        self.instructions.push(inst);
        ParseAction::Continue
    }
}

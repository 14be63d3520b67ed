//! Words to instructions: byte order, tiling, grammar.
//!
//! rspirv decodes operands. Before it may look, a walk of our own makes sure that word counts are not zero and tile the
//! module exactly, because its decoder panics on string literals that run past the end. `OpSpecConstantOp` is
//! decoded here: rspirv reads one operand where the grammar allows many, and panics on some opcodes inside it. Names and sources
//! are left out: they mean nothing to a program, and rspirv refuses strings that are no UTF-8.

use rspirv::binary::{Consumer, ParseAction, ParseState, Parser};
use rspirv::dr;
use spirv::Op;

use super::inst::{HEADER_WORDS, Inst, Operand};
use super::line::Lines;
use crate::ir::LineId;
use crate::spirv::error::{Result, SpirvError};

/// Decodes a module's instructions.
pub fn parse(words: &[u32]) -> Result<(Vec<Inst>, Lines)> {
    let words = in_host_order(words)?;
    let lines = Lines::read(&words);
    let Walk { kept, offsets, mut spec_ops } = walk(words)?;
    let mut collector = Collector { instructions: Vec::with_capacity(offsets.len()) };
    let bytes: Vec<u8> = kept.into_iter().flat_map(u32::to_le_bytes).collect();
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
    /// The words without every `OpSpecConstantOp` and what is [`for_people`].
    kept: Vec<u32>,
    /// Where every instruction of `kept` begins in the module.
    offsets: Vec<usize>,
    spec_ops: Vec<Inst>,
}

fn walk(mut words: Vec<u32>) -> Result<Walk> {
    let total = words.len();
    let (mut offsets, mut spec_ops) = (Vec::new(), Vec::new());
    let mut word = HEADER_WORDS;
    let mut end = HEADER_WORDS;
    if total < HEADER_WORDS {
        return Err(SpirvError::Tiling { word: 0, length: HEADER_WORDS, total });
    }
    while word < total {
        let length = (words[word] >> 16) as usize;
        if length == 0 || length > total - word {
            return Err(SpirvError::Tiling { word, length, total });
        }
        let opcode = words[word] & 0xffff;
        if opcode == Op::SpecConstantOp as u32 {
            spec_ops.push(spec_constant_op(word, &words[word..word + length])?);
        } else if !for_people(opcode) {
            offsets.push(word);
            words.copy_within(word..word + length, end);
            end += length;
        }
        word += length;
    }
    words.truncate(end);
    Ok(Walk { kept: words, offsets, spec_ops })
}

/// Whether an instruction says something to people only: names and sources, all of them with strings.
fn for_people(opcode: u32) -> bool {
    const OPS: [Op; 7] = [
        Op::Name,
        Op::MemberName,
        Op::String,
        Op::Source,
        Op::SourceContinued,
        Op::SourceExtension,
        Op::ModuleProcessed,
    ];
    OPS.iter().any(|op| *op as u32 == opcode)
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

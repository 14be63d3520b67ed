//! An instruction with its place, and errors about it.

use spirv::Op;

use crate::ir::LineId;
use crate::spirv::error::{Result, SpirvError};

pub use rspirv::dr::Operand;

/// A result id; 0 is none.
pub type Id = u32;

/// Words in front of the first instruction.
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

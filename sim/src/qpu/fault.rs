//! What a program did that the machine has no answer for.

use crate::memory::BusError;

/// A program did what the machine has no answer for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A read outside of memory (instruction, uniform, texture).
    #[error(transparent)]
    Bus(#[from] BusError),
    /// The word is no instruction.
    #[error("instruction {index}: {error}")]
    Decode {
        /// Instruction number from the program start.
        index: u32,
        /// What is wrong with the word.
        error: vc4::qpu::DecodeError,
    },
    /// The program uses something that this stage or this simulator does not have.
    #[error("instruction {index}: {what}")]
    Unsupported {
        /// Instruction number from the program start.
        index: u32,
        /// What, and what to use instead.
        what: String,
    },
    /// The program ran longer than any real one: on the chip, the hang check would fire.
    #[error("program still running after {0} instructions")]
    Endless(u64),
    /// A neighbour of the QPU found fault with what the program did to it.
    #[error("{0}")]
    Port(String),
}

impl Fault {
    /// A fault of a neighbour, which does not know the instruction.
    pub(crate) fn port(what: impl Into<String>) -> Fault {
        Fault::Port(what.into())
    }

    /// The fault with its place: neighbours do not know the instruction.
    #[must_use]
    pub fn at(self, index: u32) -> Fault {
        match self {
            Fault::Port(what) => Fault::Unsupported { index, what },
            other => other,
        }
    }
}

/// What instruction `index` asks for does not exist here.
pub(super) fn unsupported(index: u32, what: impl Into<String>) -> Fault {
    Fault::Unsupported { index, what: what.into() }
}

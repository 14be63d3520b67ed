//! An instruction of the schedule with the operations that it came from.

use smallvec::SmallVec;
use vc4::qpu::{Inst, RaddrB, Signal, Waddr};

use crate::backend::virt::StreamWord;

/// An instruction and the operations in it, as indices into the program.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The instruction.
    pub inst: Inst,
    /// Its operations; empty for a no-operation.
    pub ops: SmallVec<[usize; 2]>,
    /// The word of the stream that the instruction takes.
    pub word: Word,
}

/// The word of the stream that an instruction takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// That of its operations, if they take one.
    OfOperations,
    /// None: that of its operations is in a register.
    Kept,
    /// One for later instructions, beside operations that take none.
    Other(StreamWord),
}

impl Slot {
    /// A slot without operations.
    pub fn nop() -> Slot {
        Slot { inst: Inst::NOP, ops: SmallVec::new(), word: Word::OfOperations }
    }

    /// Lets the instruction carry a signal too, if its word has room for one.
    pub fn add_signal(&mut self, signal: Signal) -> bool {
        match &mut self.inst {
            Inst::Alu(alu)
                if alu.sig == Signal::None
                    && !matches!(alu.raddr_b, RaddrB::Imm(_))
                    // The kernel wants the address of the stream set without a signal (SHD-20).
                    && alu.waddr_add != Waddr::UNIF_ADDR =>
            {
                alu.sig = signal;
                true
            }
            _ => false,
        }
    }
}

//! The QPU interpreter and what it is connected to.

pub(crate) mod check;
mod exec;
mod lanes;
mod program;
pub(crate) mod report;

pub use crate::stats::{Finding, INSTRUCTION_LIMIT, Note, Stats};
pub use exec::{Payload, Qpu, run};
pub use program::Program;

use crate::error::Stage;
use crate::memory::BusError;

/// Guesses about the QPU around its ALUs: where they stand, and the question to ask a real board.
pub const UNVERIFIED: &[(&str, &str)] = &[
    ("qpu::exec::REGISTER_BRANCH_ELEMENT", "Which element of its register does a register branch go to?"),
    (
        "qpu::program::packs_file_a",
        "Does a pack with pm = 0 act on accumulators and peripherals written through file A?",
    ),
    ("qpu::exec::flags_of_mul", "Do flags follow the mul result before or after its rotation and pack?"),
    ("qpu::program::unmapped", "What do read addresses without a register return?"),
    ("qpu::program::reverse_from", "Which element's bit does a rev_flag write take?"),
];

/// One 32-bit value per SIMD element.
pub type Lanes = [u32; vc4::hw::LANES];

/// One bit per SIMD element.
pub type LaneMask = u16;

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
    /// The fault with its place: neighbours do not know the instruction.
    #[must_use]
    pub fn at(self, index: u32) -> Fault {
        match self {
            Fault::Port(what) => Fault::Unsupported { index, what },
            other => other,
        }
    }
}

/// The fixed-function neighbours of a QPU during one program instance (qpu.md §4).
///
/// `mask` arguments hold the elements whose write condition was true.
pub trait Ports {
    /// What the program is run for.
    fn stage(&self) -> Stage {
        Stage::Fragment
    }
    /// A rule that the program broke since the last call; the access that broke it was given some meaning.
    fn take_note(&mut self) -> Option<Note> {
        None
    }
    /// Next varying: the partial sum A·dx + B·dy per element, and C as r5 will show it (§4.2).
    fn varying(&mut self) -> Result<(Lanes, Lanes), Fault>;
    /// VPM read set-up word (§4.9).
    fn vpm_read_setup(&mut self, word: u32) -> Result<(), Fault>;
    /// VPM write set-up word (§4.9).
    fn vpm_write_setup(&mut self, word: u32) -> Result<(), Fault>;
    /// Pops one vector of the VPM read FIFO.
    fn vpm_read(&mut self) -> Result<Lanes, Fault>;
    /// Writes one vector to the VPM.
    fn vpm_write(&mut self, value: &Lanes) -> Result<(), Fault>;
    /// Colour of the next sample from the tile buffer (§4.7).
    fn tlb_color_read(&mut self) -> Result<Lanes, Fault>;
    /// Colour to all samples (`all`) or to the next one.
    fn tlb_color_write(&mut self, mask: LaneMask, value: &Lanes, all: bool) -> Result<(), Fault>;
    /// Starts the depth and stencil test with these 24-bit values; failing and masked-out samples
    /// leave the multisample mask (§4.8, §3.4).
    fn tlb_z(&mut self, mask: LaneMask, z: &Lanes) -> Result<(), Fault>;
    /// Stencil set-up word (§4.8), element 0.
    fn tlb_stencil(&mut self, word: u32) -> Result<(), Fault>;
    /// The multisample mask of each element.
    fn ms_flags(&self) -> Lanes;
    /// Replaces the multisample mask.
    fn set_ms_flags(&mut self, mask: LaneMask, value: &Lanes);
    /// 1 in elements whose pixel belongs to a back-facing primitive.
    fn rev_flag(&self) -> Lanes;
    /// Replaces the facing of all elements.
    fn set_reverse(&mut self, _reverse: bool) {}
    /// Integer pixel coordinates, x and y.
    fn pixel_xy(&self) -> (Lanes, Lanes);
}

#[cfg(test)]
mod tests;

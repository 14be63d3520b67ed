//! How long an arm is, and how long one has to be for a branch.

use crate::ir::{Inst, Op, Shader};

/// Operations from which on an arm is worth a branch.
pub struct LongArm {
    /// All elements agree.
    pub uniform: u32,
    /// They may not, so that the arm is often run for the sake of a few.
    pub divergent: u32,
    /// All elements agree, and the other arm is long: there are branches anyway.
    pub beside: u32,
}

/// What has proved worth it.
pub const LONG_ARM: LongArm = LongArm { uniform: 32, divergent: 96, beside: 8 };

/// Operations that a lookup counts for: what it costs besides its own is time in the texture unit.
const LOOKUP: u32 = 8;

/// How much of an arm an instruction is.
pub fn weight(shader: &Shader, inst: Inst) -> u32 {
    match shader.insts[inst].op {
        op if stays_in_front(op) => 0,
        Op::TmuSample { .. } | Op::TmuDirect { .. } => LOOKUP,
        Op::PackUnorm8x4 => 4,
        Op::Select => 2,
        _ => 1,
    }
}

/// Whether an instruction has no code of its own, or none where it stands.
pub fn stays_in_front(op: Op) -> bool {
    op.is_leaf() || matches!(op, Op::Phi | Op::Varying(_) | Op::VpmRead(_) | Op::PayloadW | Op::PayloadZ)
}

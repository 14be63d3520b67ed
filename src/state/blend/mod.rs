//! Colour output: packing for the target's format, blending, logic operations and the write mask (v3d.md §13,
//! T-BLEND). The machine writes words; everything else is done here, per sample where the destination takes part: on
//! four bytes at once where that is exact enough (`bytes.rs`), else on floats (`floats.rs`).
//!
//! Equations and outputs are values; `emit.rs` writes them as a patch.

mod bytes;
mod emit;
mod equation;
mod floats;
mod logic;
mod output;
mod sources;
#[cfg(test)]
mod tests;

pub use bytes::blends_bytes;
pub use emit::{emit_color, emit_color_samples};
pub use equation::{Blend, BlendEquation, BlendFactor, BlendOp, LogicOp};
pub use output::{ColorOutput, logic_op_is_exact};

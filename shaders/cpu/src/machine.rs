//! What the generation of code has to know of the machine that runs it.

use cranelift_codegen::ir::Type;
use cranelift_codegen::isa::CallConv;

/// What the machine is like.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// How functions are called.
    pub convention: CallConv,
    /// Integers that hold addresses.
    pub address: Type,
    /// Whether it has instructions that round to integers.
    pub rounds: bool,
    /// Whether it is an interpreter, whose code calls by number and has no atomic instructions.
    pub interpreted: bool,
}

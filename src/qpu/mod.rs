//! The QPU: instruction set, words, text, meaning and rules (manual: qpu.md).

pub mod access;
pub mod alu;
pub mod asm;
pub mod cost;
pub mod disasm;
pub mod inst;
pub mod isa;
pub mod pack;
pub mod reference;
pub mod rules;
pub mod sfu;
pub mod uniforms;
pub mod variant;

pub use access::Access;
pub use alu::{AluResult, Lanes};
pub use asm::{AsmError, Assembled, Diagnostic, Label, Uniform, assemble};
pub use cost::Cost;
pub use disasm::disassemble;
pub use inst::{AluInst, BranchInst, DecodeError, Inst, LoadImmInst, LoadMode, RaddrB, SemaphoreInst};
pub use isa::{AddOp, BranchCond, Cond, MulOp, Mux, Pack, Raddr, RegFile, Signal, SmallImm, Unpack, Waddr};
pub use rules::{Declared, RULES, Rule, Stage, Violation, check_declared, check_program, min_distance};
pub use uniforms::{UniformRead, UniformSource, uniform_reads};

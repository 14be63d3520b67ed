//! The back end: machine operations in, instruction words and the recipe of their uniforms out.
//!
//! [`select`] covers the IR with operations on virtual registers, [`fuse`] removes copies, [`order`] arranges them, [`regalloc`] places them,
//! [`schedule`] pairs them into instructions, [`emit`] ends the program and lists its stream.

pub mod check_regalloc;
pub mod dag;
pub mod emit;
pub mod fuse;
pub mod order;
pub mod pair;
pub mod regalloc;
pub mod schedule;
pub mod select;
pub mod virt;

use vc4::qpu::{Inst, rules};

use crate::ir::{Shader, Stage};
use crate::program::Program;
use virt::VirtProgram;

/// Why a lowered shader does not become a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackendError {
    /// Control flow that lowering left.
    #[error(
        "the shader has loops or branches that could not be turned into straight-line code; bound its loops by constants"
    )]
    ControlFlow,
    /// An operation that the machine has not.
    #[error("no QPU code for {op}")]
    NotLowered {
        /// The operation.
        op: String,
    },
    /// A varying or attribute row that does not exist, or is read twice.
    #[error("input {0} is read twice or does not exist; the hardware delivers each input once")]
    InputOrder(u32),
    /// Too many values are alive at once.
    #[error(
        "{live} values are alive at operation {operation} of {total}, more than the register files hold; simplify the shader or split it over passes"
    )]
    RegisterPressure {
        /// Live values at the point.
        live: usize,
        /// The operation.
        operation: usize,
        /// Operations of the program.
        total: usize,
    },
    /// Copies to resolve operand conflicts did not settle.
    #[error("operands could not be placed in different register files; this is a bug in register allocation")]
    RegisterConflicts,
    /// The code does not do what was selected.
    #[error(
        "the generated code differs from the selected operations; this is a bug behind selection: {difference}"
    )]
    Miscompiled {
        /// What the outside sees first of it.
        difference: String,
    },
    /// The code breaks a restriction of the machine; the listing says where.
    #[error("the generated code breaks a rule of the QPU; this is a bug in scheduling:\n{0}")]
    Rules(String),
}

/// The inputs that the hardware delivers, used or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Attribute rows, or varyings with the implicit ones.
    pub count: u32,
    /// Bit n: varying n is flat, its C coefficient is its value.
    pub flat: u64,
}

/// Compiles a lowered shader.
pub fn compile(shader: &Shader, inputs: Inputs) -> Result<Program, BackendError> {
    let mut selected = select::select(shader, inputs)?;
    fuse::fuse(&mut selected);
    let code = shortest(&selected, shader.stage)?;
    if cfg!(debug_assertions) {
        check_rules(&code, shader.stage)?;
        check_regalloc::check(&selected, &code)
            .map_err(|difference| BackendError::Miscompiled { difference })?;
    }
    Ok(code)
}

/// Live values from which an order frees registers before it hides latency.
const PRESSURES: [usize; 3] = [12, 24, 48];

/// Tries several orders, from the tightest on, and keeps the shortest code. The tightest one decides whether the
/// program fits at all.
fn shortest(selected: &VirtProgram, stage: Stage) -> Result<Program, BackendError> {
    let mut best: Result<Program, BackendError> = finish(selected.clone(), stage);
    for pressure in PRESSURES {
        let ops = order::reorder(selected, pressure);
        let candidate = finish(VirtProgram { ops, regs: selected.regs.clone() }, stage);
        let better = match (&candidate, &best) {
            (Ok(candidate), Ok(best)) => candidate.code.len() < best.code.len(),
            (Ok(_), Err(_)) => true,
            (Err(_), _) => false,
        };
        if better {
            best = candidate;
        }
    }
    best
}

fn finish(mut program: VirtProgram, stage: Stage) -> Result<Program, BackendError> {
    let assignment = regalloc::allocate(&mut program)?;
    let slots = schedule::schedule(&program, &assignment);
    Ok(emit::emit(&program, &slots, stage))
}

/// In debug builds every program passes the restrictions that the scheduler keeps by construction.
fn check_rules(program: &Program, stage: Stage) -> Result<(), BackendError> {
    let insts: Vec<Inst> = program.code.iter().filter_map(|&word| Inst::decode(word).ok()).collect();
    let stage = match stage {
        Stage::Vertex => rules::Stage::Vertex,
        Stage::Fragment => rules::Stage::Fragment,
    };
    let violations = rules::check_program(stage, &insts);
    if violations.is_empty() { Ok(()) } else { Err(BackendError::Rules(rules::render(&insts, &violations))) }
}

//! The back end: machine operations in, instruction words and the recipe of their uniforms out.
//!
//! [`select`] covers the IR with operations on virtual registers, [`fuse`] removes copies, [`order`] arranges them and
//! lets [`order::threads`] divide them, [`regalloc::coalesce`] merges what loops carry, [`regalloc`] places them, [`schedule`] pairs them
//! into instructions, [`emit`] ends the program and lists its stream.

pub mod check_regalloc;
pub mod dag;
pub mod emit;
pub mod fuse;
pub mod order;
pub mod regalloc;
pub mod schedule;
pub mod select;
pub mod virt;

use vc4::qpu::{Inst, rules};

use crate::diagnostic::ErrorKind;
use crate::ir::{LineId, Shader, SourceLine, Stage};
use crate::program::Program;
use order::{Orders, threads};
use regalloc::coalesce;
use schedule::{Scheduler, Slot};
use virt::{Threads, VirtProgram};

/// Why a lowered shader does not become a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackendError {
    /// Control flow that lowering left.
    #[error(
        "the shader has loops or branches that lowering left in a form without code; bound its loops by constants"
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
        "{live} values are alive at operation {operation} of {total}{}: {inputs} inputs, {results} texture, buffer or \
         special-function results, {computed} computed ones; the register files hold fewer. Use values closer to \
         where they are made, or split the shader over passes",
        at(.place)
    )]
    RegisterPressure {
        /// Live values at the point.
        live: usize,
        /// Of these, varyings, attributes and other inputs.
        inputs: usize,
        /// Of these, results of lookups and of the SFU.
        results: usize,
        /// The others.
        computed: usize,
        /// The operation.
        operation: usize,
        /// Operations of the program.
        total: usize,
        /// The source line that it was made for.
        line: LineId,
        /// That line, if the module tells.
        place: Option<SourceLine>,
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

fn at(place: &Option<SourceLine>) -> String {
    place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default()
}

impl BackendError {
    /// What can be done about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            BackendError::ControlFlow | BackendError::RegisterPressure { .. } => ErrorKind::DoesNotFit,
            BackendError::NotLowered { .. } => ErrorKind::Unsupported,
            _ => ErrorKind::Bug,
        }
    }

    /// The error with its place in the shader's source.
    fn in_source(mut self, shader: &Shader) -> BackendError {
        if let BackendError::RegisterPressure { line, place, .. } = &mut self {
            *place = shader.source_line(*line).cloned();
        }
        self
    }
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
    let two = shader.stage == Stage::Fragment && threads::wanted(&selected.ops);
    let most = if two { Threads::Two } else { Threads::One };
    fuse::fuse(&mut selected, most);
    let code = best(&selected, shader.stage, most).map_err(|error| error.in_source(shader))?;
    if cfg!(debug_assertions) {
        check_rules(&code, shader.stage)?;
        check_regalloc::check(&selected, &code)
            .map_err(|difference| BackendError::Miscompiled { difference })?;
    }
    Ok(code)
}

/// Live values from which an order frees registers before it hides latency: so many as the files hold, and so few that
/// what is computed stays in accumulators.
const PRESSURES: [usize; 2] = [24, 6];
/// The same for programs that fit neither way.
const LAST_RESORTS: [usize; 2] = [12, 0];
/// Operations from which on the second order is worth its time although the first one fits.
const MANY: usize = 64;

/// The code for two threads where that is wanted and fits, else for one.
fn best(selected: &VirtProgram, stage: Stage, most: Threads) -> Result<Program, BackendError> {
    if most == Threads::Two {
        if let Ok(code) = shortest(selected, stage, Threads::Two) {
            return Ok(code);
        }
    }
    shortest(selected, stage, Threads::One)
}

/// Schedules with other preferences that a short program gets, and the instructions up to which it is short.
const RETRIES: u32 = 2;
const SHORT: usize = 160;

/// Tries several orders and keeps the shortest code. With one thread the order of the source is the last resort: it may
/// be what keeps values short-lived.
fn shortest(selected: &VirtProgram, stage: Stage, threads: Threads) -> Result<Program, BackendError> {
    let orders = Orders::new(selected, threads);
    let mut best = Err(BackendError::RegisterConflicts);
    let mut peak = usize::MAX;
    for pressure in PRESSURES.into_iter().chain(LAST_RESORTS) {
        let Some(orders) = &orders else { break };
        let enough = LAST_RESORTS.contains(&pressure) || selected.ops.len() < MANY;
        // Where so many values were never alive, the order is the last one.
        if peak < pressure || (best.is_ok() && enough) {
            continue;
        }
        let ordered = orders.order(pressure);
        peak = peak.min(ordered.peak);
        let ordered = VirtProgram { ops: ordered.ops, regs: selected.regs.clone() };
        best = shorter(best, ordered, stage, threads);
    }
    if threads == Threads::One && best.is_err() {
        best = shorter(best, selected.clone(), stage, threads);
    }
    Ok(best?.code(stage, threads))
}

/// The shorter one of `best` and what becomes of `program`.
fn shorter(
    best: Result<Finished, BackendError>,
    mut program: VirtProgram,
    stage: Stage,
    threads: Threads,
) -> Result<Finished, BackendError> {
    coalesce::coalesce(&mut program);
    let assignment = match regalloc::allocate(&mut program, threads) {
        Ok(assignment) => assignment,
        // Of two errors the later one counts: orders that free registers come last.
        Err(error) => return best.map_err(|_| error),
    };
    let limit = best.as_ref().map_or(usize::MAX, |best| most_slots(&best.slots, stage));
    let scheduler = Scheduler::new(program, assignment, threads);
    let schedule = scheduler.schedule(0, limit);
    match (schedule.map(|schedule| emit::end(schedule, stage)), best) {
        (Some(slots), Ok(best)) if best.slots.len() <= slots.len() => Ok(best),
        (Some(slots), _) => Ok(Finished { scheduler, slots }),
        (None, best) => best,
    }
}

/// Instructions in front of its end that a schedule shorter than `best` may have.
fn most_slots(best: &[Slot], stage: Stage) -> usize {
    best.len().saturating_sub(1 + emit::least_end(stage))
}

/// Code, and what scheduled it.
struct Finished {
    scheduler: Scheduler,
    slots: Vec<Slot>,
}

impl Finished {
    /// The code, or shorter one that other preferences lead to.
    fn code(self, stage: Stage, threads: Threads) -> Program {
        let Finished { scheduler, mut slots } = self;
        let retries = if slots.len() <= SHORT { RETRIES } else { 0 };
        for preference in 1..=retries {
            let other = scheduler.schedule(preference, most_slots(&slots, stage));
            let other = other.map(|schedule| emit::end(schedule, stage));
            slots = other.filter(|other| other.len() < slots.len()).unwrap_or(slots);
        }
        emit::emit(&scheduler.program, &slots, threads)
    }
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

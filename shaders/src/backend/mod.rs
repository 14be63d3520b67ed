//! The back end: machine operations in, instruction words and the recipe of their uniforms out.
//!
//! [`select`] covers the IR with operations on virtual registers, [`fuse`] removes copies, [`order`] arranges them and
//! lets [`order::threads`] divide them, [`regalloc::coalesce`] merges what loops carry, [`regalloc`] places them, [`schedule`] pairs them
//! into instructions, [`emit`] ends the program and lists its stream.

pub mod check_regalloc;
pub mod dag;
pub mod emit;
mod error;
pub mod fuse;
pub mod order;
pub mod regalloc;
pub mod schedule;
pub mod select;
pub mod virt;

use vc4::qpu::{Inst, rules};

use crate::ir::{Op, Shader, Stage};
use crate::program::Program;
use order::{Orders, threads};
use regalloc::coalesce;
use schedule::{Scheduler, Slot};
use virt::{Loc, Threads, VirtProgram};

pub use error::BackendError;
pub use select::Inputs;

/// Compiles a lowered shader.
pub fn compile(shader: &Shader, inputs: Inputs) -> Result<Program, BackendError> {
    if shader.stage == Stage::Compute {
        return Err(BackendError::Stage);
    }
    if let Some(error) = too_many_phis(shader) {
        return Err(error.in_source(shader));
    }
    code_of(shader, select::select(shader, inputs)?)
}

/// Compiles a lowered shader in an order that keeps few values alive: if they are more than there are places in this order, no other
/// one is looked for.
pub fn compile_ordered(shader: &Shader, inputs: Inputs) -> Result<Program, BackendError> {
    let selected = select::select(shader, inputs)?;
    match regalloc::overfull(&selected, Threads::One) {
        Some(error) => Err(error.in_source(shader)),
        None => code_of(shader, selected),
    }
}

/// The code of a shader from which operations were selected.
fn code_of(shader: &Shader, mut selected: VirtProgram) -> Result<Program, BackendError> {
    let two = shader.stage == Stage::Fragment && threads::wanted(&selected.ops);
    let most = if two { Threads::Two } else { Threads::One };
    fuse::fuse(&mut selected, most);
    let code = best(&selected, shader.stage, most).map_err(|error| error.in_source(shader))?;
    if cfg!(debug_assertions) {
        check(&selected, &code, shader.stage)?;
    }
    Ok(code)
}

/// Whether code does what was selected, and breaks no rule.
fn check(selected: &VirtProgram, code: &Program, stage: Stage) -> Result<(), BackendError> {
    check_rules(code, stage)?;
    check_regalloc::check(selected, code).map_err(|difference| BackendError::Miscompiled { difference })
}

/// Compiles a lowered shader whose values find no places for their whole lives, for one thread, with values that move between
/// places; `None` if there is not even that.
pub fn compile_moving(shader: &Shader, inputs: Inputs) -> Option<Result<Program, BackendError>> {
    let mut selected = select::select(shader, inputs).ok()?;
    fuse::fuse(&mut selected, Threads::One);
    let orders = Orders::new(&selected, Threads::One)?;
    let ordered = |r4_first| Some(orders.order(PRESSURES[0], r4_first, Threads::One.places())?.ops);
    let ordered = [false, true].into_iter().filter_map(ordered).chain([selected.ops.clone()]);
    let code = ordered.into_iter().find_map(|ops| {
        let mut program = VirtProgram { ops, regs: selected.regs.clone() };
        coalesce::coalesce(&mut program);
        let (program, assignment) = regalloc::allocate_moving(&program)?;
        let scheduler = Scheduler::new(program, assignment, Threads::One);
        let slots = emit::end(scheduler.schedule(0, usize::MAX)?, shader.stage);
        Some(emit::emit(&scheduler.program, &slots, Threads::One))
    })?;
    // So few programs come this way that each of them is checked, in all builds.
    Some(check(&selected, &code, shader.stage).map(|()| code))
}

/// The error of a block that begins with more phis than there are registers, as loops over long arrays do: no order helps.
fn too_many_phis(shader: &Shader) -> Option<BackendError> {
    let total = shader.insts_in_order().len();
    let mut operation = 0;
    shader.blocks_in_order().into_iter().find_map(|block| {
        let insts = &shader.blocks[block].insts;
        let phis = insts.iter().take_while(|&&inst| shader.insts[inst].op == Op::Phi).count();
        operation += insts.len();
        (phis > Loc::COUNT).then(|| BackendError::RegisterPressure {
            live: phis,
            inputs: 0,
            results: 0,
            computed: phis,
            operation: operation - insts.len(),
            total,
            line: shader.insts[insts[0]].line,
            place: None,
        })
    })
}

/// Live values from which an order frees registers before it hides latency: so many as the files hold, and so few that
/// what is computed stays in accumulators.
const PRESSURES: [usize; 2] = [24, 6];
/// Operations from which on the second order is worth its time although the first one fits.
const MANY: usize = 64;
/// Operations from which on there is none: whoever waits for such a program's pictures need not wait for the compiler, too.
const TOO_MANY: usize = 65_536;

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

/// Tries orders and keeps the shortest code. With one thread there are two last resorts: an order that keeps r4 free, and that of
/// the source, which may be what keeps values short-lived.
fn shortest(selected: &VirtProgram, stage: Stage, threads: Threads) -> Result<Program, BackendError> {
    let orders = Orders::new(selected, threads);
    let is_long = selected.ops.len() > TOO_MANY;
    let mut best = Err(BackendError::RegisterConflicts);
    let mut peak = usize::MAX;
    for pressure in PRESSURES.into_iter().take(if is_long { 1 } else { PRESSURES.len() }) {
        let Some(orders) = &orders else { break };
        // Where so many values were never alive, the order is the last one.
        if peak < pressure || !is_worth_another(&best, selected, threads) {
            break;
        }
        // How far the first one is from fitting says whether there is a second one.
        let most = if peak == usize::MAX { near(threads) } else { threads.places() };
        let Some(ordered) = orders.order(pressure, false, most) else { break };
        peak = peak.min(ordered.peak);
        let ordered = VirtProgram { ops: ordered.ops, regs: selected.regs.clone() };
        best = shorter(best, ordered, stage, threads);
    }
    if let (Threads::One, Err(_), Some(orders), false) = (threads, &best, &orders, is_long) {
        if let Some(ordered) = orders.order(PRESSURES[0], true, threads.places()) {
            let ordered = VirtProgram { ops: ordered.ops, regs: selected.regs.clone() };
            best = shorter(best, ordered, stage, threads);
        }
    }
    if threads == Threads::One && best.is_err() {
        best = shorter(best, selected.clone(), stage, threads);
    }
    Ok(best?.code(stage, threads))
}

/// Live values up to which an order is near to one that fits.
fn near(threads: Threads) -> usize {
    threads.places() * 3 / 2
}

/// Whether another order may be shorter than the code there is, or fit where there is none: where far more values are alive than
/// there are places for, it is not the order.
fn is_worth_another(best: &Result<Finished, BackendError>, selected: &VirtProgram, threads: Threads) -> bool {
    match best {
        Ok(_) => selected.ops.len() >= MANY,
        Err(BackendError::RegisterPressure { live, .. }) => *live <= near(threads),
        Err(_) => true,
    }
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

/// Whether a program passes the restrictions that the scheduler keeps by construction.
fn check_rules(program: &Program, stage: Stage) -> Result<(), BackendError> {
    let insts: Vec<Inst> = program.code.iter().filter_map(|&word| Inst::decode(word).ok()).collect();
    let stage = match stage {
        Stage::Vertex => rules::Stage::Vertex,
        Stage::Fragment => rules::Stage::Fragment,
        Stage::Compute => return Err(BackendError::Stage),
    };
    let violations = rules::check_program(stage, &insts);
    if violations.is_empty() { Ok(()) } else { Err(BackendError::Rules(rules::render(&insts, &violations))) }
}

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
use virt::{Loc, Operation, Threads, VirtProgram};

pub use error::BackendError;
pub use select::Inputs;

/// Compiles a lowered shader.
pub fn compile(shader: &Shader, inputs: Inputs) -> Result<Program, BackendError> {
    Ok(Selected::new(shader, inputs)?.code()?)
}

/// A lowered shader from which operations were selected: what all attempts at its code begin with.
pub struct Selected<'a> {
    shader: &'a Shader,
    program: VirtProgram,
    /// Threads that it may have.
    most: Threads,
    /// Values for which any order needs places.
    least_places: usize,
}

/// Orders in which values found no places for one thread, and what was wrong with the last one.
pub struct Failed {
    error: BackendError,
    orders: Vec<Vec<Operation>>,
}

impl Failed {
    /// Whether there are as many places as values: see [`BackendError::is_near`].
    pub fn is_near(&self) -> bool {
        self.error.is_near()
    }

    fn and(mut self, error: BackendError, order: Vec<Operation>) -> Failed {
        self.orders.push(order);
        Failed { error, ..self }
    }

    fn in_source(self, shader: &Shader) -> Failed {
        Failed { error: self.error.in_source(shader), ..self }
    }
}

impl From<BackendError> for Failed {
    fn from(error: BackendError) -> Failed {
        Failed { error, orders: Vec::new() }
    }
}

impl From<Failed> for BackendError {
    fn from(failed: Failed) -> BackendError {
        failed.error
    }
}

impl<'a> Selected<'a> {
    /// Selects operations.
    ///
    /// # Errors
    /// What the machine has not, or more phis than registers.
    pub fn new(shader: &'a Shader, inputs: Inputs) -> Result<Self, BackendError> {
        if shader.stage == Stage::Compute {
            return Err(BackendError::Stage);
        }
        if let Some(error) = too_many_phis(shader) {
            return Err(error.in_source(shader));
        }
        Ok(Selected::of(shader, select::select(shader, inputs)?))
    }

    /// Selects the operations of a shader in an order that keeps few values alive.
    ///
    /// # Errors
    /// As for [`Selected::new`]; and if they are more than there are places in this order, no other one is looked for.
    pub fn ordered(shader: &'a Shader, inputs: Inputs) -> Result<Self, BackendError> {
        let program = select::select(shader, inputs)?;
        match regalloc::overfull(&program, Threads::One) {
            Some(error) => Err(error.in_source(shader)),
            None => Ok(Selected::of(shader, program)),
        }
    }

    fn of(shader: &'a Shader, mut program: VirtProgram) -> Self {
        let two = shader.stage == Stage::Fragment && threads::wanted(&program.ops);
        let most = if two { Threads::Two } else { Threads::One };
        fuse::fuse(&mut program, most);
        let least_places = regalloc::least_places(&program);
        Selected { shader, program, most, least_places }
    }

    /// The code for two threads where that is wanted and fits, else for one.
    ///
    /// # Errors
    /// If values find no places.
    pub fn code(&self) -> Result<Program, Failed> {
        if let Some(code) = self.threaded() {
            return Ok(code?);
        }
        let code = self.shortest(Threads::One).map_err(|failed| failed.in_source(self.shader))?;
        Ok(self.checked(code)?)
    }

    /// The code for two threads, if that is wanted and fits.
    pub fn threaded(&self) -> Option<Result<Program, BackendError>> {
        let code = (self.most == Threads::Two).then(|| self.shortest(Threads::Two).ok()).flatten()?;
        Some(self.checked(code))
    }

    /// The code for one thread with values that move between places, in one of the orders in which [`Selected::code`] found none for
    /// their whole lives; `None` if there is not even that.
    pub fn moving(&self, failed: &Failed) -> Option<Result<Program, BackendError>> {
        let code = failed.orders.iter().find_map(|ops| {
            let mut program = VirtProgram { ops: ops.clone(), regs: self.program.regs.clone() };
            coalesce::coalesce(&mut program);
            let (program, assignment) = regalloc::allocate_moving(&program)?;
            let scheduler = Scheduler::new(program, assignment, Threads::One);
            let slots = emit::end(scheduler.schedule(0, usize::MAX)?, self.shader.stage);
            Some(emit::emit(&scheduler.program, &slots, Threads::One))
        })?;
        // So few programs come this way that each of them is checked, in all builds.
        Some(self.check(&code).map(|()| code))
    }

    fn checked(&self, code: Program) -> Result<Program, BackendError> {
        if cfg!(debug_assertions) {
            self.check(&code)?;
        }
        Ok(code)
    }

    /// Whether code does what was selected, and breaks no rule.
    fn check(&self, code: &Program) -> Result<(), BackendError> {
        check_rules(code, self.shader.stage)?;
        check_regalloc::check(&self.program, code)
            .map_err(|difference| BackendError::Miscompiled { difference })
    }

    /// Tries orders and keeps the shortest code. With one thread there are two last resorts: an order that keeps r4 free, and that of
    /// the source, which may be what keeps values short-lived.
    fn shortest(&self, threads: Threads) -> Result<Program, Failed> {
        let may_fit = self.least_places <= threads.places();
        let orders = may_fit.then(|| Orders::new(&self.program, threads)).flatten();
        let is_long = self.program.ops.len() > TOO_MANY;
        let mut best = Err(Failed::from(BackendError::RegisterConflicts));
        let mut peak = usize::MAX;
        for pressure in PRESSURES.into_iter().take(if is_long { 1 } else { PRESSURES.len() }) {
            let Some(orders) = &orders else { break };
            // Where so many values were never alive, the order is the last one.
            if peak < pressure || !is_worth_another(&best, &self.program, threads) {
                break;
            }
            // How far the first one is from fitting says whether there is a second one.
            let most = if peak == usize::MAX { near(threads) } else { threads.places() };
            let Some(ordered) = orders.order(pressure, false, most) else { break };
            peak = peak.min(ordered.peak);
            best = self.shorter(best, ordered.ops, threads);
        }
        if let (Threads::One, Err(_), Some(orders), false) = (threads, &best, &orders, is_long) {
            if let Some(ordered) = orders.order(PRESSURES[0], true, threads.places()) {
                best = self.shorter(best, ordered.ops, threads);
            }
        }
        if threads == Threads::One && best.is_err() {
            best = self.shorter(best, self.program.ops.clone(), threads);
        }
        Ok(best?.code(self.shader.stage, threads))
    }

    /// The shorter one of `best` and what becomes of the operations in this order.
    fn shorter(
        &self,
        best: Result<Finished, Failed>,
        ops: Vec<Operation>,
        threads: Threads,
    ) -> Result<Finished, Failed> {
        let stage = self.shader.stage;
        let mut program = VirtProgram { ops: ops.clone(), regs: self.program.regs.clone() };
        coalesce::coalesce(&mut program);
        let assignment = match regalloc::allocate(&mut program, threads) {
            Ok(assignment) => assignment,
            // Of two errors the later one counts: orders that free registers come last.
            Err(error) => return best.map_err(|failed| failed.and(error, ops)),
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

/// Schedules with other preferences that a short program gets, and the instructions up to which it is short.
const RETRIES: u32 = 2;
const SHORT: usize = 160;

/// Live values up to which an order is near to one that fits.
fn near(threads: Threads) -> usize {
    threads.places() * 3 / 2
}

/// Whether another order may be shorter than the code there is, or fit where there is none: where far more values are alive than
/// there are places for, it is not the order.
fn is_worth_another(best: &Result<Finished, Failed>, selected: &VirtProgram, threads: Threads) -> bool {
    match best {
        Ok(_) => selected.ops.len() >= MANY,
        Err(Failed { error: BackendError::RegisterPressure { live, .. }, .. }) => *live <= near(threads),
        Err(_) => true,
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
        schedule::keep(&scheduler.program, &mut slots, threads);
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

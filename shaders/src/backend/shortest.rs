//! The shortest code that a few tries find for selected operations: orders are allocated and scheduled, and so is what became of them.

use super::emit;
use super::error::BackendError;
use super::order::Orders;
use super::regalloc::{self, Idle, coalesce};
use super::schedule::{self, Scheduler, Slot};
use super::virt::{Operation, Threads, VirtProgram};
use crate::ir::{Shader, Stage};
use crate::program::Program;

/// Live values from which an order frees registers before it hides latency: so many as the files hold.
const FILES_HOLD: usize = 24;

/// The same for each order that is tried: so few that what is computed stays in accumulators, too. Vertex programs, whose rows come
/// and go in the order of FIFOs, often want something in between.
const fn pressures(stage: Stage) -> &'static [usize] {
    match stage {
        Stage::Fragment => &[FILES_HOLD, 6],
        Stage::Vertex | Stage::Compute => &[FILES_HOLD, 6, 12],
    }
}

/// Operations from which on another order is worth its time although the first one fits.
const MANY: usize = 64;
/// Operations from which on one order is tried, for one thread: whoever waits for such a program's pictures need not wait for the
/// compiler, too.
const TOO_MANY: usize = 65_536;

/// Schedules with other preferences that a short program gets.
const RETRIES: u32 = 2;

/// Instructions up to which a program is short. Longer fragment programs gain nothing by other preferences.
const fn short(stage: Stage) -> usize {
    match stage {
        Stage::Fragment => 48,
        Stage::Vertex | Stage::Compute => 160,
    }
}

/// Operations from which on the order of a program's own code is tried, too. Fragment programs have many ways to share instructions;
/// in short vertex programs it is rows that decide.
const fn gains_again(stage: Stage) -> usize {
    match stage {
        Stage::Fragment => 0,
        Stage::Vertex | Stage::Compute => 128,
    }
}

/// Orders in which values found no places for one thread, and what was wrong with the last one.
pub struct Failed {
    error: BackendError,
    /// The orders.
    pub orders: Vec<Vec<Operation>>,
}

impl Failed {
    /// Whether there are as many places as values: see [`BackendError::is_near`].
    pub fn is_near(&self) -> bool {
        self.error.is_near()
    }

    /// With the line of the source.
    pub fn in_source(self, shader: &Shader) -> Failed {
        Failed { error: self.error.in_source(shader), ..self }
    }

    fn and(mut self, error: BackendError, order: Vec<Operation>) -> Failed {
        self.orders.push(order);
        Failed { error, ..self }
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

/// What is looked for: the code of operations for so many threads.
pub struct Search<'a> {
    /// The operations.
    pub program: &'a VirtProgram,
    /// Their stage.
    pub stage: Stage,
    /// The threads.
    pub threads: Threads,
}

impl Search<'_> {
    /// Tries orders and returns the shortest code; any order needs `least_places`. With one thread there are two last resorts: an order
    /// that keeps r4 free, and that of the source, which may be what keeps values short-lived.
    ///
    /// # Errors
    /// If values find no places in any of the orders.
    pub fn shortest(&self, least_places: usize) -> Result<Program, Failed> {
        let &Search { program, threads, .. } = self;
        let is_long = program.ops.len() > TOO_MANY;
        let may_fit = least_places <= threads.places() && (threads == Threads::One || !is_long);
        let orders = may_fit.then(|| Orders::new(program, threads)).flatten();
        let mut best = Err(Failed::from(BackendError::RegisterConflicts));
        let mut peak = usize::MAX;
        for &pressure in pressures(self.stage).iter().take(if is_long { 1 } else { usize::MAX }) {
            let Some(orders) = &orders else { break };
            // Where so many values were never alive, the order is the last one.
            if peak < pressure || !self.is_worth_another(&best) {
                break;
            }
            // How far the first one is from fitting says whether there is a second one.
            let most = if peak == usize::MAX { near(threads) } else { threads.places() };
            let Some(ordered) = orders.order(pressure, false, most) else { break };
            peak = peak.min(ordered.peak);
            best = self.shorter(best, ordered.ops);
        }
        if let (Threads::One, Err(_), Some(orders), false) = (threads, &best, &orders, is_long) {
            if let Some(ordered) = orders.order(FILES_HOLD, true, threads.places()) {
                best = self.shorter(best, ordered.ops);
            }
        }
        let was_tried = is_long && peak < usize::MAX;
        if threads == Threads::One && best.is_err() && !was_tried {
            best = self.shorter(best, program.ops.clone());
        }
        Ok(self.program_of(best?))
    }

    /// Whether another order may be shorter than the code there is, or fit where there is none: where far more values are alive than
    /// there are places for, it is not the order.
    fn is_worth_another(&self, best: &Result<Code, Failed>) -> bool {
        match best {
            Ok(_) => self.program.ops.len() >= MANY,
            Err(Failed { error: BackendError::RegisterPressure { live, .. }, .. }) => {
                *live <= near(self.threads)
            }
            Err(_) => true,
        }
    }

    /// The shorter one of `best` and what becomes of the operations in this order.
    fn shorter(&self, best: Result<Code, Failed>, ops: Vec<Operation>) -> Result<Code, Failed> {
        let mut program = self.program.with_ops(ops.clone());
        coalesce::coalesce(&mut program);
        let (assignment, idle) = match regalloc::allocate(&mut program, self.threads) {
            Ok(allocated) => allocated,
            // Of two errors the later one counts: orders that free registers come last.
            Err(error) => return best.map_err(|failed| failed.and(error, ops)),
        };
        let limit = best.as_ref().map_or(usize::MAX, |best| self.less_than(&best.slots));
        let other = self.scheduled(Scheduler::new(program, assignment, self.threads), idle, limit);
        match (other, best) {
            (Some(other), Ok(best)) if best.slots.len() <= other.slots.len() => Ok(best),
            (Some(other), _) => Ok(other),
            (None, best) => best,
        }
    }

    /// The code of allocated operations, if they take at most `limit` instructions in front of their end.
    fn scheduled(&self, scheduler: Scheduler, idle: Idle, limit: usize) -> Option<Code> {
        let mut schedule = scheduler.schedule(0, limit)?;
        let order = std::mem::take(&mut schedule.order);
        Some(Code { slots: emit::end(schedule, self.stage), scheduler, order, idle })
    }

    /// Instructions in front of its end that code shorter than `slots` may have.
    fn less_than(&self, slots: &[Slot]) -> usize {
        slots.len().saturating_sub(1 + emit::least_end(self.stage))
    }

    /// Shorter code, if the operations have any in the order of the code that there is. It knows what shares an instruction, which the
    /// first order only guessed: places are given to values for as long as they really live.
    fn again(&self, code: &Code) -> Option<Code> {
        let limit = self.less_than(&code.slots);
        if code.scheduler.instructions() > limit {
            return None;
        }
        let program = &code.scheduler.program;
        let ops = code.idle.put_back(program, &code.order);
        let mut program = program.with_ops(ops);
        let (assignment, idle) = regalloc::allocate(&mut program, self.threads).ok()?;
        let other = self.scheduled(Scheduler::new(program, assignment, self.threads), idle, limit)?;
        (other.slots.len() < code.slots.len()).then_some(other)
    }

    /// The program, with shorter code where other preferences lead to it, or where its own order does.
    fn program_of(&self, code: Code) -> Program {
        let gains = self.program.ops.len() >= gains_again(self.stage);
        let shorter = if gains { self.again(&code) } else { None };
        let Code { scheduler, mut slots, .. } = shorter.unwrap_or(code);
        let is_short = slots.len() <= short(self.stage);
        for preference in 1..=if is_short { RETRIES } else { 0 } {
            let other = scheduler.schedule(preference, self.less_than(&slots));
            let other = other.map(|schedule| emit::end(schedule, self.stage));
            slots = other.filter(|other| other.len() < slots.len()).unwrap_or(slots);
        }
        schedule::load_setups(&scheduler.program, &mut slots);
        schedule::keep(&scheduler.program, &mut slots, self.threads);
        emit::emit(&scheduler.program, &slots, self.threads)
    }
}

/// Live values up to which an order is near to one that fits.
fn near(threads: Threads) -> usize {
    threads.places() * 3 / 2
}

/// Code, and where it comes from.
struct Code {
    scheduler: Scheduler,
    slots: Vec<Slot>,
    /// The scheduler's operations in the order of the code, and the copies that were left out of them.
    order: Vec<usize>,
    idle: Idle,
}

//! The back end: machine operations in, instruction words and the recipe of their uniforms out.
//!
//! [`select`] covers the IR with operations on virtual registers, [`fuse`] removes copies, [`order`] arranges them and
//! lets [`order::threads`] divide them, [`regalloc::coalesce`] merges what loops carry, [`regalloc`] places them, [`schedule`] pairs them
//! into instructions, [`emit`] ends the program and lists its stream; `shortest` tries some ways through these.

mod bits;
pub mod check_regalloc;
pub mod dag;
pub mod emit;
mod error;
pub mod fuse;
pub mod order;
pub mod regalloc;
pub mod schedule;
pub mod select;
mod shortest;
pub mod virt;

use vc4::qpu::{Inst, rules};

use crate::ir::{Op, Shader, Stage};
use crate::program::Program;
use order::threads;
use regalloc::coalesce;
use schedule::Scheduler;
use shortest::Search;
use virt::{Loc, Threads, VirtProgram};

pub use error::BackendError;
pub use select::Inputs;
pub use shortest::Failed;

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
            let mut program = self.program.with_ops(ops.clone());
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

    /// The shortest code for so many threads.
    fn shortest(&self, threads: Threads) -> Result<Program, Failed> {
        Search { program: &self.program, stage: self.shader.stage, threads }.shortest(self.least_places)
    }

    /// Whether code does what was selected, and breaks no rule.
    fn check(&self, code: &Program) -> Result<(), BackendError> {
        check_rules(code, self.shader.stage)?;
        check_regalloc::check(&self.program, code)
            .map_err(|difference| BackendError::Miscompiled { difference })
    }
}

/// The error of a block that begins with more phis than there are registers, as loops over long arrays do: no order helps.
fn too_many_phis(shader: &Shader) -> Option<BackendError> {
    let total = shader.insts_in_order().len();
    let mut operation = 0;
    shader.blocks_in_order().into_iter().find_map(|block| {
        let insts = &shader.blocks[block].insts;
        let phis = insts.iter().take_while(|&&inst| shader.insts[inst].op.is(Op::Phi)).count();
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

//! A program with its place in memory.

use std::sync::Arc;

use vc4::qpu::Stage;

use crate::error::JobError;
use crate::qpu::report::stopped;
use crate::qpu::{Fault, Program, Qpu};
use crate::stats::{Finding, Note, Stats};

/// A decoded program with its place in memory.
#[derive(Clone)]
pub struct Shader {
    /// Which stage it serves.
    pub stage: Stage,
    /// Bus address of the code.
    pub address: u32,
    /// The code.
    pub program: Arc<Program>,
    /// Bus address of its uniforms.
    pub uniforms: u32,
}

impl Shader {
    /// Gives a fault its place.
    pub fn fault(&self, fault: Fault) -> JobError {
        JobError::Shader { stage: self.stage, address: self.address, fault, report: String::new() }
    }

    /// The same with the place where `qpu` stopped.
    pub fn stopped(&self, fault: Fault, qpu: &Qpu) -> JobError {
        let report = format!("\n{}", stopped(&self.program, qpu));
        JobError::Shader { stage: self.stage, address: self.address, fault, report }
    }

    /// Reports a rule that an instance broke at its end.
    pub(crate) fn broke_at_end(&self, rule: Note, qpu: &Qpu, stats: &mut Stats) {
        let index = self.program.len() as u32 - 1;
        if stats.check && !stats.knows(&rule, self.address, index) {
            let report = stopped(&self.program, qpu);
            stats.report(Finding { rule, program: self.address, index, report });
        }
    }
}

//! Why a lowered shader does not become a program.

use crate::backend::virt::Threads;
use crate::diagnostic::ErrorKind;
use crate::ir::{LineId, Shader, SourceLine};

/// Why a lowered shader does not become a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackendError {
    /// Linux starts no compute programs on this GPU.
    #[error("a compute stage has no QPU program of its own; the CPU runs it")]
    Stage,
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
            BackendError::NotLowered { .. } | BackendError::Stage => ErrorKind::Unsupported,
            _ => ErrorKind::Bug,
        }
    }

    /// Whether there are as many places as values: each has one at any time, but none for its whole life.
    pub fn is_near(&self) -> bool {
        matches!(self, BackendError::RegisterPressure { live, .. } if *live <= Threads::One.places())
    }

    /// The error with its place in the shader's source.
    pub(super) fn in_source(mut self, shader: &Shader) -> BackendError {
        if let BackendError::RegisterPressure { line, place, .. } = &mut self {
            *place = shader.source_line(*line).cloned();
        }
        self
    }
}

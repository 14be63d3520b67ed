//! Runs a shader: the oracle of the compiler's tests.
//!
//! Generic operations are IEEE single precision, machine operations what the ALU does. A vertex or fragment stage runs for
//! the sixteen elements of one QPU batch, which form four quads as on the machine (qpu.md §1.3); a compute stage for the
//! invocations of a workgroup, as many batches as it takes. All of them are in lock step, so that a barrier has nothing to
//! wait for. Control flow keeps a mask of active elements; what inactive elements hold is whatever they held before.
//!
//! From the bottom: `mask`, `environment` (what a shader sees of the world), `memory` (what a workgroup has of its own),
//! `machine`.

mod environment;
mod machine;
mod mask;
mod memory;

pub use environment::{Environment, SampleRequest};
pub use machine::{InterpError, Outcome, STEP_LIMIT, run, run_dispatch};

/// Mask of all elements of a batch.
pub const ALL: u16 = !0;

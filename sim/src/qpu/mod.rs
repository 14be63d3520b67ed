//! The QPU interpreter and what it is connected to.
//!
//! A program is decoded ([`Program`]) and flattened for running; a [`Qpu`] runs instances of it against the [`Ports`] of
//! the block that started them, and while somebody wants to know, every instruction is watched for broken rules and for
//! what the caches would do. Stands on the memory, the statistics and the texture unit.

#[cfg(feature = "jit")]
mod call;
mod check;
mod exec;
mod facts;
mod fault;
mod flatten;
mod hidden;
#[cfg(feature = "jit")]
mod native;
mod op;
mod ports;
mod program;
pub(crate) mod report;
mod run;
mod state;
#[cfg(test)]
mod tests;
mod variant;

pub use crate::lanes::{LaneMask, Lanes};
pub use crate::stats::{Finding, INSTRUCTION_LIMIT, Note, Stats};
pub use fault::Fault;
pub use ports::{Coefficients, Ports, Tlb, Varyings};
pub use program::Program;
pub use run::run;
pub use state::{Payload, Qpu};

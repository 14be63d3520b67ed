//! The simulated device: a [`Simulator`] holds BOs and takes submissions ([`vc4_kernel_abi::Gpu`]), validated jobs wait in
//! a queue, and one thread runs them on the machine: binning, then rendering.
//!
//! `finished` knows which jobs are done, `cached` what the CPU sees of memory that it caches, `reset` what the kernel does of one that hangs.
//!
//! Stands on all blocks of the machine, the kernel's front end, profiles and the recorder of captures.

mod cached;
mod finished;
mod gpu;
mod machine;
mod observe;
mod order;
mod queue;
mod reset;
mod simulator;

pub(crate) use finished::Finished;
pub use observe::Observed;
pub use queue::Totals;
pub(crate) use queue::{Notice, Watch};
pub use simulator::Simulator;

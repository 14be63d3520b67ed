//! The simulated device: BOs, the job queue, and [`Gpu`](vc4_kernel_abi::Gpu) over both.

mod simulator;

pub use simulator::{Config, Simulator, Totals};
pub(crate) use simulator::{Notice, Watch};

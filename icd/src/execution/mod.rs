//! The queue: what was recorded is executed in order, by the GPU or by the CPU.

pub mod draw;
mod executor;
pub mod queue;
mod retire;

//! The queue: what was recorded is executed in order, by the GPU or by the CPU.
//!
//! [`open_device`] has the [`queue`], which starts two threads: the executor, which makes jobs of render segments with
//! [`draw`], and the one that retires what is complete. `watch` notices jobs that hung. [`work`] is what they are given.

mod changes;
pub mod draw;
mod executor;
pub mod open_device;
mod queries;
pub mod queue;
mod retire;
#[cfg(test)]
mod samples;
mod watch;
pub mod work;

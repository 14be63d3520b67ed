//! The kernel driver's front end: BOs and the files behind them, validation, relocated copies in bus memory and binner
//! slots (kernel-abi.md §5, §11).
//!
//! Stands on the memory and the kernel's validator; knows nothing of what runs a job.

pub mod backing;
mod binner;
mod bo;
mod job;

pub use binner::{Binner, Slot};
pub use bo::Bo;
pub use job::{Job, ListRange, place, prepare};

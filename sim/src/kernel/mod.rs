//! The kernel driver's front end: BOs and the files behind them, validation, relocated copies in bus memory and binner
//! slots (kernel-abi.md §5, §11).

pub mod backing;
mod job;

pub use job::{Binner, Bo, Job, ListRange, Slot, place, prepare};

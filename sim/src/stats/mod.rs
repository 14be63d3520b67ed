//! What running a part of a job yields besides its picture, and how closely it is watched meanwhile: broken rules of
//! the hardware, performance counters with the caches that they model, and counts per line and tile.
//!
//! Knows the core crate only. The blocks of the machine write here; nobody reads here to decide what the picture is.

mod caches;
pub mod counters;
mod tally;

pub use caches::{Caches, LINE_BYTES};
pub use counters::{Counters, EVENTS, Event, Perfmon, idle_clocks};
pub use tally::{Finding, INSTRUCTION_LIMIT, Note, Stats};

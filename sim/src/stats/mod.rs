//! What running a part of a job yields besides its picture, and how closely it is watched meanwhile: broken rules of
//! the hardware, performance counters with the caches that they model, counts per line and tile, and what happens to one pixel.
//!
//! Imports nothing but lanes and the core crate. The blocks of the machine write here; nobody reads here to decide what
//! the picture is.

mod caches;
pub mod counters;
mod counts;
mod finding;
mod perfmon;
mod pixel;
mod tally;

pub use caches::{CacheModel, Caches, LINE_BYTES};
pub use counters::{Counters, EVENTS, Event, idle_clocks, tile_waits};
pub use counts::{Counts, Place, Work};
pub use finding::{Finding, Note};
pub use perfmon::Perfmon;
pub use pixel::{Held, Parting, PixelTrace, Step, Visit, Words};
pub use tally::{Engine, INSTRUCTION_LIMIT, Stats};

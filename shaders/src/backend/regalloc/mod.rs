//! Registers for values: those that a loop carries are merged, then all are placed, and split where they cannot be. Where nothing else
//! fits, they move between places.

mod allocate;
pub mod coalesce;
mod conflicts;
mod idle;
mod moving;
mod ranges;
mod split;

pub use allocate::{LAST_CHOICE, allocate, overfull};
pub use conflicts::Assignment;
pub use idle::Idle;
pub use moving::allocate as allocate_moving;
pub use ranges::least_places;

#[cfg(test)]
mod tests;

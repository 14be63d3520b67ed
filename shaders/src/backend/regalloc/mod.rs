//! Registers for values: those that a loop carries are merged, then all are placed, and split where they cannot be.

mod allocate;
pub mod coalesce;
mod split;

pub use allocate::{Assignment, allocate};

#[cfg(test)]
mod tests;

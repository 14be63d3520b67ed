//! What a program must not do (qpu.md §5.1, §5.4 and the sections that they cite), as data.
//!
//! [`RULES`] is the one list. [`check_program`] applies it; [`render`] prints what it found inside the listing;
//! [`min_distance`] answers the scheduler's question from the same facts. The Linux kernel's own
//! rules are not here: they belong to the kernel interface.

mod check;
mod hazards;
mod paths;
mod program;
mod rule;
mod table;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod vector_tests;

pub use check::{check_declared, check_program, render};
pub use hazards::{
    FILE_LATENCY, Hazard, ROTATE_OPERAND, SFU_R4, UNIFORM_ADDRESS, Z_FLAGS, min_distance, min_distance_of,
};
pub use paths::PathFault;
pub use program::{BRANCH_SLOTS, Declared, Program, SIGNAL_SLOTS, Stage};
pub use rule::{Check, Findings, Rule, Violation};
pub use table::RULES;

//! Lists of what is drawn, copied and cleared. Each has the name of the program in `bin/` that runs it and of the suite
//! in `tests/` that judges the outcome.

pub mod drawing;
pub mod features;
pub mod scenes;
pub mod transfers;

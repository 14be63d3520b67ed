//! Lists of what is drawn, copied and cleared. Each has the name of the program in `bin/` that runs it and of the suite
//! in `tests/` that judges the outcome; kernels are timed, not judged.

pub mod compute;
pub mod drawing;
pub mod features;
pub mod kernels;
pub mod scenes;
pub mod transfers;

//! What passes find out about values without changing anything.

pub mod range;
pub mod uses;

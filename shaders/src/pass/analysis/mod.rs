//! What passes find out about values without changing anything.

pub mod bounds;
pub mod live;
pub mod outputs;
pub mod outside;
pub mod range;
pub mod span;
pub mod uses;

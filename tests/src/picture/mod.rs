//! Pictures, and how far one is from another. Imports nothing.

mod compare;
mod rgba;

pub use compare::{DIFFERING_LIMIT, Difference, Distance, INSIDE_LIMIT, SMALL};
pub use rgba::Picture;

//! Placed operations to instruction words: a list scheduler for each piece, pairs of operations in a word, branches
//! between the pieces.

mod flow;
mod list;
mod pair;
mod setups;
mod slot;
mod words;

pub use list::{Schedule, Scheduler};
pub use setups::load as load_setups;
pub use slot::{Slot, Word};
pub use words::keep;

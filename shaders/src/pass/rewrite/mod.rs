//! What passes change shaders with: a walk that replaces instructions, regions made straight, and sequences that several
//! passes write.

pub mod choice;
pub mod emitter;
pub mod negation;
pub mod predicate;
mod walk;

pub use walk::{Action, prepend, rewrite};

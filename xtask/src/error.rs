//! What stops a chore.

/// For people: a sentence, or what a program or the system said.
pub type Error = Box<dyn std::error::Error>;

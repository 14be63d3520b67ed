//! The binary form: words to instructions, and their places in the source.

pub mod line;
pub mod parse;

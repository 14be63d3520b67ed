//! The binary form: words to instructions, and their places in the source.

mod inst;
mod line;
mod parse;

pub use inst::{Id, Inst, Operand};
pub use line::source_line;
pub use parse::{in_host_order, parse};

//! From a module to the IR: the entry point is walked, functions are inlined, variables become SSA values.

pub mod buffer;
pub mod env;
pub mod flow;
pub mod image;
pub mod interface;
pub mod memory;
pub mod switch;
pub mod translator;

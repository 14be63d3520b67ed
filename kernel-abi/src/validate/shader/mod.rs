//! Shader BOs (kernel-abi.md §6): checked once when made, and what a submission must know of them.
//! The kernel looks at bit fields whether or not the word is a sensible instruction; so does this.

mod branches;
mod info;
mod live;
mod program;
#[cfg(test)]
mod tests;
mod walk;
mod word;

pub use info::{SampleInfo, ShaderInfo};
pub use walk::validate;

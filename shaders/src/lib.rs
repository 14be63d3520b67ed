//! SPIR-V in, QPU code out.
//!
//! [`spirv`] reads a module into the scalar SSA form of [`ir`]; [`pass`] optimises and lowers it
//! (stage inputs and outputs, pipeline state, textures, precision) until every operation is one the
//! QPU has; [`backend`] schedules, allocates registers and packs the words. The result is a
//! [`program::Program`]: code and the recipe of its uniform stream. [`mod@file`] keeps it as bytes,
//! [`key`] names it in a cache.
#![forbid(unsafe_code)]

pub mod backend;
pub mod binding;
pub mod compile;
pub mod diagnostic;
pub mod file;
pub mod ir;
pub mod key;
pub mod pass;
pub mod program;
pub mod spirv;
pub mod state;
mod work;

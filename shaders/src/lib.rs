//! SPIR-V in, QPU code out; of compute shaders, IR for the CPU's back end.
//!
//! The rooms in the order of the data; each imports only rooms above it in this list:
//!
//! 1. [`binding`]: what shaders name of the world outside, and [`diagnostic`]: what can be done about errors. Imported by all.
//! 2. [`ir`]: the scalar SSA form, with builder, verifier and interpreter; imports `binding`.
//! 3. [`spirv`]: reads a module into it; imports `ir`, and knows neither pipelines nor the QPU's back end.
//! 4. [`state`]: what of a pipeline's state becomes code; imports `binding`.
//! 5. [`program`]: the result, code and the recipe of its uniform stream; imports `binding`.
//! 6. [`pass`]: optimises and lowers (stage inputs and outputs, pipeline state, textures, precision) until every operation
//!    is one the QPU has; imports `ir`, `state` and, for attribute arrays, `program`.
//! 7. [`backend`]: selects, schedules, allocates registers and packs the words; imports `ir` and `program`.
//! 8. [`picture`]: kernels that fragment programs can stand for; imports `ir`, `pass` and `program`.
//! 9. [`relay`]: a vertex stage as a compute shader; imports `ir`, `pass` and, for where parameters stand, `picture`.
//! 10. [`compile`]: the door, all of it in a row.
//!
//! Beside them [`mod@file`] keeps a program as bytes, and [`key`] names a compilation in a cache.
#![forbid(unsafe_code)]

pub mod backend;
pub mod binding;
pub mod compile;
pub mod diagnostic;
pub mod file;
pub mod ir;
pub mod key;
pub mod pass;
pub mod picture;
pub mod program;
pub mod relay;
pub mod spirv;
pub mod state;
mod work;

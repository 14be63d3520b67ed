//! Pipelines: the state they are made from, the programs that it is compiled or linked into, and what remembers those.
//!
//! [`module`] and [`layout`] are what applications make first, [`info`] is everything they say about one pipeline, of
//! which commands may set [`dynamic`] parts; what they set beyond that makes pipelines of other [`kinds`]. `translate` says it in the core's terms, `programs` compiles SPIR-V or has
//! `link` put [`assembly`] together, `graphics` keeps the result with a `recipe` of its uniform streams. `rectangles` keeps those of the driver's own, `clears` those that clear attachments between draws; what nothing waits for is compiled in a `workshop`. `compute` has the
//! CPU's kernels, which may be pictures (`kernel`), `relay` its vertex stages, and `object` says what a handle is.

pub mod assembly;
mod attributes;
mod cache;
mod clears;
#[cfg(feature = "compute")]
mod compute;
pub mod dynamic;
mod effects;
mod graphics;
pub mod info;
#[cfg(feature = "compute")]
mod kernel;
pub mod kinds;
pub mod layout;
mod link;
pub mod module;
mod object;
mod patch;
mod programs;
mod recipe;
mod rectangles;
#[cfg(feature = "compute")]
mod relay;
mod resources;
mod translate;
mod workshop;

pub use cache::PipelineCache;
pub use clears::{Cleared, Clears};
#[cfg(feature = "compute")]
pub use compute::ComputePipeline;
pub use effects::Effects;
pub use graphics::{Compiled, Pipeline, ProgramBo, Slice, Textures, Variant, VariantKey};
pub use object::PipelineObject;
pub use recipe::{BLOCK_WORDS, Block, Inputs, Relayed, set_bit, set_bits};
pub use rectangles::{Rectangles, Task};
#[cfg(feature = "compute")]
pub use relay::RelayKernel;
pub use workshop::Workshop;

//! Passes that improve shaders without changing what they mean, one per file.
//!
//! [`all`] runs those that need each other's results until nothing changes; the others have their places in the
//! pipeline's list.

pub mod algebraic;
pub mod all;
pub mod associate;
pub mod blocks;
pub mod branch;
pub mod counters;
pub mod cse;
pub mod dce;
pub mod dead_loops;
pub mod flatten;
pub mod fold;
pub mod link;
pub mod mask;
pub mod once;
pub mod packed;
pub mod phi;
pub mod places;
pub mod precision;
pub mod reassociate;
pub mod relieve;
pub mod rows;
pub mod scale;
pub mod uniforms;
pub mod unpack;
pub mod unroll;

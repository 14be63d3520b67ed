//! Passes that replace what the machine has not, one per file.
//!
//! Those of `inputs`, `outputs` and `texture` know the pipeline around the shader; the others only the machine.

pub mod boolean;
pub mod control;
mod corners;
mod depth;
pub mod distances;
mod division;
mod error;
pub mod float;
pub mod inputs;
pub mod int;
pub mod outputs;
pub mod pack;
pub mod polygon;
pub mod relay;
pub mod texture;
pub mod ubo;
pub mod varyings;
mod words;
pub mod ycbcr;

pub use error::LowerError;

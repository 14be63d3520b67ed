//! Instructions that compute values from values, of functions as of constants.

pub mod composite;
pub mod emit;
pub mod glsl;
pub mod integer;
pub mod matrix;

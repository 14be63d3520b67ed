//! The VideoCore IV 3D core (V3D 2.1) as pure values: instructions, control lists, records,
//! image layouts and pipeline state. No I/O, no Vulkan types, no unsafe code.
//!
//! How a draw becomes words: [`state`] turns pipeline state into QPU patches, uniforms and packets,
//! [`qpu`] encodes programs, [`image`] places texels, and [`cl`] writes the lists that the machine walks.
#![forbid(unsafe_code)]

pub mod cl;
pub mod hw;
pub mod image;
pub mod picture;
pub mod qpu;
pub mod splice;
pub mod state;

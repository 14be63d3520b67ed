//! The VideoCore IV 3D core (V3D 2.1) as pure values: instructions, control lists, records,
//! image layouts and pipeline state. No I/O, no Vulkan types, no unsafe code.
//!
//! How a draw becomes words; each room imports only those in front of it:
//!
//! * [`facts`] are questions about the chip that no board has answered, with what is assumed. [`hw`] has its numbers, [`picture`] the macros that draw layouts bit by bit.
//! * [`qpu`] is the instruction set: words, text, meaning, rules and costs of programs.
//! * [`cl`] is the lists that the machine walks, with their packets and records.
//! * [`image`] places texels and knows the formats.
//! * [`state`] turns pipeline state into QPU patches, uniforms and packets.
//! * [`splice`] puts those patches into finished programs.
#![forbid(unsafe_code)]

pub mod cl;
pub mod facts;
pub mod hw;
pub mod image;
pub mod picture;
pub mod qpu;
pub mod splice;
pub mod state;

//! The kernel's validator, rule by rule (kernel-abi.md §6–§10). A shader is checked once
//! ([`shader::validate`]); a submission passes [`frame`], [`bin`](bin::bin) with its records and
//! textures, and [`render`](render::render), in this order.
//!
//! Rules and what breaking one gives are below all of them; [`check_submit`] applies all of it to a submission.

pub mod bin;
mod bo;
pub mod frame;
mod raw;
mod record;
pub mod render;
mod rule;
pub mod shader;
mod submission;
mod surface;
mod texture;
mod violation;

pub use bin::{BinJob, BinMemory, bin};
pub use bo::BoInfo;
pub use frame::{CopySizes, Layout};
pub use render::{BinTiles, render, render_frame};
pub use rule::Rule;
pub use shader::{SampleInfo, ShaderInfo};
pub use submission::{check_submit, check_submit_in};
pub use violation::{Mode, Place, Violation};

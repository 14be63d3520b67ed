//! Draws a [`crate::scene::Scene`] offscreen: Vulkan 1.0, nothing optional. Imports [`crate::scene`], [`crate::vulkan`]
//! and [`crate::picture`].

mod bindings;
mod draw;
mod pass;

pub use draw::{draw, try_pipeline};

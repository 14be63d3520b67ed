//! Whole frames as programs draw them, for two APIs: what the silicon would take for a frame of ours is held against a frame of
//! Mesa's (`cargo xtask bench frames`).
//!
//! A frame stands once, as data (`frame`). [`player`] draws it with Vulkan; [`write()`] puts it into a file that `tests/frames/player.c` draws
//! with OpenGL ES. Both take the same buffers, texels, matrices and bodies of shaders, and each API's own way to say what a pass loads
//! and keeps. Imports [`crate::scene`] and [`crate::vulkan`].

mod file;
mod frame;
mod language;
mod meshes;
pub mod player;
mod scenes;

pub use file::write;
pub use frame::{Attribute, Blend, Content, Depth, Draw, Frame, Image, Pass, Program, Stencil, Texels};
pub use scenes::all;

//! Vulkan objects for suites: a device through the loader ([`Harness`]) and a workbench on it ([`Lab`]), whose objects
//! have sensible defaults and are destroyed at its end. Imports [`crate::format`] and [`crate::picture`].

mod buffer;
mod commands;
mod compute;
mod descriptor;
mod error;
mod harness;
mod image;
mod lab;
mod mesh;
mod pass;
mod pipeline;
mod readback;
mod rendering;

pub(crate) use buffer::{Buffer, Held};
pub use descriptor::Inputs;
pub use error::{Error, Named};
pub use harness::{CACHED_MEMORY, CARELESS, Harness};
pub use image::{Target, first_level};
pub(crate) use image::{flat, whole};
pub use lab::Lab;
pub use mesh::{Vertex, rectangle};
pub use pass::{Attachment, CLEAR_STORE, Subpass, area, color, depth};
pub use pipeline::{Pipeline, Rendering};
pub(crate) use readback::Readback;
pub use rendering::rendered;

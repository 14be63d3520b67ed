//! The Vulkan driver: `libvulkan_vc4.so`.
//!
//! [`entry`] is the edge towards the loader; every other module is one noun of the API in safe terms.
//! A draw's way through the house: [`command_buffer`] records, [`queue`] executes, [`pipeline`] holds
//! the compiled programs ([`assembly`] the hand-written ones), [`descriptor`] and [`sampler`] what their uniform words stand for.
//!
//! `unsafe` lives in [`entry`], [`object`] and the window-system modules only.

pub mod assembly;
pub mod bo;
pub mod buffer;
pub mod command_buffer;
pub mod command_pool;
pub mod debug;
pub mod descriptor;
pub mod device;
pub mod draw;
pub mod entry;
pub mod error;
pub mod extension;
pub mod format;
pub mod image;
pub mod instance;
mod latch;
pub mod limits;
pub mod memory;
pub mod meta;
pub mod object;
pub mod physical_device;
pub mod pipeline;
mod probe;
pub mod query;
pub mod queue;
pub mod recording;
pub mod render_pass;
pub mod sampler;
pub mod segment;
pub mod sync;
#[cfg(test)]
mod testing;
pub mod texture;
pub mod wsi;

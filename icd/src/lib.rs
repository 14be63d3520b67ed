//! The Vulkan driver: `libvulkan_vc4.so`.
//!
//! The rooms, from the loader down to the device. Each imports only rooms below it, and so do the files inside.
//!
//! | room | what is in it |
//! | --- | --- |
//! | [`entry`] | the edge towards the loader: the table of commands, the guard, pointers of the application |
//! | [`presentation`] | surfaces, swapchains and what shows their pictures |
//! | [`execution`] | the queue and its threads; [`execution::draw`] makes jobs of render segments |
//! | [`recording`] | command buffers: commands become segments |
//! | `compute` | dispatches: kernels of the CPU's back end, their buffers, images and samplers (cargo feature `compute`) |
//! | [`transfers`] | copies, clears, events: what the CPU or the tile buffer does between draws |
//! | [`segments`] | what a command buffer becomes: lists of draws, targets, work for the CPU |
//! | [`pipeline`] | pipeline state, compiled programs, [`pipeline::assembly`], caches |
//! | [`objects`] | instance, device, memory, images, …: one noun of the API in a file |
//! | [`foundation`] | what all speak of: errors, handles, BOs, formats, limits, the log |
//!
//! A draw's way: [`entry`] reads the call, [`recording`] notes it in a segment, [`execution`] turns the segment into lists and
//! uniform streams with the programs of [`pipeline`] and gives them to the GPU of the [`objects::device`].
//!
//! `unsafe` lives in [`entry`], [`foundation::handle`], [`presentation`] and the call of a kernel in `compute` only.

#[cfg(feature = "compute")]
pub mod compute;
pub mod entry;
pub mod execution;
pub mod foundation;
#[cfg(all(test, feature = "model"))]
mod model;
pub mod objects;
pub mod pipeline;
pub mod presentation;
pub mod recording;
pub mod segments;
#[cfg(test)]
mod testing;
pub mod transfers;

pub use pipeline::assembly;

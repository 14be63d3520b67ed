//! Copies, fills, clears, events, queries. One command, one file.
//!
//! Most are executed by the CPU: all memory is coherent and the queue thread waits for the GPU before such a command, so
//! each of them is a loop over mapped memory. What the tile buffer moves without changing it, [`tiles`] leaves to it.

pub mod blit;
pub mod buffer;
pub mod buffer_image;
pub mod clear;
mod conversion;
pub mod event;
pub mod fill;
pub mod image;
pub mod query;
pub mod resolve;
mod texels;
mod tiles;

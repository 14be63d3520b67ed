//! Copies, fills, clears, events, queries. One command, one file.
//!
//! All can be executed by the CPU: all memory is coherent and the queue thread waits for the GPU before such a command, so
//! each of them is a loop over mapped memory. But reading that memory is slow on a board, and from some size on a job is
//! `worth` it. What the tile buffer moves without changing it, `tiles` leaves to it, and keeps what is `beside`; other copies are rectangles that `programs` fill with what they look up (`drawn`): words of
//! images (`words`) from a buffer (`upload`), words of a buffer (`strips`) from an image (`download`), or pixels from another
//! image (`scaled`). What is no one step goes `by_buffer`; what is no picture of words is drawn in `lines`, and `samples` where they
//! lie. Programs know the `form` of texels, what `blocks` hold (`etc2`), where pieces of images lie that are longer than textures (`folds`), and how those are `packed` that `sampling` makes.

mod beside;
pub mod blit;
mod blocks;
pub mod buffer;
pub mod buffer_image;
mod by_buffer;
pub mod clear;
mod conversion;
mod download;
mod drawn;
mod etc2;
pub mod event;
pub mod fill;
mod folds;
mod form;
pub mod image;
mod lines;
mod packed;
mod pieces;
mod planes;
mod programs;
pub mod query;
pub mod resolve;
mod samples;
mod sampling;
mod scaled;
mod strips;
mod texels;
mod tiles;
mod upload;
mod words;
mod worth;

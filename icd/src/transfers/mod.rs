//! Copies, fills, clears, events, queries. One command, one file.
//!
//! Most are executed by the CPU: all memory is coherent and the queue thread waits for the GPU before such a command, so
//! each of them is a loop over mapped memory. What the tile buffer moves without changing it, [`tiles`] leaves to it.

pub mod blit;
pub mod buffer;
pub mod buffer_image;
mod conversion;
pub mod event;
pub mod fill;
pub mod image;
pub mod query;
pub mod resolve;
mod texels;
mod tiles;

use crate::foundation::error::Error;
use crate::objects::buffer::Buffer;

/// A buffer's mapping and where byte `offset` of the buffer lies in it; an error unless `size` bytes follow.
fn place(buffer: &Buffer, offset: u64, size: u64) -> Result<(vc4_kernel_abi::Mapping, usize), Error> {
    if offset.checked_add(size).is_none_or(|end| end > buffer.size()) {
        let have = buffer.size();
        return Err(Error::InvalidUse(format!("{size} bytes at {offset} leave a buffer of {have} bytes")));
    }
    let binding = buffer.binding()?;
    Ok((binding.bo.map()?, (binding.offset + offset) as usize))
}

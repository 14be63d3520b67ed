//! vkCmdCopyBuffer, vkCmdFillBuffer, vkCmdUpdateBuffer.

use std::sync::Arc;

use ash::vk;

use crate::foundation::error::Error;
use crate::foundation::traffic::Cause;
use crate::objects::buffer::Buffer;
use crate::objects::device::Device;
use crate::segments::{CpuCommand, Touch};

/// Bytes that go through the stack at a time.
const CHUNK: usize = 4096;

/// vkCmdCopyBuffer.
pub struct CopyBuffer {
    /// From.
    pub src: Arc<Buffer>,
    /// To.
    pub dst: Arc<Buffer>,
    /// What.
    pub regions: Vec<vk::BufferCopy>,
}

impl CpuCommand for CopyBuffer {
    fn describe(&self) -> String {
        format!("copy {} regions from buffer to buffer", self.regions.len())
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.src.binding(), self.dst.binding()])
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        for region in &self.regions {
            let (src, from) = self.src.access(region.src_offset, region.size, Cause::Copy)?;
            let (dst, to) = self.dst.access(region.dst_offset, region.size, Cause::Copy)?;
            let (size, mut chunk) = (region.size as usize, [0; CHUNK]);
            for at in (0..size).step_by(CHUNK) {
                let bytes = &mut chunk[..CHUNK.min(size - at)];
                src.read(from + at, bytes);
                dst.write(to + at, bytes);
            }
        }
        Ok(())
    }
}

/// vkCmdFillBuffer.
pub struct FillBuffer {
    /// To.
    pub dst: Arc<Buffer>,
    /// First byte.
    pub offset: u64,
    /// Bytes, VK_WHOLE_SIZE resolved.
    pub size: u64,
    /// The word.
    pub word: u32,
}

impl CpuCommand for FillBuffer {
    fn describe(&self) -> String {
        format!("fill {} bytes of a buffer with {:#x}", self.size, self.word)
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.dst.binding()])
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        let (dst, to) = self.dst.access(self.offset, self.size, Cause::Clear)?;
        let words = self.word.to_le_bytes().repeat(CHUNK / 4);
        let size = self.size as usize & !3;
        for at in (0..size).step_by(CHUNK) {
            dst.write(to + at, &words[..CHUNK.min(size - at)]);
        }
        Ok(())
    }
}

/// vkCmdUpdateBuffer.
pub struct UpdateBuffer {
    /// To.
    pub dst: Arc<Buffer>,
    /// First byte.
    pub offset: u64,
    /// The bytes.
    pub data: Vec<u8>,
}

impl CpuCommand for UpdateBuffer {
    fn describe(&self) -> String {
        format!("update {} bytes of a buffer", self.data.len())
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.dst.binding()])
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        let (dst, to) = self.dst.access(self.offset, self.data.len() as u64, Cause::Clear)?;
        dst.write(to, &self.data);
        Ok(())
    }
}

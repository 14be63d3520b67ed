//! vkCmdCopyQueryPoolResults.

use std::sync::Arc;

use ash::vk;

use crate::foundation::error::Error;
use crate::foundation::traffic::Cause;
use crate::objects::buffer::Buffer;
use crate::objects::device::Device;
use crate::objects::query::QueryPool;
use crate::segments::{CpuCommand, Touch};

/// vkCmdCopyQueryPoolResults.
pub struct CopyResults {
    /// The pool.
    pub pool: Arc<QueryPool>,
    /// First query.
    pub first: u32,
    /// Queries.
    pub count: u32,
    /// To.
    pub dst: Arc<Buffer>,
    /// First byte.
    pub offset: u64,
    /// Bytes from query to query.
    pub stride: u64,
    /// Form of the results.
    pub flags: vk::QueryResultFlags,
}

impl CopyResults {
    /// Bytes from the first result's start to the last one's end.
    fn bytes(&self) -> u64 {
        let word = if self.flags.contains(vk::QueryResultFlags::TYPE_64) { 8 } else { 4 };
        let words = self.pool.width() as u64
            + u64::from(self.flags.contains(vk::QueryResultFlags::WITH_AVAILABILITY));
        u64::from(self.count.saturating_sub(1)).saturating_mul(self.stride).saturating_add(word * words)
    }
}

impl CpuCommand for CopyResults {
    fn describe(&self) -> String {
        format!("copy {} query results to buffer{}", self.count, self.dst.name())
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.dst.binding()])
    }

    fn run(&self, device: &Arc<Device>) -> Result<(), Error> {
        if self.count == 0 {
            return Ok(());
        }
        // The results are those of all commands before, which may still be on their way.
        self.pool.settle(device)?;
        let flags = self.flags & !vk::QueryResultFlags::WAIT;
        let bytes = self.bytes();
        let (dst, at) = self.dst.access(self.offset, bytes, Cause::Query)?;
        // Read first: what the results leave out stays as it is.
        let mut out = vec![0; bytes as usize];
        dst.read(at, &mut out);
        let (range, stride) = ((self.first, self.count), self.stride as usize);
        let _not_ready_is_no_error = self.pool.read(device, range, &mut out, stride, flags)?;
        dst.write(at, &out);
        Ok(())
    }
}

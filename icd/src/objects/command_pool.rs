//! VkCommandPool.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ash::vk;

use crate::foundation::handle::{HostAllocator, Object};

/// A pool: it owns the handles of its command buffers.
pub struct CommandPool {
    /// Flags at creation.
    pub flags: vk::CommandPoolCreateFlags,
    allocator: HostAllocator,
    live: Mutex<BTreeSet<vk::CommandBuffer>>,
}

impl Object for CommandPool {
    type Handle = vk::CommandPool;
}

impl CommandPool {
    /// An empty pool whose command buffers come from `allocator`.
    pub fn new(flags: vk::CommandPoolCreateFlags, allocator: HostAllocator) -> CommandPool {
        CommandPool { flags, allocator, live: Mutex::default() }
    }

    /// Where command buffers come from.
    pub fn allocator(&self) -> HostAllocator {
        self.allocator
    }

    fn live(&self) -> MutexGuard<'_, BTreeSet<vk::CommandBuffer>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a new command buffer.
    pub fn keep(&self, handle: vk::CommandBuffer) {
        self.live().insert(handle);
    }

    /// Forgets a command buffer; false if it is not this pool's.
    pub fn forget(&self, handle: vk::CommandBuffer) -> bool {
        self.live().remove(&handle)
    }

    /// Its command buffers now.
    pub fn handles(&self) -> Vec<vk::CommandBuffer> {
        self.live().iter().copied().collect()
    }
}

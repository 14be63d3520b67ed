//! A BO with an owner: closed when the last user is gone.

use std::sync::{Arc, OnceLock};

use vc4_kernel_abi::{BoHandle, Gpu, GpuError, Mapping};

/// A BO of the device, shared by everything that recorded it.
pub struct Bo {
    gpu: Arc<dyn Gpu>,
    handle: BoHandle,
    size: u64,
    mapping: OnceLock<Mapping>,
}

impl Bo {
    /// A zeroed BO of at least `size` bytes.
    pub fn new(gpu: &Arc<dyn Gpu>, size: u32) -> Result<Bo, GpuError> {
        let handle = gpu.create_bo(size)?;
        let size = u64::from(size).next_multiple_of(4096);
        Ok(Bo { gpu: gpu.clone(), handle, size, mapping: OnceLock::new() })
    }

    /// A validated shader BO. It cannot be mapped.
    pub fn shader(gpu: &Arc<dyn Gpu>, code: &[u64]) -> Result<Bo, GpuError> {
        let handle = gpu.create_shader_bo(code)?;
        let size = (code.len() as u64 * 8).next_multiple_of(4096);
        Ok(Bo { gpu: gpu.clone(), handle, size, mapping: OnceLock::new() })
    }

    /// The GEM handle.
    pub fn handle(&self) -> BoHandle {
        self.handle
    }

    /// Size in bytes, a multiple of 4096.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The BO's memory in this process, mapped at first use and kept.
    pub fn map(&self) -> Result<Mapping, GpuError> {
        if let Some(mapping) = self.mapping.get() {
            return Ok(*mapping);
        }
        // Two threads that come here together get the same memory: mapping twice is one mapping.
        let mapping = self.gpu.map_bo(self.handle)?;
        Ok(*self.mapping.get_or_init(|| mapping))
    }
}

impl Drop for Bo {
    fn drop(&mut self) {
        self.gpu.close_bo(self.handle);
    }
}

impl std::fmt::Debug for Bo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BO {} ({} bytes)", self.handle.0, self.size)
    }
}

//! A device that only has memory: what objects need when nothing is executed.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::Mutex;
use std::time::Duration;

use vc4_kernel_abi::{BoHandle, Gpu, GpuError, Ident, Mapping, Seqno, Submit};

/// BOs on the heap; refuses every job.
#[derive(Default)]
pub struct PlainGpu {
    bos: Mutex<(u32, BTreeMap<u32, Memory>)>,
}

struct Memory {
    ptr: NonNull<u8>,
    layout: Layout,
}

// SAFETY: plain heap memory, only handed out as raw mappings.
unsafe impl Send for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout in `create_bo`.
        unsafe { dealloc(self.ptr.as_ptr(), self.layout) }
    }
}

const MEMORY: u64 = 256 << 20;

impl Gpu for PlainGpu {
    fn description(&self) -> String {
        "memory without a GPU".into()
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn ident(&self) -> Result<Ident, GpuError> {
        Ok(Ident { ident0: 0x0244_3356, ident1: 0x8100_1442, ident2: 0 })
    }

    fn memory_size(&self) -> u64 {
        MEMORY
    }

    fn create_bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        let size = u64::from(size).next_multiple_of(4096);
        let layout = Layout::from_size_align(size as usize, 4096)
            .ok()
            .filter(|_| size > 0 && size <= MEMORY)
            .ok_or(GpuError::OutOfMemory("create_bo"))?;
        // SAFETY: the size is not zero.
        let ptr = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(GpuError::OutOfMemory("create_bo"))?;
        let mut bos = self.bos.lock().expect("no panics while locked");
        bos.0 += 1;
        let handle = bos.0;
        bos.1.insert(handle, Memory { ptr, layout });
        Ok(BoHandle(handle))
    }

    fn create_shader_bo(&self, code: &[u64]) -> Result<BoHandle, GpuError> {
        self.create_bo(code.len() as u32 * 8)
    }

    fn map_bo(&self, bo: BoHandle) -> Result<Mapping, GpuError> {
        let bos = self.bos.lock().expect("no panics while locked");
        let memory = bos.1.get(&bo.0).ok_or(GpuError::Refused(format!("no BO {}", bo.0)))?;
        // SAFETY: the memory lives until the BO is closed.
        Ok(unsafe { Mapping::new(memory.ptr, memory.layout.size()) })
    }

    fn close_bo(&self, bo: BoHandle) {
        self.bos.lock().expect("no panics while locked").1.remove(&bo.0);
    }

    fn submit(&self, _: &Submit) -> Result<Seqno, GpuError> {
        Err(GpuError::Refused("there is no GPU behind this memory".into()))
    }

    fn wait_seqno(&self, _: Seqno, _: Option<Duration>) -> Result<bool, GpuError> {
        Ok(true)
    }
}

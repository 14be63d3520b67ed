//! A BO with an owner: closed when the last user is gone.

use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use rustc_hash::FxHashMap;
use vc4_kernel_abi::{BoHandle, Gpu, GpuError, Mapping};

use super::cache::Cache;
use super::traffic::{Access, Cause, ReadAccess, Traffic};

/// A BO of the device, shared by everything that recorded it.
pub struct Bo {
    gpu: Arc<dyn Gpu>,
    handle: BoHandle,
    size: u64,
    mapping: OnceLock<Mapping>,
    /// Where it is counted what the CPU moves.
    traffic: Arc<Traffic>,
    /// Who closes the handle, if others may get it too.
    shared: OnceLock<Arc<SharedBos>>,
    /// What the driver knows of the CPU's caches, if those hold the memory.
    cache: Option<Cache>,
}

/// Bytes of all BOs of this process.
static USED: AtomicU64 = AtomicU64::new(0);

/// Bytes of all BOs of this process; there is one GPU.
pub fn used() -> u64 {
    USED.load(Ordering::Relaxed)
}

impl Bo {
    /// A zeroed BO of at least `size` bytes.
    pub fn new(gpu: &Arc<dyn Gpu>, traffic: &Arc<Traffic>, size: u32) -> Result<Bo, GpuError> {
        let handle = gpu.create_bo(size)?;
        Ok(Bo::of_handle(gpu, traffic, handle, u64::from(size).next_multiple_of(4096)))
    }

    /// As [`Bo::new`], of memory that the CPU caches.
    pub fn cached(gpu: &Arc<dyn Gpu>, traffic: &Arc<Traffic>, size: u32) -> Result<Bo, GpuError> {
        let handle = gpu.create_cached_bo(size)?;
        let mut bo = Bo::of_handle(gpu, traffic, handle, u64::from(size).next_multiple_of(4096));
        bo.cache = Some(Cache::default());
        Ok(bo)
    }

    /// A validated shader BO. It cannot be mapped.
    pub fn shader(gpu: &Arc<dyn Gpu>, code: &[u64]) -> Result<Bo, GpuError> {
        let handle = gpu.create_shader_bo(code)?;
        Ok(Bo::of_handle(gpu, &Arc::default(), handle, (code.len() as u64 * 8).next_multiple_of(4096)))
    }

    fn of_handle(gpu: &Arc<dyn Gpu>, traffic: &Arc<Traffic>, handle: BoHandle, size: u64) -> Bo {
        USED.fetch_add(size, Ordering::Relaxed);
        let (mapping, shared) = (OnceLock::new(), OnceLock::new());
        Bo { gpu: gpu.clone(), handle, size, mapping, traffic: traffic.clone(), shared, cache: None }
    }

    /// The GEM handle.
    pub fn handle(&self) -> BoHandle {
        self.handle
    }

    /// Size in bytes, a multiple of 4096.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Gives it a name for the kernel's debug output, and for captures.
    pub fn label(&self, name: &str) {
        self.gpu.label_bo(self.handle, name);
    }

    /// Whether others may have a handle of it.
    pub fn is_shared(&self) -> bool {
        self.shared.get().is_some()
    }

    /// Whether another BO has the same bytes.
    pub fn holds_the_same(&self, other: &Bo) -> Result<bool, GpuError> {
        let bytes = |bo: &Bo| {
            let mut bytes = vec![0; bo.size as usize];
            bo.map()?.read(0, &mut bytes);
            Ok::<_, GpuError>(bytes)
        };
        Ok(self.size == other.size && bytes(self)? == bytes(other)?)
    }

    /// The BO's memory, for a cause.
    pub fn access(&self, cause: Cause) -> Result<Access<'_>, GpuError> {
        Ok(Access::new(self.seen()?, &self.traffic, cause).through(self.cache.as_ref()))
    }

    /// As [`Bo::access`], for a cause that only one thread reads for.
    pub fn read_access(&self, cause: Cause) -> Result<ReadAccess<'_>, GpuError> {
        Ok(ReadAccess::new(self.seen()?, &self.traffic, cause).through(self.cache.as_ref()))
    }

    /// The BO's memory, for kernels, whose machine code nobody counts.
    pub fn map_for_kernels(&self) -> Result<Mapping, GpuError> {
        let mapping = self.seen()?;
        if let Some(cache) = &self.cache {
            cache.dirty();
        }
        Ok(mapping)
    }

    /// The memory with what jobs have written to it, as far as they are complete.
    fn seen(&self) -> Result<Mapping, GpuError> {
        let mapping = self.map()?;
        if self.cache.as_ref().is_some_and(|cache| cache.take_stale()) {
            self.gpu.forget(self.handle, 0..mapping.len());
        }
        Ok(mapping)
    }

    /// A job is about to use it: what the driver wrote has to be in memory, and where it `writes`, caches will be stale.
    #[inline]
    pub fn hand_over(&self, writes: bool) {
        let Some(cache) = &self.cache else { return };
        if cache.take_dirty() {
            self.gpu.write_back(self.handle, 0..self.size as usize);
        }
        if writes {
            cache.stale();
        }
    }

    /// Whether the CPU caches its memory.
    pub fn is_cached(&self) -> bool {
        self.cache.is_some()
    }

    /// vkFlushMappedMemoryRanges: what the application wrote goes to memory.
    pub fn write_back(&self, bytes: Range<usize>) {
        if self.is_cached() {
            self.gpu.write_back(self.handle, bytes);
        }
    }

    /// vkInvalidateMappedMemoryRanges: the application is to see what memory holds.
    pub fn forget(&self, bytes: Range<usize>) {
        if self.is_cached() {
            self.gpu.forget(self.handle, bytes);
        }
    }

    /// The BO's memory in this process, mapped at first use and kept: for the application. The driver asks for [`Bo::access`].
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
        USED.fetch_sub(self.size, Ordering::Relaxed);
        match self.shared.get() {
            None => self.gpu.close_bo(self.handle),
            Some(shared) => shared.close(self),
        }
    }
}

/// The BOs of a GPU that other devices or processes know, too. The kernel gives a BO that it has a handle for the same
/// one again (kernel-abi.md §13.4), so such a BO must be found again here, and importing and closing must not overlap.
pub struct SharedBos {
    gpu: Arc<dyn Gpu>,
    traffic: Arc<Traffic>,
    bos: Mutex<FxHashMap<BoHandle, Weak<Bo>>>,
}

impl SharedBos {
    /// The table of a GPU.
    pub fn new(gpu: &Arc<dyn Gpu>, traffic: &Arc<Traffic>) -> Arc<SharedBos> {
        Arc::new(SharedBos { gpu: gpu.clone(), traffic: traffic.clone(), bos: Mutex::default() })
    }

    fn bos(&self) -> MutexGuard<'_, FxHashMap<BoHandle, Weak<Bo>>> {
        self.bos.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A dma-buf of a BO.
    pub fn export(self: &Arc<SharedBos>, bo: &Arc<Bo>) -> Result<OwnedFd, GpuError> {
        let mut bos = self.bos();
        let fd = self.gpu.export_bo(bo.handle)?;
        bos.insert(bo.handle, Arc::downgrade(bo));
        bo.shared.get_or_init(|| self.clone());
        Ok(fd)
    }

    /// The BO of a dma-buf.
    pub fn import(self: &Arc<SharedBos>, fd: BorrowedFd<'_>) -> Result<Arc<Bo>, GpuError> {
        let mut bos = self.bos();
        let (handle, size) = self.gpu.import_bo(fd)?;
        if let Some(known) = bos.get(&handle).and_then(Weak::upgrade) {
            return Ok(known);
        }
        let bo = Bo::of_handle(&self.gpu, &self.traffic, handle, size);
        bo.shared.get_or_init(|| self.clone());
        let bo = Arc::new(bo);
        bos.insert(handle, Arc::downgrade(&bo));
        Ok(bo)
    }

    /// Closes the handle of a BO at its end, unless an import has taken it over meanwhile.
    fn close(&self, bo: &Bo) {
        let mut bos = self.bos();
        if bos.get(&bo.handle).is_some_and(|known| std::ptr::eq(known.as_ptr(), bo)) {
            bos.remove(&bo.handle);
            self.gpu.close_bo(bo.handle);
        }
    }
}

impl std::fmt::Debug for Bo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BO {} ({} bytes)", self.handle.0, self.size)
    }
}

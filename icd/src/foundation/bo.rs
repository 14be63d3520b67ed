//! A BO with an owner: closed when the last user is gone.

use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use rustc_hash::FxHashMap;
use vc4_kernel_abi::{BoHandle, Gpu, GpuError, MappedMemory, Mapping};

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
    sight: Sight,
}

/// How the CPU sees the memory.
enum Sight {
    /// As the kernel maps it: write-combined.
    Combined,
    /// Through its caches, of which the driver knows this.
    Cached(Cache),
    /// It is the process's own. Jobs get a copy, which is made for the first of them.
    Own { memory: MappedMemory, copy: OnceLock<Copy> },
}

/// What jobs see of the process's own memory.
struct Copy {
    handle: BoHandle,
    /// The copy as the CPU left it: to look at the BO would take longer than to write to it.
    content: MappedMemory,
}

/// Bytes that are copied for jobs in one go: a line of caches.
const LINE: usize = 64;

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
        bo.sight = Sight::Cached(Cache::default());
        Ok(bo)
    }

    /// As [`Bo::new`], of the process's own memory: good for what jobs seldom read, and never write.
    pub fn of_host(gpu: &Arc<dyn Gpu>, traffic: &Arc<Traffic>, size: u32) -> Result<Bo, GpuError> {
        // Without a handle it needs another name; the kernel counts from 1.
        static NAMES: AtomicU32 = AtomicU32::new(0);
        let name = BoHandle(NAMES.fetch_add(1, Ordering::Relaxed) | 1 << 31);
        let size = u64::from(size).next_multiple_of(4096);
        let memory = own_pages(size)?;
        let mapping = OnceLock::from(memory.mapping());
        let sight = Sight::Own { memory, copy: OnceLock::new() };
        let (gpu, traffic) = (gpu.clone(), traffic.clone());
        Ok(Bo { gpu, handle: name, size, mapping, traffic, shared: OnceLock::new(), sight })
    }

    /// A validated shader BO. It cannot be mapped.
    pub fn shader(gpu: &Arc<dyn Gpu>, code: &[u64]) -> Result<Bo, GpuError> {
        let handle = gpu.create_shader_bo(code)?;
        Ok(Bo::of_handle(gpu, &Arc::default(), handle, (code.len() as u64 * 8).next_multiple_of(4096)))
    }

    fn of_handle(gpu: &Arc<dyn Gpu>, traffic: &Arc<Traffic>, handle: BoHandle, size: u64) -> Bo {
        USED.fetch_add(size, Ordering::Relaxed);
        let (mapping, shared) = (OnceLock::new(), OnceLock::new());
        let sight = Sight::Combined;
        Bo { gpu: gpu.clone(), handle, size, mapping, traffic: traffic.clone(), shared, sight }
    }

    /// What tells it from others: the GEM handle, if it is not the process's own memory.
    pub fn handle(&self) -> BoHandle {
        self.handle
    }

    /// The GEM handle that jobs know: its own or a copy's.
    pub fn handle_in_jobs(&self) -> Result<BoHandle, GpuError> {
        let Sight::Own { copy, .. } = &self.sight else { return Ok(self.handle) };
        if let Some(copy) = copy.get() {
            return Ok(copy.handle);
        }
        let content = own_pages(self.size)?;
        let handle = self.gpu.create_bo(self.size as u32)?;
        let kept = copy.get_or_init(|| Copy { handle, content }).handle;
        match kept == handle {
            true => _ = USED.fetch_add(self.size, Ordering::Relaxed),
            // Another thread was faster.
            false => self.gpu.close_bo(handle),
        }
        Ok(kept)
    }

    /// Whether jobs get a copy.
    #[inline]
    pub fn is_copied(&self) -> bool {
        matches!(self.sight, Sight::Own { .. })
    }

    fn cache(&self) -> Option<&Cache> {
        match &self.sight {
            Sight::Cached(cache) => Some(cache),
            Sight::Combined | Sight::Own { .. } => None,
        }
    }

    /// Whether the CPU caches the memory: then it is handed over to jobs.
    #[inline]
    pub fn is_cached(&self) -> bool {
        !matches!(self.sight, Sight::Combined)
    }

    /// Size in bytes, a multiple of 4096.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Gives it a name for the kernel's debug output, and for captures.
    pub fn label(&self, name: &str) {
        if !self.is_copied() {
            self.gpu.label_bo(self.handle, name);
        }
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
        Ok(Access::new(self.seen()?, &self.traffic, cause).through(self.is_cached(), self.cache()))
    }

    /// As [`Bo::access`], for a cause that only one thread reads for.
    pub fn read_access(&self, cause: Cause) -> Result<ReadAccess<'_>, GpuError> {
        Ok(ReadAccess::new(self.seen()?, &self.traffic, cause).through(self.is_cached()))
    }

    /// The BO's memory, for kernels, whose machine code nobody counts.
    pub fn map_for_kernels(&self) -> Result<Mapping, GpuError> {
        let mapping = self.seen()?;
        if let Some(cache) = self.cache() {
            cache.dirty();
        }
        Ok(mapping)
    }

    /// The memory with what jobs have written to it, as far as they are complete.
    fn seen(&self) -> Result<Mapping, GpuError> {
        let mapping = self.map()?;
        if self.cache().is_some_and(Cache::take_stale) {
            self.gpu.forget(self.handle, 0..mapping.len());
        }
        Ok(mapping)
    }

    /// A job is about to use it: what the driver wrote has to be in memory, and where it `writes`, caches will be stale. Of what
    /// jobs have a copy of, `parts` are copied.
    pub fn hand_over(&self, writes: bool, parts: &[Range<u64>]) -> Result<(), GpuError> {
        match &self.sight {
            Sight::Combined => {}
            Sight::Cached(cache) => {
                if cache.take_dirty() {
                    self.gpu.write_back(self.handle, 0..self.size as usize);
                }
                if writes {
                    cache.stale();
                }
            }
            Sight::Own { memory, copy } => {
                let Some(Copy { handle, content }) = copy.get() else { return Ok(()) };
                let (from, seen) = (memory.mapping(), content.mapping());
                let to = Access::new(self.gpu.map_bo(*handle)?, &self.traffic, Cause::Copied);
                let mut line = [0; LINE / 4];
                for part in parts {
                    let first = part.start as usize / LINE * LINE;
                    for at in (first..part.end.min(self.size) as usize).step_by(LINE) {
                        from.read(at, bytemuck::cast_slice_mut(&mut line));
                        if !seen.holds(at, &line) {
                            seen.write(at, bytemuck::cast_slice(&line));
                            to.write(at, bytemuck::cast_slice(&line));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// vkFlushMappedMemoryRanges: what the application wrote goes to memory.
    pub fn write_back(&self, bytes: Range<usize>) {
        if self.cache().is_some() {
            self.gpu.write_back(self.handle, bytes);
        }
    }

    /// vkInvalidateMappedMemoryRanges: the application is to see what memory holds.
    pub fn forget(&self, bytes: Range<usize>) {
        if self.cache().is_some() {
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
        let handle = match &self.sight {
            Sight::Own { copy, .. } => copy.get().map(|copy| copy.handle),
            Sight::Combined | Sight::Cached(_) => Some(self.handle),
        };
        let Some(handle) = handle else { return };
        USED.fetch_sub(self.size, Ordering::Relaxed);
        match self.shared.get() {
            None => self.gpu.close_bo(handle),
            Some(shared) => shared.close(self),
        }
    }
}

/// Zeroed pages of the process.
fn own_pages(bytes: u64) -> Result<MappedMemory, GpuError> {
    let pages = usize::try_from(bytes).ok().and_then(|bytes| MappedMemory::anonymous(bytes).ok());
    pages.ok_or(GpuError::OutOfMemory("the process gets no more memory"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;

    #[test]
    fn jobs_get_copies_of_the_process_own_memory_and_reading_it_costs_nothing() {
        let device = device();
        let traffic = device.physical().traffic();
        let bo = device.create_host_bo("test", 8000).unwrap();
        let other = device.create_host_bo("test", 1).unwrap();
        assert_ne!(bo.handle(), other.handle());
        assert_eq!((bo.size(), other.size()), (8192, 4096));
        let words: Vec<u8> = (0..8192u32).map(|n| n as u8 ^ (n >> 8) as u8 | 1).collect();
        bo.map().unwrap().write(0, &words);
        let mut read = [0; 100];
        bo.access(Cause::Copy).unwrap().read(500, &mut read);
        bo.read_access(Cause::Uniforms).unwrap().read(500, &mut read);
        assert_eq!(read[..], words[500..600]);
        assert_eq!(traffic.total(), Default::default());

        let handle = bo.handle_in_jobs().unwrap();
        assert_ne!(handle, bo.handle());
        assert_eq!(bo.handle_in_jobs().unwrap(), handle);
        let parts = [16..32, 3000..5100, 8190..9000];
        let lines = [0..64, 2944..5120, 8128..8192];
        let seen = || {
            let mut seen = vec![0; 8192];
            device.gpu().map_bo(handle).unwrap().read(0, &mut seen);
            seen
        };
        bo.hand_over(false, &parts).unwrap();
        let is_copied = |at| lines.iter().any(|line: &Range<usize>| line.contains(&at));
        let copied: Vec<u8> = (0..8192).map(|at| if is_copied(at) { words[at] } else { 0 }).collect();
        assert_eq!(seen(), copied);
        let written = || traffic.total().sum().written;
        assert_eq!(written(), 64 + 2176 + 64);
        // Only what changed is written again.
        bo.map().unwrap().write(4000, &[0; 4]);
        bo.hand_over(false, &parts).unwrap();
        assert_eq!((&seen()[4000..4004], written()), (&[0; 4][..], 64 + 2176 + 128));
        drop(bo);
        assert!(device.gpu().map_bo(handle).is_err());
    }
}

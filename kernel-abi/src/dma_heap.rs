//! The kernel's heaps of contiguous memory that it does not map write-combined (`linux/dma-heap.h`).

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

use nix::errno::Errno;

/// Where the heaps are.
pub const HEAP_DIR: &str = "/dev/dma_heap";
/// Names of the heap of the CMA area that BOs come from, too: of a device tree's area, of one from the command line or the
/// kernel's configuration, and what Linux 6.17 calls either.
pub const HEAP_NAMES: [&str; 3] = ["linux,cma", "reserved", "default_cma_region"];

/// `struct dma_heap_allocation_data`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct DmaHeapAllocation {
    /// Bytes.
    pub len: u64,
    /// The dma-buf, an answer.
    pub fd: u32,
    /// O_CLOEXEC and an access mode.
    pub fd_flags: u32,
    /// None are known.
    pub heap_flags: u64,
}

mod raw {
    use super::DmaHeapAllocation;

    nix::ioctl_readwrite!(alloc, b'H', 0, DmaHeapAllocation);
}

/// Request code of the only call.
pub const DMA_HEAP_IOCTL_ALLOC: u32 =
    nix::request_code_readwrite!(b'H', 0, size_of::<DmaHeapAllocation>()) as u32;

/// A heap.
#[derive(Debug)]
pub struct DmaHeap(File);

impl DmaHeap {
    /// The first of the known heaps that there is and that this user may open.
    pub fn open() -> Option<DmaHeap> {
        DmaHeap::open_in(Path::new(HEAP_DIR))
    }

    fn open_in(dir: &Path) -> Option<DmaHeap> {
        HEAP_NAMES.iter().find_map(|name| {
            let path = dir.join(name);
            let file = File::open(&path);
            if let Err(error) = &file {
                if error.kind() != std::io::ErrorKind::NotFound {
                    log::info!(target: "vc4::drm", "{}: {error}; there is no cached memory", path.display());
                }
            }
            file.ok().map(DmaHeap)
        })
    }

    /// A dma-buf of so many zeroed bytes, whole pages.
    ///
    /// # Errors
    /// Those of the kernel: `ENOMEM` without contiguous memory.
    pub fn allocate(&self, bytes: u32) -> Result<OwnedFd, Errno> {
        let mut allocation = DmaHeapAllocation {
            len: bytes.into(),
            fd_flags: (libc::O_RDWR | libc::O_CLOEXEC) as u32,
            ..Default::default()
        };
        loop {
            // SAFETY: the structure is the call's and lives as long as it.
            match unsafe { raw::alloc(self.0.as_raw_fd(), &mut allocation) } {
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno),
                // SAFETY: the kernel gave a new descriptor to us alone.
                Ok(_) => return Ok(unsafe { OwnedFd::from_raw_fd(allocation.fd as i32) }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_call_has_the_number_of_the_kernel_s_header() {
        assert_eq!(DMA_HEAP_IOCTL_ALLOC, 0xc018_4800);
    }

    #[test]
    fn a_machine_without_heaps_has_none() {
        assert!(DmaHeap::open_in(Path::new("/nowhere")).is_none());
    }
}

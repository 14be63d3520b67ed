//! BOs that the CPU caches, in the worst way that a cache can behave: it keeps what it has until it is told otherwise.
//!
//! The CPU's view has pages of its own, which are none of the machine's. A line that it changed goes to memory as a whole, as lines do.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use vc4_kernel_abi::{GpuError, MappedMemory, Mapping};

use crate::kernel::Bo;
use crate::lock::lock;

/// Words of a line.
const LINE: usize = 16;
/// Bytes of one.
const LINE_BYTES: usize = 4 * LINE;

/// A cached BO.
pub(super) struct Cached {
    memory: Arc<Bo>,
    view: MappedMemory,
    /// What the view held when it was last like memory.
    seen: Mutex<Vec<u32>>,
}

impl Cached {
    /// A zeroed BO, of which the CPU has seen nothing.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`]: the process gets no memory for the view.
    pub(super) fn new(memory: Arc<Bo>) -> Result<Cached, GpuError> {
        let bytes = memory.pages.bytes() as usize;
        let view = MappedMemory::anonymous(bytes).map_err(|_| GpuError::OutOfMemory("a cached view"))?;
        Ok(Cached { memory, view, seen: Mutex::new(vec![0; bytes / 4]) })
    }

    /// The CPU's view, good until the BO is closed.
    pub(super) fn view(&self) -> Mapping {
        self.view.mapping()
    }

    /// Lines that the CPU changed go to memory; then, if the CPU `forgets`, its view is what memory holds.
    ///
    /// # Panics
    /// If the range leaves the BO.
    pub(super) fn maintain(&self, bytes: Range<usize>, forgets: bool) {
        assert!(bytes.start <= bytes.end && bytes.end <= self.memory.pages.bytes() as usize);
        let mut seen = lock(&self.seen);
        let (view, memory) = (self.view(), self.memory.pages.memory());
        let mut line = [0u32; LINE];
        for at in (bytes.start / LINE_BYTES * LINE_BYTES..bytes.end).step_by(LINE_BYTES) {
            let address = self.memory.pages.address() + at as u32;
            let known = &mut seen[at / 4..at / 4 + LINE];
            view.read(at, bytemuck::bytes_of_mut(&mut line));
            if line != *known {
                memory.write_words(address, &line).expect("the pages lie in memory");
                known.copy_from_slice(&line);
            }
            if forgets {
                memory.read_words(address, &mut line).expect("the pages lie in memory");
                if line != *known {
                    view.write(at, bytemuck::bytes_of(&line));
                    known.copy_from_slice(&line);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use vc4_kernel_abi::Gpu;

    use crate::{Config, Simulator};

    /// What memory holds is seen by way of the GPU's half, which nobody else has a mapping of.
    #[test]
    fn views_are_as_old_as_nobody_asks() {
        let gpu = Simulator::new(Config::default());
        let bo = gpu.create_cached_bo(4096).unwrap();
        let mapping = gpu.map_bo(bo).unwrap();
        let pages = gpu.bo(bo).unwrap();
        let memory = |word: u32| pages.pages.memory().read(pages.pages.address() + 4 * word).unwrap();
        let jobs_write =
            |word: u32, value| pages.pages.memory().write(pages.pages.address() + 4 * word, value).unwrap();
        mapping.write_u32(0, 7);
        mapping.write_u32(256, 9);
        assert_eq!((memory(0), memory(64)), (0, 0));
        gpu.write_back(bo, 0..4);
        assert_eq!((memory(0), memory(64)), (7, 0));
        jobs_write(1, 3);
        jobs_write(64, 4);
        assert_eq!((mapping.read_u32(4), mapping.read_u32(256)), (0, 9));
        gpu.forget(bo, 0..64);
        assert_eq!((mapping.read_u32(4), mapping.read_u32(256)), (3, 9));
        // What was not written back is not lost, and takes its line along.
        gpu.forget(bo, 0..4096);
        assert_eq!((mapping.read_u32(256), memory(64)), (9, 9));
        gpu.close_bo(bo);
    }

    /// Memory that the CPU caches takes no more of the machine's than other memory.
    #[test]
    fn views_take_no_memory_of_the_machine() {
        const BYTES: u32 = 8 << 20;
        let gpu = Simulator::new(Config { memory_bytes: 32 << 20, ..Config::default() });
        let bo = gpu.create_cached_bo(BYTES).unwrap();
        let mapping = gpu.map_bo(bo).unwrap();
        mapping.write_u32(BYTES as usize - 4, 5);
        gpu.write_back(bo, 0..BYTES as usize);
        let pages = gpu.bo(bo).unwrap();
        let last = pages.pages.address() + BYTES - 4;
        assert_eq!(pages.pages.memory().read(last).unwrap(), 5);
        // Of 32 MiB the binner has 16, and the first is lost: these begin at multiples of one.
        gpu.create_bo((6 << 20) + (1 << 19)).unwrap();
    }

    #[test]
    #[should_panic(expected = "assertion failed")]
    fn ranges_end_with_the_bo() {
        let gpu = Simulator::new(Config::default());
        let bo = gpu.create_cached_bo(4096).unwrap();
        gpu.forget(bo, 0..4097);
    }
}

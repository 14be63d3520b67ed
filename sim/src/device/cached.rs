//! BOs that the CPU caches, in the worst way that a cache can behave: it keeps what it has until it is told otherwise.
//!
//! The CPU's view has pages of its own. A line that it changed goes to memory as a whole, as lines do.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::kernel::Bo;
use crate::lock::lock;

/// Words of a line.
const LINE: usize = 16;

/// A cached BO.
pub(super) struct Cached {
    memory: Arc<Bo>,
    view: Arc<Bo>,
    /// What the view held when it was last like memory.
    seen: Mutex<Vec<u32>>,
}

impl Cached {
    /// A BO and pages of the same size for the CPU's view of it, both zeroed.
    pub(super) fn new(memory: Arc<Bo>, view: Arc<Bo>) -> Cached {
        let seen = Mutex::new(vec![0; memory.pages.bytes() as usize / 4]);
        Cached { memory, view, seen }
    }

    /// The CPU's view.
    pub(super) fn view(&self) -> &Arc<Bo> {
        &self.view
    }

    /// Lines that the CPU changed go to memory; then, if the CPU `forgets`, its view is what memory holds.
    ///
    /// # Panics
    /// If the range leaves the BO.
    pub(super) fn maintain(&self, bytes: Range<usize>, forgets: bool) {
        assert!(bytes.start <= bytes.end && bytes.end <= self.memory.pages.bytes() as usize);
        let mut seen = lock(&self.seen);
        let mut line = [0; LINE];
        for first in (bytes.start / (4 * LINE) * LINE..bytes.end.div_ceil(4)).step_by(LINE) {
            let at = |bo: &Bo| bo.pages.address() + 4 * first as u32;
            let known = &mut seen[first..first + LINE];
            let read = self.view.pages.memory().read_words(at(&self.view), &mut line);
            read.expect("the pages lie in memory");
            if line != *known {
                let written = self.memory.pages.memory().write_words(at(&self.memory), &line);
                written.expect("the pages lie in memory");
                known.copy_from_slice(&line);
            }
            if forgets {
                let read = self.memory.pages.memory().read_words(at(&self.memory), &mut line);
                read.expect("the pages lie in memory");
                if line != *known {
                    let written = self.view.pages.memory().write_words(at(&self.view), &line);
                    written.expect("the pages lie in memory");
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

    #[test]
    #[should_panic(expected = "assertion failed")]
    fn ranges_end_with_the_bo() {
        let gpu = Simulator::new(Config::default());
        let bo = gpu.create_cached_bo(4096).unwrap();
        gpu.forget(bo, 0..4097);
    }
}

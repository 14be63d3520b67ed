//! When the queue last changed memory. What jobs were made of is the same as long as nobody has changed it.

use rustc_hash::FxHashMap;
use vc4_kernel_abi::{BoHandle, Submit};

use crate::segments::Touch;

/// BOs whose times are remembered.
const MAX_BOS: usize = 4096;

/// Times are counted in commands and jobs that change something.
#[derive(Debug, Default)]
pub struct Changes {
    now: u64,
    /// When something changed that no entry of `bos` names.
    of_any: u64,
    of_bos: FxHashMap<BoHandle, u64>,
}

impl Changes {
    /// The time.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The CPU executes a command. What it touches it may write.
    pub fn by_command(&mut self, touch: &Touch) {
        self.now += 1;
        match touch {
            Touch::Nothing => {}
            Touch::Everything => self.of_any = self.now,
            Touch::Bos(bos) => bos.iter().for_each(|bo| self.change(*bo)),
        }
    }

    /// A job is submitted: it changes what it stores to.
    pub fn by_job(&mut self, job: &Submit) {
        self.now += 1;
        let stores = [&job.color_write, &job.zs_write, &job.msaa_color_write, &job.msaa_zs_write];
        for surface in stores.into_iter().flatten() {
            if let Some(bo) = job.bos.get(surface.bo_index as usize) {
                self.change(*bo);
            }
        }
    }

    fn change(&mut self, bo: BoHandle) {
        if self.of_bos.len() >= MAX_BOS && !self.of_bos.contains_key(&bo) {
            self.of_bos.clear();
            self.of_any = self.now;
        }
        self.of_bos.insert(bo, self.now);
    }

    /// Whether a BO may have been changed after a time.
    pub fn since(&self, bo: BoHandle, time: u64) -> bool {
        self.of_any > time || self.of_bos.get(&bo).is_some_and(|changed| *changed > time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vc4_kernel_abi::Surface;

    #[test]
    fn a_bo_changes_by_commands_that_touch_it_and_jobs_that_store_to_it() {
        let mut changes = Changes::default();
        let (a, b) = (BoHandle(1), BoHandle(2));
        let start = changes.now();
        changes.by_command(&Touch::Bos(vec![a]));
        assert_eq!([a, b].map(|bo| changes.since(bo, start)), [true, false]);
        let then = changes.now();
        let surface = Surface { bo_index: 1, offset: 0, bits: 0, flags: 0 };
        changes.by_job(&Submit { bos: vec![a, b], color_read: Some(surface), ..Default::default() });
        assert_eq!([a, b].map(|bo| changes.since(bo, then)), [false, false]);
        changes.by_job(&Submit { bos: vec![a, b], zs_write: Some(surface), ..Default::default() });
        assert_eq!([a, b].map(|bo| changes.since(bo, then)), [false, true]);
        changes.by_command(&Touch::Everything);
        assert_eq!([a, b].map(|bo| changes.since(bo, then)), [true, true]);
    }

    #[test]
    fn what_is_forgotten_counts_as_changed() {
        let mut changes = Changes::default();
        changes.by_command(&Touch::Bos((0..MAX_BOS as u32).map(BoHandle).collect()));
        let then = changes.now();
        let other = BoHandle(u32::MAX);
        assert!(!changes.since(other, then));
        changes.by_command(&Touch::Bos(vec![BoHandle(5000)]));
        assert!(changes.since(other, then) && changes.since(BoHandle(0), then));
        assert!(!changes.since(BoHandle(0), changes.now()));
    }
}

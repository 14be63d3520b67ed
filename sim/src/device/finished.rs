//! Which jobs are done (kernel-abi.md §11).

use std::collections::BTreeSet;

use vc4_kernel_abi::Seqno;

/// Which jobs are done. They finish in their order, but for those that a reset has put back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Finished {
    /// The last job whose turn has come.
    through: u64,
    /// Those up to there that are to run again.
    behind: BTreeSet<u64>,
    /// Whether one more is counted already.
    early: bool,
}

impl Finished {
    /// Whether the fence of this job has signalled.
    pub fn has(&self, job: Seqno) -> bool {
        job.0 <= self.through && !self.behind.contains(&job.0)
    }

    /// How many jobs are done. The kernel's waits by number take this for the number of the last one.
    pub fn count(&self) -> Seqno {
        Seqno(self.through - self.behind.len() as u64 + u64::from(self.early))
    }

    /// A job has come to its end: it is counted, but its monitor has not been read yet and its fence has not signalled.
    pub(super) fn count_up(&mut self) {
        self.early = true;
    }

    /// All of that has happened, too.
    pub(super) fn add(&mut self, job: Seqno) {
        self.through = self.through.max(job.0);
        self.behind.remove(&job.0);
        self.early = false;
    }

    /// The job will run once more, behind those that are queued now.
    pub(super) fn put_back(&mut self, job: Seqno) {
        self.through = self.through.max(job.0);
        self.behind.insert(job.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_is_put_back_lets_its_number_go_to_the_next() {
        let mut finished = Finished::default();
        assert!(finished.has(Seqno(0)));
        finished.add(Seqno(1));
        finished.put_back(Seqno(2));
        assert_eq!((finished.count(), finished.has(Seqno(2))), (Seqno(1), false));
        // Whoever waits for number 2 goes on, but its fence has not signalled.
        finished.add(Seqno(3));
        assert_eq!(
            (finished.count(), finished.has(Seqno(2)), finished.has(Seqno(3))),
            (Seqno(2), false, true)
        );
        finished.count_up();
        assert_eq!((finished.count(), finished.has(Seqno(2))), (Seqno(3), false));
        finished.add(Seqno(2));
        assert_eq!((finished.count(), finished.has(Seqno(2))), (Seqno(3), true));
    }
}

//! Jobs of segments that are submitted again and again: built once, kept, and brought up to date.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::job::Job;
use super::ledger::{Ledger, Look};
use super::patches::Patches;
use crate::execution::changes::Changes;
use crate::foundation::debug::{Debug, flags};
use crate::foundation::error::Error;
use crate::objects::memory::Binding;
use crate::pipeline::{BLOCK_WORDS, Block};

/// The time from which on the jobs of a segment are kept: most command buffers are submitted once.
const FIRST_KEPT: u32 = 2;
/// How often jobs may turn out to be out of date, beyond the times that they were not, before nobody keeps them any more.
const MOST_MISSES: u32 = 4;

/// What is known of a segment from the times before.
#[derive(Default)]
pub struct Kept {
    /// How often it was submitted.
    times: u32,
    /// How often the jobs were out of date, less how often they were not.
    misses: u32,
    jobs: Option<Box<Jobs>>,
}

/// Memory that all kept jobs of a device take.
#[derive(Default)]
pub struct Budget(Arc<AtomicU64>);

/// A part of a [`Budget`], given back at its end.
struct Share {
    of: Arc<AtomicU64>,
    bytes: u64,
}

/// Memory as it was when jobs were built.
struct Rest {
    memory: Binding,
    /// [`Binding::host_version`].
    version: Option<u64>,
}

/// Jobs that may be submitted again.
pub struct Jobs {
    jobs: Vec<Job>,
    rests: Vec<Rest>,
    looks: Vec<Look>,
    /// When building began.
    built: u64,
    /// A query counted them.
    is_counted: bool,
    patches: Patches,
    block: Box<Block>,
    _share: Share,
}

impl Budget {
    /// Takes `bytes`, if all together are no more than `most`.
    fn take(&self, bytes: u64, most: u64) -> Option<Share> {
        let all = self.0.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let share = Share { of: self.0.clone(), bytes };
        (all <= most).then_some(share)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Kept {
    /// The jobs, if what they rest on has not changed. `is_counted`: whether a query counts what they draw.
    pub fn jobs(&mut self, changes: &Changes, is_counted: bool) -> Option<&mut Jobs> {
        if self.jobs.as_ref().is_some_and(|jobs| jobs.is_counted != is_counted || !jobs.hold(changes)) {
            self.misses += 1;
            self.jobs = None;
        } else if self.jobs.is_some() {
            self.misses = self.misses.saturating_sub(1);
        }
        self.jobs.as_deref_mut()
    }

    /// The ledger of a building that is about to begin.
    pub fn begin(&mut self) -> Ledger {
        self.times = self.times.saturating_add(1);
        let keeps = self.times >= FIRST_KEPT && self.misses <= MOST_MISSES;
        match keeps && !flags().contains(Debug::REBUILD) {
            true => Ledger::noting(),
            false => Ledger::default(),
        }
    }

    /// Keeps jobs in the order of their submission, if they may be good for another time. `built` is the time at which
    /// building began, and whether a query counted; `most` bytes may be kept in all.
    pub fn keep(
        &mut self,
        ledger: Ledger,
        mut jobs: Vec<Job>,
        (built, is_counted): (u64, bool),
        (budget, most): (&Budget, u64),
    ) {
        let Some(mut notes) = ledger.into_notes() else { return };
        let rests: Vec<Rest> =
            notes.rests.into_values().map(|(memory, version)| Rest { memory, version }).collect();
        jobs.iter_mut().for_each(Job::settle);
        let is_void = notes.is_void || jobs.iter_mut().any(|job| job.uniform_words().is_none());
        if is_void || rests.iter().any(|rest| rest.version.is_none()) {
            // The next time is like this one.
            self.misses += 1;
            return;
        }
        let mut places = vec![u32::MAX; notes.jobs as usize];
        for (place, job) in jobs.iter().enumerate() {
            if let Some(slot) = job.number().and_then(|number| places.get_mut(number as usize)) {
                *slot = place as u32;
            }
        }
        notes.patches.place(&places, built);
        let host_bytes = notes.patches.bytes() + jobs.iter().map(Job::bytes).sum::<usize>();
        let Some(share) = budget.take(notes.own_bytes + host_bytes as u64, most) else {
            self.misses += 1;
            return;
        };
        let (looks, patches, block) = (notes.looks, notes.patches, Box::new([0; BLOCK_WORDS]));
        self.jobs =
            Some(Box::new(Jobs { jobs, rests, looks, built, is_counted, patches, block, _share: share }));
    }
}

impl Jobs {
    /// Whether all memory that shaped them is as it was.
    fn hold(&self, changes: &Changes) -> bool {
        self.rests.iter().all(|Rest { memory, version }| {
            memory.host_version() == *version && !changes.since(&memory.span(), self.built)
        }) && self.looks.iter().all(Look::is_the_same)
    }

    /// Whether [`Jobs::refresh`] has to look at memory, at a time behind which all changes are still to come.
    pub fn are_old(&mut self, changes: &Changes, now: u64) -> bool {
        self.patches.look(changes, now)
    }

    /// Brings them up to date.
    pub fn refresh(&mut self) -> Result<(), Error> {
        self.patches.apply(&mut self.jobs, &mut self.block)
    }

    /// The jobs.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Job> {
        self.jobs.iter_mut()
    }

    /// Compares them with those that were built just now.
    ///
    /// # Errors
    /// What is different.
    pub fn compare(&self, built: &[Job]) -> Result<(), Error> {
        let differ = |what: &str| Err(Error::Panic(format!("kept jobs differ from new ones: {what}")));
        if self.jobs.len() != built.len() {
            return differ(&format!("{} and {}", self.jobs.len(), built.len()));
        }
        for (kept, built) in self.jobs.iter().zip(built) {
            if let Some(what) = kept.difference(built)? {
                return differ(what);
            }
        }
        Ok(())
    }
}

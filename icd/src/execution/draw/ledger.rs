//! What of memory the CPU read for jobs while it built them: what they rest on when they are submitted again.

use std::cell::{RefCell, RefMut};
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::patches::{BlockId, Patches};
use crate::foundation::error::Error;
use crate::foundation::traffic::Cause;
use crate::objects::memory::{Binding, Span};
use crate::pipeline::Variant;

/// Bytes of memory that the CPU looked at.
pub(super) struct Look {
    memory: Binding,
    /// The first.
    at: usize,
    bytes: Vec<u8>,
}

impl Look {
    fn new(memory: &Binding, bytes: Range<usize>) -> Result<Look, Error> {
        let mut look = Look { memory: memory.clone(), at: bytes.start, bytes: vec![0; bytes.len()] };
        memory.bo.access(Cause::Indices)?.read(look.at, &mut look.bytes);
        Ok(look)
    }

    /// Whether they are as they were.
    pub fn is_the_same(&self) -> bool {
        Look::new(&self.memory, self.at..self.at + self.bytes.len()).is_ok_and(|now| now.bytes == self.bytes)
    }
}

/// Notes of one building, or nothing if nobody wants any.
#[derive(Default)]
pub struct Ledger(Option<RefCell<Notes>>);

/// What was noted.
#[derive(Default)]
pub(super) struct Notes {
    /// Memory that must be as it was, and its [`Binding::host_version`] then.
    pub rests: FxHashMap<Span, (Binding, Option<u64>)>,
    /// Bytes that must be as they were, of memory where that costs little to see.
    pub looks: Vec<Look>,
    /// Words that may be others, and where they went.
    pub patches: Patches,
    /// Bytes of BOs that were made for the jobs.
    pub own_bytes: u64,
    /// Jobs that are finished.
    pub jobs: u32,
    /// The jobs are good for once only.
    pub is_void: bool,
}

impl Ledger {
    /// A ledger that notes.
    pub fn noting() -> Ledger {
        Ledger(Some(RefCell::default()))
    }

    fn notes(&self) -> Option<RefMut<'_, Notes>> {
        self.0.as_ref().map(RefCell::borrow_mut)
    }

    pub(super) fn into_notes(self) -> Option<Notes> {
        self.0.map(RefCell::into_inner)
    }

    /// Whether it notes.
    #[inline]
    pub fn is_noting(&self) -> bool {
        self.0.is_some()
    }

    /// The CPU is about to look at this memory, and what it sees will shape a job.
    #[inline]
    pub(super) fn rests_on(&self, memory: &Binding) {
        if let Some(mut notes) = self.notes() {
            notes.rests.entry(memory.span()).or_insert_with(|| (memory.clone(), memory.host_version()));
        }
    }

    /// The CPU is about to look at bytes of this memory, from one of its BO on, and what it sees will shape a job. Where the
    /// application may write at any time, but looking again is cheap, they are compared.
    pub(super) fn rests_on_bytes(&self, memory: &Binding, bytes: Range<usize>) -> Result<(), Error> {
        if !memory.bo.is_copied() {
            self.rests_on(memory);
        } else if let Some(mut notes) = self.notes() {
            notes.own_bytes += bytes.len() as u64;
            notes.looks.push(Look::new(memory, bytes)?);
        }
        Ok(())
    }

    /// A BO of so many bytes was made for the jobs.
    pub(super) fn owns(&self, bytes: u64) {
        if let Some(mut notes) = self.notes() {
            notes.own_bytes += bytes;
        }
    }

    /// Something went into the jobs that will be otherwise the next time.
    pub(super) fn give_up(&self) {
        if let Some(mut notes) = self.notes() {
            notes.is_void = true;
        }
    }

    /// These words were read for a run of a recipe, from a byte of a BO on.
    pub(super) fn block(&self, place: &Binding, offset: usize, run: usize, words: &[u32]) -> BlockId {
        self.notes()
            .map_or(BlockId::default(), |mut notes| notes.patches.add_block(place, offset, run, words))
    }

    /// Streams with these words, of these blocks, stand from word `at` on in the job that is being built.
    pub(super) fn streams(&self, variant: &Arc<Variant>, at: u32, words: &[u32], blocks: &[BlockId]) {
        if let Some(mut notes) = self.notes() {
            let job = notes.jobs;
            notes.patches.add_streams(variant, (job, at), words, blocks);
        }
    }

    /// The job that was being built is finished; its number.
    pub(super) fn finish_job(&self) -> u32 {
        self.notes().map_or(0, |mut notes| {
            notes.jobs += 1;
            notes.jobs - 1
        })
    }
}

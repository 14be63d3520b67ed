//! Words of uniform buffers in the streams of jobs that are submitted again. The application writes to mapped memory when it
//! likes and tells nobody, so that is read each time; only what is different is written.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::job::Job;
use crate::execution::changes::Changes;
use crate::foundation::error::Error;
use crate::foundation::traffic::Cause;
use crate::objects::memory::{Binding, Span};
use crate::pipeline::{Block, Inputs, Variant};

/// A block of [`Patches`], or none: words that never change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlockId(Option<u32>);

/// Memory that words are read from.
struct Memory {
    place: Binding,
    /// [`Binding::host_version`] when it was read last, at that time of [`Changes`].
    version: Option<u64>,
    time: u64,
    /// It is as it was then.
    is_steady: bool,
}

/// Words that were read in one go.
struct Source {
    /// The memory's number.
    memory: usize,
    /// First byte in the BO.
    offset: usize,
    /// Which run of the recipe it is.
    run: usize,
    /// Place of its words among those seen, and how many memory has; a run's words behind them are zero.
    seen: (usize, usize),
    /// Streams that have its words: a part of [`Patches::uses`].
    uses: (usize, usize),
}

/// The streams of a record, as they stand in a job.
struct Written {
    variant: Arc<Variant>,
    /// The job's number, and from [`Patches::place`] on its place.
    job: u32,
    /// First word among the job's.
    at: u32,
    /// Place of all words of a recipe that computes, with those behind the streams.
    all: Option<usize>,
    /// Words have changed that others are computed from.
    is_stale: bool,
}

/// Where words of memory stand in jobs.
#[derive(Default)]
pub(super) struct Patches {
    memories: Vec<Memory>,
    /// Numbers of memories.
    numbers: FxHashMap<Span, usize>,
    sources: Vec<Source>,
    /// Which memory the sources are of, one behind the other.
    groups: Vec<(usize, Range<usize>)>,
    /// Words of memory as the streams have them.
    seen: Vec<u32>,
    written: Vec<Written>,
    /// Which streams have words of which block; by block from [`Patches::place`] on.
    uses: Vec<(BlockId, u32)>,
    /// Words of recipes that compute.
    all: Vec<u32>,
    stale: Vec<u32>,
}

impl Patches {
    /// Notes the words that memory has for a run, as they were read from a byte of its BO on.
    pub fn add_block(&mut self, place: &Binding, offset: usize, run: usize, words: &[u32]) -> BlockId {
        let memory = *self.numbers.entry(place.span()).or_insert_with(|| {
            let version = place.host_version();
            self.memories.push(Memory { place: place.clone(), version, time: 0, is_steady: false });
            self.memories.len() - 1
        });
        let seen = (self.seen.len(), words.len());
        self.seen.extend_from_slice(words);
        self.sources.push(Source { memory, offset, run, seen, uses: (0, 0) });
        BlockId(Some(self.sources.len() as u32 - 1))
    }

    /// Notes streams, in a job at a place, and the blocks of their recipe's runs.
    pub fn add_streams(
        &mut self,
        variant: &Arc<Variant>,
        (job, at): (u32, u32),
        words: &[u32],
        blocks: &[BlockId],
    ) {
        if blocks.is_empty() {
            return;
        }
        let all = variant.recipe.computes().then_some(self.all.len());
        if all.is_some() {
            self.all.extend_from_slice(words);
        }
        let number = self.written.len() as u32;
        self.written.push(Written { variant: variant.clone(), job, at, all, is_stale: false });
        self.uses.extend(blocks.iter().map(|block| (*block, number)));
    }

    /// Bytes of host memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.sources[..])
            + size_of_val(&self.written[..])
            + size_of_val(&self.uses[..])
            + size_of_val(&self.seen[..])
            + size_of_val(&self.all[..])
    }

    /// Says where jobs stand, by number, and when building them began.
    pub fn place(&mut self, places: &[u32], built: u64) {
        self.memories.iter_mut().for_each(|memory| memory.time = built);
        for streams in &mut self.written {
            streams.job = places.get(streams.job as usize).copied().unwrap_or(u32::MAX);
        }
        self.uses.sort_unstable();
        let mut first = 0;
        for uses in self.uses.chunk_by(|a, b| a.0 == b.0) {
            if let BlockId(Some(source)) = uses[0].0 {
                self.sources[source as usize].uses = (first, uses.len());
            }
            first += uses.len();
        }
        let mut first = 0;
        for sources in self.sources.chunk_by(|a, b| a.memory == b.memory) {
            self.groups.push((sources[0].memory, first..first + sources.len()));
            first += sources.len();
        }
    }

    /// Finds out which memory may have changed, at a time behind which all changes are still to come; whether any has.
    pub fn look(&mut self, changes: &Changes, now: u64) -> bool {
        let mut is_any = false;
        for Memory { place, version, time, is_steady } in &mut self.memories {
            let found = place.host_version();
            *is_steady = found.is_some() && found == *version && !changes.since(&place.span(), *time);
            (*version, *time) = (found, now);
            is_any |= !*is_steady;
        }
        is_any
    }

    /// Brings the streams of `jobs` up to date with the memory that may have changed.
    pub fn apply(&mut self, jobs: &mut [Job], block: &mut Block) -> Result<(), Error> {
        for (memory, sources) in &self.groups {
            let memory = &self.memories[*memory];
            if memory.is_steady {
                continue;
            }
            let memory = memory.place.bo.read_access(Cause::Uniforms)?;
            let mut read = 0;
            for source in &self.sources[sources.clone()] {
                let (first, have) = source.seen;
                let seen = &mut self.seen[first..][..have];
                read += size_of_val(seen);
                if memory.read_changed(source.offset, block, seen) {
                    continue;
                }
                seen.copy_from_slice(&block[..have]);
                block[have..].fill(0);
                let (first, count) = source.uses;
                for (_, number) in &self.uses[first..][..count] {
                    let streams = &mut self.written[*number as usize];
                    let recipe = &streams.variant.recipe;
                    let words = match streams.all {
                        None => words_of(jobs, streams),
                        Some(first) => {
                            if !std::mem::replace(&mut streams.is_stale, true) {
                                self.stale.push(*number);
                            }
                            self.all.get_mut(first..).and_then(|all| all.get_mut(..recipe.constants.len()))
                        }
                    };
                    if let (Some(words), Some(run)) = (words, recipe.buffers.get(source.run)) {
                        run.words.put(words, block);
                    }
                }
            }
            memory.count(read);
        }
        for number in self.stale.drain(..) {
            let streams = &mut self.written[number as usize];
            streams.is_stale = false;
            let recipe = &streams.variant.recipe;
            let all =
                streams.all.and_then(|first| self.all.get_mut(first..)?.get_mut(..recipe.constants.len()));
            if let Some(all) = all {
                recipe.compute(all, Inputs::default(), true);
                if let Some(words) = words_of(jobs, streams) {
                    words.copy_from_slice(&all[..recipe.stream_words]);
                }
            }
        }
        Ok(())
    }
}

fn words_of<'a>(jobs: &'a mut [Job], streams: &Written) -> Option<&'a mut [u32]> {
    let words = jobs.get_mut(streams.job as usize)?.uniform_words()?;
    words.get_mut(streams.at as usize..)?.get_mut(..streams.variant.recipe.stream_words)
}

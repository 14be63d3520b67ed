//! Words of uniform buffers in the streams of jobs that are submitted again. The application writes to such memory when it
//! likes and tells nobody, so it is read each time; only what is different is written.

use std::sync::Arc;

use super::bindings::Range;
use super::job::Job;
use crate::foundation::bo::Bo;
use crate::foundation::error::Error;
use crate::foundation::traffic::Cause;
use crate::pipeline::{BLOCK_WORDS, Block, BufferWords, Inputs, Variant};

/// A block of [`Patches`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlockId(u32);

/// Words that were read in one go.
struct Source {
    bo: Arc<Bo>,
    /// First byte in the BO.
    offset: usize,
    /// Which run of the recipe it is.
    run: usize,
    /// Place of its words among those seen, and how many memory has; a run's words behind them are zero.
    seen: (usize, usize),
    /// Streams that have its words: a part of [`Patches::uses`].
    uses: (usize, usize),
}

/// The streams of a record.
struct Streams {
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
    sources: Vec<Source>,
    /// Words of memory as the streams have them.
    seen: Vec<u32>,
    streams: Vec<Streams>,
    /// Which streams have words of which block; by block from [`Patches::place`] on.
    uses: Vec<(BlockId, u32)>,
    /// Words of recipes that compute.
    all: Vec<u32>,
    stale: Vec<u32>,
}

impl Patches {
    /// Notes words of a run as they were read.
    pub fn add_block(
        &mut self,
        range: &Range<'_>,
        (run, words): (usize, &BufferWords),
        read: &[u32],
    ) -> BlockId {
        let have = range.words_from(words.start).min(read.len());
        let seen = (self.seen.len(), have);
        self.seen.extend_from_slice(&read[..have]);
        let (bo, offset) = (range.bo.clone(), (range.offset + u64::from(words.start)) as usize);
        self.sources.push(Source { bo, offset, run, seen, uses: (0, 0) });
        BlockId(self.sources.len() as u32 - 1)
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
        let number = self.streams.len() as u32;
        self.streams.push(Streams { variant: variant.clone(), job, at, all, is_stale: false });
        self.uses.extend(blocks.iter().map(|block| (*block, number)));
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Bytes of host memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.sources[..])
            + size_of_val(&self.streams[..])
            + size_of_val(&self.uses[..])
            + size_of_val(&self.seen[..])
            + size_of_val(&self.all[..])
    }

    /// Says where jobs stand, by number.
    pub fn place(&mut self, places: &[u32]) {
        for streams in &mut self.streams {
            streams.job = places.get(streams.job as usize).copied().unwrap_or(u32::MAX);
        }
        self.uses.sort_unstable();
        let mut first = 0;
        for uses in self.uses.chunk_by(|a, b| a.0 == b.0) {
            self.sources[uses[0].0.0 as usize].uses = (first, uses.len());
            first += uses.len();
        }
    }

    /// Brings the streams of `jobs` up to date.
    pub fn apply(&mut self, jobs: &mut [Job], block: &mut Block) -> Result<(), Error> {
        for source in &self.sources {
            let (first, have) = source.seen;
            let memory = source.bo.read_access(Cause::Uniforms)?;
            memory.read(source.offset, bytemuck::cast_slice_mut(&mut block[..have]));
            let seen = &mut self.seen[first..][..have];
            if *seen == block[..have] {
                continue;
            }
            seen.copy_from_slice(&block[..have]);
            block[have..].fill(0);
            let (first, count) = source.uses;
            for (_, number) in &self.uses[first..][..count] {
                let streams = &mut self.streams[*number as usize];
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
        for number in self.stale.drain(..) {
            let streams = &mut self.streams[number as usize];
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

fn words_of<'a>(jobs: &'a mut [Job], streams: &Streams) -> Option<&'a mut [u32]> {
    let words = jobs.get_mut(streams.job as usize)?.uniform_words()?;
    words.get_mut(streams.at as usize..)?.get_mut(..streams.variant.recipe.stream_words)
}

const _: () = assert!(BLOCK_WORDS <= 256);

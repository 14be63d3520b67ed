//! Running a capture again.

use std::collections::BTreeMap;

use vc4_kernel_abi::validate::Mode;
use vc4_kernel_abi::{BoHandle, Gpu, GpuError, Mapping, Submit};

use crate::capture::pages::{Hash, PAGE_WORDS};
use crate::capture::read::{Capture, Done, Entry, Outcome};
use crate::capture::{BoUse, Update};
use crate::config::Config;
use crate::device::Simulator;
use crate::memory::PAGE_BYTES;
use crate::profile::Profile;

/// The largest bus memory that a capture is given, whatever its head says.
const MOST_MEMORY: u32 = 1 << 30;

/// Why a submission cannot be run again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A BO cannot be made.
    #[error("BO {key} of {bytes} bytes: {error}")]
    Bo {
        /// Its key.
        key: u32,
        /// Its size.
        bytes: u32,
        /// The simulator's answer.
        error: GpuError,
    },
    /// A BO is used in a way that does not fit what the capture said of it before.
    #[error("BO {key}: {what}")]
    Misused {
        /// Its key.
        key: u32,
        /// What is wrong.
        what: String,
    },
    /// The device failed.
    #[error(transparent)]
    Device(#[from] GpuError),
}

/// What a submission that ran again did.
#[derive(Clone, Debug, Default)]
pub struct Replayed {
    /// The job, unless it was refused.
    pub done: Option<Done>,
    /// Why it was refused, if it was.
    pub refused: Option<String>,
    /// What was noted, when it was observed.
    pub profile: Option<Profile>,
}

impl Replayed {
    /// In what way the result differs from the recorded one; nothing if that is unknown.
    pub fn differences(&self, recorded: &Outcome) -> Vec<String> {
        match (recorded, &self.done, &self.refused) {
            (Outcome::Unknown, ..) => Vec::new(),
            (Outcome::Refused { .. }, None, _) => Vec::new(),
            (Outcome::Refused { text, .. }, ..) => vec![format!("was refused, runs now: {text}")],
            (Outcome::Done(_), None, refused) => {
                vec![format!("ran, is refused now: {}", refused.as_deref().unwrap_or_default())]
            }
            (Outcome::Done(then), Some(now), _) => job_differences(then, now),
        }
    }
}

fn job_differences(then: &Done, now: &Done) -> Vec<String> {
    let mut out = Vec::new();
    match (&then.hang, &now.hang) {
        (None, Some(what)) => out.push(format!("ended, hangs now: {what}")),
        (Some(what), None) => out.push(format!("hung, ends now: {what}")),
        _ => {}
    }
    for (key, hash) in &then.written {
        match now.written.iter().find(|(other, _)| other == key) {
            Some((_, other)) if other == hash => {}
            _ => out.push(format!("BO {key} has other contents")),
        }
    }
    out
}

/// A BO of the replay.
struct Bo {
    use_: BoUse,
    handle: BoHandle,
    /// Data BOs: their memory.
    mapping: Option<Mapping>,
    /// Shader BOs: their words.
    code: Vec<u32>,
}

/// A simulator that runs the submissions of a capture in order.
pub struct Replay<'a> {
    capture: &'a Capture,
    simulator: Simulator,
    bos: BTreeMap<u32, Bo>,
    next: usize,
}

impl<'a> Replay<'a> {
    /// The mode and memory that the capture was recorded with, and else the defaults.
    pub fn config(capture: &Capture) -> Config {
        Config {
            mode: if capture.head.strict { Mode::Strict } else { crate::Mode::Faithful },
            memory_bytes: capture.head.memory_bytes.clamp(32 << 20, MOST_MEMORY),
            ..Config::default()
        }
    }

    /// Begins with the first submission.
    pub fn new(capture: &'a Capture, config: Config) -> Replay<'a> {
        Replay { capture, simulator: Simulator::new(config), bos: BTreeMap::new(), next: 0 }
    }

    /// Number of the next submission.
    pub fn position(&self) -> usize {
        self.next
    }

    /// The simulator.
    pub fn simulator(&self) -> &Simulator {
        &self.simulator
    }

    /// Runs the next submission; `None` behind the last. Observed ones are slower and have a profile.
    ///
    /// # Errors
    /// When the submission cannot be put together; one that is refused or hangs is no error.
    pub fn step(&mut self, observe: bool) -> Option<Result<Replayed, ReplayError>> {
        let entry = self.capture.entries.get(self.next)?;
        self.next += 1;
        Some(self.run(entry, observe))
    }

    /// Content of a BO, from `offset` on, as much as there is of `size` bytes.
    pub fn contents(&self, key: u32, offset: u32, size: usize) -> Option<Vec<u8>> {
        let bo = self.bos.get(&key)?;
        let start = offset as usize;
        match &bo.mapping {
            Some(mapping) => {
                let end = start.saturating_add(size).min(mapping.len());
                let mut bytes = vec![0; end.checked_sub(start)?];
                mapping.read(start, &mut bytes);
                Some(bytes)
            }
            None => {
                let bytes: Vec<u8> = bo.code.iter().flat_map(|word| word.to_le_bytes()).collect();
                Some(bytes.get(start..start.saturating_add(size).min(bytes.len()))?.to_vec())
            }
        }
    }

    fn run(&mut self, entry: &Entry, observe: bool) -> Result<Replayed, ReplayError> {
        for key in &entry.dropped {
            if let Some(bo) = self.bos.remove(key) {
                self.simulator.close_bo(bo.handle);
            }
        }
        // Shader BOs are made of their content, so that one has to be there first.
        let mut code: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for bo in &entry.bos {
            match self.bos.get(&bo.key) {
                Some(known) if known.use_ == *bo => {}
                Some(_) => return Err(misused(bo.key, "has another size or kind than before")),
                None if bo.shader => {
                    code.insert(bo.key, vec![0; bo.bytes as usize / 4]);
                }
                None => self.make_data(*bo)?,
            }
        }
        for update in &entry.updates {
            self.update(update, &mut code)?;
        }
        for bo in &entry.bos {
            if let Some(words) = code.remove(&bo.key) {
                self.make_shader(*bo, words)?;
            }
        }
        let handles: Vec<BoHandle> = entry.bos.iter().map(|bo| self.bos[&bo.key].handle).collect();
        let submit = Submit { bos: handles, ..entry.submission.submit.clone() };
        let mut replayed = Replayed::default();
        match self.submit(&submit, observe) {
            Ok((done, profile)) => {
                let written = entry.submission.written();
                let written = written.into_iter().map(|place| self.hash(entry.bos[place].key)).collect();
                replayed.done = Some(Done { written, ..done });
                replayed.profile = profile;
            }
            Err(error @ (GpuError::Refused(_) | GpuError::OutOfMemory(_))) => {
                replayed.refused = Some(error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
        Ok(replayed)
    }

    fn submit(&self, submit: &Submit, observe: bool) -> Result<(Done, Option<Profile>), GpuError> {
        let before = self.simulator.totals();
        let start = std::time::Instant::now();
        let (seqno, hang, profile) = if observe {
            let observed = self.simulator.observe(submit)?;
            (observed.seqno, observed.hang, Some(observed.profile))
        } else {
            let (seqno, hang) = self.simulator.complete(submit)?;
            (seqno, hang, None)
        };
        let nanoseconds = start.elapsed().as_nanos() as u64;
        let after = self.simulator.totals();
        let done = Done {
            seqno: seqno.0,
            nanoseconds,
            instances: after.instances - before.instances,
            instructions: after.instructions - before.instructions,
            lookups: after.lookups - before.lookups,
            hang,
            written: Vec::new(),
        };
        Ok((done, profile))
    }

    fn make_data(&mut self, bo: BoUse) -> Result<(), ReplayError> {
        let failed = |error| ReplayError::Bo { key: bo.key, bytes: bo.bytes, error };
        let handle = self.simulator.create_bo(bo.bytes).map_err(failed)?;
        let mapping = self.simulator.map_bo(handle).map_err(failed)?;
        self.bos.insert(bo.key, Bo { use_: bo, handle, mapping: Some(mapping), code: Vec::new() });
        Ok(())
    }

    fn make_shader(&mut self, bo: BoUse, words: Vec<u32>) -> Result<(), ReplayError> {
        let failed = |error| ReplayError::Bo { key: bo.key, bytes: bo.bytes, error };
        // What pads the code to a page is no part of what the program gave.
        let used = words.iter().rposition(|&word| word != 0).map_or(0, |last| last / 2 + 1);
        let code: Vec<u64> = words
            .chunks_exact(2)
            .take(used)
            .map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32)
            .collect();
        let handle = self.simulator.create_shader_bo(&code).map_err(failed)?;
        self.bos.insert(bo.key, Bo { use_: bo, handle, mapping: None, code: words });
        Ok(())
    }

    fn update(&mut self, update: &Update, code: &mut BTreeMap<u32, Vec<u32>>) -> Result<(), ReplayError> {
        let outside = || misused(update.key, "is changed behind its end");
        for (i, &number) in update.pages.iter().enumerate() {
            let page = self.capture.page(number);
            let index = (update.first as usize).checked_add(i).ok_or_else(outside)?;
            let start = index.checked_mul(PAGE_WORDS).ok_or_else(outside)?;
            if let Some(words) = code.get_mut(&update.key) {
                let words = words.get_mut(start..).and_then(|words| words.get_mut(..PAGE_WORDS));
                words
                    .ok_or_else(outside)?
                    .copy_from_slice(&page.as_deref().copied().unwrap_or([0; PAGE_WORDS]));
                continue;
            }
            let bo = self.bos.get(&update.key).ok_or_else(|| misused(update.key, "is unknown"))?;
            let mapping = bo.mapping.as_ref().ok_or_else(|| misused(update.key, "is immutable"))?;
            let at = start.checked_mul(4).ok_or_else(outside)?;
            if at + PAGE_BYTES as usize > mapping.len() {
                return Err(outside());
            }
            match page {
                Some(page) => {
                    mapping.write(at, &page.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
                }
                None => mapping.write(at, &[0; PAGE_BYTES as usize]),
            }
        }
        Ok(())
    }

    /// Key and content of a BO.
    fn hash(&self, key: u32) -> (u32, Hash) {
        let bytes = self.contents(key, 0, usize::MAX).unwrap_or_default();
        let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let words: Vec<u32> = bytes.chunks_exact(4).map(word).collect();
        let pages: Vec<Hash> = words.chunks(PAGE_WORDS).map(Hash::of).collect();
        (key, Hash::of_pages(&pages))
    }
}

fn misused(key: u32, what: &str) -> ReplayError {
    ReplayError::Misused { key, what: what.into() }
}

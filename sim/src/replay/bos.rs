//! The BOs of a replay: made and filled as the capture says, on any device.

use std::collections::BTreeMap;

use vc4_kernel_abi::{BoHandle, Gpu, GpuError, Mapping, Submit};

use crate::capture::pages::{Hash, PAGE_WORDS};
use crate::capture::read::{Capture, Entry};
use crate::capture::{BoUse, Update};
use crate::memory::PAGE_BYTES;

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

/// A BO of the replay.
struct Bo {
    use_: BoUse,
    handle: BoHandle,
    /// Data BOs: their memory.
    mapping: Option<Mapping>,
    /// Shader BOs: their words.
    code: Vec<u32>,
}

/// Pages that a gap is shorter than: more than the L2 cache has room for.
const GAP_PAGES: u64 = 64;

/// Gaps between BOs: who else takes memory decides where they lie, and so which of their lines share a cache set.
struct Gaps(u64);

impl Gaps {
    /// Bytes of the next one.
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % GAP_PAGES) as u32 * PAGE_BYTES
    }
}

/// BOs by their keys.
#[derive(Default)]
pub struct Bos {
    bos: BTreeMap<u32, Bo>,
    gaps: Option<Gaps>,
}

impl Bos {
    /// With gaps in front of BOs that follow from a number; none for 0.
    pub fn placed(placement: u64) -> Bos {
        Bos { gaps: (placement != 0).then_some(Gaps(placement)), ..Bos::default() }
    }

    /// Everything that the entry's submission needs; its handles are the device's.
    pub fn prepare(
        &mut self,
        gpu: &dyn Gpu,
        capture: &Capture,
        entry: &Entry,
    ) -> Result<Submit, ReplayError> {
        for key in &entry.dropped {
            if let Some(bo) = self.bos.remove(key) {
                gpu.close_bo(bo.handle);
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
                None => self.make_data(gpu, *bo)?,
            }
        }
        for update in &entry.updates {
            self.update(capture, update, &mut code)?;
        }
        for bo in &entry.bos {
            if let Some(words) = code.remove(&bo.key) {
                self.make_shader(gpu, *bo, words)?;
            }
        }
        let handles: Vec<BoHandle> = entry.bos.iter().map(|bo| self.bos[&bo.key].handle).collect();
        Ok(Submit { bos: handles, ..entry.submission.submit.clone() })
    }

    /// Keys and contents of the BOs that a submission may have written.
    pub fn written(&self, entry: &Entry) -> Vec<(u32, Hash)> {
        entry.submission.written().into_iter().map(|place| self.hash(entry.bos[place].key)).collect()
    }

    /// Bytes of contiguous memory that they take, in whole pages.
    pub fn bytes(&self) -> u64 {
        self.bos.values().map(|bo| u64::from(bo.use_.bytes).next_multiple_of(u64::from(PAGE_BYTES))).sum()
    }

    /// Closes all of them.
    pub fn close(&mut self, gpu: &dyn Gpu) {
        std::mem::take(&mut self.bos).into_values().for_each(|bo| gpu.close_bo(bo.handle));
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

    fn make_data(&mut self, gpu: &dyn Gpu, bo: BoUse) -> Result<(), ReplayError> {
        let failed = |error| ReplayError::Bo { key: bo.key, bytes: bo.bytes, error };
        self.leave_gap(gpu).map_err(failed)?;
        let handle = gpu.create_bo(bo.bytes).map_err(failed)?;
        let mapping = gpu.map_bo(handle).map_err(failed)?;
        self.bos.insert(bo.key, Bo { use_: bo, handle, mapping: Some(mapping), code: Vec::new() });
        Ok(())
    }

    /// Takes memory that nobody gives back before the device ends.
    fn leave_gap(&mut self, gpu: &dyn Gpu) -> Result<(), GpuError> {
        match self.gaps.as_mut().map(Gaps::next) {
            Some(bytes) if bytes > 0 => gpu.create_bo(bytes).map(drop),
            _ => Ok(()),
        }
    }

    fn make_shader(&mut self, gpu: &dyn Gpu, bo: BoUse, words: Vec<u32>) -> Result<(), ReplayError> {
        let failed = |error| ReplayError::Bo { key: bo.key, bytes: bo.bytes, error };
        // What pads the code to a page is no part of what the program gave.
        let used = words.iter().rposition(|&word| word != 0).map_or(0, |last| last / 2 + 1);
        let code: Vec<u64> = words
            .chunks_exact(2)
            .take(used)
            .map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32)
            .collect();
        self.leave_gap(gpu).map_err(failed)?;
        let handle = gpu.create_shader_bo(&code).map_err(failed)?;
        self.bos.insert(bo.key, Bo { use_: bo, handle, mapping: None, code: words });
        Ok(())
    }

    fn update(
        &mut self,
        capture: &Capture,
        update: &Update,
        code: &mut BTreeMap<u32, Vec<u32>>,
    ) -> Result<(), ReplayError> {
        let outside = || misused(update.key, "is changed behind its end");
        for (i, &number) in update.pages.iter().enumerate() {
            let page = capture.page(number);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_whole_pages_of_all_kinds() {
        let mut gaps = Gaps(1);
        let pages: std::collections::BTreeSet<u32> = (0..400).map(|_| gaps.next()).collect();
        assert!(pages.iter().all(|bytes| bytes % PAGE_BYTES == 0));
        assert!(pages.len() > 50 && pages.first() == Some(&0) && *pages.last().unwrap() < 64 * PAGE_BYTES);
    }
}

//! The kernel driver's front end: validation, relocated copies in bus memory, binner slots
//! (kernel-abi.md §5, §11).

use std::any::Any;
use std::sync::{Arc, Condvar, Mutex, OnceLock};

use vc4_kernel_abi::uapi::{BINNER_SLOT_BYTES as SLOT_BYTES, BINNER_SLOTS as SLOTS};
use vc4_kernel_abi::validate::{self, BinMemory, BinTiles, BoInfo, CopySizes, Mode, ShaderInfo, Violation};
use vc4_kernel_abi::{GpuError, Submit};

use crate::capture::Submission;
use crate::memory::{Allocation, BusError, Memory};
use crate::profile::Profile;

/// Bytes of the binner's memory.
const BINNER_BYTES: u32 = SLOTS * SLOT_BYTES;

/// A BO: pages, and what validation recorded if it holds a shader.
pub struct Bo {
    /// What others have made of the pages; it goes before they do.
    pub attachment: OnceLock<Box<dyn Any + Send + Sync>>,
    /// Its pages.
    pub pages: Allocation,
    /// Validation results of a shader BO.
    pub shader: Option<ShaderInfo>,
}

impl Bo {
    fn info(&self) -> BoInfo<'_> {
        BoInfo { bus_address: self.pages.address(), size: self.pages.bytes(), shader: self.shader.as_ref() }
    }
}

/// The binner memory, in slots that jobs hold from submission to their end.
pub struct Binner {
    memory: Allocation,
    /// Bit n: slot n is taken.
    taken: Mutex<u32>,
    freed: Condvar,
}

impl Binner {
    /// The kernel's 16 MiB; `None` when memory is too small.
    pub fn new(memory: &Arc<Memory>) -> Option<Arc<Binner>> {
        let memory = Allocation::new(memory, BINNER_BYTES)?;
        Some(Arc::new(Binner { memory, taken: Mutex::new(0), freed: Condvar::new() }))
    }

    /// Takes a slot for a job that outgrew its own, if one is free.
    fn take_more(self: &Arc<Binner>) -> Option<Slot> {
        let mut taken = self.taken.lock().expect("no panic while the mask is held");
        let number = taken.trailing_ones();
        (number < SLOTS).then(|| {
            *taken |= 1 << number;
            Slot { binner: self.clone(), number }
        })
    }

    /// Takes a slot; waits while running jobs hold all of them.
    fn take(self: &Arc<Binner>) -> Slot {
        let taken = self.taken.lock().expect("no panic while the mask is held");
        let mut taken = self
            .freed
            .wait_while(taken, |taken| *taken == u32::MAX)
            .expect("no panic while the mask is held");
        let number = taken.trailing_ones();
        *taken |= 1 << number;
        Slot { binner: self.clone(), number }
    }
}

/// A job's share of the binner memory.
pub struct Slot {
    binner: Arc<Binner>,
    number: u32,
}

impl Slot {
    /// Its bytes.
    pub const BYTES: u32 = SLOT_BYTES;

    fn memory(&self) -> BinMemory {
        BinMemory {
            slot_address: self.binner.memory.address() + self.number * SLOT_BYTES,
            slot_size: SLOT_BYTES,
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.binner.taken.lock().expect("no panic while the mask is held");
        *taken &= !(1 << self.number);
        self.binner.freed.notify_one();
    }
}

/// A list in bus memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRange {
    /// First byte.
    pub address: u32,
    /// Bytes.
    pub length: u32,
}

/// A validated job: what the hardware runs, and everything that must stay until it has.
pub struct Job {
    /// Binning list, if any.
    pub bin: Option<ListRange>,
    /// Rendering list.
    pub render: ListRange,
    /// Whether a performance monitor counts what caches and stalls do.
    pub counted: bool,
    /// Its BOs, in the submission's order.
    pub bos: Vec<Arc<Bo>>,
    /// The submission as it came, if it is recorded.
    pub submission: Option<Box<Submission>>,
    /// What is noted while it runs, if anybody wants to know.
    pub profile: Option<Arc<Mutex<Profile>>>,
    _copies: Vec<Allocation>,
    slot: Option<Slot>,
}

impl Job {
    /// Another slot of binner memory, to be kept until the job is done; `None` when all are taken (kernel-abi.md §11).
    pub fn overflow(&self) -> Option<Slot> {
        self.slot.as_ref()?.binner.take_more()
    }
}

fn refused(violation: Violation) -> GpuError {
    GpuError::Refused(violation.to_string())
}

fn own_memory(error: BusError) -> GpuError {
    // The kernel's copies lie in pages that were just allocated.
    GpuError::Refused(format!("kernel copy: {error}"))
}

/// Validates `submit` and places the kernel's copies. `bos` are those of the submission, in its order.
///
/// # Errors
/// [`GpuError::Refused`] with the broken rule, [`GpuError::OutOfMemory`] when the copies find no pages.
pub fn prepare(
    memory: &Arc<Memory>,
    binner: &Arc<Binner>,
    submit: &Submit,
    bos: Vec<Arc<Bo>>,
    mode: Mode,
) -> Result<Job, GpuError> {
    validate::frame::check(submit, mode).map_err(refused)?;
    place(memory, binner, submit, bos, mode)
}

/// [`prepare`] behind the checks of the frame: those of the lists and surfaces.
///
/// # Errors
/// As [`prepare`].
pub fn place(
    memory: &Arc<Memory>,
    binner: &Arc<Binner>,
    submit: &Submit,
    bos: Vec<Arc<Bo>>,
    mode: Mode,
) -> Result<Job, GpuError> {
    let infos: Vec<BoInfo> = bos.iter().map(|bo| bo.info()).collect();
    let mut copies = Vec::new();
    let binning = if submit.bin_cl.is_empty() {
        None
    } else {
        Some(place_bin_job(memory, binner, submit, &infos, mode, &mut copies)?)
    };
    let tiles = binning.as_ref().map(|(_, tiles, _)| *tiles);
    let list = validate::render(submit, &infos, tiles.as_ref(), mode).map_err(refused)?;
    let area = Allocation::new(memory, list.len() as u32).ok_or(GpuError::OutOfMemory("render list"))?;
    memory.write_bytes(area.address(), &list).map_err(own_memory)?;
    let render = ListRange { address: area.address(), length: list.len() as u32 };
    copies.push(area);
    let (bin, slot) = match binning {
        Some((bin, _, slot)) => (Some(bin), Some(slot)),
        None => (None, None),
    };
    Ok(Job { bin, render, bos, counted: false, submission: None, profile: None, _copies: copies, slot })
}

fn place_bin_job(
    memory: &Arc<Memory>,
    binner: &Arc<Binner>,
    submit: &Submit,
    infos: &[BoInfo],
    mode: Mode,
    copies: &mut Vec<Allocation>,
) -> Result<(ListRange, BinTiles, Slot), GpuError> {
    let sizes = CopySizes::of(submit).map_err(refused)?;
    let area = Allocation::new(memory, sizes.total).ok_or(GpuError::OutOfMemory("binning list"))?;
    let layout = sizes.at(area.address());
    let slot = binner.take();
    let job = validate::bin(submit, infos, &layout, &slot.memory(), mode).map_err(refused)?;
    for (address, bytes) in
        [(layout.list, &job.list), (layout.records, &job.records), (layout.uniforms, &job.uniforms)]
    {
        memory.write_bytes(address, bytes).map_err(own_memory)?;
    }
    memory.zero_words(job.tile_state_address, job.tile_state_size as usize / 4).map_err(own_memory)?;
    copies.push(area);
    Ok((ListRange { address: layout.list, length: job.list.len() as u32 }, job.tiles(), slot))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_distinct_and_come_back() {
        let memory = Arc::new(Memory::new(BINNER_BYTES + (1 << 20)));
        let binner = Binner::new(&memory).unwrap();
        let mut slots: Vec<Slot> = (0..SLOTS).map(|_| binner.take()).collect();
        let mut addresses: Vec<u32> = slots.iter().map(|slot| slot.memory().slot_address).collect();
        let freed = addresses[7];
        addresses.sort_unstable();
        assert!(addresses.windows(2).all(|pair| pair[1] - pair[0] == SLOT_BYTES));
        slots.remove(7);
        let again = binner.take();
        assert_eq!(again.memory().slot_address, freed);
        assert!(binner.take_more().is_none());
        drop(again);
        assert_eq!(binner.take_more().map(|slot| slot.memory().slot_address), Some(freed));
    }
}

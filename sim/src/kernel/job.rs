//! Validated jobs and the relocated copies that they run from (kernel-abi.md §5).

use std::sync::Arc;

use vc4_kernel_abi::validate::{self, BinTiles, BoInfo, CopySizes, Mode, Violation};
use vc4_kernel_abi::{GpuError, Submit};

use super::binner::{Binner, Slot};
use super::bo::Bo;
use crate::memory::{Allocation, BusError, Memory};

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
    /// Its BOs, in the submission's order.
    pub bos: Vec<Arc<Bo>>,
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
    Ok(Job { bin, render, bos, _copies: copies, slot })
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

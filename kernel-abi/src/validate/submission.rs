//! A whole submission without a device: for the driver's own check before a job leaves.

use super::bin::{BinMemory, bin};
use super::bo::BoInfo;
use super::frame::{self, CopySizes};
use super::render::render;
use super::rule::Rule;
use super::shader::ShaderInfo;
use super::violation::{Mode, Place, Violation};
use crate::gpu::{BoHandle, Submit};
use crate::uapi::BINNER_SLOT_BYTES;
use std::sync::Arc;

/// Where the invented BOs begin; every rule is about offsets, none about addresses.
const FIRST_ADDRESS: u32 = 0x1000_0000;
/// BOs are made of pages.
const PAGE: u32 = 4096;

/// Checks a submission under every rule that its own data decide, in [`Mode::Strict`]. `lookup` tells a BO's
/// size in bytes and, for shader BOs, what [`super::shader::validate`] recorded; `None` for unknown handles.
///
/// # Errors
/// The first broken rule in the kernel's order.
pub fn check_submit(
    job: &Submit,
    lookup: impl Fn(BoHandle) -> Option<(u32, Option<Arc<ShaderInfo>>)>,
) -> Result<(), Violation> {
    check_submit_in(Mode::Strict, job, lookup)
}

/// As [`check_submit`], in the given mode.
pub fn check_submit_in(
    mode: Mode,
    job: &Submit,
    lookup: impl Fn(BoHandle) -> Option<(u32, Option<Arc<ShaderInfo>>)>,
) -> Result<(), Violation> {
    frame::check(job, mode)?;
    let mut found = Vec::with_capacity(job.bos.len());
    for handle in &job.bos {
        found.push(lookup(*handle).ok_or_else(|| {
            let what = format!("handle {} is not known", handle.0);
            Violation::new(Rule::Sub6, Place::Frame("bo_handles"), what)
        })?);
    }
    let mut next = FIRST_ADDRESS;
    let mut place = |size: u32| {
        let address = next;
        next = next.wrapping_add(size.checked_next_multiple_of(PAGE).unwrap_or(0));
        address
    };
    let bos: Vec<BoInfo<'_>> = found
        .iter()
        .map(|(size, shader)| BoInfo { bus_address: place(*size), size: *size, shader: shader.as_deref() })
        .collect();
    let tiles = if job.bin_cl.is_empty() {
        None
    } else {
        let sizes = CopySizes::of(job)?;
        let layout = sizes.at(place(sizes.total));
        let memory = BinMemory { slot_address: place(BINNER_SLOT_BYTES), slot_size: BINNER_SLOT_BYTES };
        Some(bin(job, &bos, &layout, &memory, mode)?.tiles())
    };
    render(job, &bos, tiles.as_ref(), mode).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Surface;

    fn clear() -> Submit {
        Submit {
            bos: vec![BoHandle(7)],
            width: 64,
            height: 64,
            color_write: Some(Surface { bo_index: 0, offset: 0, bits: 4, flags: 0 }),
            ..Default::default()
        }
    }

    fn rule(job: &Submit) -> Option<Rule> {
        let lookup = |handle: BoHandle| (handle.0 == 7).then_some((64 * 64 * 4, None));
        check_submit(job, lookup).err().map(|violation| violation.rule)
    }

    #[test]
    fn a_clear_passes_and_its_violations_are_found() {
        assert_eq!(rule(&clear()), None);
        assert_eq!(rule(&Submit { bos: vec![BoHandle(8)], ..clear() }), Some(Rule::Sub6));
        assert_eq!(rule(&Submit { bos: vec![], ..clear() }), Some(Rule::Sub4));
        assert_eq!(rule(&Submit { width: 65, ..clear() }), Some(Rule::Rcl12));
        assert_eq!(rule(&Submit { bin_cl: vec![4], ..clear() }), Some(Rule::Bin6));
    }
}

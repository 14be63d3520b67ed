//! From a recorded patch to instructions at one place.

use super::allocate::{Missing, Pool, allocate};
use super::encode::schedule;
use super::error::SpliceError;
use super::lower::{Lowering, Src, lower, sets_flags};
use super::record::Patch;
use super::registers::{Reg, RegSet};
use super::weave::Group;

/// Where a patch goes.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Name of the patch.
    pub patch: &'static str,
    /// The instruction of the source, for messages.
    pub instruction: usize,
    /// Registers in use around the patch, its inputs left out.
    pub busy: RegSet,
    /// Registers of each file.
    pub per_file: u8,
}

/// The instructions of a patch.
pub fn build(patch: &Patch, how: &Lowering<'_>, place: &Place) -> Result<Group, SpliceError> {
    if sets_flags(patch) && place.busy.meets(RegSet::flags()) {
        return Err(SpliceError::Program {
            instruction: place.instruction,
            what: format!("the flags are read behind this place, where the {} patch sets them", place.patch),
            instead: "set them again behind it",
        });
    }
    let missing = |Missing(need): Missing| SpliceError::NoRegister {
        instruction: place.instruction,
        patch: place.patch,
        need,
        live: place.busy.to_string(),
    };
    let pool = Pool { busy: place.busy, per_file: place.per_file };
    let kept = lower(patch, how);
    let takes_r4 = kept.ops.iter().any(|op| op.src.contains(&Src::R4));
    if takes_r4 && place.busy.meets(RegSet::r4()) {
        return Err(missing(Missing("r4")));
    }
    let placed = allocate(&kept, pool).or_else(|_| {
        let reloading = lower(patch, &Lowering { reload: true, ..*how });
        allocate(&reloading, pool).map_err(missing)
    })?;
    Ok(Group { patch: place.patch, lines: schedule(&placed), spare: spare(how.inputs, place) })
}

/// A register that is free in front of the patch.
fn spare(inputs: &[Reg], place: &Place) -> Option<Reg> {
    let accumulators = (0..4).map(Reg::Acc);
    let files = (0..place.per_file).flat_map(|n| [Reg::A(n), Reg::B(n)]);
    let free = |reg: &Reg| !place.busy.meets(RegSet::one(*reg)) && !inputs.contains(reg);
    accumulators.chain(files).find(free)
}

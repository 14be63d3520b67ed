//! Distances that two instructions must keep (qpu.md §5.1, sequences; §5.2).

use crate::qpu::access::Access;
use crate::qpu::inst::Inst;
use crate::qpu::isa::{Raddr, Waddr};

/// A pair of instructions that must stand at least `distance` slots apart, 1 being adjacent.
pub struct Hazard {
    /// Smallest allowed distance.
    pub distance: u32,
    /// Whether the second instruction depends on the first in this way.
    pub applies: fn(&Access, &Access) -> bool,
}

/// A file register is readable in the second instruction after its write.
pub const FILE_LATENCY: Hazard = Hazard {
    distance: 2,
    applies: |first, second| {
        first.written().any(|w| w.waddr.is_reg() && second.reads_register(w.file, w.waddr.code()))
    },
};

/// r4 belongs to a running SFU request.
pub const SFU_R4: Hazard = Hazard {
    distance: 3,
    applies: |first, second| {
        first.sfu_write() && (second.accumulators & 1 << 4 != 0 || second.loads_r4() || second.sfu_write())
    },
};

/// The uniform stream moves.
pub const UNIFORM_ADDRESS: Hazard = Hazard {
    distance: 3,
    applies: |first, second| first.writes_to(Waddr::UNIF_ADDR) && second.takes_uniform(),
};

/// A rotate reads its accumulator early.
pub const ROTATE_OPERAND: Hazard =
    Hazard { distance: 2, applies: |first, second| first.written_accumulators() & second.rotated != 0 };

/// A rotate by r5 reads r5 early.
pub const ROTATE_BY_R5: Hazard = Hazard {
    distance: 2,
    applies: |first, second| second.rotates_by_r5 && first.written_accumulators() & 1 << 5 != 0,
};

/// The Z test changes the sample mask.
pub const Z_FLAGS: Hazard = Hazard {
    distance: 3,
    applies: |first, second| first.writes_to(Waddr::TLB_Z) && second.raddr_a == Raddr::MS_REV_FLAGS,
};

/// The TMU numbering changes.
pub const NO_SWAP: Hazard = Hazard {
    distance: 3,
    applies: |first, second| first.writes_to(Waddr::TMU_NOSWAP) && second.tmu_write().is_some(),
};

const ALL: [&Hazard; 7] =
    [&FILE_LATENCY, &SFU_R4, &UNIFORM_ADDRESS, &ROTATE_OPERAND, &ROTATE_BY_R5, &Z_FLAGS, &NO_SWAP];

/// The fewest slots from `producer` to `consumer` when they stand in this order: 0 if they are independent or
/// the consumer only overwrites what the producer reads (both may share a word), 1 if the consumer must be a later
/// instruction, 2 or 3 if other instructions must come between. Covers registers, accumulators, flags and the
/// order of each peripheral's accesses; signals, delay slots and stalls are the business of the caller.
///
/// An `s` write alone does not say whether it takes a uniform; it is taken to, so a distance after a
/// write of the uniform address may be larger than needed for direct lookups.
pub fn min_distance(producer: &Inst, consumer: &Inst) -> u32 {
    min_distance_of(&Access::of(producer), &Access::of(consumer))
}

/// [`min_distance`] for facts that are already at hand.
pub fn min_distance_of(producer: &Access, consumer: &Access) -> u32 {
    let hazard = ALL.iter().filter(|h| (h.applies)(producer, consumer)).map(|h| h.distance).max();
    hazard.unwrap_or(0).max(u32::from(must_follow(producer, consumer)))
}

/// Whether the second instruction sees a value of the first, overwrites one, or uses the same queue after it.
fn must_follow(first: &Access, second: &Access) -> bool {
    let accumulators = first.written_accumulators();
    accumulators & (second.accumulators | second.written_accumulators()) != 0
        || first.sets_flags && (second.reads_flags || second.sets_flags)
        || same_register_written(first, second)
        || same_queue(first, second)
}

fn same_register_written(first: &Access, second: &Access) -> bool {
    first.written().any(|a| {
        a.waddr.is_reg()
            && second
                .written()
                .any(|b| b.waddr == a.waddr && (b.file == a.file || !b.waddr.differs_by_file()))
    })
}

/// Peripheral accesses whose order matters.
fn same_queue(first: &Access, second: &Access) -> bool {
    let both = |touches: fn(&Access) -> bool| touches(first) && touches(second);
    let flags = |a: &Access| a.written().any(|w| w.waddr == Waddr::MS_REV_FLAGS);
    both(|a| a.takes_uniform() || a.writes_to(Waddr::UNIF_ADDR))
        || both(Access::reads_varying)
        || both(Access::touches_vpm)
        || both(|a| a.tmu_write().is_some() || a.tmu_load().is_some())
        || both(|a| a.tile_write() || a.takes_scoreboard())
        || flags(first) && (second.tile_write() || second.names(Raddr::MS_REV_FLAGS))
        || first.sfu_write() && second.sfu_write()
}

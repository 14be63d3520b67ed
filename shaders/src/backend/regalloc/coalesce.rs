//! Values that loops carry, computed straight into the register that carries them.
//!
//! Selection ends an iteration with copies of the next values. Where the old value was read for the last time before the
//! next one is begun, both can share a register; without that, a loop would hold everything that it carries twice.

use cranelift_entity::{PrimaryMap, SecondaryMap};
use smallvec::SmallVec;
use vc4::qpu::{Cond, Pack, Unpack};

use crate::backend::virt::{Dst, Operation, Places, Reg, Src, Unit, VirtProgram, segments};

/// Positions at which registers are read and written.
struct Accesses {
    reads: PrimaryMap<Reg, SmallVec<[u32; 4]>>,
    writes: PrimaryMap<Reg, SmallVec<[u32; 4]>>,
}

/// Merges registers of ordered operations and removes the copies between them.
pub fn coalesce(program: &mut VirtProgram) {
    if !program.ops.iter().any(Operation::is_marker) {
        return;
    }
    let mut accesses = Accesses { reads: program.lists(), writes: program.lists() };
    for (index, op) in (0..).zip(&program.ops) {
        op.reads().for_each(|reg| accesses.reads[reg].push(index));
        op.writes().into_iter().for_each(|reg| accesses.writes[reg].push(index));
    }
    let mut merged: SecondaryMap<Reg, Option<Reg>> = program.per_register();
    let mut taken: SecondaryMap<Reg, bool> = program.per_register();
    let mut starts: Vec<usize> = Vec::new();
    for piece in segments(&program.ops) {
        match program.ops.get(piece.end).map(|op| op.unit) {
            Some(Unit::LoopStart) => starts.push(piece.end),
            Some(Unit::LoopEnd(_)) => {
                let start = starts.pop().expect("loops nest");
                for copy in piece.clone() {
                    let Some((carried, next)) = copied(&program.ops[copy]) else { continue };
                    let free = !taken[carried] && !taken[next];
                    let bounds = [start, piece.start, copy].map(|position| position as u32);
                    if let (true, true, Some(places)) = (
                        free,
                        accesses.may_share(program, carried, next, bounds),
                        shared(program, carried, next),
                    ) {
                        program.regs[carried].places = places;
                        merged[next] = Some(carried);
                        (taken[carried], taken[next]) = (true, true);
                    }
                }
            }
            _ => {}
        }
    }
    program.ops.retain_mut(|op| {
        let replace = |reg: &mut Reg| *reg = merged[*reg].unwrap_or(*reg);
        for operand in op.src.iter_mut() {
            if let Src::Reg(reg) = &mut operand.src {
                replace(reg);
            }
        }
        if let Dst::Reg(reg) = &mut op.dst {
            replace(reg);
        }
        copied(op).is_none_or(|(to, from)| to != from)
    });
}

/// Destination and source of a plain copy between registers.
fn copied(op: &Operation) -> Option<(Reg, Reg)> {
    let plain = op.unit == Unit::Move && op.cond == Cond::Always && op.pack == Pack::Nop && !op.sets_flags;
    match (op.dst, &op.src[..]) {
        (Dst::Reg(to), [operand]) if plain && operand.unpack == Unpack::Nop => match operand.src {
            Src::Reg(from) => Some((to, from)),
            _ => None,
        },
        _ => None,
    }
}

/// The places that suit both registers.
fn shared(program: &VirtProgram, carried: Reg, next: Reg) -> Option<Places> {
    let (carried, next) = (program.regs[carried], program.regs[next]);
    let places = carried.within(Places { r4: false, ..next.places })?;
    (carried.fixed.is_none() && next.fixed.is_none()).then_some(places)
}

impl Accesses {
    /// Whether `next` may be made in the register of `carried`. Bounds: the loop's start, that of its last straight
    /// piece, and the copy.
    fn may_share(&self, program: &VirtProgram, carried: Reg, next: Reg, bounds: [u32; 3]) -> bool {
        let [start, piece, copy] = bounds;
        let Some(&first) = self.writes[next].first() else { return false };
        let made_here = self.writes[next].iter().all(|&at| (piece..copy).contains(&at))
            && self.reads[next].iter().all(|&at| at > first)
            && !program.ops[first as usize].is_partial();
        // The old value is read for the last time by what begins the next one, or before.
        let gone = self.reads[carried].iter().all(|&at| at <= first || at > copy);
        let only_copy = self.writes[carried].iter().all(|&at| at < start || at == copy);
        made_here && gone && only_copy
    }
}

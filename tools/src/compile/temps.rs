//! Registers in use at once.

use vc4::qpu::rules::Program;
use vc4::qpu::{Access, Cond, Inst, Pack, RegFile, Stage};

/// File A from bit 0, file B from bit 32, r0 to r3 and r5 from bit 64; r4 belongs to the shared units.
type Set = u128;

/// Bit of r0.
const ACCUMULATORS: u32 = 64;

/// r0 to r3, and r5.
const COUNTED: u8 = 0b10_1111;

/// The most registers whose values are still needed at some place between two instructions. What the hardware put into
/// registers before the program began counts from its start.
pub fn max_temps(stage: Stage, insts: &[Inst]) -> u32 {
    let program = Program::new(stage, insts);
    let effects: Vec<(Set, Set)> = program.accesses.iter().map(effects).collect();
    let mut live: Vec<Set> = vec![0; effects.len()];
    // Backward until nothing changes: twice for straight code, more often around loops.
    let mut changed = true;
    while changed {
        changed = false;
        for (at, &(reads, kills)) in effects.iter().enumerate().rev() {
            let after = program.successors(at).into_iter().fold(0, |set, next| set | live[next]);
            let before = reads | after & !kills;
            changed |= before != live[at];
            live[at] = before;
        }
    }
    live.into_iter().map(Set::count_ones).max().unwrap_or(0)
}

/// What an instruction reads, and what it replaces in all elements.
fn effects(access: &Access) -> (Set, Set) {
    let mut reads = Set::from(access.accumulators & COUNTED) << ACCUMULATORS;
    for n in 0..32u8 {
        reads |= Set::from(access.reads_register(RegFile::A, n)) << n;
        reads |= Set::from(access.reads_register(RegFile::B, n)) << (32 + n);
    }
    let mut kills = 0;
    // A condition leaves elements as they were, a pack parts of each.
    for write in access.written().filter(|write| write.cond == Cond::Always && is_whole(write.pack)) {
        if let Some(n) = write.accumulator() {
            kills |= 1 << (ACCUMULATORS + u32::from(n));
        } else if write.waddr.is_reg() {
            let file = if write.file == RegFile::A { 0 } else { 32 };
            kills |= 1 << (file + u32::from(write.waddr.code()));
        }
    }
    (reads, kills)
}

fn is_whole(pack: Pack) -> bool {
    matches!(pack, Pack::Nop | Pack::Sat | Pack::Rep8 | Pack::Rep8Sat)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vc4::qpu::assemble;

    fn temps(text: &str) -> u32 {
        let insts = assemble(text).expect(text).instructions().expect(text);
        max_temps(Stage::Fragment, &insts)
    }

    #[test]
    fn values_live_from_their_write_to_their_last_read() {
        let nothing = "sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;";
        assert_eq!(temps(nothing), 0);
        let two = "sig_none ; r0 = or.always(a, b, uni, uni) ; nop = nop(r0, r0) ;
            sig_none ; rx1 = or.always(a, b, uni, uni) ; nop = nop(r0, r0) ;
            sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
            sig_none ; r0 = or.always(r0, a, ra1, nop) ; nop = nop(r0, r0) ;
            sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop(r0, r0) ;";
        assert_eq!(temps(two), 2);
        // A write under a condition keeps the old value alive.
        let kept = "sig_none ; r1 = or.zs(a, b, uni, uni) ; nop = nop(r0, r0) ;
            sig_none ; r0 = or.always(r1, r2) ; nop = nop(r0, r0) ;";
        assert_eq!(temps(kept), 2);
    }
}

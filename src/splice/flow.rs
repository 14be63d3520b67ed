//! What a program keeps in its registers, and how often its paths pass some place.
//!
//! A register is in use at a place if some path behind it reads the value, and some path before it wrote one: registers
//! that are written under complementary conditions only are not in use from the start of the program.

use super::registers::RegSet;
use crate::qpu::access::{Access, Write};
use crate::qpu::isa::RegFile;
use crate::qpu::rules::{Program, SIGNAL_SLOTS};
use crate::qpu::{Cond, Inst, Pack, Stage};

/// Where [`Flow::passed`] stops counting: more than any program reads or writes of the VPM or the tile buffer.
pub const MOST: u8 = 200;

/// Facts about each instruction.
pub struct Flow<'a> {
    /// The program.
    pub program: Program<'a>,
    successors: Vec<Vec<usize>>,
    /// Registers in use in front of each instruction.
    live_in: Vec<RegSet>,
    /// And behind it.
    live_out: Vec<RegSet>,
}

/// What an instruction does to registers.
#[derive(Clone, Copy, Default)]
struct Effect {
    /// Reads.
    uses: RegSet,
    /// Writes in all elements, completely.
    kills: RegSet,
    /// Writes, perhaps in part.
    writes: RegSet,
    /// Destroys behind itself.
    destroys: RegSet,
}

impl<'a> Flow<'a> {
    /// Analyses a program. `extra` are registers that patches behind an instruction read, by instruction.
    pub fn new(stage: Stage, insts: &'a [Inst], extra: &[(usize, RegSet)]) -> Flow<'a> {
        let program = Program::new(stage, insts);
        let successors: Vec<_> = (0..program.len()).map(|index| program.successors(index)).collect();
        let mut effects: Vec<Effect> =
            insts.iter().zip(&program.accesses).map(|(inst, access)| effect(inst, access)).collect();
        for (index, access) in program.accesses.iter().enumerate() {
            // The switch takes effect behind its delay slots.
            if access.is_switch() {
                if let Some(effect) = effects.get_mut(index + SIGNAL_SLOTS) {
                    effect.destroys = RegSet::LOST_IN_SWITCH;
                }
            }
        }
        let mut flow = Flow { program, successors, live_in: Vec::new(), live_out: Vec::new() };
        flow.liveness(&effects, extra);
        flow.forget_undefined(&effects, stage);
        flow
    }

    fn liveness(&mut self, effects: &[Effect], extra: &[(usize, RegSet)]) {
        let len = self.program.len();
        let mut behind = vec![RegSet::EMPTY; len];
        for &(index, regs) in extra {
            behind[index].add(regs);
        }
        self.live_in = vec![RegSet::EMPTY; len];
        self.live_out = vec![RegSet::EMPTY; len];
        let mut changed = true;
        while changed {
            changed = false;
            for index in (0..len).rev() {
                let next =
                    self.successors[index].iter().fold(RegSet::EMPTY, |set, &n| set.and(self.live_in[n]));
                let effect = effects[index];
                let out = next.without(effect.destroys).and(behind[index]);
                let before = out.without(effect.kills).and(effect.uses);
                changed |= before != self.live_in[index];
                (self.live_in[index], self.live_out[index]) = (before, out);
            }
        }
    }

    /// Takes out what no path has written yet.
    fn forget_undefined(&mut self, effects: &[Effect], stage: Stage) {
        let len = self.program.len();
        let mut defined = vec![RegSet::EMPTY; len];
        let mut reached = vec![false; len];
        if len == 0 {
            return;
        }
        if stage == Stage::Fragment {
            // The payload (qpu.md §4.3).
            defined[0] = RegSet::file(RegFile::A, 15).and(RegSet::file(RegFile::B, 15));
        }
        let mut work = vec![0];
        reached[0] = true;
        while let Some(index) = work.pop() {
            let out = defined[index].and(effects[index].writes).without(effects[index].destroys);
            for &next in &self.successors[index] {
                let merged = defined[next].and(out);
                if merged != defined[next] || !reached[next] {
                    (defined[next], reached[next]) = (merged, true);
                    work.push(next);
                }
            }
        }
        for index in 0..len {
            self.live_in[index] = self.live_in[index].within(defined[index]);
            self.live_out[index] = self.live_out[index].within(defined[index].and(effects[index].writes));
        }
    }

    /// Registers in use in front of an instruction.
    pub fn before(&self, index: usize) -> RegSet {
        self.live_in[index]
    }

    /// Registers in use behind an instruction.
    pub fn behind(&self, index: usize) -> RegSet {
        self.live_out[index]
    }

    /// How many of the marked instructions a path has passed in front of each instruction, at least and at most, and at
    /// the end. Counts stop at [`MOST`].
    pub fn passed(&self, marked: impl Fn(usize) -> bool) -> Passed {
        let len = self.program.len();
        let mut counts: Vec<Option<(u8, u8)>> = vec![None; len];
        let mut end: Option<(u8, u8)> = None;
        let mut work = vec![0];
        if len > 0 {
            counts[0] = Some((0, 0));
        }
        while let Some(index) = work.pop() {
            let Some((low, high)) = counts.get(index).copied().flatten() else { continue };
            let step = u8::from(marked(index));
            let out = ((low + step).min(MOST), (high + step).min(MOST));
            if self.successors[index].is_empty() {
                end = Some(end.map_or(out, |(l, h)| (l.min(out.0), h.max(out.1))));
            }
            for &next in &self.successors[index] {
                let merged = counts[next].map_or(out, |(l, h)| (l.min(out.0), h.max(out.1)));
                if counts[next] != Some(merged) {
                    counts[next] = Some(merged);
                    work.push(next);
                }
            }
        }
        Passed { counts, end: end.unwrap_or((0, 0)) }
    }

    /// The instructions on some path from behind `from` to in front of `to`, neither included unless a loop passes them.
    pub fn between(&self, from: usize, to: usize) -> Vec<usize> {
        let forward = self.reachable(from);
        let backward: Vec<bool> = {
            let mut out = vec![false; self.program.len()];
            let mut changed = true;
            while changed {
                changed = false;
                for index in 0..out.len() {
                    let reaches = self.successors[index].iter().any(|&next| next == to || out[next]);
                    if reaches && !out[index] {
                        (out[index], changed) = (true, true);
                    }
                }
            }
            out
        };
        (0..self.program.len()).filter(|&index| forward[index] && backward[index]).collect()
    }

    /// What can be executed behind an instruction.
    pub fn reachable(&self, from: usize) -> Vec<bool> {
        let mut out = vec![false; self.program.len()];
        let mut work = self.successors[from].clone();
        while let Some(index) = work.pop() {
            if !std::mem::replace(&mut out[index], true) {
                work.extend(&self.successors[index]);
            }
        }
        out
    }

    /// Registers that an instruction writes, perhaps in part.
    pub fn written(&self, index: usize) -> RegSet {
        effect(&self.program.insts[index], &self.program.accesses[index]).writes
    }
}

/// Result of [`Flow::passed`].
pub struct Passed {
    counts: Vec<Option<(u8, u8)>>,
    /// At the end of the program.
    pub end: (u8, u8),
}

impl Passed {
    /// In front of an instruction; `None` if nothing reaches it.
    pub fn before(&self, index: usize) -> Option<(u8, u8)> {
        self.counts[index]
    }
}

fn effect(inst: &Inst, access: &Access) -> Effect {
    let mut out = Effect { uses: RegSet::accumulators(access.accumulators), ..Effect::default() };
    for (file, raddr, selected) in
        [(RegFile::A, access.raddr_a, access.selects_a), (RegFile::B, access.raddr_b, access.selects_b)]
    {
        if selected && raddr.is_reg() {
            out.uses.add(RegSet::file(file, raddr.code()));
        }
    }
    if access.rotates_by_r5 {
        out.uses.add(RegSet::accumulators(1 << 5));
    }
    if access.reads_flags {
        out.uses.add(RegSet::flags());
    }
    for write in access.written() {
        let Some(target) = target(&write) else { continue };
        out.writes.add(target);
        if write.cond == Cond::Always && is_whole(write.pack) {
            out.kills.add(target);
        }
    }
    let loads =
        u8::from(access.loads_r4() || access.sfu_write()) << 4 | u8::from(access.reads_varying()) << 5;
    out.writes.add(RegSet::accumulators(loads));
    out.kills.add(RegSet::accumulators(loads));
    if access.sets_flags {
        out.writes.add(RegSet::flags());
        if sets_all_flags(inst) {
            out.kills.add(RegSet::flags());
        }
    }
    out
}

fn target(write: &Write) -> Option<RegSet> {
    if write.waddr.is_reg() {
        return Some(RegSet::file(write.file, write.waddr.code()));
    }
    write.accumulator().map(|n| RegSet::accumulators(1 << n))
}

/// Whether a pack writes all 32 bits.
pub fn is_whole(pack: Pack) -> bool {
    matches!(pack, Pack::Nop | Pack::Rep8 | Pack::Sat | Pack::Rep8Sat)
}

fn sets_all_flags(inst: &Inst) -> bool {
    match inst {
        Inst::Alu(i) if i.op_add == crate::qpu::AddOp::Nop => i.cond_mul == Cond::Always,
        Inst::Alu(i) => i.cond_add == Cond::Always,
        Inst::LoadImm(i) => i.cond_add == Cond::Always,
        Inst::Semaphore(_) | Inst::Branch(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qpu::assemble;

    fn insts(text: &str) -> Vec<Inst> {
        assemble(text).expect(text).instructions().expect(text)
    }

    const END: &str = "sig_end ; nop = nop() ; nop = nop() ; sig_none ; nop = nop() ; nop = nop() ; sig_none ; nop = nop() ; nop = nop() ;";

    #[test]
    fn values_live_from_write_to_read() {
        let text = "sig_none ; rx3 = or.always(r0, r0) ; rx4 = v8min.always(r1, r1) ;
            sig_none ; nop = nop() ; nop = nop() ;
            sig_none ; r2 = or.always(a, a, ra3) ; nop = nop() ;";
        let insts = insts(&format!("{text}{END}"));
        let flow = Flow::new(Stage::Vertex, &insts, &[]);
        assert_eq!(flow.behind(0).to_string(), "ra3");
        assert_eq!(flow.behind(2), RegSet::EMPTY);
        // Nobody wrote r0 and r1.
        assert_eq!(flow.before(0), RegSet::EMPTY);
        let extra = Flow::new(Stage::Vertex, &insts, &[(2, RegSet::file(RegFile::B, 4))]);
        assert_eq!(extra.behind(1).to_string(), "ra3 rb4");
    }

    #[test]
    fn conditions_join_values() {
        let text = "sig_none ; r0 = or.sf.always(r1, r1) ; nop = nop() ;
            sig_none ; rx1 = or.zs(r0, r0) ; nop = nop() ;
            sig_none ; rx1 = or.zc(r1, r1) ; nop = nop() ;
            sig_none ; nop = nop() ; nop = nop() ;
            sig_none ; r2 = or.always(a, a, ra1) ; nop = nop() ;";
        let insts = insts(&format!("{text}{END}"));
        let flow = Flow::new(Stage::Vertex, &insts, &[]);
        assert_eq!(flow.before(1).to_string(), "r0 flags");
        assert_eq!(flow.behind(1).to_string(), "ra1 flags");
        assert_eq!(flow.behind(2).to_string(), "ra1");
    }

    #[test]
    fn loops_keep_what_they_read_again() {
        let text = "sig_none ; rx1 = or.always(r0, r0) ; nop = nop() ;
            loop:
            sig_none ; nop = nop() ; nop = nop() ;
            sig_none ; nop = or.sf.always(a, a, ra1) ; nop = nop() ;
            sig_branch ; nop = branch.rel(loop, any_zs) ; nop = branch() ;
            sig_none ; nop = nop() ; nop = nop() ;
            sig_none ; nop = nop() ; nop = nop() ;
            sig_none ; nop = nop() ; nop = nop() ;";
        let insts = insts(&format!("{text}{END}"));
        let flow = Flow::new(Stage::Vertex, &insts, &[]);
        assert_eq!(flow.behind(6).to_string(), "ra1");
        assert_eq!(flow.passed(|index| index == 2).end, (1, MOST));
        assert_eq!(flow.passed(|index| index == 0).end, (1, 1));
        assert_eq!(flow.between(0, 2), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn switches_destroy_accumulators() {
        let text = "sig_last_thread_switch ; r0 = or.always(a, a, ra1) ; nop = nop() ;
            sig_none ; nop = nop() ; nop = nop() ;
            sig_none ; nop = nop() ; nop = nop() ;
            sig_none ; r1 = or.always(r0, r0) ; nop = nop() ;";
        let insts = insts(&format!("{text}{END}"));
        let flow = Flow::new(Stage::Fragment, &insts, &[]);
        assert_eq!(flow.behind(0), RegSet::EMPTY);
    }
}

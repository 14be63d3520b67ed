//! Puts a program and its patches together: order, branches, uniforms, distances and the end.

use super::encode::{self, Line};
use super::error::SpliceError;
use super::normal::{Normal, retarget};
use super::program::{Origin, Slot, Spliced};
use super::registers::Reg;
use crate::qpu::access::Access;
use crate::qpu::rules::{BRANCH_SLOTS, Check, SIGNAL_SLOTS, Violation};
use crate::qpu::{AluInst, Inst, Mux, Raddr, RaddrB, Signal, Stage, Waddr, check_program, uniform_reads};
use crate::state::StateUniform;

/// A patch at its place.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its name.
    pub patch: &'static str,
    /// Its instructions.
    pub lines: Vec<Line>,
    /// A register that is free in front of it, to reset the uniform stream.
    pub spare: Option<Reg>,
}

/// A program under construction.
pub struct Weave<'n, 'a, U> {
    normal: &'n Normal<'a, U>,
    /// The program's own instructions, changed where patches want it.
    pub own: Vec<Inst>,
    /// In front of the first instruction, outside of every loop.
    pub prologue: Vec<Group>,
    /// Part of what a branch to the instruction runs.
    pub before: Vec<Vec<Group>>,
    /// Behind each instruction.
    pub behind: Vec<Vec<Group>>,
}

/// What a word of the stream is while the program is put together.
#[derive(Clone, Copy)]
enum Word<'a, U> {
    Own(&'a U),
    State(StateUniform),
    Address,
}

struct Item<'a, U> {
    inst: Inst,
    origin: Origin,
    words: Vec<Word<'a, U>>,
    /// The branch target, by number in the prepared program.
    target: Option<usize>,
    /// Loads the offset of the stream for the reset behind it.
    loads_offset: bool,
}

/// Name of what releases the scoreboard and ends the program.
const END: &str = "end";
/// Name of instructions that only wait.
const WAIT: &str = "wait";

impl<'n, 'a, U: Clone> Weave<'n, 'a, U> {
    /// A program without patches.
    pub fn new(normal: &'n Normal<'a, U>) -> Self {
        let len = normal.insts.len();
        Weave {
            normal,
            own: normal.insts.clone(),
            prologue: Vec::new(),
            before: vec![Vec::new(); len],
            behind: vec![Vec::new(); len],
        }
    }

    /// The finished program.
    pub fn finish(self) -> Result<Spliced<U>, SpliceError> {
        self.check_places()?;
        let mut cloth = self.layout()?;
        cloth.trim();
        if self.normal.source.stage == Stage::Fragment {
            cloth.keep_start_clear();
        }
        cloth.keep_distances(self.normal.source.stage);
        cloth.end(self.normal.source.stage);
        cloth.link(self.normal)
    }

    /// No patch stands in delay slots.
    fn check_places(&self) -> Result<(), SpliceError> {
        for index in 0..=self.own.len() {
            let group = self.before.get(index).and_then(|g| g.first());
            let group = group.or_else(|| self.behind.get(index.wrapping_sub(1)).and_then(|g| g.first()));
            let Some(group) = group else { continue };
            let delays = |back: usize, is: fn(&Access) -> bool| {
                (1..=back).any(|n| index.checked_sub(n).is_some_and(|at| is(&self.normal.access(at))))
            };
            if delays(SIGNAL_SLOTS, Access::is_switch) {
                let what =
                    format!("the {} patch would stand in the delay slots of a thread switch", group.patch);
                return Err(self.normal.fault(index, what, "move the access behind them"));
            }
            if delays(BRANCH_SLOTS, |access| access.is_branch) {
                let what = format!("the {} patch would stand in the delay slots of a branch", group.patch);
                return Err(self.normal.fault(index, what, "move the access away from them"));
            }
        }
        Ok(())
    }

    /// Everything in order, streams reset where patches need it.
    fn layout(&self) -> Result<Cloth<'a, U>, SpliceError> {
        let mut cloth = Cloth { items: Vec::new(), marks: vec![0; self.own.len()] };
        for group in &self.prologue {
            cloth.group(group, false)?;
        }
        let labels = self.labels();
        // The kernel forgets the stream's position at every label (qpu.md §5.3).
        let mut lost = false;
        for (index, is_label) in labels.into_iter().enumerate().take(self.own.len()) {
            lost |= is_label;
            cloth.marks[index] = cloth.items.len();
            for group in &self.before[index] {
                lost = cloth.group(group, lost)?;
            }
            let origin = self.normal.origins[index];
            let uniforms = origin.map_or(&[][..], |origin| &self.normal.uniforms[origin]);
            cloth.items.push(Item {
                inst: self.own[index],
                origin: origin.map_or(Origin::Patch(WAIT), Origin::Own),
                words: uniforms.iter().map(|uniform| Word::Own(*uniform)).collect(),
                target: self.normal.targets[index],
                loads_offset: false,
            });
            if self.normal.access(index).writes_to(Waddr::UNIF_ADDR) {
                lost = false;
            }
            for group in &self.behind[index] {
                lost = cloth.group(group, lost)?;
            }
        }
        Ok(cloth)
    }

    /// Where control arrives from elsewhere.
    fn labels(&self) -> Vec<bool> {
        let mut out = vec![false; self.own.len() + BRANCH_SLOTS + 1];
        for (index, target) in self.normal.targets.iter().enumerate() {
            if let Some(target) = target {
                out[*target] = true;
                out[index + BRANCH_SLOTS + 1] = true;
            }
        }
        out
    }
}

/// The instructions in their order, before branches know their distances.
struct Cloth<'a, U> {
    items: Vec<Item<'a, U>>,
    /// Where each instruction of the prepared program begins, patches in front of it included.
    marks: Vec<usize>,
}

impl<'a, U: Clone> Cloth<'a, U> {
    /// Appends a patch; returns whether the stream's position is still unknown.
    fn group(&mut self, group: &Group, lost: bool) -> Result<bool, SpliceError> {
        let takes = group.lines.iter().any(|line| line.uniform.is_some());
        if takes && lost {
            let Some(spare) = group.spare else {
                return Err(SpliceError::Whole {
                    what: format!(
                        "the {} patch needs a register to reset the uniform stream behind a branch",
                        group.patch
                    ),
                    instead: "free a register there, or put the program into raw mode",
                });
            };
            self.added(group.patch, encode::load(spare, 0), vec![], true);
            if spare.file().is_some() {
                self.added(group.patch, Inst::NOP, vec![], false);
            }
            self.added(group.patch, encode::reset_stream(spare), vec![Word::Address], false);
            for _ in 0..2 {
                self.added(group.patch, Inst::NOP, vec![], false);
            }
        }
        for line in &group.lines {
            self.added(group.patch, line.inst, line.uniform.map(Word::State).into_iter().collect(), false);
        }
        Ok(lost && !takes)
    }

    fn added(&mut self, patch: &'static str, inst: Inst, words: Vec<Word<'a, U>>, loads_offset: bool) {
        self.items.push(Item { inst, origin: Origin::Patch(patch), words, target: None, loads_offset });
    }

    fn wait_at(&mut self, position: usize) {
        let item = Item {
            inst: Inst::NOP,
            origin: Origin::Patch(WAIT),
            words: Vec::new(),
            target: None,
            loads_offset: false,
        };
        self.items.insert(position, item);
        for mark in self.marks.iter_mut().filter(|mark| **mark > position) {
            *mark += 1;
        }
    }

    /// Drops what does nothing at the end.
    fn trim(&mut self) {
        while let Some(last) = self.items.last() {
            let at = self.items.len() - 1;
            let slot = self.items[..at].iter().rev().take(BRANCH_SLOTS).any(|item| item.target.is_some());
            let switch = self.items[..at]
                .iter()
                .rev()
                .take(SIGNAL_SLOTS)
                .any(|item| Access::of(&item.inst).is_switch());
            if last.inst != Inst::NOP || slot || switch || self.targeted().any(|target| target >= at) {
                break;
            }
            self.items.pop();
        }
    }

    /// Where branches land.
    fn targeted(&self) -> impl Iterator<Item = usize> + '_ {
        self.items.iter().filter_map(|item| item.target.map(|target| self.marks[target]))
    }

    /// The tile buffer is not touched by the first two instructions (HW-2796).
    fn keep_start_clear(&mut self) {
        while self.items.iter().take(2).any(|item| Access::of(&item.inst).takes_scoreboard()) {
            self.wait_at(0);
            // Loops to the first instruction need not wait again.
            self.marks.iter_mut().filter(|mark| **mark == 0).for_each(|mark| *mark = 1);
        }
    }

    fn insts(&self) -> Vec<Inst> {
        let mut out: Vec<Inst> = self.items.iter().map(|item| item.inst).collect();
        for (at, item) in self.items.iter().enumerate() {
            retarget(&mut out[at], at, item.target.map(|target| self.marks[target]));
        }
        out
    }

    /// Waits where a patch and its neighbours come too close.
    fn keep_distances(&mut self, stage: Stage) {
        // Each round adds an instruction; a handful is all that can be missing at each boundary.
        for _ in 0..4 * self.items.len() {
            let close =
                check_program(stage, &self.insts()).into_iter().find(|violation| self.is_ours(violation));
            let Some(mut position) = close.map(|violation| violation.index) else { return };
            // Not into delay slots.
            for back in (1..=BRANCH_SLOTS).rev() {
                if position.checked_sub(back).is_some_and(|at| self.items[at].target.is_some()) {
                    position -= back;
                    break;
                }
            }
            self.wait_at(position);
        }
    }

    /// Two instructions too close, one of them of a patch.
    fn is_ours(&self, violation: &Violation) -> bool {
        let ours = |at: usize| matches!(self.items.get(at).map(|item| item.origin), Some(Origin::Patch(_)));
        matches!(violation.rule.check, Check::Hazard(_))
            && (ours(violation.index) || violation.other.is_some_and(ours))
    }

    /// Ends the program, with the last instructions in the delay slots of the end if they may stand there.
    fn end(&mut self, stage: Stage) {
        let len = self.items.len();
        for added in 0..=SIGNAL_SLOTS {
            if len + added <= SIGNAL_SLOTS {
                continue;
            }
            let end = len + added - SIGNAL_SLOTS - 1;
            if self.targeted().any(|target| target > end) || self.branches_near(end) {
                continue;
            }
            let mut items = self.ended(end, added, stage);
            if let Some(items) = &mut items {
                let old = std::mem::replace(&mut self.items, std::mem::take(items));
                let worse = check_program(stage, &self.insts()).iter().any(|v| v.index >= end);
                if !worse {
                    return;
                }
                self.items = old;
            }
        }
        let end = self.items.len();
        let end =
            end + usize::from(self.items.last().is_some_and(|i| Access::of(&i.inst).writes_to(Waddr::TLB_Z)));
        self.items = self.ended(end, SIGNAL_SLOTS + 1 + (end - self.items.len()), stage).unwrap_or_default();
    }

    fn branches_near(&self, end: usize) -> bool {
        let from = end.saturating_sub(BRANCH_SLOTS);
        self.items[from..].iter().any(|item| item.target.is_some())
    }

    /// The program with `added` instructions more and the end signal at `end`.
    fn ended(&self, end: usize, added: usize, stage: Stage) -> Option<Vec<Item<'a, U>>> {
        let mut items: Vec<Item<'a, U>> = self.items.iter().map(Item::copy).collect();
        for _ in 0..added {
            items.push(Item {
                inst: Inst::NOP,
                origin: Origin::Patch(END),
                words: Vec::new(),
                target: None,
                loads_offset: false,
            });
        }
        let last = items.len() - 1;
        let mut signal = |at: usize, sig: Signal| match &mut items[at].inst {
            Inst::Alu(inst) if inst.sig == Signal::None && !matches!(inst.raddr_b, RaddrB::Imm(_)) => {
                *inst = AluInst { sig, ..*inst };
                true
            }
            _ => false,
        };
        let done =
            signal(end, Signal::End) && (stage != Stage::Fragment || signal(last, Signal::UnlockScoreboard));
        done.then_some(items)
    }

    /// Numbers branches and offsets, lists the stream and checks the result.
    fn link(mut self, normal: &Normal<'a, U>) -> Result<Spliced<U>, SpliceError> {
        self.offsets(normal)?;
        let insts = self.insts();
        let mut slots: Vec<Slot<U>> = Vec::new();
        for item in &self.items {
            slots.extend(item.words.iter().map(|word| match word {
                Word::Own(uniform) => Slot::Own((*uniform).clone()),
                Word::State(slot) => Slot::State(*slot),
                Word::Address => Slot::StreamAddress,
            }));
        }
        if loop_wants_address(&insts) {
            slots.push(normal.extra.map_or(Slot::StreamAddress, |uniform| Slot::Own(uniform.clone())));
        }
        debug_assert!(slots.len() - uniform_reads(&insts).len() <= 1, "every word has its slot");
        let origins: Vec<Origin> = self.items.iter().map(|item| item.origin).collect();
        if let Some(violation) = check_program(normal.source.stage, &insts).first() {
            return Err(broken(violation, &origins));
        }
        let threaded = normal.threaded;
        Ok(Spliced { insts, slots, origins, threaded })
    }

    /// The immediates that stream resets add (qpu.md §5.3).
    fn offsets(&mut self, normal: &Normal<'a, U>) -> Result<(), SpliceError> {
        let (mut words, mut own_words) = (0, 0);
        let mut pending = None;
        for at in 0..self.items.len() {
            if self.items[at].loads_offset {
                pending = Some(at);
            }
            let inst = self.items[at].inst;
            if Access::of(&inst).writes_to(Waddr::UNIF_ADDR) {
                let offset = 4 * words as u32 + 4;
                match (pending.take(), self.items[at].origin) {
                    (Some(load), _) => self.items[load].inst = with_immediate(self.items[load].inst, offset),
                    (None, Origin::Own(index)) => {
                        let expected = 4 * own_words as u32 + 4;
                        self.own_offset(at, index, expected, offset)?;
                    }
                    (None, Origin::Patch(_)) => {}
                }
            }
            words += self.items[at].words.len();
            if let Origin::Own(index) = self.items[at].origin {
                own_words += normal.uniforms[index].len();
            }
        }
        Ok(())
    }

    /// Changes the load that the program's own reset adds.
    fn own_offset(&mut self, at: usize, index: usize, expected: u32, offset: u32) -> Result<(), SpliceError> {
        if expected == offset {
            return Ok(());
        }
        let inst = self.items[at].inst;
        let load = (0..at).rev().find(|&n| feeds(&self.items[n].inst, &inst));
        let load = load.filter(|&n| matches!(self.items[n].inst, Inst::LoadImm(l) if l.imm == expected));
        let Some(load) = load else {
            let what = "resets the uniform stream in another way than load32 of its offset and an addition of the address word";
            return Err(super::normal::fault(index, what, "follow the kernel's pattern (qpu.md §5.3)"));
        };
        self.items[load].inst = with_immediate(self.items[load].inst, offset);
        Ok(())
    }
}

impl<U> Item<'_, U> {
    fn copy(&self) -> Self {
        let words = self.words.iter().map(|word| match word {
            Word::Own(uniform) => Word::Own(*uniform),
            Word::State(slot) => Word::State(*slot),
            Word::Address => Word::Address,
        });
        Item {
            inst: self.inst,
            origin: self.origin,
            words: words.collect(),
            target: self.target,
            loads_offset: self.loads_offset,
        }
    }
}

fn with_immediate(inst: Inst, imm: u32) -> Inst {
    match inst {
        Inst::LoadImm(load) => Inst::LoadImm(crate::qpu::LoadImmInst { imm, ..load }),
        other => other,
    }
}

/// Whether the first instruction writes the first add operand of the second.
fn feeds(load: &Inst, reset: &Inst) -> bool {
    let Inst::Alu(reset) = reset else { return false };
    let reads = |raddr: Raddr, file| {
        move |w: crate::qpu::access::Write| w.file == file && w.waddr.code() == raddr.code()
    };
    let access = Access::of(load);
    let mut written = access.written();
    match (reset.add_a, reset.raddr_b) {
        (Mux::A, _) => written.any(reads(reset.raddr_a, crate::qpu::RegFile::A)),
        (Mux::B, RaddrB::Reg(raddr)) => written.any(reads(raddr, crate::qpu::RegFile::B)),
        (mux, _) => written.any(|w| w.accumulator() == Some(mux.code())),
    }
}

/// Whether a loop's target would reset the stream from a word behind the last (qpu.md §5.3).
fn loop_wants_address(insts: &[Inst]) -> bool {
    insts.iter().fold(false, |wanted, inst| match inst {
        Inst::Branch(branch) => wanted || branch.offset < 0,
        inst => wanted && !Access::of(inst).writes_to(Waddr::UNIF_ADDR),
    })
}

fn broken(violation: &Violation, origins: &[Origin]) -> SpliceError {
    let own = |at: usize| match origins.get(at) {
        Some(Origin::Own(index)) => Some(*index),
        _ => None,
    };
    SpliceError::Rule {
        instruction: own(violation.index).or_else(|| violation.other.and_then(own)),
        rule: violation.rule.id,
        manual: violation.rule.manual,
        message: violation.message.clone(),
    }
}

//! Branches between scheduled pieces: where they stand, what runs in their delay slots, where they land.

use vc4::qpu::rules::{BRANCH_SLOTS, SIGNAL_SLOTS};
use vc4::qpu::{Access, AluInst, BranchCond, BranchInst, Inst, RaddrB, RegFile, Waddr};

use super::slot::Slot;
use crate::backend::virt::{Operation, Unit};

/// The first instruction that may be a branch (qpu.md §5.3).
const FIRST_BRANCH: usize = 2;

/// Scheduled pieces in a row, with the branches between them.
pub struct Flow<'a> {
    ops: &'a [Operation],
    /// The instructions so far.
    pub slots: Vec<Slot>,
    /// The first instruction of the last piece.
    tail: usize,
    /// First instructions of open loops.
    loops: Vec<usize>,
    /// The branch of each open if that has no target yet.
    ifs: Vec<usize>,
    /// Branches to the instruction that comes next.
    landings: Vec<usize>,
}

impl<'a> Flow<'a> {
    /// Nothing yet, of a program whose operations are `ops`.
    pub fn new(ops: &'a [Operation]) -> Flow<'a> {
        Flow { ops, slots: Vec::new(), tail: 0, loops: Vec::new(), ifs: Vec::new(), landings: Vec::new() }
    }

    /// Appends a piece.
    pub fn piece(&mut self, piece: Vec<Slot>) {
        if let Some(first) = piece.first() {
            self.land(&first.inst);
        }
        self.tail = self.slots.len();
        self.slots.extend(piece);
        // What comes next sets the stream's position in its second instruction, with a word of the stream: too early behind
        // a position set in the last one (qpu.md §5.1 rule 11).
        let sets_stream =
            |slot: &Slot| slot.ops.iter().any(|&op| self.ops[op].port() == Some(Waddr::UNIF_ADDR));
        if self.slots.last().is_some_and(sets_stream) {
            self.slots.push(Slot::nop());
        }
    }

    /// Appends what the marker behind the piece asks for, whose operations begin with `first_op`.
    pub fn marker(&mut self, unit: Unit, first_op: usize) {
        match unit {
            Unit::LoopStart => {
                // The next instruction may read a file register that the last one wrote (qpu.md §5.1 rule 9).
                self.land(&Inst::NOP);
                self.slots.push(Slot::nop());
                self.loops.push(self.slots.len());
            }
            Unit::LoopEnd(cond) => {
                let start = self.loops.pop().expect("loops nest");
                // The branch's last delay slot comes directly before the start.
                let meets_start =
                    |last: &Slot| self.slots.get(start).is_some_and(|next| meets(&last.inst, &next.inst));
                if self.slots.last().is_some_and(meets_start) {
                    self.slots.push(Slot::nop());
                }
                let branch = self.branch(cond, first_op);
                self.aim(branch, start);
            }
            Unit::If(cond) => {
                let branch = self.branch(cond, first_op);
                self.ifs.push(branch);
            }
            Unit::Else => {
                let branch = self.branch(BranchCond::Always, first_op);
                self.landings.extend(self.ifs.pop());
                self.ifs.push(branch);
            }
            Unit::EndIf => self.landings.extend(self.ifs.pop()),
            _ => {}
        }
    }

    /// The whole program.
    pub fn finish(mut self) -> (Vec<Slot>, usize) {
        if !self.landings.is_empty() {
            self.land(&Inst::NOP);
            self.slots.push(Slot::nop());
        }
        (self.slots, self.tail)
    }

    /// Lets branches go to the next instruction, which is `next` or, where one of the ways to it is too short, a nop in
    /// front of it.
    fn land(&mut self, next: &Inst) {
        let target = self.slots.len();
        let last = self.slots.last().into_iter();
        let mut before = last.chain(self.landings.iter().map(|&branch| &self.slots[branch + BRANCH_SLOTS]));
        if before.any(|before| meets(&before.inst, next)) {
            self.slots.push(Slot::nop());
        }
        for branch in std::mem::take(&mut self.landings) {
            self.aim(branch, target);
        }
    }

    fn aim(&mut self, branch: usize, target: usize) {
        if let Inst::Branch(inst) = &mut self.slots[branch].inst {
            inst.offset = (target as i32 - (branch + 1 + BRANCH_SLOTS) as i32) * 8;
        }
    }

    /// Puts a branch behind the instruction that sets its flags; up to three instructions behind that run in its delay
    /// slots. Where it goes is still open.
    fn branch(&mut self, cond: BranchCond, first_op: usize) -> usize {
        // Of an empty piece.
        if !self.landings.is_empty() {
            self.land(&Inst::NOP);
        }
        while self.slots.len() < FIRST_BRANCH {
            self.slots.push(Slot::nop());
        }
        let least = match cond {
            BranchCond::Always => {
                let is_switch = |slot: &Slot| Access::of(&slot.inst).is_switch();
                let switch = self.slots[self.tail..].iter().rposition(is_switch);
                self.tail + switch.map_or(0, |switch| switch + 1 + SIGNAL_SLOTS)
            }
            _ => {
                let sets_flags =
                    |slot: &Slot| slot.ops.iter().any(|&op| op >= first_op && self.ops[op].sets_flags);
                let flags = self.slots.iter().rposition(sets_flags);
                1 + flags.expect("a branch's condition is flags")
            }
        };
        let at = least.max(FIRST_BRANCH).max(self.slots.len().saturating_sub(BRANCH_SLOTS));
        let branch = BranchInst::relative(cond, 0);
        self.slots.insert(at, Slot { inst: Inst::Branch(branch), ..Slot::nop() });
        while self.slots.len() < at + 1 + BRANCH_SLOTS {
            self.slots.push(Slot::nop());
        }
        at
    }
}

/// Whether an instruction reads what the one directly before it wrote, too early (qpu.md §5.1 rules 9 and 12).
fn meets(before: &Inst, next: &Inst) -> bool {
    let (written, read) = (Access::of(before), Access::of(next));
    let rotates = match next {
        Inst::Alu(AluInst { raddr_b: RaddrB::Imm(imm), .. }) => imm.rotation().is_some(),
        _ => false,
    };
    let in_file = |n: u8| {
        let same = |file| {
            read.reads_register(file, n)
                && written.written().any(|write| write.file == file && write.waddr == Waddr::reg(n))
        };
        same(RegFile::A) || same(RegFile::B)
    };
    rotates && written.written_accumulators() != 0 || (0..32).any(in_file)
}

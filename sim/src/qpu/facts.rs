//! What stands still about a program while it is watched.

use vc4::qpu::access::{Access, link_tmu};
use vc4::qpu::rules::{Check, Hazard, RULES, Rule};
use vc4::qpu::{AddOp, Cond, Inst, MulOp};

use super::op::{Action, Dest, Op, Port, extra, slot};

/// The place of the flags in [`Facts::registers`], behind the registers.
pub(super) const FLAGS: u8 = slot::R5 + 1;

/// What stands still about a program while it is watched: nearly everything, so that watching costs little.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    accesses: Vec<Access>,
    /// Per instruction, whether it breaks no rule behind those that stand in front of it.
    pub is_clean: Vec<bool>,
    /// Register slots that each instruction reads and writes.
    pub registers: Vec<[u128; 2]>,
    /// Instructions that some hazard looks back.
    pub reach: usize,
}

impl Facts {
    pub fn of(insts: &[Inst], ops: &[Op]) -> Facts {
        let mut accesses: Vec<Access> = insts.iter().map(Access::of).collect();
        link_tmu(&mut accesses);
        let reach = hazards().map(|(_, hazard)| hazard.distance as usize - 1).max().unwrap_or(0);
        let mut facts = Facts { accesses, is_clean: Vec::new(), registers: Vec::new(), reach };
        facts.is_clean =
            (0..insts.len()).map(|index| facts.broken(index, (0..index).rev()).next().is_none()).collect();
        facts.registers = ops.iter().map(|op| [registers_read(op), registers_written(op)]).collect();
        facts
    }

    /// The rules that an instruction breaks behind `history`, the latest first.
    pub fn broken<'a>(
        &'a self,
        index: usize,
        history: impl Iterator<Item = usize> + Clone + 'a,
    ) -> impl Iterator<Item = &'static Rule> + 'a {
        let access = &self.accesses[index];
        let breaks = move |(_, hazard): &(&Rule, &Hazard)| {
            let mut near = history.clone().take(hazard.distance as usize - 1);
            near.any(|first| (hazard.applies)(&self.accesses[first], access))
        };
        hazards().filter(breaks).map(|(rule, _)| rule)
    }
}

/// The rules about two instructions that come too close.
fn hazards() -> impl Iterator<Item = (&'static Rule, &'static Hazard)> {
    RULES.iter().filter_map(|rule| match &rule.check {
        Check::Hazard(hazard) => Some((rule, *hazard)),
        _ => None,
    })
}

/// The bit of a slot.
pub(super) const fn bit(s: u8) -> u128 {
    1 << s
}

/// Register slots whose content an instruction uses.
pub(super) fn registers_read(op: &Op) -> u128 {
    let through = |s: u8| {
        let s = if s == slot::UNPACKED { op.unpack_from } else { s };
        if s <= slot::R5 { bit(s) } else { 0 }
    };
    let mut read = 0;
    // A value taken from itself does not depend on it.
    let cancels = matches!(op.add, AddOp::Xor | AddOp::Sub) && op.add_a == op.add_b;
    if op.add != AddOp::Nop && !cancels {
        read |= through(op.add_a) | through(op.add_b);
    }
    if op.mul != MulOp::Nop {
        read |= through(op.mul_a) | through(op.mul_b);
    }
    if let Action::Branch(branch) = op.action {
        read |= branch.reg.map_or(0, |r| bit(slot::RA + r));
        if branch.cond != vc4::qpu::BranchCond::Always {
            read |= bit(FLAGS);
        }
    }
    let conditional = |cond| !matches!(cond, Cond::Always | Cond::Never);
    if conditional(op.add_cond) && op.add != AddOp::Nop || conditional(op.mul_cond) && op.mul != MulOp::Nop {
        read |= bit(FLAGS);
    }
    read
}

/// Register slots that an instruction writes at least in part.
fn registers_written(op: &Op) -> u128 {
    let mut written = 0;
    for dest in [op.add_dest, op.mul_dest] {
        written |= match dest {
            Dest::Slot(s) | Dest::Packed(s) => bit(s),
            Dest::R5All | Dest::R5Quad => bit(slot::R5),
            Dest::Sfu(_) => bit(slot::R4),
            _ => 0,
        };
    }
    if op.port_a == Port::Varying || op.port_b == Port::Varying {
        written |= bit(slot::R5);
    }
    written |= match op.action {
        Action::LoadTmu(_) | Action::ColorLoad => bit(slot::R4),
        Action::Branch(branch) => {
            branch.link_to.into_iter().flatten().fold(0, |bits, s| bits | bit(s))
                | if branch.sets_flags { bit(FLAGS) } else { 0 }
        }
        _ => 0,
    };
    if op.extras & extra::FLAGS != 0 {
        written |= bit(FLAGS);
    }
    written
}

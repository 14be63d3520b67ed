//! Instructions taken apart: what machine code computes, and what it leaves to the interpreter's functions.

use vc4::qpu::{AddOp, BranchCond, Cond, MulOp, Pack};

use crate::qpu::op::{Action, Dest, IDLE, Op, Port, extra, slot};

/// A step of an instruction.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// Arithmetic from registers and uniforms to registers: machine code.
    Alu(Op),
    /// What the read ports deliver goes to their slots.
    Fetch(Op),
    /// A result goes from a slot to where the instruction sends it.
    Deliver { op: Op, dest: Dest, from: u8, cond: Cond },
    /// The signal's action.
    Act(Op),
    /// A whole instruction that is interpreted.
    Whole(Op),
    /// The flags decide about a branch.
    Decide(BranchCond),
}

/// Slots where results wait for [`Part::Deliver`]; no instruction names them.
const ADD_RESULT: u8 = slot::ELEMENT + 1;
const MUL_RESULT: u8 = slot::ELEMENT + 2;

/// Bit of the flags in a set of slots.
pub const FLAGS: u128 = 1 << 127;

/// A set of one slot.
pub const fn bit(s: u8) -> u128 {
    1 << s
}

/// Whether a slot holds the same for ever: no instruction writes it.
pub const fn is_constant(s: u8) -> bool {
    s == slot::ZERO || s == slot::ELEMENT || s >= slot::SMALL
}

/// Whether an instruction reads a uniform.
pub fn has_uniform(op: &Op) -> bool {
    [op.port_a, op.port_b].contains(&Port::Uniform)
}

/// Whether an instruction reads a pixel coordinate.
pub fn has_pixel(op: &Op) -> bool {
    [op.port_a, op.port_b].into_iter().any(|port| matches!(port, Port::PixelX | Port::PixelY))
}

/// What a condition asks: nothing, or the number of a flag and its value.
pub enum ByFlag {
    Always,
    Never,
    Where { flag: usize, set: bool },
}

/// What a condition asks of Z, N and C.
pub fn by_flag(cond: Cond) -> ByFlag {
    let (flag, set) = match cond {
        Cond::Always => return ByFlag::Always,
        Cond::Never => return ByFlag::Never,
        Cond::Zs => (0, true),
        Cond::Zc => (0, false),
        Cond::Ns => (1, true),
        Cond::Nc => (1, false),
        Cond::Cs => (2, true),
        Cond::Cc => (2, false),
    };
    ByFlag::Where { flag, set }
}

/// The parts of an instruction, in order.
pub fn parts(op: &Op, mut add: impl FnMut(Part)) {
    if let Action::Branch(branch) = op.action {
        // Of branches with links and the like there are no traces.
        if branch.cond != BranchCond::Always {
            add(Part::Decide(branch.cond));
        }
        return;
    }
    // Where a program ends or switches is a matter of its traces.
    let acts = match op.action {
        Action::None | Action::End | Action::Switch | Action::Branch(_) => false,
        Action::LoadTmu(_) | Action::ColorLoad | Action::Semaphore { .. } => true,
    };
    let mut plain = Op { action: Action::None, extras: op.extras & !extra::ACTION, ..*op };
    if op.add == AddOp::Nop && op.mul == MulOp::Nop && plain.extras & extra::PORTS == 0 {
        if acts {
            add(Part::Act(*op));
        }
        return;
    }
    let Some(results) = separated(&mut plain) else {
        return add(Part::Whole(Op { action: if acts { op.action } else { Action::None }, ..*op }));
    };
    let fetched = [plain.port_a, plain.port_b].into_iter().any(|port| !is_inline(port));
    if fetched {
        add(Part::Fetch(Op { port_a: plain.port_a, port_b: plain.port_b, imm: plain.imm, ..IDLE }));
        (plain.port_a, plain.port_b) = (Port::None, Port::None);
        plain.extras &= !extra::PORTS;
    }
    let idle = plain.add == AddOp::Nop && plain.mul == MulOp::Nop && plain.extras & extra::PORTS == 0;
    if !idle {
        add(Part::Alu(plain));
    }
    for (dest, from, cond) in results.into_iter().flatten() {
        add(Part::Deliver { op: *op, dest, from, cond });
    }
    if acts {
        add(Part::Act(*op));
    }
}

/// Whether machine code fetches it.
fn is_inline(port: Port) -> bool {
    matches!(port, Port::None | Port::Uniform | Port::Varying | Port::Imm(_) | Port::PixelX | Port::PixelY)
}

/// Sends results for peripherals to slots first and tells which. `None` if the instruction has to stay whole.
fn separated(op: &mut Op) -> Option<[Option<(Dest, u8, Cond)>; 2]> {
    if !is_arithmetic(op) {
        return None;
    }
    let ports = [op.port_a, op.port_b];
    if ports.contains(&Port::Varying) && ports.into_iter().any(|port| !is_inline(port)) {
        return None;
    }
    let dests = [op.add_dest, op.mul_dest];
    let operands = [op.add_a, op.add_b, op.mul_a, op.mul_b, op.unpack_from];
    let mut results = [None; 2];
    if is_peripheral(op, op.add_dest, false) {
        // Where the result is refused, the elements are shown as they were.
        let clobbers = |dest| match dest {
            Dest::Slot(s) | Dest::Packed(s) => operands.contains(&s),
            Dest::Sfu(_) => operands.contains(&slot::R4),
            _ => false,
        };
        if clobbers(op.mul_dest) || op.mul_dest == Dest::R5Quad {
            return None;
        }
        results[0] = Some((op.add_dest, ADD_RESULT, op.add_cond));
        (op.add_dest, op.add_cond) = (Dest::Slot(ADD_RESULT), Cond::Always);
    }
    let packs = op.extras & extra::MUL_PACK != 0;
    if is_peripheral(op, op.mul_dest, packs) {
        if packs && op.pack != Pack::Rep8 {
            return None;
        }
        results[1] = Some((op.mul_dest, MUL_RESULT, op.mul_cond));
        (op.mul_dest, op.mul_cond) = (Dest::Slot(MUL_RESULT), Cond::Always);
    }
    // The varying's second part wins over another value for r5.
    if ports.contains(&Port::Varying) && dests.contains(&Dest::R5All) {
        return None;
    }
    // The flags that decide about a delivery are those from before the instruction.
    let conditional = results.iter().flatten().any(|(_, _, cond)| *cond != Cond::Always);
    (op.extras & extra::FLAGS == 0 || !conditional).then_some(results)
}

/// Whether a result leaves the elements that it was computed in, or goes through a unit whose code is not here.
fn is_peripheral(op: &Op, dest: Dest, packs: bool) -> bool {
    match dest {
        Dest::None | Dest::Slot(_) | Dest::Packed(_) | Dest::R5Quad => false,
        Dest::Sfu(_) => packs || op.extras & extra::VARIANT != 0,
        _ => true,
    }
}

/// Whether machine code knows the arithmetic.
fn is_arithmetic(op: &Op) -> bool {
    let flags = op.extras & extra::FLAGS != 0;
    let carries = match (flags, op.flags_from_mul) {
        (false, _) => true,
        (true, false) => !matches!(op.add, AddOp::Shr | AddOp::Asr | AddOp::Shl),
        (true, true) => op.mul != MulOp::Mul24,
    };
    // Sums that overflow are saturated in a way of their own.
    let saturates = matches!(op.add, AddOp::Add | AddOp::Sub)
        && matches!(op.add_dest, Dest::Packed(_))
        && op.pack != Pack::Nop;
    let rotates = op.rotate.is_none_or(|rotate| rotate.quad && rotate.by.is_some());
    // Both units' results in one place are undefined.
    let collide = op.add != AddOp::Nop && op.mul != MulOp::Nop && op.add_dest == op.mul_dest;
    let collide = collide && op.extras & extra::MUL_PACK != 0;
    carries && !saturates && rotates && !collide
}

impl Part {
    /// Slots that it uses, with those that are shown if it fails.
    pub fn reads(&self) -> u128 {
        match self {
            Part::Alu(op) => reads(op) & !fetched(op),
            Part::Fetch(_) => FLAGS,
            Part::Deliver { op, from, .. } => reads(op) | bit(*from) | FLAGS,
            Part::Act(op) | Part::Whole(op) => reads(op) | FLAGS,
            Part::Decide(_) => FLAGS,
        }
    }

    /// Slots of which nothing is left behind it.
    pub fn overwrites(&self) -> u128 {
        match self {
            Part::Alu(op) => {
                let full = |dest, cond, packs: bool| match dest {
                    Dest::Slot(s) if cond == Cond::Always && !packs => bit(s),
                    Dest::Sfu(_) => bit(slot::R4),
                    _ => 0,
                };
                let by_mul = op.extras & extra::MUL_PACK != 0 && op.pack != Pack::Rep8;
                let varying = [op.port_a, op.port_b].contains(&Port::Varying);
                let r5 = if varying { bit(slot::R5) } else { 0 };
                let cond = if op.flags_from_mul { op.mul_cond } else { op.add_cond };
                let flags = if op.extras & extra::FLAGS != 0 && cond == Cond::Always { FLAGS } else { 0 };
                let results = full(op.add_dest, op.add_cond, false) | full(op.mul_dest, op.mul_cond, by_mul);
                results | r5 | flags | fetched(op)
            }
            Part::Fetch(op) => fetched(op),
            Part::Deliver { dest: Dest::Sfu(_), .. } => bit(slot::R4),
            Part::Act(Op { action: Action::LoadTmu(_) | Action::ColorLoad, .. }) => bit(slot::R4),
            Part::Act(_) | Part::Deliver { .. } | Part::Whole(_) | Part::Decide(_) => 0,
        }
    }

    /// Slots that it may write, but for arithmetic.
    pub fn changes(&self) -> u128 {
        match self {
            Part::Whole(_) => u128::MAX,
            _ => bit(slot::R4) | bit(slot::R5) | bit(slot::PORT_A) | bit(slot::PORT_B),
        }
    }

    /// Whether it takes a word of the uniform stream.
    pub fn uniforms(&self) -> u32 {
        let Part::Alu(op) = self else { return 0 };
        u32::from(op.port_a == Port::Uniform) + u32::from(op.port_b == Port::Uniform)
    }

    /// Whether it takes a varying.
    pub fn varyings(&self) -> u32 {
        let Part::Alu(op) = self else { return 0 };
        u32::from(op.port_a == Port::Varying) + u32::from(op.port_b == Port::Varying)
    }
}

/// Slots that the read ports fill.
fn fetched(op: &Op) -> u128 {
    let of = |port, s| if port == Port::None { 0 } else { bit(s) };
    of(op.port_a, slot::PORT_A) | of(op.port_b, slot::PORT_B)
}

/// Slots that an instruction's units use, those of which it keeps a part, and the flags.
fn reads(op: &Op) -> u128 {
    let through = |s: u8| if s == slot::UNPACKED { bit(op.unpack_from) } else { bit(s) };
    let mut read = 0;
    if op.add != AddOp::Nop {
        read |= through(op.add_a) | through(op.add_b);
    }
    if op.mul != MulOp::Nop {
        read |= through(op.mul_a) | through(op.mul_b);
        if op.rotate.is_some_and(|rotate| rotate.by.is_none()) {
            read |= bit(slot::R5);
        }
    }
    let conditional = |cond| !matches!(cond, Cond::Always | Cond::Never);
    let by_add = op.add != AddOp::Nop && conditional(op.add_cond);
    if by_add || op.mul != MulOp::Nop && conditional(op.mul_cond) {
        read |= FLAGS;
    }
    read | old_words(op)
}

/// Slots of which an instruction keeps a part.
fn old_words(op: &Op) -> u128 {
    let of = |dest, cond, packs| match dest {
        Dest::Slot(s) if cond != Cond::Always || packs => bit(s),
        Dest::Packed(s) => bit(s),
        Dest::R5Quad | Dest::R5All => bit(slot::R5),
        _ => 0,
    };
    let by_mul = op.extras & extra::MUL_PACK != 0;
    of(op.add_dest, op.add_cond, false) | of(op.mul_dest, op.mul_cond, by_mul)
}

//! Live ranges split where a value that one operation wants in a particular file keeps that place for longer than the
//! operation needs it.
//!
//! Selection narrows the places of a register by all its uses at once. That is cheap and almost always right; when a
//! program does not fit, the values alive at the tightest point get their freedom back, and each use that is not
//! content with any place gets a copy in front of it.

use cranelift_entity::{EntitySet, SecondaryMap};
use vc4::qpu::{Pack, RegFile, Unpack};

use crate::backend::virt::{Dst, Operand, Operation, Places, Reg, RegInfo, Src, Unit, VirtProgram};

/// Operands of an operation that copies may stand in front of it for.
const MAX_OPERANDS: usize = 2;

/// Gives `regs` the choice of all places. Returns whether anything changed.
pub fn free(program: &mut VirtProgram, regs: &[Reg]) -> bool {
    let mut packed: EntitySet<Reg> = EntitySet::new();
    for op in program.ops.iter().filter(|op| op.pack != Pack::Nop && !op.mul_pack) {
        op.writes().into_iter().for_each(|reg| {
            packed.insert(reg);
        });
    }
    let uses = uses(program);
    let mut freed: EntitySet<Reg> = EntitySet::new();
    for &reg in regs {
        // Copies that keep an operand out of both files stay out: they are what ends a conflict. Those right in front of
        // their operation would get another such copy.
        let Uses { in_front, .. } = uses[reg];
        let copy = uses[reg].is_copy();
        let info = &mut program.regs[reg];
        let Places { a, b, .. } = info.places;
        let narrow = (a != b && !(copy && in_front)) || (!a && !b && !copy);
        if info.fixed.is_none() && narrow && !packed.contains(reg) {
            info.places = Places { r4: info.places.r4, ..Places::ANY };
            freed.insert(reg);
        }
    }
    if freed.is_empty() {
        return false;
    }
    let ops = std::mem::take(&mut program.ops);
    for mut op in ops {
        for i in 0..op.src.len() {
            let operand = op.src[i];
            let Src::Reg(reg) = operand.src else { continue };
            let allowed = allowed(&op, operand);
            if !freed.contains(reg) || (allowed.a && allowed.b) {
                continue;
            }
            let temp = program.regs.push(RegInfo { fixed: None, places: allowed });
            program.ops.push(Operation::mov(Dst::Reg(temp), Src::Reg(reg)));
            for other in op.src.iter_mut().filter(|other| other.src == Src::Reg(reg)) {
                other.src = Src::Reg(temp);
            }
        }
        program.ops.push(op);
    }
    true
}

/// How many operations write and read a register.
#[derive(Clone, Copy, Default)]
struct Uses {
    writers: u32,
    readers: u32,
    /// The last write is a move, and an operation that reads it follows behind at most one for another operand.
    in_front: bool,
    moved_at: Option<usize>,
}

impl Uses {
    /// Whether it is made once for one operation: what is alive for longer was narrowed by several uses at once, as by a
    /// port of one file and an immediate, which takes the other's.
    fn is_copy(self) -> bool {
        self.writers <= 1 && self.readers <= 1
    }
}

/// The uses of all registers.
fn uses(program: &VirtProgram) -> SecondaryMap<Reg, Uses> {
    let mut uses: SecondaryMap<Reg, Uses> = program.per_register();
    for (index, op) in program.ops.iter().enumerate() {
        let sources = || op.src.iter().map(|operand| operand.src);
        for (place, source) in sources().enumerate() {
            if let (Src::Reg(reg), false) = (source, sources().take(place).any(|other| other == source)) {
                uses[reg].readers += 1;
                uses[reg].in_front |= uses[reg].moved_at.is_some_and(|moved| index - moved <= MAX_OPERANDS);
            }
        }
        if let Some(reg) = op.writes() {
            uses[reg].writers += 1;
            uses[reg].moved_at = (op.unit == Unit::Move).then_some(index);
        }
    }
    uses
}

/// Where an operation can read an operand from, beside its other operands.
pub fn allowed(op: &Operation, operand: Operand) -> Places {
    if operand.unpack != Unpack::Nop {
        return Places { a: true, b: false, acc: false, r4: false };
    }
    let others = || op.src.iter().filter(|other| other.src != operand.src);
    let takes = |file: RegFile| {
        others().any(|other| match other.src {
            Src::Port(_, only) => only == Some(file),
            Src::Imm(_) => file == RegFile::B,
            _ => false,
        })
    };
    let either = others().any(|other| matches!(other.src, Src::Uniform(_) | Src::Port(_, None)));
    let unpacks = others().any(|other| other.unpack != Unpack::Nop);
    let no_a = takes(RegFile::A) || unpacks || (either && takes(RegFile::B));
    let no_b = takes(RegFile::B) || op.rotate != 0 || (either && takes(RegFile::A));
    Places { a: !no_a, b: !no_b, acc: true, r4: false }
}

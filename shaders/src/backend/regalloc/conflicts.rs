//! Operands that lie where their operation cannot read them, and copies that place them elsewhere.

use cranelift_entity::SecondaryMap;
use vc4::qpu::{AddOp, Unpack};

use crate::backend::virt::{Dst, Loc, Operand, Operation, Places, Reg, RegInfo, Src, Unit, VirtProgram};

/// Where each register lives.
pub type Assignment = SecondaryMap<Reg, Option<Loc>>;

/// Operands that their operation cannot read from where they are: the second of two in one file, and one that is
/// unpacked from file A while the mul unit packs, because both need the `pm` bit (qpu.md §2.11).
pub fn find_conflicts(program: &VirtProgram, assignment: &Assignment) -> Vec<(usize, Operand)> {
    let place = |operand: &Operand| match operand.src {
        Src::Reg(reg) => assignment[reg],
        _ => None,
    };
    let mut conflicts = Vec::new();
    for (index, op) in program.ops.iter().enumerate() {
        let unpacked =
            |operand: &&Operand| operand.unpack != Unpack::Nop && matches!(place(operand), Some(Loc::A(_)));
        if let Some(operand) = op.src.iter().find(|operand| op.mul_pack && unpacked(operand)) {
            conflicts.push((index, *operand));
            continue;
        }
        let [a, b] = op.src[..] else { continue };
        let same_file = match (place(&a), place(&b)) {
            (Some(Loc::A(m)), Some(Loc::A(n))) | (Some(Loc::B(m)), Some(Loc::B(n))) => m != n,
            _ => false,
        };
        if same_file {
            conflicts.push((index, if b.unpack == Unpack::Nop { b } else { a }));
        }
    }
    conflicts
}

/// Puts copies in front of the operations of `conflicts`, which are in program order.
pub fn insert_copies(program: &mut VirtProgram, conflicts: &[(usize, Operand)]) {
    let ops = std::mem::take(&mut program.ops);
    program.ops.reserve(ops.len() + conflicts.len());
    let mut conflicts = conflicts.iter().peekable();
    for (index, mut op) in ops.into_iter().enumerate() {
        if let Some(&(_, operand)) = conflicts.next_if(|(at, _)| *at == index) {
            let copy = copy_operand(program, &mut op, operand);
            program.ops.push(copy);
        }
        program.ops.push(op);
    }
}

fn copy_operand(program: &mut VirtProgram, op: &mut Operation, operand: Operand) -> Operation {
    let only_acc = Places { a: false, b: false, acc: true, r4: false };
    let temp = program.regs.push(RegInfo { fixed: None, places: only_acc });
    for other in op.src.iter_mut().filter(|other| **other == operand) {
        *other = Src::Reg(temp).into();
    }
    if operand.unpack == Unpack::Nop {
        Operation::mov(Dst::Reg(temp), operand)
    } else {
        Operation::new(Unit::Add(AddOp::Fmax), Dst::Reg(temp), &[operand, operand])
    }
}

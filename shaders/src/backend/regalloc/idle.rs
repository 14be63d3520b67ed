//! Copies whose operand is where they go already. They take no instruction, but in other places they would not be idle.

use vc4::qpu::{Cond, Pack, Unpack};

use super::conflicts::Assignment;
use crate::backend::virt::{Dst, Loc, Operation, Src, Unit, VirtProgram};

/// Idle copies that were left out of a program.
pub struct Idle {
    /// Each, and the operation that made what it copies, as an index into what is left; `None` before all. In order of these.
    copies: Vec<(Option<usize>, Operation)>,
}

impl Idle {
    /// Leaves the plain copies between equal places out of a program, and those from r4 to where it already is.
    pub fn leave_out(program: &mut VirtProgram, assignment: &Assignment) -> Idle {
        let mut copies = Vec::new();
        // What wrote each place last, or divided the program since.
        let mut makers: [Option<usize>; Loc::COUNT] = [None; Loc::COUNT];
        let mut left = 0;
        program.ops.retain(|op| {
            if let Some(place) = idle_in(op, assignment) {
                // The place holds what is copied in every element, whatever the condition.
                copies.push((makers[place.index()], Operation { cond: Cond::Always, ..*op }));
                return false;
            }
            if op.is_marker() {
                makers.fill(Some(left));
            }
            if let Some(place) = op.writes().and_then(|reg| assignment[reg]) {
                makers[place.index()] = Some(left);
            }
            if op.r4_latency().is_some() {
                makers[Loc::R4.index()] = Some(left);
            }
            left += 1;
            true
        });
        copies.sort_by_key(|&(maker, _)| maker);
        Idle { copies }
    }

    /// The operations of `program`, which the copies were left out of, in another order that keeps what is where; the copies are
    /// among them again.
    pub fn put_back(&self, program: &VirtProgram, order: &[usize]) -> Vec<Operation> {
        let behind = |maker: Option<usize>| {
            let first = self.copies.partition_point(|&(other, _)| other < maker);
            self.copies[first..].iter().take_while(move |&&(other, _)| other == maker).map(|&(_, copy)| copy)
        };
        let mut ops = Vec::with_capacity(order.len() + self.copies.len());
        ops.extend(behind(None));
        for &op in order {
            ops.push(program.ops[op]);
            ops.extend(behind(Some(op)));
        }
        ops
    }
}

/// The place that an operation copies to itself.
fn idle_in(op: &Operation, assignment: &Assignment) -> Option<Loc> {
    let plain = op.unit == Unit::Move && !op.sets_flags && op.pack == Pack::Nop;
    let (Dst::Reg(to), [operand]) = (op.dst, &op.src[..]) else { return None };
    if !plain || operand.unpack != Unpack::Nop {
        return None;
    }
    let from = match operand.src {
        Src::Reg(from) => assignment[from],
        Src::R4 => Some(Loc::R4),
        _ => None,
    };
    from.filter(|_| from == assignment[to])
}

#[cfg(test)]
mod tests {
    use vc4::qpu::{AddOp, Raddr, Signal, Waddr};

    use super::*;
    use crate::backend::virt::{Operand, Reg};

    fn to_vpm(reg: Reg) -> Operation {
        Operation::mov(Dst::Port(Waddr::VPM, None), Src::Reg(reg))
    }

    #[test]
    fn idle_copies_come_back_behind_what_made_their_operand() {
        let mut program = VirtProgram::default();
        let [row, copy, other, sum, result, of_r4] = [(); 6].map(|()| program.reg());
        let vpm = Src::Port(Raddr::VPM, None);
        let add = |of: Reg, by: Reg| {
            let operands: [Operand; 2] = [Src::Reg(of).into(), Src::Reg(by).into()];
            Operation::new(Unit::Add(AddOp::Fadd), Dst::Reg(sum), &operands)
        };
        let conditional = Operation { cond: Cond::Zs, ..Operation::mov(Dst::Reg(copy), Src::Reg(row)) };
        let moved = Operation::mov(Dst::Reg(result), Src::Reg(sum));
        let [read, read_other] = [row, other].map(|reg| Operation::mov(Dst::Reg(reg), vpm));
        let load = Operation::signal(Signal::LoadTmu0);
        let from_r4 = Operation::mov(Dst::Reg(of_r4), Src::R4);
        program.ops.extend([read, load, read_other, conditional, from_r4]);
        program.ops.extend([add(copy, other), moved, to_vpm(result), to_vpm(of_r4)]);
        let mut assignment: Assignment = program.per_register();
        for (reg, loc) in [row, copy, other, sum, result, of_r4].into_iter().zip([
            Loc::A(0),
            Loc::A(0),
            Loc::B(0),
            Loc::Acc(1),
            Loc::A(1),
            Loc::R4,
        ]) {
            assignment[reg] = Some(loc);
        }
        let whole = program.ops.clone();
        let idle = Idle::leave_out(&mut program, &assignment);
        assert_eq!(
            program.ops,
            [&whole[..3], &whole[5..]].concat(),
            "a copy between two places is none of them"
        );
        // The load comes last of what makes anything, and what is copied is what every element holds.
        let order = [0, 2, 3, 4, 5, 1, 6];
        let always = Operation { cond: Cond::Always, ..conditional };
        let back = idle.put_back(&program, &order);
        let expected =
            [read, always, read_other, add(copy, other), moved, to_vpm(result), load, from_r4, to_vpm(of_r4)];
        assert_eq!(back, expected);
    }

    #[test]
    fn what_was_made_in_front_of_a_branch_is_copied_behind_it() {
        let mut program = VirtProgram::default();
        let [row, copy] = [(); 2].map(|()| program.reg());
        let marker = Operation::new(Unit::EndIf, Dst::None, &[]);
        let read = Operation::mov(Dst::Reg(row), Src::Port(Raddr::VPM, None));
        let idle_copy = Operation::mov(Dst::Reg(copy), Src::Reg(row));
        let whole = vec![read, marker, idle_copy, to_vpm(copy)];
        program.ops.clone_from(&whole);
        let mut assignment: Assignment = program.per_register();
        (assignment[row], assignment[copy]) = (Some(Loc::B(3)), Some(Loc::B(3)));
        let idle = Idle::leave_out(&mut program, &assignment);
        assert_eq!(program.ops.len(), 3);
        assert_eq!(idle.put_back(&program, &[0, 1, 2]), whole);
    }
}

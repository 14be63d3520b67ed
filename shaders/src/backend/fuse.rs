//! Copies that selection could not avoid: FIFO reads taken by their only consumer, results sent straight to the
//! peripheral that they were computed for.
//!
//! FIFO order and the order of peripheral writes are not visible while values are selected one by one; here the whole
//! list of operations is.

use vc4::qpu::{Cond, Pack, Raddr, Unpack, Waddr};

use super::dag::same_channel;
use super::virt::{Dst, Operation, Reg, Src, Unit, VirtProgram};

/// Removes such copies.
pub fn fuse(program: &mut VirtProgram) {
    fuse_reads(program);
    fuse_writes(program);
}

/// Positions of the reads and the writes of a register.
fn accesses(ops: &[Operation], reg: Reg) -> (Vec<usize>, Vec<usize>) {
    let at = |test: &dyn Fn(&Operation) -> bool| (0..ops.len()).filter(|&i| test(&ops[i])).collect();
    (at(&|op| op.reads().any(|read| read == reg)), at(&|op| op.writes() == Some(reg)))
}

/// A row that one operation uses is read by that operation, at the place that the row has in the FIFO's order.
fn fuse_reads(program: &mut VirtProgram) {
    let ops = &mut program.ops;
    let mut index = 0;
    while index < ops.len() {
        if let Some(consumer) = row_consumer(ops, index) {
            let reg = ops[index].writes().expect("a row goes to a register");
            let mut op = ops.remove(consumer);
            for operand in op.src.iter_mut().filter(|operand| operand.src == Src::Reg(reg)) {
                operand.src = Src::Port(Raddr::VPM, None);
            }
            ops[index] = op;
        }
        index += 1;
    }
}

fn row_consumer(ops: &[Operation], index: usize) -> Option<usize> {
    let copy = &ops[index];
    if copy.unit != Unit::Move || !copy.reads_port(Raddr::VPM) {
        return None;
    }
    let reg = copy.writes()?;
    let (reads, writes) = accesses(ops, reg);
    let [consumer] = reads[..] else { return None };
    let op = &ops[consumer];
    let plain =
        op.cond == Cond::Always && !op.sets_flags && op.pack == Pack::Nop && op.rotate == 0 && !op.ordered;
    // What else it reads must be there already.
    let available = op.src.iter().all(|operand| {
        operand.unpack == Unpack::Nop
            && (operand.src == Src::Reg(reg) || matches!(operand.src, Src::Imm(_) | Src::Uniform(_)))
    });
    let (other_reads, other_writes) = accesses(ops, op.writes()?);
    let first = other_reads.iter().chain(&other_writes).min() == Some(&consumer);
    (writes == [index] && plain && available && first).then_some(consumer)
}

/// A result whose only use is a peripheral goes there at once, if nothing else reaches the peripheral in between.
fn fuse_writes(program: &mut VirtProgram) {
    let ops = &mut program.ops;
    let mut index = 0;
    while index < ops.len() {
        match result_producer(ops, index) {
            Some(producer) => {
                let copy = ops.remove(index);
                let op = &mut ops[producer];
                (op.dst, op.parameter, op.sample) = (copy.dst, copy.parameter, copy.sample);
            }
            None => index += 1,
        }
    }
}

fn result_producer(ops: &[Operation], index: usize) -> Option<usize> {
    let copy = &ops[index];
    let (Dst::Port(waddr, _), Unit::Move, [operand]) = (copy.dst, copy.unit, &copy.src[..]) else {
        return None;
    };
    let Src::Reg(reg) = operand.src else { return None };
    // The SFU's place is bound to r4, which is more than a channel.
    let plain = copy.cond == Cond::Always && !copy.sets_flags && copy.pack == Pack::Nop && !waddr.is_sfu();
    let (reads, writes) = accesses(ops, reg);
    let ([_], [producer]) = (&reads[..], &writes[..]) else { return None };
    let op = &ops[*producer];
    let computes = op.cond == Cond::Always
        && op.pack == Pack::Nop
        && !matches!(op.unit, Unit::LoadImm(_) | Unit::Signal)
        && !(copy.parameter.is_some() && op.uniform().is_some())
        && !(waddr == Waddr::VPM && op.reads_port(Raddr::VPM));
    let undisturbed = ops[producer + 1..index].iter().all(|between| !same_channel(between, copy));
    (plain && computes && operand.unpack == Unpack::Nop && undisturbed).then_some(*producer)
}

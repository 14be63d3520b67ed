//! Copies that selection could not avoid: FIFO reads taken by their only consumer, results sent straight to the
//! peripheral that they were computed for.
//!
//! FIFO order and the order of peripheral writes are not visible while values are selected one by one; here the whole
//! list of operations is.

use cranelift_entity::SecondaryMap;
use vc4::qpu::{Cond, Pack, Raddr, Unpack, Waddr};

use super::bits::bits;
use super::dag::{Request, channels, requests};
use super::virt::{Dst, Operation, Reg, Src, Threads, Unit, VirtProgram};

/// Removes such copies from a program that will have so many threads at the most.
pub fn fuse(program: &mut VirtProgram, threads: Threads) {
    fuse_reads(program);
    fuse_writes(program, threads);
}

/// Where a register is accessed.
#[derive(Clone, Copy, Default)]
struct Uses {
    /// Operations that read it, and the last of them.
    readers: u32,
    reader: usize,
    /// Operations that write it, and the last of them.
    writers: u32,
    writer: usize,
    /// The first of all.
    first: Option<usize>,
}

fn uses(program: &VirtProgram) -> SecondaryMap<Reg, Uses> {
    let mut uses: SecondaryMap<Reg, Uses> = program.per_register();
    for (index, op) in program.ops.iter().enumerate() {
        for reg in op.reads() {
            let of = &mut uses[reg];
            if of.readers == 0 || of.reader != index {
                (of.readers, of.reader) = (of.readers + 1, index);
            }
            of.first.get_or_insert(index);
        }
        if let Some(reg) = op.writes() {
            let of = &mut uses[reg];
            (of.writers, of.writer) = (of.writers + 1, index);
            of.first.get_or_insert(index);
        }
    }
    uses
}

/// Keeps the operations whose bit is not set.
fn remove(ops: &mut Vec<Operation>, gone: &[bool]) {
    let mut index = 0;
    ops.retain(|_| {
        index += 1;
        !gone[index - 1]
    });
}

/// A row that one operation uses is read by that operation, at the place that the row has in the FIFO's order.
fn fuse_reads(program: &mut VirtProgram) {
    if !program.ops.iter().any(|op| op.reads_port(Raddr::VPM)) {
        return;
    }
    let mut uses = uses(program);
    let ops = &mut program.ops;
    let mut gone = vec![false; ops.len()];
    let straight = ops.iter().position(Operation::is_marker).unwrap_or(ops.len());
    for index in 0..ops.len() {
        let Some(consumer) = row_consumer(ops, &uses, index) else { continue };
        let result = uses[ops[consumer].writes().expect("a consumer of rows has a result")];
        // Out of a loop comes only what every iteration computes alike.
        if consumer > straight && result.writers > 1 {
            continue;
        }
        let reg = ops[index].writes().expect("a row goes to a register");
        let mut op = ops[consumer];
        for operand in op.src.iter_mut().filter(|operand| operand.src == Src::Reg(reg)) {
            operand.src = Src::Port(Raddr::VPM, None);
        }
        let result = &mut uses[op.writes().expect("a consumer of rows has a result")];
        result.first = Some(index);
        if result.writer == consumer {
            result.writer = index;
        }
        ops[index] = op;
        gone[consumer] = true;
    }
    remove(ops, &gone);
}

fn row_consumer(ops: &[Operation], uses: &SecondaryMap<Reg, Uses>, index: usize) -> Option<usize> {
    let copy = &ops[index];
    if copy.unit != Unit::Move || !copy.reads_port(Raddr::VPM) {
        return None;
    }
    let reg = copy.writes()?;
    let Uses { readers: 1, reader: consumer, writers: 1, .. } = uses[reg] else { return None };
    let op = &ops[consumer];
    let plain =
        op.cond == Cond::Always && !op.sets_flags && op.pack == Pack::Nop && op.rotate == 0 && !op.ordered;
    // What else it reads must be there already.
    let available = op.src.iter().all(|operand| {
        operand.unpack == Unpack::Nop
            && (operand.src == Src::Reg(reg) || matches!(operand.src, Src::Imm(_) | Src::Uniform(_)))
    });
    let first = uses[op.writes()?].first == Some(consumer);
    (plain && available && first).then_some(consumer)
}

/// A result whose only use is a peripheral goes there at once, if nothing else reaches the peripheral in between.
fn fuse_writes(program: &mut VirtProgram, threads: Threads) {
    let uses = uses(program);
    let ops = &mut program.ops;
    let queues = Queues { requests: requests(ops), threads };
    let mut gone = vec![false; ops.len()];
    // Where each peripheral was accessed last, by the bit of its channel.
    let mut accessed: [Option<usize>; u32::BITS as usize] = [None; u32::BITS as usize];
    let mut marker = 0;
    for index in 0..ops.len() {
        let channels = channels(&ops[index]);
        let last = bits(channels).filter_map(|channel| accessed[usize::from(channel)]).max();
        let producer = result_producer(ops, &uses, index).filter(|&producer| {
            last.is_none_or(|last| last <= producer) && marker <= producer && queues.allow(index, producer)
        });
        if let Some(producer) = producer {
            let copy = ops[index];
            let op = &mut ops[producer];
            (op.dst, op.parameter, op.sample) = (copy.dst, copy.parameter, copy.sample);
            gone[index] = true;
        }
        let at = producer.unwrap_or(index);
        bits(channels).for_each(|channel| accessed[usize::from(channel)] = Some(at));
        if ops[index].is_marker() {
            marker = index;
        }
    }
    remove(ops, &gone);
}

/// The TMU queues while requests move up.
struct Queues {
    requests: Vec<Request>,
    threads: Threads,
}

impl Queues {
    /// Whether the request that operation `index` is a parameter of may begin at `at`: with the requests in front of
    /// it that have no result by then, it must fit the queues.
    fn allow(&self, index: usize, at: usize) -> bool {
        let this = self.requests.partition_point(|request| request.send < index);
        let Some(request) = self.requests.get(this).filter(|request| request.first <= index) else {
            return true;
        };
        let (most_slots, most_results) = self.threads.tmu_queues();
        let mut slots = request.slots;
        // Results come in order, so what precedes a request with a result has its own.
        let earlier = self.requests[..this].iter().rev().filter(|earlier| earlier.tmu == request.tmu);
        let waiting = earlier.take_while(|earlier| earlier.load.is_none_or(|load| load > at));
        for (results, earlier) in (2..).zip(waiting) {
            slots += earlier.slots;
            if slots > most_slots || results > most_results {
                return false;
            }
        }
        true
    }
}

fn result_producer(ops: &[Operation], uses: &SecondaryMap<Reg, Uses>, index: usize) -> Option<usize> {
    let copy = &ops[index];
    let (Dst::Port(waddr, _), Unit::Move, [operand]) = (copy.dst, copy.unit, &copy.src[..]) else {
        return None;
    };
    let Src::Reg(reg) = operand.src else { return None };
    // The SFU's place is bound to r4, which is more than a channel.
    let plain = copy.cond == Cond::Always && !copy.sets_flags && copy.pack == Pack::Nop && !waddr.is_sfu();
    let Uses { readers: 1, writers: 1, writer: producer, .. } = uses[reg] else { return None };
    let op = &ops[producer];
    let computes = op.cond == Cond::Always
        && op.pack == Pack::Nop
        && !matches!(op.unit, Unit::LoadImm(_) | Unit::Signal)
        && !(copy.parameter.is_some() && op.uniform().is_some())
        && !(waddr == Waddr::VPM && op.reads_port(Raddr::VPM));
    (plain && computes && operand.unpack == Unpack::Nop && producer < index).then_some(producer)
}

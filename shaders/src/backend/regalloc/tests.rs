//! Random straight programs with many values alive: they get places, or the error that says how many were alive.

use cranelift_entity::EntityRef;
use proptest::prelude::*;
use rustc_hash::FxHashMap;
use vc4::qpu::{AddOp, MulOp, Pack, Raddr, Unpack};

use super::allocate::allocate;
use super::{least_places, moving};
use crate::backend::error::BackendError;
use crate::backend::virt::{Dst, Loc, Operand, Operation, Places, Reg, Src, Threads, Unit, VirtProgram};

/// An operation of a random program: which of the living values it reads, which one its result replaces, and how.
type Step = (usize, usize, usize, u8);

/// A program that keeps `alive` values alive throughout, whose operations read two of them. Values are read as often in
/// any combination as no shader would; a few are bound to a file.
fn program(alive: usize, steps: &[Step]) -> VirtProgram {
    let mut program = VirtProgram::default();
    let mut values: Vec<Reg> = Vec::new();
    for _ in 0..alive {
        let reg = program.reg();
        program.ops.push(Operation::mov(Dst::Reg(reg), Src::Port(Raddr::VPM, None)));
        values.push(reg);
    }
    for &(a, b, to, kind) in steps {
        let (a, b) = (values[a % alive], values[b % alive]);
        let reg = program.reg();
        let unit = if kind & 1 == 0 { Unit::Add(AddOp::Fadd) } else { Unit::Mul(MulOp::Fmul) };
        // Texels: bytes of what file A holds.
        let read = |program: &mut VirtProgram, reg: Reg, unpack: Unpack| {
            if unpack != Unpack::Nop {
                program.regs[reg].places = Places { a: true, b: false, acc: false, r4: false };
            }
            Operand { src: Src::Reg(reg), unpack }
        };
        let part = [Unpack::Byte0, Unpack::Byte1, Unpack::Byte2, Unpack::Byte3][usize::from(kind) % 4];
        let (a, b) = match kind >> 1 {
            2 | 3 => (read(&mut program, a, part), read(&mut program, b, Unpack::Nop)),
            4 if a != b => (read(&mut program, a, part), read(&mut program, b, part)),
            _ => (Src::Reg(a).into(), Src::Reg(b).into()),
        };
        let mut op = Operation::new(unit, Dst::Reg(reg), &[a, b]);
        match kind >> 1 {
            // A packed result lives in file A.
            0 if unit == Unit::Add(AddOp::Fadd) => {
                op.pack = Pack::Sat;
                program.regs[reg].places = Places { a: true, b: false, acc: false, r4: false };
            }
            // What a rotation reads is not in file B.
            1 => program.regs[reg].places.b = false,
            _ => {}
        }
        program.ops.push(op);
        values[to % alive] = reg;
    }
    for reg in values {
        program.ops.push(Operation::mov(Dst::Port(vc4::qpu::Waddr::VPM, None), Src::Reg(reg)));
    }
    program
}

/// What the VPM is given, as terms over what was read of it: run by names, and by places where `assignment` has them.
fn outcome(program: &VirtProgram, place: impl Fn(Reg) -> usize) -> Vec<u64> {
    let (mut held, mut written, mut reads) = (FxHashMap::default(), Vec::new(), 0_u64);
    for op in &program.ops {
        let mut term = match op.unit {
            Unit::Move => 1,
            Unit::Add(_) => 2,
            _ => 3,
        };
        for operand in op.src.iter() {
            let value = match operand.src {
                Src::Reg(reg) => held.get(&place(reg)).copied().unwrap_or_default(),
                _ => {
                    reads += 1;
                    reads
                }
            };
            let value =
                if operand.unpack == Unpack::Nop { value } else { mix(value, operand.unpack as u64 + 1) };
            // The larger one of a value and itself is how an unpacked one is copied.
            let copies = matches!(op.unit, Unit::Move | Unit::Add(AddOp::Fmax));
            term = if copies { value } else { mix(term, value) };
        }
        match op.dst {
            Dst::Reg(reg) => drop(held.insert(place(reg), term)),
            _ => written.push(term),
        }
    }
    written
}

/// A number that two different pairs hardly share.
fn mix(a: u64, b: u64) -> u64 {
    (a.rotate_left(17) ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// Operations whose two operands lie in different registers of one file.
fn clashes(program: &VirtProgram, place: impl Fn(Reg) -> Loc) -> usize {
    let clash = |op: &&Operation| {
        let places: Vec<Loc> = op.reads().map(&place).collect();
        match places[..] {
            [Loc::A(m), Loc::A(n)] | [Loc::B(m), Loc::B(n)] => m != n,
            _ => false,
        }
    };
    program.ops.iter().filter(clash).count()
}

fn check(alive: usize, steps: &[Step], threads: Threads) {
    let wanted = program(alive, steps);
    let mut done = wanted.clone();
    match allocate(&mut done, threads) {
        Ok((assignment, idle)) => {
            let place = |reg: Reg| assignment[reg].expect("every register that is used has a place");
            assert_eq!(clashes(&done, place), 0);
            let expected = outcome(&wanted, EntityRef::index);
            assert_eq!(expected, outcome(&done, |reg| place(reg).index()));
            // With the copies that were left out it is the program that was placed, wherever its registers are.
            let order: Vec<usize> = (0..done.ops.len()).collect();
            let whole = done.with_ops(idle.put_back(&done, &order));
            assert_eq!(expected, outcome(&whole, EntityRef::index));
        }
        Err(BackendError::RegisterPressure { live, .. }) => {
            let all = 2 * usize::from(threads.file_registers());
            // A third of the results may be wanted in file A.
            assert!(live > all / 2, "{live} values of {all} places are called too many");
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn an_error_names_the_tightest_point() {
    let few: Vec<Step> = (0..200).map(|n| (n, n + 1, n, 8)).collect();
    for alive in [69, 80, 200] {
        let mut program = program(alive, &few);
        match allocate(&mut program, Threads::One) {
            // What is read while the last one comes is alive, too.
            Err(BackendError::RegisterPressure { live, .. }) => {
                assert!((alive..=alive + 1).contains(&live), "{live} of {alive}")
            }
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("{alive} values have places"),
        }
    }
}

#[test]
fn what_is_alive_where_pieces_meet_takes_places_in_any_order() {
    let mut program = VirtProgram::default();
    let values: Vec<Reg> = (0..7).map(|_| program.reg()).collect();
    let (kept, short) = values.split_at(5);
    let begin = |reg: Reg| Operation::mov(Dst::Reg(reg), Src::Port(Raddr::VPM, None));
    let give = |reg: Reg| Operation::mov(Dst::Port(vc4::qpu::Waddr::VPM, None), Src::Reg(reg));
    program.ops.extend(values.iter().copied().map(begin));
    program.ops.extend(short.iter().copied().map(give));
    assert_eq!(least_places(&program), 0, "nothing says that all of them are alive at once");
    let branch = vc4::qpu::BranchCond::AnyZs;
    program.ops.extend([Unit::If(branch), Unit::EndIf].map(|unit| Operation::new(unit, Dst::None, &[])));
    program.ops.extend(kept.iter().copied().map(give));
    assert_eq!(least_places(&program), 5);
    program.regs[kept[0]].places.r4 = true;
    assert_eq!(least_places(&program), 4, "two values may be the same in r4");
    program.ops.insert(0, Operation::new(Unit::LoopStart, Dst::None, &[]));
    program.ops.push(Operation::mov(Dst::Reg(kept[1]), Src::Reg(kept[2])));
    program.ops.push(Operation::new(Unit::LoopEnd(branch), Dst::None, &[]));
    assert_eq!(least_places(&program), 3, "what a loop carries may share the register of what comes next");
}

/// What comes out of the allocator whose values move does what went in; whether anything comes out.
fn moves(wanted: &VirtProgram) -> bool {
    let Some((done, assignment)) = moving::allocate(wanted) else { return false };
    let place = |reg: Reg| assignment[reg].expect("every register that is used has a place");
    assert_eq!(clashes(&done, place), 0);
    assert_eq!(outcome(wanted, EntityRef::index), outcome(&done, |reg| place(reg).index()));
    true
}

/// A program that keeps `alive` values from its start to its end, and computes others now and then, which take every accumulator
/// for a while.
fn crowded(alive: usize) -> VirtProgram {
    let mut program = VirtProgram::default();
    let values: Vec<Reg> = (0..alive).map(|_| program.reg()).collect();
    let vpm = Src::Port(Raddr::VPM, None);
    program.ops.extend(values.iter().map(|&reg| Operation::mov(Dst::Reg(reg), vpm)));
    let give = |reg: Reg| Operation::mov(Dst::Port(vc4::qpu::Waddr::VPM, None), Src::Reg(reg));
    for n in 0..12 {
        let (sum, product) = (program.reg(), program.reg());
        let read = |regs: [Reg; 2]| regs.map(|reg| Operand::from(Src::Reg(reg)));
        let (of, by) = ([values[n], values[n + 20]], values[n + 40]);
        program.ops.push(Operation::new(Unit::Add(AddOp::Fadd), Dst::Reg(sum), &read(of)));
        program.ops.push(Operation::new(Unit::Mul(MulOp::Fmul), Dst::Reg(product), &read([sum, by])));
        program.ops.push(give(product));
    }
    program.ops.extend(values.into_iter().map(give));
    program
}

#[test]
fn values_move_where_the_files_are_full() {
    for alive in [65, 66] {
        let program = crowded(alive);
        let refused = allocate(&mut program.clone(), Threads::One);
        assert!(matches!(refused, Err(BackendError::RegisterPressure { .. })), "{alive} values have places");
        assert!(moves(&program), "{alive} values find no places");
    }
    assert!(!moves(&crowded(69)), "there are places for 68");
}

#[test]
fn what_the_kernel_follows_stays_where_it_is() {
    for (alive, place) in (60..67).flat_map(|alive| (0..=alive).map(move |place| (alive, place))) {
        let mut program = crowded(alive);
        let (word, clamped) = (program.reg(), program.reg());
        let operands = [Src::Reg(word), Src::Imm(vc4::qpu::SmallImm::new(0))].map(Operand::from);
        let mut clamp = Operation::new(Unit::Add(AddOp::Max), Dst::Reg(clamped), &operands);
        clamp.ordered = true;
        let begin = Operation::mov(Dst::Reg(word), Src::Port(Raddr::VPM, None));
        program.ops.splice(place..place, [begin, clamp]);
        // Bytes of each value are wanted at once, so that another one has to make room in file A.
        for at in (place + 2..alive + 2).rev() {
            let src = Src::Reg(program.ops[at].writes().expect("values begin here"));
            let part = Operand { src, unpack: Unpack::Byte0 };
            program.ops.insert(at + 1, Operation::mov(Dst::Port(vc4::qpu::Waddr::VPM, None), part));
        }
        program.ops.push(Operation::mov(Dst::Port(vc4::qpu::Waddr::VPM, None), Src::Reg(clamped)));
        let Some((done, _)) = moving::allocate(&program) else { continue };
        let clamp = done.ops.iter().find(|op| op.ordered).and_then(Operation::writes);
        let last = done.ops.last().and_then(|op| op.reads().next());
        assert!(clamp.is_some() && clamp == last, "it is moved from {clamp:?} to {last:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn operands_always_find_files(
        alive in 4_usize..60,
        steps in prop::collection::vec((0_usize..64, 0_usize..64, 0_usize..64, 2_u8..10), 1..1500),
    ) {
        check(alive, &steps, Threads::One);
        check(alive / 2 + 2, &steps, Threads::Two);
    }

    #[test]
    fn operands_find_files_where_some_values_are_bound_to_one(
        alive in 4_usize..40,
        steps in prop::collection::vec((0_usize..64, 0_usize..64, 0_usize..64, 0_u8..24), 1..1500),
    ) {
        check(alive, &steps, Threads::One);
    }

    #[test]
    fn values_that_move_are_the_same(
        alive in 4_usize..70,
        steps in prop::collection::vec((0_usize..64, 0_usize..64, 0_usize..64, 0_u8..24), 1..1500),
    ) {
        moves(&program(alive, &steps));
    }
}

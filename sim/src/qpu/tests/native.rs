//! Machine code against the interpreter: random programs, element by element.

use super::*;
use crate::qpu::native::{Floats, Native};
use crate::qpu::report;

/// A small generator of numbers (SplitMix64), so that a failure is told by its seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// A word as programs meet them: numbers near one, small integers, bytes, the ends of the float range, anything.
    fn word(&mut self) -> u32 {
        const SPECIAL: &[u32] = &[
            0,
            0x8000_0000,
            1,
            0x8000_0001,
            0x007f_ffff,
            0x0080_0000,
            0x7f7f_ffff,
            0xff7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0xffff_ffff,
            0x3f80_0000,
            0xbf80_0000,
            0x7f00_0000,
            0x4f00_0000,
            0xcf00_0000,
        ];
        let word = self.next() as u32;
        match self.below(8) {
            0 => self.of(SPECIAL),
            1 => word & 0xff,
            2 => (word as i32 >> 24) as u32,
            3 => word,
            // Exponents around 1.
            _ => word & 0x80ff_ffff | (0x38 + (word >> 24 & 15)) << 24,
        }
    }
}

fn register(random: &mut Random, file_a: bool, rare: usize) -> Raddr {
    match random.below(rare) {
        0 => Raddr::UNIFORM,
        1 => Raddr::VARYING,
        2 => Raddr::ELEM_QPU,
        3 => random.of(&[Raddr::PIXEL_XY, Raddr::MS_REV_FLAGS]),
        4 => Raddr::VPM,
        _ => Raddr::new(if file_a { random.below(32) } else { random.below(20) } as u8),
    }
}

fn destination(random: &mut Random) -> Waddr {
    match random.below(24) {
        0 => random.of(&[Waddr::SFU_RECIP, Waddr::SFU_RSQRT, Waddr::SFU_EXP2, Waddr::SFU_LOG2]),
        1 => random.of(&[Waddr::TLB_COLOR_ALL, Waddr::TLB_COLOR_MS, Waddr::TLB_Z, Waddr::VPM]),
        2 => random.of(&[Waddr::R5, Waddr::MS_REV_FLAGS, Waddr::NOP]),
        3 if random.one_in(3) => {
            random.of(&[Waddr::TMU0_T, Waddr::TMU0_S, Waddr::TMU1_S, Waddr::TLB_STENCIL_SETUP])
        }
        4..12 => random.of(&[Waddr::R0, Waddr::R1, Waddr::R2, Waddr::R3]),
        _ => Waddr::reg(random.below(32) as u8),
    }
}

fn instruction(random: &mut Random) -> Inst {
    if random.one_in(12) {
        return Inst::LoadImm(LoadImmInst {
            mode: random.of(&[LoadMode::Word, LoadMode::PerElementSigned, LoadMode::PerElementUnsigned]),
            pm: random.one_in(8),
            pack: if random.one_in(4) { random.of(Pack::ALL) } else { Pack::Nop },
            cond_add: random.of(Cond::ALL),
            cond_mul: random.of(Cond::ALL),
            sf: random.one_in(4),
            ws: random.one_in(2),
            waddr_add: destination(random),
            waddr_mul: destination(random),
            imm: random.word(),
        });
    }
    let mux = |random: &mut Random| Mux::from_code(random.below(8) as u8).unwrap();
    let cond = |random: &mut Random| if random.one_in(3) { random.of(Cond::ALL) } else { Cond::Always };
    let immediate = random.one_in(5);
    let signal = match random.below(16) {
        0 => Signal::LoadTmu0,
        1 => Signal::ColorLoad,
        2 => Signal::LoadTmu1,
        _ => Signal::None,
    };
    Inst::Alu(AluInst {
        sig: if immediate { Signal::SmallImm } else { signal },
        unpack: if random.one_in(4) { random.of(Unpack::ALL) } else { Unpack::Nop },
        pm: random.one_in(3),
        pack: if random.one_in(4) { random.of(Pack::ALL) } else { Pack::Nop },
        cond_add: cond(random),
        cond_mul: cond(random),
        sf: random.one_in(4),
        ws: random.one_in(2),
        waddr_add: destination(random),
        waddr_mul: destination(random),
        op_mul: random.of(MulOp::ALL),
        op_add: random.of(AddOp::ALL),
        raddr_a: register(random, true, 24),
        raddr_b: if immediate {
            RaddrB::Imm(SmallImm::new(random.below(64) as u8))
        } else {
            RaddrB::Reg(register(random, false, 24))
        },
        add_a: mux(random),
        add_b: mux(random),
        mul_a: mux(random),
        mul_b: mux(random),
    })
}

/// Instructions, sometimes with jumps and thread switches, and then all registers and flags shown.
fn program(random: &mut Random) -> Vec<Inst> {
    let mut code = Vec::new();
    for n in 0..16u8 {
        code.push(read(Waddr::reg(n), Raddr::UNIFORM).inst());
        let [a, b] = [Waddr::R0, Waddr::R1].map(|to| random.one_in(2).then_some(to));
        code.extend(a.or(b).map(|to| read(to, Raddr::UNIFORM).inst()));
    }
    // Elements that differ.
    code.push(read(Waddr::R2, ELEMENT).inst());
    code.push(add(Waddr::reg(16), AddOp::Itof, acc(2), acc(2)).inst());
    code.push(AluInst { raddr_a: Raddr::new(16), ..mul(Waddr::R3, MulOp::Fmul, Mux::A, acc(0)) }.inst());
    let branches = random.one_in(3);
    for _ in 0..random.below(24) + 1 {
        code.push(instruction(random));
        if branches && random.one_in(6) {
            let away = random.below(10) as i32 - if random.one_in(4) { 8 } else { 0 };
            code.push(branch(random.of(BranchCond::ALL), away * 8));
            code.extend([(); 3].map(|()| instruction(random)));
        }
        if branches && random.one_in(8) {
            code.push(AluInst { sig: Signal::ThreadSwitch, ..NOP }.inst());
            code.extend([(); 2].map(|()| instruction(random)));
        }
    }
    shown(code)
}

/// Requests and loads in any order, with some that fail, on one or two threads.
fn lookups(random: &mut Random) -> Vec<Inst> {
    let mut code = vec![read(Waddr::R2, ELEMENT).inst()];
    code.extend([Waddr::R0, Waddr::R1, Waddr::reg(0)].map(|to| read(to, Raddr::UNIFORM).inst()));
    let threaded = random.one_in(3);
    // Often one unit alone, so that its FIFO comes around or fills up.
    let (units, most) = (random.below(2) + 1, random.of(&[2, 4, 4, 13]));
    let mut waiting = [0u32; 2];
    for _ in 0..random.below(80) + 8 {
        let unit = random.below(units);
        let s = [Waddr::TMU0_S, Waddr::TMU1_S][unit];
        match random.below(8) {
            // An address inside of memory, most often: bits are ignored, and elements' differ.
            0..=2 if waiting[unit] < most || random.one_in(40) => {
                code.push(load(Waddr::R3, 0xbfff));
                code.push(add(Waddr::R0, AddOp::And, acc(0), acc(3)).inst());
                if random.one_in(16) {
                    code.push(load(Waddr::R0, random.of(&[MEMORY_BYTES - 1, MEMORY_BYTES])));
                }
                let cond = if random.one_in(4) { random.of(Cond::ALL) } else { Cond::Always };
                code.push(AluInst { cond_add: cond, ..add(s, AddOp::Or, acc(0), acc(0)) }.inst());
                waiting[unit] += 1;
            }
            3 if random.one_in(24) => code.push(add(Waddr::TMU0_T, AddOp::Or, acc(0), acc(0)).inst()),
            4 | 5 if waiting[unit] > 0 || random.one_in(40) => {
                let sig = [Signal::LoadTmu0, Signal::LoadTmu1][unit];
                code.push(AluInst { sig, ..NOP }.inst());
                code.push(show(acc(4)).inst());
                code.push(add(Waddr::R0, AddOp::Add, acc(0), acc(4)).inst());
                waiting[unit] = waiting[unit].saturating_sub(1);
            }
            6 if threaded => {
                code.push(AluInst { sig: Signal::ThreadSwitch, ..NOP }.inst());
                code.extend([NOP.inst(); 2]);
                code.extend([Waddr::R0, Waddr::R1].map(|to| read(to, Raddr::UNIFORM).inst()));
            }
            _ => {
                let by = random.of(&[AddOp::Add, AddOp::Xor, AddOp::Sub]);
                code.push(add(Waddr::R0, by, acc(0), acc(random.below(3) as u8)).inst());
            }
        }
    }
    shown(code)
}

/// Sums, products and extremes of registers with uniforms and varyings, few of which are infinite or too large.
fn sums(random: &mut Random) -> Vec<Inst> {
    let mut code = Vec::new();
    for to in [Waddr::R0, Waddr::R1, Waddr::R2, Waddr::R3] {
        code.push(add(to, AddOp::Itof, Mux::A, Mux::A));
        code.last_mut().unwrap().raddr_a = ELEMENT;
    }
    for _ in 0..random.below(12) + 2 {
        let raddr_a = random.of(&[Raddr::UNIFORM, Raddr::UNIFORM, Raddr::VARYING, Raddr::new(15)]);
        code.push(sum(random, raddr_a));
    }
    shown(code.into_iter().map(IntoInst::inst).collect())
}

/// A sum or an extreme, and a product.
fn sum(random: &mut Random, raddr_a: Raddr) -> AluInst {
    let mut operand = || random.of(&[acc(0), acc(1), acc(2), acc(3), acc(5), Mux::A, Mux::A]);
    let [add_a, add_b, mul_a, mul_b] = std::array::from_fn(|_| operand());
    let op_add = random.of(&[AddOp::Fadd, AddOp::Fadd, AddOp::Fsub, AddOp::Fmin, AddOp::Fmax]);
    let [waddr_add, waddr_mul] = random.of(&[
        [Waddr::R0, Waddr::R1],
        [Waddr::R1, Waddr::R2],
        [Waddr::R2, Waddr::R3],
        [Waddr::R3, Waddr::R0],
    ]);
    let units = AluInst { op_add, add_a, add_b, mul_a, mul_b, op_mul: MulOp::Fmul, ..NOP };
    AluInst { raddr_a, waddr_add, waddr_mul, cond_add: Cond::Always, cond_mul: Cond::Always, ..units }
}

/// More instructions than a function has, and jumps over hundreds of them.
fn long(random: &mut Random) -> Vec<Inst> {
    const LENGTH: usize = 3000;
    let mut code = vec![read(Waddr::R2, ELEMENT).inst()];
    for to in [Waddr::R0, Waddr::R1, Waddr::R3] {
        code.push(add(to, AddOp::Itof, acc(2), acc(2)).inst());
    }
    while code.len() < LENGTH {
        for _ in 0..random.below(60) + 4 {
            let raddr_a = random.of(&[Raddr::UNIFORM, Raddr::new(15)]);
            code.push(AluInst { sf: random.one_in(3), ..sum(random, raddr_a) }.inst());
        }
        let left = LENGTH.saturating_sub(code.len());
        let away = match random.one_in(6) {
            true => -(random.below(code.len().min(900)) as i32),
            false => random.below(left.min(900) + 1) as i32,
        };
        code.push(branch(random.of(BranchCond::ALL), away * 8));
        code.extend([NOP.inst(); 3]);
    }
    shown(code)
}

/// The special functions of words that differ by element, most often close to each other.
fn functions(random: &mut Random) -> Vec<Inst> {
    let mut code = vec![read(Waddr::R2, ELEMENT).inst()];
    for _ in 0..random.below(24) + 8 {
        code.extend([Waddr::R0, Waddr::R3].map(|to| read(to, Raddr::UNIFORM).inst()));
        code.push(mul(Waddr::R3, MulOp::Mul24, acc(2), acc(3)).inst());
        let combine = random.of(&[AddOp::Add, AddOp::Xor, AddOp::Or]);
        code.push(add(Waddr::R0, combine, acc(0), acc(3)).inst());
        let function = random.of(&[Waddr::SFU_RECIP, Waddr::SFU_RSQRT, Waddr::SFU_EXP2, Waddr::SFU_LOG2]);
        let cond = if random.one_in(8) { random.of(Cond::ALL) } else { Cond::Always };
        code.push(AluInst { cond_add: cond, ..add(function, AddOp::Or, acc(0), acc(0)) }.inst());
        code.extend([NOP.inst(), NOP.inst(), show(acc(4)).inst()]);
    }
    shown(code)
}

/// A program that shows all registers and flags in the end.
fn shown(mut code: Vec<Inst>) -> Vec<Inst> {
    for cond in [Cond::Zs, Cond::Ns, Cond::Cs] {
        code.push(AluInst { cond_add: cond, ..read(Waddr::reg(31), ELEMENT) }.inst());
    }
    for n in 0..6 {
        code.push(show(acc(n)).inst());
    }
    for n in 0..32 {
        code.push(AluInst { raddr_a: Raddr::new(n), ..show(Mux::A) }.inst());
        code.push(AluInst { raddr_b: RaddrB::Reg(Raddr::new(n)), ..show(Mux::B) }.inst());
    }
    finished(code)
}

/// What a run is seen to do.
#[derive(Debug, PartialEq)]
struct Seen {
    result: Result<(), Fault>,
    place: String,
    colors: Vec<(LaneMask, Lanes, bool)>,
    z: Vec<(LaneMask, Lanes)>,
    ms: Lanes,
    varyings: u32,
    stencil: Vec<u32>,
    vpm: (Vec<Lanes>, Vec<(char, u32)>),
    counts: (u64, u64),
    /// Results that nobody loaded, and what was said of requests.
    waiting: [(Vec<Lanes>, Option<Note>); 2],
}

/// Varyings made of the uniforms' words.
fn varyings(memory: &Memory) -> (Vec<Lanes>, Vec<Coefficients>) {
    let word = |n: usize| memory.read(UNIFORMS + 4 * (n as u32 % 256)).unwrap();
    let partial = (0..12).map(|n: usize| std::array::from_fn(|lane| word(16 * n + lane)));
    let constant = |n: usize| Coefficients { c: f32::from_bits(word(11 * n + 5)), ..Coefficients::default() };
    (partial.collect(), (0..12).map(constant).collect())
}

fn seen(program: &Program, memory: &Memory, native: Option<&Native>, limit: u64) -> Seen {
    let mut mock = Mock { vpm_in: vec![[7; 16]; 3], there: varyings(memory), ..Mock::default() };
    let mut qpu = Qpu::new();
    let cleared = native.map_or(&program.reads, |native| &native.cleared);
    // What earlier instances left must not be seen.
    for s in 0..=crate::qpu::op::slot::R5 {
        qpu.regs[usize::from(s)].0 = [if cleared.contains(&s) { 0 } else { 0x5eed_0000 | u32::from(s) }; 16];
    }
    qpu.regs[15].0 = [15; 16];
    qpu.regs[47].0 = [0xb15; 16];
    qpu.uniforms = UNIFORMS;
    for tmu in &mut qpu.tmus {
        tmu.reset(program.threaded, false);
    }
    let mut instance =
        crate::qpu::exec::Instance { q: &mut qpu, memory, ports: &mut mock, lookups: 0, executed: 0, limit };
    let result = match native {
        Some(native) => native.call(&mut instance, program, None),
        None => instance.run_loop(program, 0, &mut ()),
    };
    let counts = (instance.executed, instance.lookups);
    let place = if result.is_err() { report::stopped(program, &qpu) } else { String::new() };
    let waiting =
        qpu.tmus.each_mut().map(|tmu| (std::iter::from_fn(|| tmu.load()).collect(), tmu.take_note()));
    Seen {
        result,
        place,
        colors: mock.colors,
        z: mock.z,
        ms: mock.ms,
        varyings: mock.varyings,
        stencil: mock.stencil,
        vpm: (mock.vpm_out, mock.setups),
        counts,
        waiting,
    }
}

const MEMORY_BYTES: u32 = 1 << 16;

/// Runs programs of these seeds, made so, both ways, on all cores; returns how many were compiled and how many of those ran to
/// their ends.
fn compare(seeds: std::ops::Range<u64>, make: fn(&mut Random) -> Vec<Inst>) -> (u32, u32) {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let share = (seeds.end - seeds.start).div_ceil(cores);
    let shares = (0..cores).map(|core| {
        let start = (seeds.start + core * share).min(seeds.end);
        start..(start + share).min(seeds.end)
    });
    std::thread::scope(|scope| {
        let running: Vec<_> = shares.map(|seeds| scope.spawn(move || compare_each(seeds, make))).collect();
        let counts = running.into_iter().map(|thread| match thread.join() {
            Ok(counts) => counts,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        counts.fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1))
    })
}

fn compare_each(seeds: std::ops::Range<u64>, make: fn(&mut Random) -> Vec<Inst>) -> (u32, u32) {
    let memory = Memory::new(MEMORY_BYTES);
    let (mut compiled, mut ended) = (0, 0);
    for seed in seeds {
        let mut random = Random(seed.wrapping_mul(0x5851_f42d_4c95_7f2d));
        for word in 0..256 {
            memory.write(UNIFORMS + 4 * word, random.word()).unwrap();
        }
        let code = make(&mut random);
        let Ok(program) = Program::from_insts(code, PROGRAM) else { continue };
        let floats = if random.one_in(2) { Floats::All } else { Floats::Finite };
        let Some(native) = Native::new(&program.ops, PROGRAM, floats) else { continue };
        compiled += 1;
        let limit = if random.one_in(4) { random.below(200) as u64 } else { 2000 };
        let (expected, got) =
            (seen(&program, &memory, None, limit), seen(&program, &memory, Some(&native), limit));
        ended += u32::from(expected.result.is_ok());
        if expected != got {
            let listing: Vec<String> =
                program.insts().iter().enumerate().map(|(i, inst)| format!("{i:4}: {inst}")).collect();
            let first = expected.colors.iter().zip(&got.colors).position(|(expected, got)| expected != got);
            let colors =
                first.map(|i| format!("colour {i}: {:x?}\n{:x?}", expected.colors[i], got.colors[i]));
            let [expected, got] = [expected, got].map(|seen| Seen { colors: Vec::new(), ..seen });
            panic!("seed {seed}\n{}\n{expected:x?}\n{got:x?}\n{colors:?}", listing.join("\n"));
        }
    }
    (compiled, ended)
}

#[test]
fn machine_code_does_what_the_interpreter_does() {
    let (compiled, ended) = compare(0..3000, program);
    // A rotation by r5 after r5 was computed, a program without end right behind a thread switch, and a lookup that fails
    // where r5 is written and shows a varying; one that fails beside a special function of r4; the larger one of a
    // product that is zero and of a special function's minus zero.
    for seed in [4_295_043_567, 4_295_093_380, 8_590_249_023, 4_294_970_177, 4_295_108_582] {
        compare(seed..seed + 1, program);
    }
    assert!(compiled > 1000, "{compiled} programs were compiled");
    assert!(ended > 500, "{ended} programs ran to their ends");
}

#[test]
fn machine_code_looks_up_what_the_interpreter_does() {
    let (compiled, ended) = compare(0..3000, lookups);
    assert!(compiled > 2500, "{compiled} programs were compiled");
    assert!(ended > 500, "{ended} programs ran to their ends");
}

#[test]
fn machine_code_computes_with_floats_as_the_interpreter_does() {
    let (compiled, ended) = compare(0..2000, sums);
    assert_eq!((compiled, ended > 1500), (2000, true), "{ended} programs ran to their ends");
}

#[test]
fn machine_code_of_long_programs_is_that_of_their_parts() {
    let (compiled, ended) = compare(0..40, long);
    assert_eq!((compiled, ended > 10), (40, true), "{ended} programs ran to their ends");
}

#[test]
fn machine_code_has_the_special_functions_of_the_interpreter() {
    let (compiled, ended) = compare(0..500, functions);
    assert_eq!((compiled, ended > 300), (500, true), "{ended} programs ran to their ends");
}

/// A million programs: `cargo test --release -p vc4-sim million -- --ignored`.
#[test]
#[ignore = "takes an hour"]
fn machine_code_does_what_the_interpreter_does_a_million_times() {
    let (compiled, _) = compare(1 << 32..(1 << 32) + 2_000_000, program);
    assert!(compiled > 1_000_000, "{compiled} programs were compiled");
}

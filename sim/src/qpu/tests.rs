//! Hand-assembled programs against the manual's statements (qpu.md).

use vc4::qpu::{
    AddOp, AluInst, BranchCond, BranchInst, Cond, Inst, LoadImmInst, LoadMode, MulOp, Mux, Pack, Raddr,
    RaddrB, SemaphoreInst, Signal, SmallImm, Unpack, Waddr,
};

use super::*;
use crate::memory::Memory;

/// Records what a program does and answers with recognisable values.
#[derive(Default)]
struct Mock {
    varyings: u32,
    colors: Vec<(LaneMask, Lanes, bool)>,
    z: Vec<(LaneMask, Lanes)>,
    ms: Lanes,
    stencil: Vec<u32>,
    vpm_in: Vec<Lanes>,
    vpm_out: Vec<Lanes>,
    setups: Vec<(char, u32)>,
}

impl Ports for Mock {
    fn varying(&mut self) -> Result<(Lanes, Lanes), Fault> {
        self.varyings += 1;
        Ok(([100 * self.varyings; 16], [100 * self.varyings + 1; 16]))
    }
    fn vpm_read_setup(&mut self, word: u32) -> Result<(), Fault> {
        self.setups.push(('r', word));
        Ok(())
    }
    fn vpm_write_setup(&mut self, word: u32) -> Result<(), Fault> {
        self.setups.push(('w', word));
        Ok(())
    }
    fn vpm_read(&mut self) -> Result<Lanes, Fault> {
        Ok(self.vpm_in.remove(0))
    }
    fn vpm_write(&mut self, value: &Lanes) -> Result<(), Fault> {
        self.vpm_out.push(*value);
        Ok(())
    }
    fn tlb_color_read(&mut self) -> Result<Lanes, Fault> {
        Ok([0x0403_0201; 16])
    }
    fn tlb_color_write(&mut self, mask: LaneMask, value: &Lanes, all: bool) -> Result<(), Fault> {
        self.colors.push((mask, *value, all));
        Ok(())
    }
    fn tlb_z(&mut self, mask: LaneMask, z: &Lanes) -> Result<(), Fault> {
        self.z.push((mask, *z));
        Ok(())
    }
    fn tlb_stencil(&mut self, word: u32) -> Result<(), Fault> {
        self.stencil.push(word);
        Ok(())
    }
    fn ms_flags(&self) -> Lanes {
        [0xf; 16]
    }
    fn set_ms_flags(&mut self, mask: LaneMask, value: &Lanes) {
        for i in 0..16 {
            if mask >> i & 1 != 0 {
                self.ms[i] = value[i];
            }
        }
    }
    fn rev_flag(&self) -> Lanes {
        [1; 16]
    }
    fn pixel_xy(&self) -> (Lanes, Lanes) {
        ([11; 16], [22; 16])
    }
}

const NOP: AluInst = AluInst::NOP;
const ELEMENT: Raddr = Raddr::ELEM_QPU;

fn acc(n: u8) -> Mux {
    Mux::from_code(n).unwrap()
}

/// `to = op(a, b)` on the add unit.
fn add(to: Waddr, op_add: AddOp, add_a: Mux, add_b: Mux) -> AluInst {
    AluInst { op_add, add_a, add_b, waddr_add: to, cond_add: Cond::Always, ..NOP }
}

/// `to = op(a, b)` on the mul unit.
fn mul(to: Waddr, op_mul: MulOp, mul_a: Mux, mul_b: Mux) -> AluInst {
    AluInst { op_mul, mul_a, mul_b, waddr_mul: to, cond_mul: Cond::Always, ..NOP }
}

fn mov(to: Waddr, from: Mux) -> AluInst {
    add(to, AddOp::Or, from, from)
}

/// `to = raddr_a`.
fn read(to: Waddr, raddr_a: Raddr) -> AluInst {
    AluInst { raddr_a, ..mov(to, Mux::A) }
}

/// `to = small immediate`.
fn small(to: Waddr, code: u8) -> AluInst {
    AluInst { raddr_b: RaddrB::Imm(SmallImm::new(code)), ..mov(to, Mux::B) }
}

fn load(to: Waddr, imm: u32) -> Inst {
    Inst::LoadImm(LoadImmInst {
        mode: LoadMode::Word,
        pm: false,
        pack: Pack::Nop,
        cond_add: Cond::Always,
        cond_mul: Cond::Never,
        sf: false,
        ws: false,
        waddr_add: to,
        waddr_mul: Waddr::NOP,
        imm,
    })
}

fn branch(cond: BranchCond, offset: i32) -> Inst {
    Inst::Branch(BranchInst {
        cond,
        rel: true,
        reg: None,
        unused_raddr_a: 0,
        ws: false,
        waddr_add: Waddr::NOP,
        waddr_mul: Waddr::NOP,
        offset,
    })
}

/// Shows a register: writes it as a tile colour.
fn show(from: Mux) -> AluInst {
    mov(Waddr::TLB_COLOR_ALL, from)
}

struct Outcome {
    result: Result<(), Fault>,
    mock: Mock,
    stats: Stats,
}

impl Outcome {
    #[track_caller]
    fn shown(&self) -> Vec<Lanes> {
        assert_eq!(self.result, Ok(()));
        self.mock.colors.iter().map(|color| color.1).collect()
    }
}

trait IntoInst: Copy {
    fn inst(self) -> Inst;
}
impl IntoInst for AluInst {
    fn inst(self) -> Inst {
        Inst::Alu(self)
    }
}
impl IntoInst for Inst {
    fn inst(self) -> Inst {
        self
    }
}

/// Any mixture of instruction types as a list.
macro_rules! code {
    ($($inst:expr),* $(,)?) => { vec![$(IntoInst::inst($inst)),*] };
}

const PROGRAM: u32 = 0x3000;
const UNIFORMS: u32 = 0x2000;

fn finished(mut code: Vec<Inst>) -> Vec<Inst> {
    code.push(AluInst { sig: Signal::End, ..NOP }.inst());
    code.extend([Inst::NOP; 2]);
    code
}

fn run_with(code: Vec<Inst>, uniforms: &[u32], mut mock: Mock) -> Outcome {
    let memory = Memory::new(1 << 16);
    memory.allocate(0xf000).unwrap();
    for (i, &word) in uniforms.iter().enumerate() {
        memory.write(UNIFORMS + 4 * i as u32, word).unwrap();
    }
    for (i, inst) in finished(code).iter().enumerate() {
        let word = inst.encode();
        memory.write(PROGRAM + 8 * i as u32, word as u32).unwrap();
        memory.write(PROGRAM + 8 * i as u32 + 4, (word >> 32) as u32).unwrap();
    }
    let mut stats = Stats { check: true, ..Stats::default() };
    let payload = Payload { ra15: [15; 16], rb15: [0xb15; 16] };
    let result = Program::decode(&memory, PROGRAM)
        .and_then(|program| run(&program, &memory, UNIFORMS, &mut mock, &payload, &mut stats));
    Outcome { result, mock, stats }
}

fn run_code(code: Vec<Inst>) -> Outcome {
    run_with(code, &[], Mock::default())
}

fn lanes(f: impl Fn(usize) -> u32) -> Lanes {
    std::array::from_fn(f)
}

#[test]
fn both_units_read_old_values() {
    // Swap r0 and r1 in one instruction.
    let swap = AluInst {
        op_mul: MulOp::V8min,
        mul_a: acc(0),
        mul_b: acc(0),
        waddr_mul: Waddr::R1,
        cond_mul: Cond::Always,
        ..mov(Waddr::R0, acc(1))
    };
    let out = run_code(code![small(Waddr::R0, 3), small(Waddr::R1, 5), swap, show(acc(0)), show(acc(1))]);
    assert_eq!(out.shown(), [[5; 16], [3; 16]]);
    assert_eq!(out.stats.findings, []);
}

#[test]
fn flags_of_false_elements_stay() {
    // Z = (element == 0); under zc, N = (element - 8 < 0); element 0 keeps N = 0.
    let even = AluInst { sf: true, ..read(Waddr::NOP, ELEMENT) };
    let below = AluInst {
        raddr_a: ELEMENT,
        raddr_b: RaddrB::Imm(SmallImm::new(8)),
        sf: true,
        cond_add: Cond::Zc,
        ..add(Waddr::R1, AddOp::Sub, Mux::A, Mux::B)
    };
    let one = AluInst { cond_add: Cond::Ns, ..small(Waddr::R0, 1) };
    let out = run_code(code![small(Waddr::R0, 0), even, below, one, show(acc(0)), show(acc(1))]);
    let expected = lanes(|i| u32::from((1..8).contains(&i)));
    assert_eq!(out.shown()[0], expected);
    assert_eq!(out.shown()[1], lanes(|i| if i == 0 { 0 } else { (i as u32).wrapping_sub(8) }));
}

#[test]
fn every_condition_selects_its_elements() {
    // N for 0-3, Z for 4, C (unsigned borrow) for 0-3.
    let compare = AluInst {
        raddr_a: ELEMENT,
        raddr_b: RaddrB::Imm(SmallImm::new(4)),
        sf: true,
        ..add(Waddr::NOP, AddOp::Sub, Mux::A, Mux::B)
    };
    let masks: [(Cond, u16); 7] = [
        (Cond::Always, 0xffff),
        (Cond::Zs, 0x0010),
        (Cond::Zc, 0xffef),
        (Cond::Ns, 0x000f),
        (Cond::Nc, 0xfff0),
        (Cond::Cs, 0x000f),
        (Cond::Cc, 0xfff0),
    ];
    for (cond, mask) in masks {
        let write = AluInst { cond_add: cond, ..small(Waddr::R0, 1) };
        let tile = AluInst { cond_add: cond, ..show(acc(0)) };
        let out = run_code(code![small(Waddr::R0, 0), compare, write, show(acc(0)), tile]);
        assert_eq!(out.shown()[0], lanes(|i| u32::from(mask >> i & 1)), "{cond:?}");
        assert_eq!(out.mock.colors[1].0, mask, "{cond:?}");
    }
}

#[test]
fn flags_come_from_the_add_unit_unless_it_is_idle() {
    let set = AluInst {
        op_mul: MulOp::V8min,
        mul_a: acc(1),
        mul_b: acc(1),
        waddr_mul: Waddr::R3,
        cond_mul: Cond::Always,
        sf: true,
        ..mov(Waddr::R2, acc(0))
    };
    let mul_only = AluInst { sf: true, ..mul(Waddr::NOP, MulOp::V8min, acc(1), acc(1)) };
    let keep = AluInst { cond_add: Cond::Zs, ..small(Waddr::R2, 9) };
    let start = code![small(Waddr::R0, 0), small(Waddr::R1, 1)];
    let run_after =
        |inst: AluInst| run_code([start.clone(), code![inst, keep, show(acc(2))]].concat()).shown();
    assert_eq!(run_after(set), [[9; 16]]);
    assert_eq!(run_after(mul_only), [[0; 16]]);
}

#[test]
fn write_swap_selects_the_files() {
    let both = AluInst {
        op_mul: MulOp::V8min,
        mul_a: acc(1),
        mul_b: acc(1),
        waddr_mul: Waddr::reg(7),
        cond_mul: Cond::Always,
        ..mov(Waddr::reg(7), acc(0))
    };
    for (ws, expected) in [(false, [[3; 16], [5; 16]]), (true, [[5; 16], [3; 16]])] {
        let from_b = AluInst { raddr_b: RaddrB::Reg(Raddr::new(7)), ..show(Mux::B) };
        let from_a = AluInst { raddr_a: Raddr::new(7), ..show(Mux::A) };
        let out = run_code(code![
            small(Waddr::R0, 3),
            small(Waddr::R1, 5),
            AluInst { ws, ..both },
            NOP,
            from_a,
            from_b
        ]);
        assert_eq!(out.shown(), expected);
    }
}

#[test]
fn unpack_on_file_a_follows_the_consumer() {
    // Byte 1 is 0x80, the high half is 1.0 as float16.
    let setup = code![load(Waddr::reg(3), 0x3c00_8001), NOP];
    let from = |unpack, inst: AluInst| AluInst { raddr_a: Raddr::new(3), unpack, ..inst };
    let integer = from(Unpack::Byte1, mov(Waddr::R0, Mux::A));
    let float = from(Unpack::Byte1, add(Waddr::R1, AddOp::Fmax, Mux::A, Mux::A));
    let half = from(Unpack::Half1, add(Waddr::R2, AddOp::Fmax, Mux::A, Mux::A));
    let sign = from(Unpack::Half0, mov(Waddr::R3, Mux::A));
    let tail = code![integer, float, half, sign, show(acc(0)), show(acc(1)), show(acc(2)), show(acc(3))];
    let out = run_code([setup.clone(), tail].concat());
    assert_eq!(out.shown().map_first(), [0x80, 0x3f00_8080, 0x3f80_0000, 0xffff_8001]);
    // One float consumer makes both units see floats.
    let mixed = AluInst {
        op_mul: MulOp::Fmul,
        mul_a: Mux::A,
        mul_b: Mux::A,
        waddr_mul: Waddr::R1,
        cond_mul: Cond::Always,
        ..integer
    };
    let out = run_code([setup, code![mixed, show(acc(0))]].concat());
    assert_eq!(out.shown().map_first(), [0x3f00_8080]);
}

trait MapFirst {
    fn map_first(&self) -> Vec<u32>;
}
impl MapFirst for Vec<Lanes> {
    /// Element 0 of each, after checking that all elements are equal.
    #[track_caller]
    fn map_first(&self) -> Vec<u32> {
        self.iter()
            .map(|l| {
                assert_eq!(*l, [l[0]; 16]);
                l[0]
            })
            .collect()
    }
}

#[test]
fn pm_moves_unpack_to_r4_and_pack_to_mul() {
    // The tile colour 0x04030201 arrives in r4; byte 2 is 3, as a float 3/255, packed back to 3.
    let load_color = AluInst { sig: Signal::ColorLoad, ..NOP };
    let pack = AluInst {
        pm: true,
        unpack: Unpack::Byte2,
        pack: Pack::Byte1,
        ..mul(Waddr::R0, MulOp::V8min, acc(4), acc(4))
    };
    let plain = AluInst { pm: true, unpack: Unpack::Byte2, ..mov(Waddr::R1, acc(4)) };
    let out = run_code(code![
        load(Waddr::R0, 0xaabb_ccdd),
        NOP,
        load_color,
        pack,
        plain,
        show(acc(0)),
        show(acc(1)),
        show(acc(4))
    ]);
    assert_eq!(out.shown().map_first(), [0xaabb_03dd, 0x3c40_c0c0, 0x0403_0201]);
}

#[test]
fn pack_on_file_a_keeps_the_rest_and_saturates() {
    let half = AluInst { pack: Pack::Half1, ..small(Waddr::reg(2), 32) };
    let float_half = AluInst {
        pack: Pack::Half0,
        raddr_b: RaddrB::Imm(SmallImm::new(32)),
        ..add(Waddr::reg(2), AddOp::Fmax, Mux::B, Mux::B)
    };
    let from = |n| AluInst { raddr_a: Raddr::new(n), ..show(Mux::A) };
    let sum = AluInst { pack: Pack::Sat, ..add(Waddr::reg(3), AddOp::Add, acc(0), acc(0)) };
    let out = run_code(code![
        load(Waddr::reg(2), 0x1111_2222),
        half,
        float_half,
        load(Waddr::R0, 0x7fff_0000),
        sum,
        from(2),
        from(3)
    ]);
    // The small immediate 1.0 has a zero low half.
    assert_eq!(out.shown().map_first(), [0x0000_3c00, 0x7fff_ffff]);
    // With ws the mul result goes through file A's pack, and the add result does not.
    let swapped = AluInst {
        ws: true,
        pack: Pack::Byte3,
        op_mul: MulOp::V8min,
        mul_a: acc(1),
        mul_b: acc(1),
        waddr_mul: Waddr::reg(2),
        cond_mul: Cond::Always,
        ..mov(Waddr::reg(2), acc(0))
    };
    let from_b = AluInst { raddr_b: RaddrB::Reg(Raddr::new(2)), ..show(Mux::B) };
    let out =
        run_code(code![load(Waddr::R0, 0x1234_5678), small(Waddr::R1, 7), swapped, NOP, from(2), from_b]);
    assert_eq!(out.shown().map_first(), [0x0700_0000, 0x1234_5678]);
}

#[test]
fn rotates_move_elements_up() {
    let turn = |imm, from: Mux| AluInst {
        raddr_a: ELEMENT,
        raddr_b: RaddrB::Imm(imm),
        ..mul(Waddr::R1, MulOp::V8min, from, from)
    };
    let by = |imm, from| {
        let out = run_code(code![
            small(Waddr::R5, 6),
            read(Waddr::R0, ELEMENT),
            NOP,
            turn(imm, from),
            show(acc(1))
        ]);
        out.shown()[0]
    };
    assert_eq!(by(SmallImm::rotate(1), acc(0)), lanes(|i| (i as u32 + 15) % 16));
    assert_eq!(by(SmallImm::rotate(13), acc(0)), lanes(|i| (i as u32 + 3) % 16));
    assert_eq!(by(SmallImm::ROTATE_R5, acc(0)), lanes(|i| (i as u32 + 10) % 16));
    // With an operand from elsewhere the data stays in its quad.
    assert_eq!(by(SmallImm::rotate(5), Mux::A), lanes(|i| (i as u32 & !3) | (i as u32 + 3) % 4));
}

#[test]
fn small_immediates_have_their_values() {
    for code in 0..64u8 {
        let out = run_code(code![
            AluInst { raddr_b: RaddrB::Imm(SmallImm::new(code)), ..mov(Waddr::R0, Mux::B) },
            NOP,
            show(acc(0))
        ]);
        assert_eq!(out.shown().map_first(), [SmallImm::new(code).value()], "{code}");
    }
}

#[test]
fn immediates_per_element() {
    // qpu.md §8.1 examples 15 and 16.
    let per = |mode| {
        let Inst::LoadImm(word) = load(Waddr::R0, 0xff00_f0f0) else { unreachable!() };
        run_code(code![Inst::LoadImm(LoadImmInst { mode, ..word }), NOP, show(acc(0))]).shown()[0]
    };
    let signed: [i32; 16] = [0, 0, 0, 0, 1, 1, 1, 1, -2, -2, -2, -2, -1, -1, -1, -1];
    assert_eq!(per(LoadMode::PerElementSigned), signed.map(|v| v as u32));
    assert_eq!(per(LoadMode::PerElementUnsigned), lanes(|i| i as u32 / 4));
}

#[test]
fn one_uniform_per_instruction() {
    let both = AluInst {
        raddr_a: Raddr::UNIFORM,
        raddr_b: RaddrB::Reg(Raddr::UNIFORM),
        ..add(Waddr::R0, AddOp::Add, Mux::A, Mux::B)
    };
    // Named but not selected still takes a word.
    let named = AluInst { raddr_a: Raddr::UNIFORM, ..NOP };
    let out = run_with(
        code![both, named, read(Waddr::R1, Raddr::UNIFORM), show(acc(0)), show(acc(1))],
        &[7, 8, 9],
        Mock::default(),
    );
    assert_eq!(out.shown().map_first(), [14, 9]);
}

#[test]
fn uniform_address_write_moves_the_stream() {
    let out = run_with(
        code![load(Waddr::UNIF_ADDR, UNIFORMS + 12), NOP, NOP, read(Waddr::R0, Raddr::UNIFORM), show(acc(0))],
        &[1, 2, 3, 4],
        Mock::default(),
    );
    assert_eq!(out.shown().map_first(), [4]);
    assert_eq!(out.stats.findings, []);
    let early = run_with(
        code![load(Waddr::UNIF_ADDR, UNIFORMS), NOP, read(Waddr::R0, Raddr::UNIFORM)],
        &[],
        Mock::default(),
    );
    assert_eq!(early.stats.findings.len(), 1);
    assert_eq!(early.stats.findings[0].1, 2);
}

#[test]
fn varying_delivers_c_to_the_next_instruction() {
    let same = AluInst { raddr_a: Raddr::VARYING, ..add(Waddr::R0, AddOp::Add, Mux::A, acc(5)) };
    let out = run_code(code![small(Waddr::R5, 1), same, mov(Waddr::R1, acc(5)), show(acc(0)), show(acc(1))]);
    assert_eq!(out.shown().map_first(), [101, 101]);
    assert_eq!(out.mock.varyings, 1);
}

#[test]
fn r5_is_per_quad_or_replicated() {
    let quad = AluInst { ws: false, ..read(Waddr::R5, ELEMENT) };
    let all = AluInst { ws: true, ..add(Waddr::R5, AddOp::Add, acc(0), acc(1)) };
    let out =
        run_code(code![read(Waddr::R0, ELEMENT), small(Waddr::R1, 9), quad, show(acc(5)), all, show(acc(5))]);
    assert_eq!(out.shown(), [lanes(|i| i as u32 & !3), [9; 16]]);
}

#[test]
fn payload_and_pixel_reads() {
    let b = |reg| AluInst { raddr_b: RaddrB::Reg(reg), ..show(Mux::B) };
    let a = |raddr_a| AluInst { raddr_a, ..show(Mux::A) };
    let out = run_code(code![
        NOP,
        NOP,
        a(Raddr::new(15)),
        b(Raddr::new(15)),
        a(Raddr::PIXEL_XY),
        b(Raddr::PIXEL_XY),
        a(Raddr::MS_REV_FLAGS),
        b(Raddr::MS_REV_FLAGS),
        b(ELEMENT)
    ]);
    assert_eq!(out.shown().map_first(), [15, 0xb15, 11, 22, 0xf, 1, 0]);
}

#[test]
fn vpm_and_set_up_by_file() {
    let vw = Inst::LoadImm(match load(Waddr::VPM_SETUP, 0x1a00) {
        Inst::LoadImm(word) => LoadImmInst { ws: true, ..word },
        _ => unreachable!(),
    });
    let echo = AluInst { raddr_a: Raddr::VPM, ..mov(Waddr::VPM, Mux::A) };
    let mock = Mock { vpm_in: vec![[1; 16], [2; 16]], ..Mock::default() };
    let out = run_with(code![vw, load(Waddr::VPM_SETUP, 0x0020_1a00), NOP, NOP, echo, echo], &[], mock);
    assert_eq!(out.result, Ok(()));
    assert_eq!(out.mock.setups, [('w', 0x1a00), ('r', 0x0020_1a00)]);
    assert_eq!(out.mock.vpm_out, [[1; 16], [2; 16]]);
}

#[test]
fn tile_writes_carry_their_condition() {
    let odd = AluInst {
        raddr_a: ELEMENT,
        raddr_b: RaddrB::Imm(SmallImm::new(1)),
        sf: true,
        ..add(Waddr::R0, AddOp::And, Mux::A, Mux::B)
    };
    let z = AluInst { raddr_b: RaddrB::Reg(Raddr::new(15)), cond_add: Cond::Zc, ..mov(Waddr::TLB_Z, Mux::B) };
    let flags = AluInst { cond_add: Cond::Zs, ..small(Waddr::MS_REV_FLAGS, 5) };
    let out = run_code(code![odd, NOP, load(Waddr::TLB_STENCIL_SETUP, 0xc000_0000), z, flags]);
    assert_eq!(out.result, Ok(()));
    assert_eq!(out.mock.z, [(0xaaaa, [0xb15; 16])]);
    assert_eq!(out.mock.ms, lanes(|i| if i % 2 == 0 { 5 } else { 0 }));
    assert_eq!(out.mock.stencil, [0xc000_0000]);
}

#[test]
fn sfu_results_arrive_in_r4() {
    let out = run_code(code![
        small(Waddr::R0, 32),
        mov(Waddr::SFU_RECIP, acc(0)),
        NOP,
        NOP,
        show(acc(4)),
        mov(Waddr::SFU_EXP2, acc(0)),
        NOP,
        NOP,
        show(acc(4))
    ]);
    // qpu.md §4.4: recip(1), exp2(1).
    assert_eq!(out.shown().map_first(), [0x3f7f_fc00, 0x4000_0100]);
    assert_eq!(out.stats.findings, []);
}

#[test]
fn branches_run_three_delay_slots() {
    // Count the loop's rounds in r1 and its delay slots in r2.
    let one = SmallImm::new(1);
    let bump = |to, reg| AluInst { raddr_b: RaddrB::Imm(one), ..add(to, AddOp::Add, reg, Mux::B) };
    let down = AluInst { raddr_b: RaddrB::Imm(one), sf: true, ..add(Waddr::R0, AddOp::Sub, acc(0), Mux::B) };
    let out = run_code(code![
        small(Waddr::R0, 4),
        small(Waddr::R1, 0),
        small(Waddr::R2, 0),
        // Loop: 3 to 8.
        down,
        bump(Waddr::R1, acc(1)),
        branch(BranchCond::AnyZc, (3 - 9) * 8),
        bump(Waddr::R2, acc(2)),
        bump(Waddr::R2, acc(2)),
        bump(Waddr::R2, acc(2)),
        show(acc(1)),
        show(acc(2))
    ]);
    assert_eq!(out.shown().map_first(), [4, 12]);
    assert_eq!(out.stats.instructions, 3 + 4 * 6 + 2 + 3);
}

#[test]
fn branch_conditions_look_at_all_elements() {
    // Z in element 0 only, N in none, C (borrow of element - 1) in element 0 only.
    let z = AluInst { sf: true, ..read(Waddr::NOP, ELEMENT) };
    let c = AluInst {
        raddr_a: ELEMENT,
        raddr_b: RaddrB::Imm(SmallImm::new(1)),
        sf: true,
        ..add(Waddr::NOP, AddOp::Sub, Mux::A, Mux::B)
    };
    let taken = |setup: AluInst, cond| {
        let out = run_code(code![
            small(Waddr::R0, 1),
            setup,
            NOP,
            branch(cond, 8),
            NOP,
            NOP,
            NOP,
            small(Waddr::R0, 0),
            NOP,
            show(acc(0))
        ]);
        out.shown().map_first()[0] == 1
    };
    use BranchCond::*;
    for (cond, expected) in [(AllZs, false), (AllZc, false), (AnyZs, true), (AnyZc, true), (Always, true)] {
        assert_eq!(taken(z, cond), expected, "{cond:?}");
    }
    for (cond, expected) in [(AllNs, false), (AllNc, true), (AnyNs, false), (AnyNc, true)] {
        assert_eq!(taken(z, cond), expected, "{cond:?}");
    }
    for (cond, expected) in [(AllCs, false), (AllCc, false), (AnyCs, true), (AnyCc, true)] {
        assert_eq!(taken(c, cond), expected, "{cond:?}");
    }
}

#[test]
fn register_branch_and_link() {
    let jump = Inst::Branch(BranchInst {
        reg: Some(6),
        rel: false,
        waddr_add: Waddr::reg(9),
        cond: BranchCond::Always,
        unused_raddr_a: 0,
        ws: false,
        waddr_mul: Waddr::NOP,
        offset: 8,
    });
    let link = AluInst { raddr_a: Raddr::new(9), ..show(Mux::A) };
    // To instruction 7, over the one that would show 16.
    let target = PROGRAM + 6 * 8;
    let skipped = AluInst { raddr_b: RaddrB::Imm(SmallImm::new(0)), ..show(Mux::B) };
    let out = run_code(code![load(Waddr::reg(6), target), NOP, jump, NOP, NOP, NOP, skipped, link]);
    assert_eq!(out.shown().map_first(), [PROGRAM + 2 * 8 + 32]);
}

#[test]
fn thread_switch_loses_accumulators_after_two_instructions() {
    let switch = AluInst { sig: Signal::LastThreadSwitch, ..NOP };
    let from = AluInst { raddr_a: Raddr::new(1), ..show(Mux::A) };
    let out = run_code(code![
        small(Waddr::R0, 5),
        small(Waddr::reg(1), 6),
        switch,
        NOP,
        show(acc(0)),
        show(acc(0)),
        from
    ]);
    let shown = out.shown().map_first();
    assert_eq!((shown[0], shown[2]), (5, 6));
    assert_ne!(shown[1], 5);
}

#[test]
fn semaphores_count() {
    let semaphore = |imm| {
        Inst::Semaphore(SemaphoreInst {
            pm: false,
            pack: Pack::Nop,
            cond_add: Cond::Never,
            cond_mul: Cond::Never,
            sf: false,
            ws: false,
            waddr_add: Waddr::NOP,
            waddr_mul: Waddr::NOP,
            imm,
        })
    };
    assert_eq!(run_code(code![semaphore(3), semaphore(0x13)]).result, Ok(()));
    let hung = run_code(code![semaphore(3), semaphore(0x14)]);
    assert!(matches!(hung.result, Err(Fault::Unsupported { index: 1, .. })), "{:?}", hung.result);
}

#[test]
fn direct_lookups_take_no_uniform_and_come_back_in_order() {
    let address = |code| AluInst {
        raddr_a: ELEMENT,
        raddr_b: RaddrB::Imm(SmallImm::new(code)),
        ..add(Waddr::R0, AddOp::Shl, Mux::A, Mux::B)
    };
    let request = AluInst { raddr_a: Raddr::UNIFORM, ..add(Waddr::TMU1_S, AddOp::Add, acc(0), Mux::A) };
    let fetch = AluInst { sig: Signal::LoadTmu1, ..NOP };
    let mut stream: Vec<u32> = (0..40).map(|i| 1000 + i).collect();
    (stream[0], stream[1]) = (UNIFORMS + 16, UNIFORMS + 32);
    let out = run_with(
        code![address(2), request, NOP, request, fetch, show(acc(4)), fetch, show(acc(4))],
        &stream,
        Mock::default(),
    );
    assert_eq!(out.shown(), [lanes(|i| 1004 + i as u32), lanes(|i| 1008 + i as u32)]);
    assert_eq!(out.stats.lookups, 2);
    assert_eq!(out.stats.findings, []);
}

#[test]
fn forbidden_and_hanging_programs_are_faults() {
    let unsupported = |code: Vec<Inst>| {
        let out = run_code(code);
        assert!(matches!(out.result, Err(Fault::Unsupported { .. })), "{:?}", out.result);
    };
    for waddr in [
        Waddr::TMU_NOSWAP,
        Waddr::HOST_INT,
        Waddr::TLB_ALPHA_MASK,
        Waddr::VPM_ADDR,
        Waddr::MUTEX_RELEASE,
        Waddr::QUAD_XY,
    ] {
        unsupported(code![small(waddr, 0)]);
    }
    unsupported(code![AluInst { ws: true, ..read(Waddr::UNIF_ADDR, ELEMENT) }]);
    unsupported(code![AluInst { sig: Signal::LoadTmu0, ..NOP }]);
    unsupported(code![AluInst { sig: Signal::Breakpoint, ..NOP }]);
    unsupported(code![NOP, branch(BranchCond::Always, 0x1000), NOP, NOP, NOP]);
    unsupported(code![NOP, branch(BranchCond::Always, 0), branch(BranchCond::Always, 0), NOP, NOP]);
    let endless = run_code(code![NOP, branch(BranchCond::Always, -32), NOP, NOP, NOP]);
    assert_eq!(endless.result, Err(Fault::Endless(INSTRUCTION_LIMIT)));
    let bus = run_with(
        code![load(Waddr::UNIF_ADDR, 0xffff_0000), NOP, NOP, read(Waddr::R0, Raddr::UNIFORM)],
        &[],
        Mock::default(),
    );
    assert!(matches!(bus.result, Err(Fault::Bus(_))));
    let memory = Memory::new(1 << 14);
    assert!(matches!(Program::decode(&memory, 0x10_0000), Err(Fault::Bus(_))));
    memory.write(8, 0x0900_0000).unwrap();
    memory.write(12, 0x1000_0000).unwrap();
    assert!(matches!(Program::decode(&memory, 8), Err(Fault::Decode { index: 0, .. })));
}

#[test]
fn hazards_are_reported_once_with_their_place() {
    let early_read =
        code![small(Waddr::reg(2), 1), AluInst { raddr_a: Raddr::new(2), ..mov(Waddr::R0, Mux::A) }];
    let early_r4 = code![NOP, mov(Waddr::SFU_RECIP, acc(0)), NOP, mov(Waddr::R1, acc(4))];
    let early_turn = code![
        read(Waddr::R0, ELEMENT),
        AluInst { raddr_b: RaddrB::Imm(SmallImm::rotate(2)), ..mul(Waddr::R1, MulOp::V8min, acc(0), acc(0)) }
    ];
    for (code, index) in [(early_read, 1), (early_r4, 3), (early_turn, 1)] {
        let out = run_code(code);
        assert_eq!(out.result, Ok(()));
        assert_eq!(
            out.stats.findings.iter().map(|f| f.1).collect::<Vec<_>>(),
            [index],
            "{:?}",
            out.stats.findings
        );
    }
    let left = run_code(code![NOP, mov(Waddr::TMU0_S, acc(0))]);
    assert_eq!(left.stats.findings.len(), 1);
}

#[test]
fn a_reused_qpu_starts_like_a_new_one() {
    let memory = Memory::new(1 << 14);
    let dirty = finished(code![
        small(Waddr::R0, 7),
        AluInst { sf: true, ..small(Waddr::reg(4), 7) },
        mov(Waddr::TMU0_T, acc(0)),
        NOP
    ]);
    let conditional = AluInst { cond_add: Cond::Zs, ..small(Waddr::R0, 1) };
    let from = AluInst { raddr_a: Raddr::new(4), ..show(Mux::A) };
    let clean = finished(code![conditional, NOP, show(acc(0)), from]);
    let (dirty, clean) = (Program::from_insts(dirty, 0).unwrap(), Program::from_insts(clean, 0).unwrap());
    let (mut qpu, mut stats, payload) = (Qpu::new(), Stats::default(), Payload::default());
    let mut colors = Vec::new();
    for program in [&clean, &dirty, &clean] {
        let mut mock = Mock::default();
        qpu.run(program, &memory, 0, &mut mock, &payload, &mut stats).unwrap();
        colors.push(mock.colors);
    }
    assert_eq!(colors[0], colors[2]);
    assert_eq!(stats.instances, 3);
}

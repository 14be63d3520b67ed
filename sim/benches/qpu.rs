//! Speed of the QPU interpreter and the texture unit: nanoseconds per instruction of a textured, lit
//! fragment program and per lookup. Prints only. `cargo bench -p vc4-sim --bench qpu -- [WORD]`

use std::hint::black_box;
use std::time::Instant;

use vc4::qpu::{
    AddOp, AluInst, Cond, Inst, MulOp, Mux, Pack, Raddr, RaddrB, Signal, SmallImm, Unpack, Waddr,
};
use vc4_sim::memory::Memory;
use vc4_sim::qpu::{Coefficients, Fault, LaneMask, Lanes, Payload, Ports, Program, Qpu, Stats, Varyings};

/// A tile of one colour; every varying is a ramp.
#[derive(Default)]
struct Tile {
    color: Lanes,
    ms: Lanes,
    dx: [f32; 16],
    dy: [f32; 16],
    coefficients: [Coefficients; 8],
    partial: [Lanes; 8],
    next: u32,
}

impl Tile {
    fn new() -> Tile {
        Tile {
            dx: std::array::from_fn(|i| i as f32),
            coefficients: [Coefficients { a: 0.01, b: 0.0, c: 0.25 }; 8],
            ..Tile::default()
        }
    }
}

impl Ports for Tile {
    fn varying(&mut self) -> Result<(Lanes, Lanes), Fault> {
        let varying = self.coefficients[self.next as usize % 8];
        self.next += 1;
        Ok((varying.partial(&self.dx, &self.dy), [varying.c.to_bits(); 16]))
    }
    fn varyings(&mut self) -> Varyings {
        self.partial = self.coefficients.map(|varying| varying.partial(&self.dx, &self.dy));
        let (partial, coefficients) = (self.partial.as_ptr(), self.coefficients.as_ptr());
        Varyings { partial, coefficients, count: 8, next: self.next }
    }
    fn next_varying(&self) -> u32 {
        self.next
    }
    fn set_next_varying(&mut self, next: u32) {
        self.next = next;
    }
    fn vpm_read_setup(&mut self, _: u32) -> Result<(), Fault> {
        Ok(())
    }
    fn vpm_write_setup(&mut self, _: u32) -> Result<(), Fault> {
        Ok(())
    }
    fn vpm_read(&mut self) -> Result<Lanes, Fault> {
        Ok([0; 16])
    }
    fn vpm_write(&mut self, _: &Lanes) -> Result<(), Fault> {
        Ok(())
    }
    fn tlb_color_read(&mut self) -> Result<Lanes, Fault> {
        Ok(self.color)
    }
    fn tlb_color_write(&mut self, _: LaneMask, value: &Lanes, _: bool) -> Result<(), Fault> {
        self.color = *value;
        Ok(())
    }
    fn tlb_z(&mut self, mask: LaneMask, z: &Lanes) -> Result<(), Fault> {
        black_box((mask, z));
        Ok(())
    }
    fn tlb_stencil(&mut self, _: u32) -> Result<(), Fault> {
        Ok(())
    }
    fn ms_flags(&self) -> Lanes {
        self.ms
    }
    fn set_ms_flags(&mut self, _: LaneMask, value: &Lanes) {
        self.ms = *value;
    }
    fn rev_flag(&self) -> Lanes {
        [0; 16]
    }
    fn pixel_xy(&self) -> (Lanes, Lanes) {
        ([0; 16], [0; 16])
    }
}

const MUL: AluInst = AluInst { cond_mul: Cond::Always, ..AluInst::NOP };
const ADD: AluInst = AluInst { cond_add: Cond::Always, ..AluInst::NOP };
const BOTH: AluInst = AluInst { cond_add: Cond::Always, cond_mul: Cond::Always, ..AluInst::NOP };

/// Texture coordinates and three position components from varyings, a normal from their differences, its
/// length through the SFU, a lookup, lighting and packing: what vkcube's fragment shader needs.
fn fragment(texture: bool) -> Vec<Inst> {
    let w = Raddr::new(15);
    let acc = |n| Mux::from_code(n).expect("r0 to r5");
    let mut code = Vec::new();
    let mut push = |i: AluInst| code.push(Inst::Alu(i));
    for n in 0..5u8 {
        let vary = RaddrB::Reg(Raddr::VARYING);
        let (raddr_a, raddr_b, mul_a, mul_b) = (w, vary, Mux::A, Mux::B);
        push(AluInst { raddr_a, raddr_b, op_mul: MulOp::Fmul, mul_a, mul_b, waddr_mul: Waddr::R0, ..MUL });
        push(AluInst { op_add: AddOp::Fadd, add_a: acc(0), add_b: acc(5), waddr_add: Waddr::reg(n), ..ADD });
    }
    let copy = |reg: u8, to: Waddr| AluInst {
        raddr_a: Raddr::new(reg),
        op_add: AddOp::Or,
        add_a: Mux::A,
        add_b: Mux::A,
        waddr_add: to,
        ..ADD
    };
    if texture {
        push(copy(1, Waddr::TMU0_T));
        push(copy(0, Waddr::TMU0_S));
    }
    for n in 2..5u8 {
        push(copy(n, Waddr::R0));
        push(AluInst::NOP);
        for (by, to) in [(15, Waddr::R1), (14, Waddr::R2)] {
            let raddr_b = RaddrB::Imm(SmallImm::rotate(by));
            push(AluInst {
                raddr_b,
                op_mul: MulOp::V8min,
                mul_a: acc(0),
                mul_b: acc(0),
                waddr_mul: to,
                ..MUL
            });
        }
        push(AluInst {
            op_add: AddOp::Fsub,
            add_a: acc(1),
            add_b: acc(0),
            waddr_add: Waddr::reg(n + 4),
            ..ADD
        });
        push(AluInst {
            op_add: AddOp::Fsub,
            add_a: acc(2),
            add_b: acc(0),
            waddr_add: Waddr::reg(n + 8),
            ..ADD
        });
    }
    for n in 6..9u8 {
        let (raddr_a, raddr_b) = (Raddr::new(n), RaddrB::Imm(SmallImm::new(32)));
        let (mul_a, mul_b) = (Mux::A, acc(1));
        push(AluInst { raddr_a, op_mul: MulOp::Fmul, mul_a, mul_b, waddr_mul: Waddr::R2, ..MUL });
        let (add_a, add_b, mul_a, mul_b) = (acc(2), acc(3), Mux::A, Mux::B);
        let (op_add, op_mul, waddr_add, waddr_mul) = (AddOp::Fadd, MulOp::Fmul, Waddr::R3, Waddr::R1);
        let pair = AluInst { op_add, op_mul, add_a, add_b, mul_a, mul_b, waddr_add, waddr_mul, ..BOTH };
        push(AluInst { raddr_a, raddr_b, ..pair });
    }
    push(AluInst { op_add: AddOp::Or, add_a: acc(3), add_b: acc(3), waddr_add: Waddr::SFU_RSQRT, ..ADD });
    push(AluInst::NOP);
    push(AluInst::NOP);
    let (mul_a, mul_b) = (acc(3), acc(4));
    push(AluInst { op_mul: MulOp::Fmul, mul_a, mul_b, waddr_mul: Waddr::R2, ..MUL });
    push(AluInst {
        op_add: AddOp::Fmax,
        add_a: acc(2),
        add_b: acc(1),
        sf: true,
        waddr_add: Waddr::R2,
        ..ADD
    });
    let sig = if texture { Signal::LoadTmu0 } else { Signal::ColorLoad };
    push(AluInst { sig, ..AluInst::NOP });
    for (unpack, pack) in [
        (Unpack::Byte0, Pack::Byte0),
        (Unpack::Byte1, Pack::Byte1),
        (Unpack::Byte2, Pack::Byte2),
        (Unpack::Byte3, Pack::Byte3),
    ] {
        let (mul_a, mul_b, op_mul) = (acc(4), acc(2), MulOp::Fmul);
        push(AluInst { pm: true, unpack, pack, op_mul, mul_a, mul_b, waddr_mul: Waddr::R0, ..MUL });
    }
    let raddr_b = RaddrB::Reg(Raddr::new(15));
    push(AluInst {
        raddr_b,
        op_add: AddOp::Or,
        add_a: Mux::B,
        add_b: Mux::B,
        waddr_add: Waddr::TLB_Z,
        ..ADD
    });
    let (add_a, add_b) = (acc(0), acc(0));
    push(AluInst { op_add: AddOp::Or, add_a, add_b, waddr_add: Waddr::TLB_COLOR_ALL, ..ADD });
    push(AluInst { sig: Signal::End, ..AluInst::NOP });
    push(AluInst::NOP);
    push(AluInst { sig: Signal::UnlockScoreboard, ..AluInst::NOP });
    code
}

fn measure(name: &str, code: Vec<Inst>, filter: u32) {
    // Like test names, words on the command line choose.
    let mut words = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).peekable();
    if words.peek().is_some() && !words.any(|word| name.contains(&word)) {
        return;
    }
    let memory = Memory::new(4 << 20);
    let texture = memory.allocate(256 * 256 * 4).expect("room for a texture");
    let stream = memory.allocate(4096).expect("room for uniforms");
    for i in 0..256 * 256 {
        memory.write(texture + i * 4, i.wrapping_mul(0x9e37_79b9)).expect("inside");
    }
    memory.write(stream, texture).expect("inside");
    memory.write(stream + 4, (256 << 20) | (256 << 8) | filter).expect("inside");
    let program = Program::from_insts(code, 0).expect("a valid program");
    let (mut qpu, mut tile, mut stats) = (Qpu::new(), Tile::new(), Stats::default());
    let payload = Payload { ra15: [1.0f32.to_bits(); 16], rb15: [1000; 16] };
    let mut run = |count: u64| {
        for _ in 0..count {
            tile.next = 0;
            qpu.run(&program, &memory, stream, &mut tile, &payload, &mut stats).expect("runs to its end");
        }
    };
    // The best of many short runs: other programs on the machine only ever add time.
    let batch = 500;
    let per_instance = (0..60)
        .map(|_| {
            let start = Instant::now();
            run(batch);
            start.elapsed().as_nanos() as f64 / batch as f64
        })
        .fold(f64::INFINITY, f64::min);
    let per_instruction = per_instance / program.len() as f64;
    println!(
        "{name:32} {:3} instructions {per_instance:8.1} ns each {per_instruction:6.2} ns/instruction",
        program.len()
    );
}

/// The same instruction many times, to compare operations.
fn repeated(alu: AluInst) -> Vec<Inst> {
    let mut code = vec![Inst::Alu(alu); 100];
    code.push(Inst::Alu(AluInst { sig: Signal::End, ..AluInst::NOP }));
    code.extend([Inst::NOP; 2]);
    code
}

fn main() {
    const NEAREST: u32 = 1 << 7 | 1 << 4;
    measure("lit fragment, no texture", fragment(false), 0);
    measure("lit fragment, nearest", fragment(true), NEAREST);
    measure("lit fragment, linear", fragment(true), 0);
    let r = |n| Mux::from_code(n).expect("an accumulator");
    let add = |op_add| AluInst { op_add, add_a: r(0), add_b: r(1), waddr_add: Waddr::R2, ..ADD };
    let mul = |op_mul| AluInst { op_mul, mul_a: r(0), mul_b: r(1), waddr_mul: Waddr::R3, ..MUL };
    measure("nop", repeated(AluInst::NOP), 0);
    for &op in AddOp::ALL.iter().filter(|&&op| op != AddOp::Nop) {
        measure(op.name(), repeated(add(op)), 0);
    }
    for &op in MulOp::ALL.iter().filter(|&&op| op != MulOp::Nop) {
        measure(&format!("mul {}", op.name()), repeated(mul(op)), 0);
    }
    let flags = |op| AluInst { sf: true, ..add(op) };
    measure("sub.sf", repeated(flags(AddOp::Sub)), 0);
    measure("fmax.sf", repeated(flags(AddOp::Fmax)), 0);
    measure("or.zs", repeated(AluInst { cond_add: Cond::Zs, ..add(AddOp::Or) }), 0);
    let pair =
        AluInst { op_mul: MulOp::Fmul, mul_a: r(0), mul_b: r(1), waddr_mul: Waddr::R3, ..add(AddOp::Fadd) };
    measure("fadd | fmul", repeated(AluInst { cond_mul: Cond::Always, ..pair }), 0);
    let turn = AluInst { raddr_b: RaddrB::Imm(SmallImm::rotate(3)), ..mul(MulOp::V8min) };
    measure("rotate", repeated(turn), 0);
    let byte = AluInst { pm: true, unpack: Unpack::Byte1, mul_a: Mux::R4, ..mul(MulOp::Fmul) };
    measure("fmul r4.8b", repeated(byte), 0);
    measure("pack 8b", repeated(AluInst { pm: true, pack: Pack::Byte1, ..mul(MulOp::Fmul) }), 0);
    let half = AluInst { pack: Pack::Half1, waddr_add: Waddr::reg(3), ..add(AddOp::Fadd) };
    measure("fadd ra.16b", repeated(half), 0);
    measure("sfu", repeated(AluInst { waddr_add: Waddr::SFU_RECIP, ..add(AddOp::Or) }), 0);
}

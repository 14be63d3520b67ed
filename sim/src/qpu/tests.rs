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
    /// Partial sums and constant parts of the first varyings, where machine code finds them.
    there: (Vec<Lanes>, Vec<Coefficients>),
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
        let (partial, coefficients) = &self.there;
        let at = self.varyings as usize;
        self.varyings += 1;
        match (partial.get(at), coefficients.get(at)) {
            (Some(partial), Some(coefficients)) => Ok((*partial, [coefficients.c.to_bits(); 16])),
            _ => Ok(([100 * self.varyings; 16], [100 * self.varyings + 1; 16])),
        }
    }
    fn varyings(&mut self) -> Varyings {
        let (partial, coefficients) = &self.there;
        Varyings {
            partial: partial.as_ptr(),
            coefficients: coefficients.as_ptr(),
            count: partial.len() as u32,
            next: self.varyings,
        }
    }
    fn next_varying(&self) -> u32 {
        self.varyings
    }
    fn set_next_varying(&mut self, next: u32) {
        self.varyings = next;
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
        if self.vpm_in.is_empty() {
            return Err(Fault::Port("VPM read FIFO is empty".into()));
        }
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
        for (i, (old, new)) in self.ms.iter_mut().zip(value).enumerate() {
            if mask >> i & 1 != 0 {
                *old = *new;
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
    Inst::LoadImm(LoadImmInst::word(to, None, imm))
}

fn branch(cond: BranchCond, offset: i32) -> Inst {
    Inst::Branch(BranchInst::relative(cond, offset))
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

mod alu;
mod control;
#[cfg(feature = "jit")]
mod native;
mod peripherals;

//! Operations with registers as instructions, two to an instruction where that goes, in an order that waits little
//! (qpu.md §5.2).

use super::allocate::{Operand, Placed};
use super::lower::{Dst, Src, Work};
use super::registers::{Reg, RegSet};
use crate::qpu::access::Access;
use crate::qpu::isa::RegFile;
use crate::qpu::rules::min_distance_of;
use crate::qpu::{
    AddOp, AluInst, Cond, Inst, LoadImmInst, LoadMode, MulOp, Mux, Pack, Raddr, RaddrB, Signal, Unpack, Waddr,
};
use crate::state::StateUniform;

/// An instruction of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The instruction.
    pub inst: Inst,
    /// What the uniform is that it takes.
    pub uniform: Option<StateUniform>,
}

impl Line {
    /// A no-operation.
    pub const NOP: Line = Line { inst: Inst::NOP, uniform: None };
}

/// Half an instruction on one of the units it can run on.
#[derive(Clone, Copy)]
struct Half {
    line: Line,
    /// Needs this `ws`, if any.
    swap: Option<bool>,
    on_mul: bool,
}

/// The instructions of a patch.
pub fn schedule(placed: &[Placed]) -> Vec<Line> {
    // Moves run on either unit; what they read and write is the same.
    let halves: Vec<[Option<Half>; 2]> = placed.iter().map(|p| [half(p, false), half(p, true)]).collect();
    let first =
        |h: &[Option<Half>; 2]| h[0].or(h[1]).map_or(Access::of(&Inst::NOP), |h| Access::of(&h.line.inst));
    let accesses: Vec<Access> = halves.iter().map(first).collect();
    let graph = Graph::new(&accesses, placed);
    let mut at: Vec<Option<u32>> = vec![None; placed.len()];
    let mut out = Vec::new();
    while at.iter().any(Option::is_none) {
        let now = out.len() as u32;
        let mut ready: Vec<usize> = (0..placed.len()).filter(|&n| graph.ready(n, &at, now)).collect();
        ready.sort_by_key(|&n| (std::cmp::Reverse(graph.urgency[n]), n));
        let Some(&chosen) = ready.first() else {
            out.push(Line::NOP);
            continue;
        };
        at[chosen] = Some(now);
        // What the first one makes ready in the same instruction may join as well.
        let mut partners: Vec<usize> = (0..placed.len()).filter(|&n| graph.ready(n, &at, now)).collect();
        partners.sort_by_key(|&n| (std::cmp::Reverse(graph.urgency[n]), n));
        let joined = partners.iter().find_map(|&n| Some((n, join(&halves[chosen], &halves[n])?)));
        match joined {
            Some((partner, line)) => {
                at[partner] = Some(now);
                out.push(line);
            }
            None => out.extend(halves[chosen].iter().flatten().next().map(|half| half.line)),
        }
    }
    out
}

/// Who waits for whom.
struct Graph {
    /// Per operation: earlier ones and the slots that must lie between.
    before: Vec<Vec<(usize, u32)>>,
    /// Longest way to the end.
    urgency: Vec<u32>,
}

impl Graph {
    fn new(accesses: &[Access], placed: &[Placed]) -> Graph {
        let len = accesses.len();
        let mut before = vec![Vec::new(); len];
        for second in 0..len {
            for first in 0..second {
                let distance = min_distance_of(&accesses[first], &accesses[second]);
                let overwrites = reads(&placed[first]).meets(writes(&placed[second]));
                let partial =
                    keeps_old(&placed[second]) && writes(&placed[first]).meets(writes(&placed[second]));
                if distance > 0 || overwrites || partial {
                    before[second].push((first, distance.max(u32::from(partial))));
                }
            }
        }
        let mut urgency = vec![0; len];
        for second in (0..len).rev() {
            for &(first, distance) in &before[second] {
                urgency[first] = urgency[first].max(urgency[second] + distance.max(1));
            }
        }
        Graph { before, urgency }
    }

    fn ready(&self, n: usize, at: &[Option<u32>], now: u32) -> bool {
        at[n].is_none()
            && self.before[n]
                .iter()
                .all(|&(first, distance)| at[first].is_some_and(|slot| slot + distance <= now))
    }
}

fn reads(placed: &Placed) -> RegSet {
    let mut out = RegSet::EMPTY;
    for operand in placed.src {
        match operand {
            Operand::Reg(reg) => out.add(RegSet::one(reg)),
            Operand::Other(Src::R4) => out.add(RegSet::r4()),
            Operand::Other(_) => {}
        }
    }
    if !matches!(placed.op.cond, Cond::Always | Cond::Never) {
        out.add(RegSet::flags());
    }
    out
}

fn writes(placed: &Placed) -> RegSet {
    let mut out = placed.dst.map_or(RegSet::EMPTY, RegSet::one);
    let sfu = matches!(placed.op.dst, Dst::Port(port) if port.is_sfu());
    if sfu || placed.op.signal == Signal::ColorLoad {
        out.add(RegSet::r4());
    }
    if placed.op.sf {
        out.add(RegSet::flags());
    }
    out
}

fn keeps_old(placed: &Placed) -> bool {
    placed.op.pack != Pack::Nop || placed.op.cond != Cond::Always
}

/// The operation on one unit.
fn half(placed: &Placed, on_mul: bool) -> Option<Half> {
    let op = &placed.op;
    let waddr = match op.dst {
        Dst::Port(waddr) => waddr,
        Dst::None | Dst::Virtual(_) => placed.dst.map_or(Waddr::NOP, Reg::waddr),
    };
    let file = match op.dst {
        Dst::Port(Waddr::MS_REV_FLAGS) => Some(RegFile::A),
        Dst::Port(_) => None,
        Dst::None | Dst::Virtual(_) => placed.dst.and_then(Reg::file),
    };
    // Unswapped, the add unit writes file A and the mul unit file B.
    let swap = file.map(|file| (file == RegFile::A) == on_mul);
    let ws = swap.unwrap_or(false);
    if let Work::Load(imm) = op.work {
        let load = LoadImmInst {
            mode: LoadMode::Word,
            pm: false,
            pack: Pack::Nop,
            cond_add: op.cond,
            cond_mul: Cond::Never,
            sf: op.sf,
            ws,
            waddr_add: waddr,
            waddr_mul: Waddr::NOP,
            imm,
        };
        let line = Line { inst: Inst::LoadImm(load), uniform: None };
        return (!on_mul).then_some(Half { line, swap, on_mul });
    }
    let mut inst = AluInst { sig: op.signal, ws, unpack: op.unpack, sf: op.sf, ..AluInst::NOP };
    let mux = placed.src.map(|operand| select(&mut inst, operand));
    match (op.work, on_mul) {
        (Work::Add(add), false) => {
            inst = AluInst { op_add: add, cond_add: op.cond, waddr_add: waddr, pack: op.pack, ..inst };
            (inst.add_a, inst.add_b) = (mux[0], mux[1]);
        }
        (Work::Move, false) => {
            inst = AluInst { op_add: AddOp::Or, cond_add: op.cond, waddr_add: waddr, ..inst };
            (inst.add_a, inst.add_b) = (mux[0], mux[1]);
        }
        (Work::Mul(mul), true) => {
            let pm = op.pack != Pack::Nop;
            inst = AluInst { op_mul: mul, cond_mul: op.cond, waddr_mul: waddr, pack: op.pack, pm, ..inst };
            (inst.mul_a, inst.mul_b) = (mux[0], mux[1]);
        }
        (Work::Move, true) => {
            inst = AluInst { op_mul: MulOp::V8min, cond_mul: op.cond, waddr_mul: waddr, ..inst };
            (inst.mul_a, inst.mul_b) = (mux[0], mux[1]);
        }
        (Work::Nop, false) => inst = AluInst { sig: op.signal, ..AluInst::NOP },
        _ => return None,
    }
    let line = Line { inst: Inst::Alu(inst), uniform: op.uniform };
    Some(Half { line, swap, on_mul })
}

/// Puts an operand on a read port, and tells how units select it.
fn select(inst: &mut AluInst, operand: Operand) -> Mux {
    match operand {
        Operand::Reg(Reg::Acc(n)) => [Mux::R0, Mux::R1, Mux::R2, Mux::R3][usize::from(n & 3)],
        Operand::Reg(reg @ Reg::A(_)) => {
            inst.raddr_a = reg.raddr().unwrap_or(Raddr::NOP);
            Mux::A
        }
        Operand::Reg(reg @ Reg::B(_)) => {
            inst.raddr_b = RaddrB::Reg(reg.raddr().unwrap_or(Raddr::NOP));
            Mux::B
        }
        Operand::Other(Src::Imm(imm)) => {
            inst.raddr_b = RaddrB::Imm(imm);
            Mux::B
        }
        Operand::Other(Src::R4) => Mux::R4,
        Operand::Other(Src::Uniform) | Operand::Other(Src::Port(RegFile::A, _)) => {
            inst.raddr_a = match operand {
                Operand::Other(Src::Port(_, raddr)) => raddr,
                _ => Raddr::UNIFORM,
            };
            Mux::A
        }
        Operand::Other(Src::Port(RegFile::B, raddr)) => {
            inst.raddr_b = RaddrB::Reg(raddr);
            Mux::B
        }
        // Every virtual register that is read was written before.
        Operand::Other(Src::Virtual(_)) => Mux::R0,
    }
}

/// Both in one instruction, if some way of running them goes together.
fn join(a: &[Option<Half>; 2], b: &[Option<Half>; 2]) -> Option<Line> {
    let pairs = [(a[0], b[1]), (b[0], a[1])];
    pairs.into_iter().find_map(|(add, mul)| merge(&add?, &mul?)).or_else(|| with_signal(a, b))
}

/// A signal beside an operation of the add unit alone.
fn with_signal(a: &[Option<Half>; 2], b: &[Option<Half>; 2]) -> Option<Line> {
    let bare = |half: &[Option<Half>; 2]| {
        let Some(Half { line: Line { inst: Inst::Alu(inst), .. }, .. }) = half[0] else { return None };
        let nothing = AluInst { sig: Signal::None, ..inst } == AluInst::NOP;
        (nothing && inst.sig != Signal::None).then_some(inst.sig)
    };
    let (sig, other) = bare(a).map(|sig| (sig, b)).or_else(|| bare(b).map(|sig| (sig, a)))?;
    let half = other.iter().flatten().next()?;
    let Inst::Alu(inst) = half.line.inst else { return None };
    let free = inst.sig == Signal::None && !matches!(inst.raddr_b, RaddrB::Imm(_));
    let tile = Access::of(&half.line.inst).written().any(|write| write.is_peripheral());
    (free && !tile).then_some(Line { inst: Inst::Alu(AluInst { sig, ..inst }), uniform: half.line.uniform })
}

fn merge(add: &Half, mul: &Half) -> Option<Line> {
    let (Inst::Alu(a), Inst::Alu(m)) = (add.line.inst, mul.line.inst) else { return None };
    if add.on_mul || !mul.on_mul || a.op_add == AddOp::Nop {
        return None;
    }
    let ws = match (add.swap, mul.swap) {
        (Some(x), Some(y)) if x != y => return None,
        (x, y) => x.or(y).unwrap_or(false),
    };
    let raddr_a = one_of(a.raddr_a, m.raddr_a, Raddr::NOP)?;
    let raddr_b = one_of(a.raddr_b, m.raddr_b, RaddrB::Reg(Raddr::NOP))?;
    let sig = one_of(a.sig, m.sig, Signal::None)?;
    let imm = matches!(raddr_b, RaddrB::Imm(_));
    let (pa, pm) = (Access::of(&add.line.inst), Access::of(&mul.line.inst));
    let peripheral = |access: &Access| access.written().any(|w| w.is_peripheral()) || access.loads_r4();
    let streams = |access: &Access| access.takes_uniform() || access.reads_vpm();
    if imm && sig != Signal::None
        || peripheral(&pa) && peripheral(&pm)
        || streams(&pa) && streams(&pm)
        || m.sf
    {
        return None;
    }
    // An unpack would change what the other unit reads, and a pack what it writes.
    let packs_or_unpacks = a.pack != Pack::Nop || a.unpack != Unpack::Nop;
    if packs_or_unpacks && m.pm || a.unpack != Unpack::Nop && pm.selects_a {
        return None;
    }
    let packs_a = a.pack != Pack::Nop;
    if packs_a && ws {
        // With swapped files the pack would belong to the mul unit's register.
        return None;
    }
    if a.waddr_add == m.waddr_mul && a.waddr_add != Waddr::NOP && !a.waddr_add.is_reg() {
        return None;
    }
    let inst = AluInst {
        sig,
        unpack: a.unpack,
        pm: m.pm,
        pack: if m.pm { m.pack } else { a.pack },
        cond_mul: m.cond_mul,
        ws,
        waddr_mul: m.waddr_mul,
        op_mul: m.op_mul,
        raddr_a,
        raddr_b,
        mul_a: m.mul_a,
        mul_b: m.mul_b,
        ..a
    };
    Some(Line { inst: Inst::Alu(inst), uniform: add.line.uniform.or(mul.line.uniform) })
}

/// The one that is not `none`, if they do not differ.
fn one_of<T: PartialEq + Copy>(a: T, b: T, none: T) -> Option<T> {
    match () {
        () if a == b || b == none => Some(a),
        () if a == none => Some(b),
        () => None,
    }
}

/// A load of a word into a register.
pub fn load(reg: Reg, imm: u32) -> Inst {
    Inst::LoadImm(LoadImmInst::word(reg.waddr(), reg.file(), imm))
}

/// A load of a word into a port of a file.
pub fn load_port(file: RegFile, port: Waddr, imm: u32) -> Inst {
    let Inst::LoadImm(inst) = load(Reg::Acc(0), imm) else { return Inst::NOP };
    Inst::LoadImm(LoadImmInst { ws: file == RegFile::B, waddr_add: port, ..inst })
}

/// Sets the stream's address to `reg` plus the next word (qpu.md §5.3).
pub fn reset_stream(reg: Reg) -> Inst {
    let mut inst =
        AluInst { op_add: AddOp::Add, cond_add: Cond::Always, waddr_add: Waddr::UNIF_ADDR, ..AluInst::NOP };
    inst.add_a = select(&mut inst, Operand::Reg(reg));
    // The other port carries the uniform.
    if reg.file() == Some(RegFile::A) {
        inst.raddr_b = RaddrB::Reg(Raddr::UNIFORM);
        inst.add_b = Mux::B;
    } else {
        inst.raddr_a = Raddr::UNIFORM;
        inst.add_b = Mux::A;
    }
    Inst::Alu(inst)
}

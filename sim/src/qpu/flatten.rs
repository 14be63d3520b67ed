//! Instructions as they are decoded, flattened into [`Op`]s.

use vc4::facts::{Facts, PackA, RevFlag, UnmappedReads};
use vc4::qpu::pack::exists_on_mul;
use vc4::qpu::sfu::SfuOp;
use vc4::qpu::{
    AddOp, AluInst, BranchInst, Cond, Inst, LoadMode, MulOp, Mux, Pack, Raddr, RaddrB, Signal, Unpack, Waddr,
};

use super::fault::{Fault, unsupported};
use super::op::{Action, Branch, Dest, IDLE, Op, Port, Rotate, extra, slot};
use super::variant::is_other_machine;

/// The instruction with this number in the program at the bus address `program`.
pub(super) fn flatten(facts: &Facts, inst: &Inst, program: u32, index: u32) -> Result<Op, Fault> {
    let mut op = match inst {
        Inst::Alu(alu) => flatten_alu(facts, alu, index)?,
        Inst::LoadImm(i) => {
            let head = Head {
                pack_a: facts.pack_a,
                pm: i.pm,
                pack: i.pack,
                conds: [i.cond_add, i.cond_mul],
                ws: i.ws,
                sf: i.sf,
            };
            flatten_immediate(&head, [i.waddr_add, i.waddr_mul], Port::Imm(i.mode), i.imm, index)?
        }
        Inst::Semaphore(i) => {
            let head = Head {
                pack_a: facts.pack_a,
                pm: i.pm,
                pack: i.pack,
                conds: [i.cond_add, i.cond_mul],
                ws: i.ws,
                sf: i.sf,
            };
            let port = Port::Imm(LoadMode::Word);
            let mut op = flatten_immediate(&head, [i.waddr_add, i.waddr_mul], port, i.imm, index)?;
            op.action = Action::Semaphore { number: i.number(), decrement: i.is_decrement() };
            op
        }
        Inst::Branch(i) => flatten_branch(facts, i, program, index)?,
    };
    for (step, needed) in [
        (extra::PORTS, op.port_a != Port::None || op.port_b != Port::None),
        (extra::ROTATE, op.rotate.is_some()),
        (extra::ACTION, op.action != Action::None),
        (extra::VARIANT, is_other_machine(facts)),
    ] {
        op.extras |= if needed { step } else { 0 };
    }
    let tmu = |dest| matches!(dest, Dest::Tmu(..));
    if tmu(op.add_dest) && tmu(op.mul_dest) {
        return Err(unsupported(index, "two TMU writes in one instruction; write one per instruction"));
    }
    Ok(op)
}

/// The fields that ALU, load-immediate and semaphore words share.
struct Head {
    pack_a: PackA,
    pm: bool,
    pack: Pack,
    conds: [Cond; 2],
    ws: bool,
    sf: bool,
}

/// Fills destinations, conditions, packs and flags.
fn set_head(op: &mut Op, head: &Head, waddrs: [Waddr; 2], index: u32) -> Result<(), Fault> {
    [op.add_cond, op.mul_cond] = head.conds;
    op.add_dest = destination(waddrs[0], !head.ws, head, head.conds[0], index)?;
    op.mul_dest = destination(waddrs[1], head.ws, head, head.conds[1], index)?;
    op.pack = head.pack;
    if head.pm && head.pack != Pack::Nop {
        op.extras |= extra::MUL_PACK;
        if !exists_on_mul(head.pack) {
            return Err(unsupported(index, format!("mul pack {} is reserved", head.pack.name())));
        }
    }
    if head.sf {
        op.extras |= extra::FLAGS;
    }
    Ok(())
}

/// UNVERIFIED: does a pack with pm = 0 act on accumulators and peripherals written through file A as well? Here
/// the pack unit sits in front of the physical registers alone (qpu.md §3.2).
fn packs_file_a(waddr: Waddr, head: &Head) -> bool {
    (waddr.is_reg() || head.pack_a == PackA::Accumulators) && !head.pm && head.pack != Pack::Nop
}

fn destination(waddr: Waddr, file_a: bool, head: &Head, cond: Cond, index: u32) -> Result<Dest, Fault> {
    if cond == Cond::Never {
        return Ok(Dest::None);
    }
    let denied = |what: &str| Err(unsupported(index, what));
    Ok(match waddr {
        w if w.is_reg() && !file_a => Dest::Slot(slot::RB + w.code()),
        w if w.is_reg() && packs_file_a(w, head) => Dest::Packed(slot::RA + w.code()),
        w if w.is_reg() => Dest::Slot(slot::RA + w.code()),
        Waddr::R0 | Waddr::R1 | Waddr::R2 | Waddr::R3 => {
            let s = slot::ACC + waddr.code() - Waddr::R0.code();
            if file_a && packs_file_a(waddr, head) { Dest::Packed(s) } else { Dest::Slot(s) }
        }
        Waddr::R5 if file_a => Dest::R5Quad,
        Waddr::R5 => Dest::R5All,
        Waddr::NOP => Dest::None,
        Waddr::UNIF_ADDR if file_a => Dest::UnifAddr,
        Waddr::UNIF_ADDR => return denied("relative uniform address write; use file A"),
        Waddr::MS_REV_FLAGS if file_a => Dest::MsFlags,
        Waddr::MS_REV_FLAGS => Dest::RevFlag,
        Waddr::TLB_STENCIL_SETUP => Dest::TlbStencil,
        Waddr::TLB_Z => Dest::TlbZ,
        Waddr::TLB_COLOR_MS => Dest::TlbColor { all: false },
        Waddr::TLB_COLOR_ALL => Dest::TlbColor { all: true },
        Waddr::VPM => Dest::Vpm,
        Waddr::VPM_SETUP if file_a => Dest::VpmReadSetup,
        Waddr::VPM_SETUP => Dest::VpmWriteSetup,
        Waddr::TMU_NOSWAP => return denied("tmu_noswap write is forbidden by the kernel (SHD-14)"),
        Waddr::HOST_INT => return denied("host_int write is forbidden by the kernel (SHD-14)"),
        Waddr::TLB_ALPHA_MASK => return denied("alpha mask write is forbidden by the kernel (SHD-14)"),
        Waddr::VPM_ADDR => return denied("VPM DMA is forbidden by the kernel (SHD-14)"),
        Waddr::MUTEX_RELEASE => return denied("mutex release is forbidden by the kernel (SHD-14)"),
        // The kernel lets them through; their purpose is undocumented (qpu.md §3.2).
        Waddr::QUAD_XY => Dest::None,
        w => match (w.tmu(), SfuOp::from_waddr(w)) {
            (Some(unit), _) => Dest::Tmu(unit, w.code() & 3),
            (None, Some(function)) => Dest::Sfu(function),
            (None, None) => return denied("write address without a meaning"),
        },
    })
}

fn flatten_immediate(head: &Head, waddrs: [Waddr; 2], port: Port, imm: u32, index: u32) -> Result<Op, Fault> {
    let mut op = Op { port_a: port, imm, ..IDLE };
    // Both units move the value as an integer (qpu.md §2.9).
    (op.add, op.add_a, op.add_b) = (AddOp::Or, slot::PORT_A, slot::PORT_A);
    (op.mul, op.mul_a, op.mul_b) = (MulOp::V8min, slot::PORT_A, slot::PORT_A);
    set_head(&mut op, head, waddrs, index)?;
    op.flags_from_mul = head.conds[0] == Cond::Never;
    drop_idle_units(&mut op);
    Ok(op)
}

fn flatten_branch(facts: &Facts, i: &BranchInst, program: u32, index: u32) -> Result<Op, Fault> {
    // "PC + 4" counts instructions (qpu.md §2.8).
    let link = program.wrapping_add((index + 4) * 8);
    let base = (i.offset as u32).wrapping_add(if i.rel { link } else { 0 });
    let head = Head {
        pack_a: facts.pack_a,
        pm: false,
        pack: Pack::Nop,
        conds: [Cond::Always; 2],
        ws: i.ws,
        sf: false,
    };
    let link_to = |waddr, file_a| match destination(waddr, file_a, &head, Cond::Always, index)? {
        Dest::None => Ok(None),
        Dest::Slot(s) => Ok(Some(s)),
        _ => Err(unsupported(index, "branch link into a peripheral; link into a register")),
    };
    let link_to = [link_to(i.waddr_add, !i.ws)?, link_to(i.waddr_mul, i.ws)?];
    let sets_flags = i.reg.unwrap_or(i.unused_raddr_a) & 1 != 0;
    let action = Action::Branch(Branch { cond: i.cond, base, reg: i.reg, link, link_to, sets_flags });
    Ok(Op { action, ..IDLE })
}

fn flatten_alu(facts: &Facts, i: &AluInst, index: u32) -> Result<Op, Fault> {
    let mut op = Op { add: i.op_add, mul: i.op_mul, action: action(i.sig, index)?, ..IDLE };
    let (a, port_a) = read_port(facts, i.raddr_a, true, index)?;
    let (b, port_b) = match i.raddr_b {
        RaddrB::Reg(reg) => read_port(facts, reg, false, index)?,
        // Rotate codes read as the negative immediates 16 codes lower down (qpu.md §2.12).
        RaddrB::Imm(imm) => {
            let code = imm.code();
            (slot::SMALL + if code < 48 { code } else { code - 32 }, Port::None)
        }
    };
    (op.port_a, op.port_b) = (port_a, port_b);
    let mut b = b;
    if port_a == port_b && matches!(port_a, Port::Uniform | Port::Varying | Port::Vpm) {
        // One access feeds both ports.
        (op.port_b, b) = (Port::None, slot::PORT_A);
    }
    set_unpack(&mut op, i, a);
    let source = |mux: Mux| match mux {
        Mux::A if op.extras & extra::UNPACK != 0 && !i.pm => slot::UNPACKED,
        Mux::R4 if op.extras & extra::UNPACK != 0 && i.pm => slot::UNPACKED,
        Mux::A => a,
        Mux::B => b,
        r => slot::ACC + r.code(),
    };
    [op.add_a, op.add_b] = [source(i.add_a), source(i.add_b)];
    [op.mul_a, op.mul_b] = [source(i.mul_a), source(i.mul_b)];
    if op.add.operands() == 1 {
        op.add_b = op.add_a;
    }
    if let RaddrB::Imm(imm) = i.raddr_b {
        let accumulator = |mux| matches!(mux, Mux::R0 | Mux::R1 | Mux::R2 | Mux::R3);
        let quad = !accumulator(i.mul_a) || !accumulator(i.mul_b);
        op.rotate = imm.rotation().map(|by| Rotate { by, quad });
    }
    let head = Head {
        pack_a: facts.pack_a,
        pm: i.pm,
        pack: i.pack,
        conds: [i.cond_add, i.cond_mul],
        ws: i.ws,
        sf: i.sf,
    };
    set_head(&mut op, &head, [i.waddr_add, i.waddr_mul], index)?;
    op.flags_from_mul = i.op_add == AddOp::Nop;
    drop_idle_units(&mut op);
    Ok(op)
}

/// Turns a unit without effect into a nop, so that running it costs nothing.
fn drop_idle_units(op: &mut Op) {
    let flags = op.extras & extra::FLAGS != 0;
    let (add_sets, mul_sets) = (flags && !op.flags_from_mul, flags && op.flags_from_mul);
    if op.add == AddOp::Nop || (op.add_dest == Dest::None && !add_sets) {
        (op.add, op.add_dest) = (AddOp::Nop, Dest::None);
    }
    if op.mul_dest == Dest::None && !mul_sets {
        op.mul = MulOp::Nop;
        op.rotate = None;
        op.extras &= !extra::MUL_PACK;
    } else if op.mul == MulOp::Nop {
        // The stale word that the hardware writes here is undefined (qpu.md §3.4).
        (op.mul, op.mul_a, op.mul_b) = (MulOp::V8min, slot::ZERO, slot::ZERO);
    }
}

fn set_unpack(op: &mut Op, i: &AluInst, a: u8) {
    let through = if i.pm { Mux::R4 } else { Mux::A };
    let by_add = i.op_add != AddOp::Nop && (i.add_a == through || i.add_b == through);
    let by_mul = i.op_mul != MulOp::Nop && (i.mul_a == through || i.mul_b == through);
    if i.unpack == Unpack::Nop || !(by_add || by_mul) {
        return;
    }
    op.extras |= extra::UNPACK;
    op.unpack = i.unpack;
    op.unpack_from = if i.pm { slot::R4 } else { a };
    // One float consumer gives both units the float form; r4 has only that form (qpu.md §2.11).
    op.unpack_float = i.pm || by_add && i.op_add.reads_float() || by_mul && i.op_mul.reads_float();
}

fn read_port(facts: &Facts, raddr: Raddr, file_a: bool, index: u32) -> Result<(u8, Port), Fault> {
    let port = match raddr {
        r if r.is_reg() => return Ok((if file_a { slot::RA } else { slot::RB } + r.code(), Port::None)),
        Raddr::UNIFORM => Port::Uniform,
        Raddr::VARYING => Port::Varying,
        Raddr::ELEM_QPU => return Ok((if file_a { slot::ELEMENT } else { slot::ZERO }, Port::None)),
        Raddr::NOP => return Ok((slot::ZERO, Port::None)),
        Raddr::PIXEL_XY if file_a => Port::PixelX,
        Raddr::PIXEL_XY => Port::PixelY,
        Raddr::MS_REV_FLAGS if file_a => Port::MsFlags,
        Raddr::MS_REV_FLAGS => Port::RevFlag,
        Raddr::VPM => Port::Vpm,
        // There is never a DMA to wait for: the kernel rejects their start (SHD-14).
        Raddr::VPM_BUSY | Raddr::VPM_WAIT => return Ok((slot::ZERO, Port::None)),
        Raddr::MUTEX => {
            return Err(unsupported(index, "mutex read: the kernel forbids its release (SHD-14)"));
        }
        _ => return Ok((unmapped(facts.unmapped_reads, file_a), Port::None)),
    };
    Ok((if file_a { slot::PORT_A } else { slot::PORT_B }, port))
}

/// UNVERIFIED: what do read addresses without a register return? The element and QPU numbers (qpu.md §3.1).
const fn unmapped(fact: UnmappedReads, file_a: bool) -> u8 {
    if file_a && matches!(fact, UnmappedReads::Element) { slot::ELEMENT } else { slot::ZERO }
}

/// UNVERIFIED: which element's bit does a rev_flag write take? Bit 0 of element 0, for all elements (qpu.md §3.2).
pub(super) fn reverse_element(fact: RevFlag) -> usize {
    match fact {
        RevFlag::First => 0,
        RevFlag::Last => 15,
    }
}

fn action(signal: Signal, index: u32) -> Result<Action, Fault> {
    Ok(match signal {
        Signal::None | Signal::WaitScoreboard | Signal::UnlockScoreboard => Action::None,
        Signal::ThreadSwitch | Signal::LastThreadSwitch => Action::Switch,
        Signal::End => Action::End,
        Signal::ColorLoad => Action::ColorLoad,
        Signal::LoadTmu0 => Action::LoadTmu(0),
        Signal::LoadTmu1 => Action::LoadTmu(1),
        Signal::SmallImm | Signal::LoadImm | Signal::Branch => Action::None,
        Signal::Breakpoint | Signal::CoverageLoad | Signal::ColorLoadEnd | Signal::AlphaMaskLoad => {
            return Err(unsupported(index, format!("{} is forbidden by the kernel (SHD-13)", signal.name())));
        }
    })
}

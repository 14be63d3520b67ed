//! Two halves to one instruction: operands get their meaning here.

use super::arguments::{Arg, MAX_ARGS};
use super::error::{Error, Result};
use super::lexer::Span;
use super::operands;
use super::statement::{Class, Half, Modifiers, Op};
use super::suggest::closest;
use crate::qpu::inst::{AluInst, BranchInst, Inst, LoadImmInst, LoadMode, RaddrB, SemaphoreInst};
use crate::qpu::isa::{AddOp, BranchCond, Cond, MulOp, Mux, Pack, Raddr, Signal, Unpack};

/// What happened beside the instruction.
#[derive(Default)]
pub struct Notes<'a> {
    /// Oddities that were accepted.
    pub warnings: Vec<Error>,
    /// The label that the branch goes to.
    pub label: Option<Arg<'a>>,
}

impl Notes<'_> {
    #[cold]
    fn warn(&mut self, span: Span, message: &str) {
        self.warnings.push(*Error::new(span, message));
    }
}

/// The instruction of a signal and two halves.
pub fn instruction<'a>(
    (signal, signal_span): (Signal, Span),
    add: &Half<'a>,
    mul: &Half<'a>,
    notes: &mut Notes<'a>,
) -> Result<Inst> {
    let class = add.op.class();
    if class != mul.op.class() {
        let message = "both halves must name the same kind of instruction";
        return Err(Error::new(mul.op_span, message));
    }
    if let Some(span) = mul.modifiers.idle {
        notes.warn(span, "only a condition has an effect on the mul half");
    }
    if class == Class::Branch {
        return branch(add, mul, notes);
    }
    if add.modifiers.rel || add.modifiers.reg {
        notes.warn(add.op_span, "rel and reg have an effect on branches only");
    }
    let pack = effective_pack(add, mul)?;
    match class {
        Class::Alu => alu(signal, signal_span, add, mul, pack, notes),
        Class::Load32 | Class::Load16 => load_imm(class, add, mul, pack),
        Class::Semaphore { decrement } => semaphore(decrement, add, mul, pack),
        Class::Branch => branch(add, mul, notes),
    }
}

/// The pack of the instruction. It belongs to the mul result with `pm`; without, to the value written to file A,
/// which is the mul half's under `ws` (qpu.md §2.11). The syntax's way to write that last one is on the add
/// destination, which is accepted too. A pack that the instruction cannot do is an error.
fn effective_pack(add: &Half<'_>, mul: &Half<'_>) -> Result<Pack> {
    let Modifiers { pm, ws, .. } = add.modifiers;
    let written = |half: &Half<'_>| half.pack.filter(|(pack, _)| *pack != Pack::Nop);
    match (written(add), written(mul)) {
        (None, None) => Ok(Pack::Nop),
        (None, Some((pack, _))) if pm || ws => Ok(pack),
        (Some((pack, _)), None) if !pm => Ok(pack),
        (Some((pack, _)), Some((other, _))) if !pm && ws && pack == other => Ok(pack),
        (Some((_, span)), _) if pm => Err(Error::new(
            span,
            "with pm the pack belongs to the mul result; write it on the mul destination",
        )),
        (_, Some((_, span))) if ws => Err(Error::new(span, "an instruction has one pack")),
        (_, Some((_, span))) => {
            let message =
                "a pack on the mul destination needs pm (mul result) or ws (file A) on the add half";
            Err(Error::new(span, message))
        }
        (Some((pack, _)), None) => Ok(pack),
    }
}

fn alu<'a>(
    signal: Signal,
    signal_span: Span,
    add: &Half<'a>,
    mul: &Half<'a>,
    pack: Pack,
    notes: &mut Notes<'a>,
) -> Result<Inst> {
    let (Op::Add(op_add), Op::Mul(op_mul)) = (add.op, mul.op) else {
        return Err(Error::new(add.op_span, "an ALU instruction has an operation in each half"));
    };
    if matches!(signal, Signal::LoadImm | Signal::Branch) {
        let message = "this signal goes with load32, load16, sem_inc, sem_dec or branch in both halves";
        return Err(Error::new(signal_span, message));
    }
    if add.modifiers.signed {
        notes.warn(add.op_span, "signed has an effect on load16 only");
    }
    let small = signal == Signal::SmallImm;
    let [add_a, add_b] = operands::muxes(&add.args, add.op_span, op_add == AddOp::Nop)?;
    let [mul_a, mul_b] = operands::muxes(&mul.args, mul.op_span, op_mul == MulOp::Nop)?;
    let mut raddr_a = Raddr::NOP;
    let mut raddr_b = None;
    // The mul half's sources replace those of the add half.
    for half in [add, mul] {
        if let Some(arg) = half.args.get(2) {
            raddr_a = operands::raddr_a(arg)?;
        }
        if let Some(arg) = half.args.get(MAX_ARGS - 1) {
            raddr_b = Some(if small { small_imm(arg, notes)? } else { RaddrB::Reg(operands::raddr_b(arg)?) });
        }
    }
    if small && raddr_b.is_none() {
        if [add_a, add_b, mul_a, mul_b].contains(&Mux::B) {
            return Err(Error::new(signal_span, "operand b needs the small immediate as fourth argument"));
        }
        notes.warn(signal_span, "a small immediate is missing; the unused code 39 stands for 128.0");
        raddr_b = Some(RaddrB::Imm(operands::MISSING_SMALL_IMM));
    }
    Ok(Inst::Alu(AluInst {
        sig: if small { Signal::None } else { signal },
        unpack: add.modifiers.unpack.unwrap_or(Unpack::Nop),
        pm: add.modifiers.pm,
        pack,
        cond_add: add.modifiers.cond.unwrap_or(Cond::Never),
        cond_mul: mul.modifiers.cond.unwrap_or(Cond::Never),
        sf: add.modifiers.sf,
        ws: add.modifiers.ws,
        waddr_add: add.waddr,
        waddr_mul: mul.waddr,
        op_mul,
        op_add,
        raddr_a,
        raddr_b: raddr_b.unwrap_or(RaddrB::Reg(Raddr::NOP)),
        add_a,
        add_b,
        mul_a,
        mul_b,
    }))
}

fn small_imm(arg: &Arg<'_>, notes: &mut Notes<'_>) -> Result<RaddrB> {
    let (imm, warning) = operands::small_imm(arg)?;
    if let Some(warning) = warning {
        notes.warn(arg.span, warning);
    }
    Ok(RaddrB::Imm(imm))
}

fn load_imm(class: Class, add: &Half<'_>, mul: &Half<'_>, pack: Pack) -> Result<Inst> {
    let (mode, imm) = if class == Class::Load32 {
        let [word] = operands::exactly(&add.args, add.op_span, "load32 takes one number")?;
        (LoadMode::Word, operands::word32(word)?)
    } else {
        let [high, low] = operands::exactly(&add.args, add.op_span, "load16 takes two numbers")?;
        let mode =
            if add.modifiers.signed { LoadMode::PerElementSigned } else { LoadMode::PerElementUnsigned };
        (mode, operands::word16(high)? << 16 | operands::word16(low)?)
    };
    operands::none(&mul.args)?;
    Ok(Inst::LoadImm(LoadImmInst {
        mode,
        pm: add.modifiers.pm,
        pack,
        cond_add: add.modifiers.cond.unwrap_or(Cond::Never),
        cond_mul: mul.modifiers.cond.unwrap_or(Cond::Never),
        sf: add.modifiers.sf,
        ws: add.modifiers.ws,
        waddr_add: add.waddr,
        waddr_mul: mul.waddr,
        imm,
    }))
}

fn semaphore(decrement: bool, add: &Half<'_>, mul: &Half<'_>, pack: Pack) -> Result<Inst> {
    let (number, rest) = match add.args.as_slice() {
        [number] => (operands::limited(number, 15)?, 0),
        [number, rest] => (operands::limited(number, 15)?, operands::limited(rest, 0x7ff_ffff)?),
        _ => return Err(Error::new(add.op_span, "expected the semaphore number, 0 to 15")),
    };
    operands::none(&mul.args)?;
    Ok(Inst::Semaphore(SemaphoreInst {
        pm: add.modifiers.pm,
        pack,
        cond_add: add.modifiers.cond.unwrap_or(Cond::Never),
        cond_mul: mul.modifiers.cond.unwrap_or(Cond::Never),
        sf: add.modifiers.sf,
        ws: add.modifiers.ws,
        waddr_add: add.waddr,
        waddr_mul: mul.waddr,
        imm: rest << 5 | u32::from(decrement) << 4 | number,
    }))
}

fn branch<'a>(add: &Half<'a>, mul: &Half<'a>, notes: &mut Notes<'a>) -> Result<Inst> {
    let (target, cond, register) = match add.args.as_slice() {
        [target, cond] => (target, cond, None),
        [target, cond, register] => (target, cond, Some(register)),
        _ => {
            let message = "branch takes a target, a condition and possibly a register";
            return Err(Error::new(add.op_span, message));
        }
    };
    let modifiers = &add.modifiers;
    let offset = if target.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        if !modifiers.rel {
            let message = "a label is a distance; write branch.rel";
            return Err(Error::new(target.span, message));
        }
        notes.label = Some(*target);
        0
    } else {
        operands::word32(target)? as i32
    };
    let cond = BranchCond::from_name(cond.text).ok_or_else(|| {
        let names = BranchCond::ALL.iter().map(|cond| cond.name());
        Error::new(cond.span, "unknown branch condition").suggest(closest(cond.text, names))
    })?;
    // Without a register the field stays 0: an odd one would change the flags (qpu.md §2.8).
    let register = register.map(operands::branch_register).transpose()?.flatten();
    if modifiers.reg && register.is_none() {
        return Err(Error::new(add.op_span, "branch.reg needs a register ra0 to ra31"));
    }
    operands::none(&mul.args)?;
    Ok(Inst::Branch(BranchInst {
        cond,
        rel: modifiers.rel,
        reg: register.filter(|_| modifiers.reg),
        unused_raddr_a: register.filter(|_| !modifiers.reg).unwrap_or(0),
        ws: modifiers.ws,
        waddr_add: add.waddr,
        waddr_mul: mul.waddr,
        offset,
    }))
}

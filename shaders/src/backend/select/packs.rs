//! Results packed on their way out (qpu.md §2.11).

use vc4::qpu::{AddOp, MulOp, Pack, Unpack};

use super::selector::Selector;
use crate::backend::virt::{Dst, Operation, Reg, Src, Unit};
use crate::ir::Value;

/// Four floats to bytes.
pub fn pack_unorm8(s: &mut Selector<'_>, result: Value, args: &[Value]) {
    let reg = s.reg_of(result);
    if args.iter().all(|&arg| arg == args[0]) {
        packed_byte(s, args[0], reg, Pack::Rep8);
        return;
    }
    let bytes = [Pack::Byte0, Pack::Byte1, Pack::Byte2, Pack::Byte3];
    for (&arg, pack) in args.iter().zip(bytes) {
        packed_byte(s, arg, reg, pack);
    }
}

/// One float to a byte of a register.
pub fn packed_byte(s: &mut Selector<'_>, value: Value, reg: Reg, pack: Pack) {
    let product = matches!(s.single(value), Some((Unit::Mul(MulOp::Fmul), Unpack::Nop)));
    let mut op = if product && s.foldable(value) {
        s.fold(value, Dst::Reg(reg))
    } else {
        let operand = s.operand(value);
        Operation::new(Unit::Mul(MulOp::V8min), Dst::Reg(reg), &[operand, operand])
    };
    (op.pack, op.mul_pack) = (pack, true);
    s.push(op);
}

/// Float results become float16 on their way into file A.
pub fn pack_half_floats(s: &mut Selector<'_>, result: Value, args: &[Value]) {
    let target = s.reg_of(result);
    let reg = if s.program.regs[target].places.a { target } else { s.program.reg() };
    for (&arg, pack) in args.iter().zip([Pack::Half0, Pack::Half1]) {
        let float = match s.single(arg) {
            Some((Unit::Add(op), _)) => op.writes_float(),
            Some((Unit::Mul(op), _)) => op == MulOp::Fmul,
            _ => false,
        };
        let mut op = if float && s.foldable(arg) {
            s.fold(arg, Dst::Reg(reg))
        } else {
            let operand = s.operand(arg);
            Operation::new(Unit::Add(AddOp::Fmax), Dst::Reg(reg), &[operand, operand])
        };
        op.pack = pack;
        s.push(op);
    }
    if reg != target {
        s.push(Operation::mov(Dst::Reg(target), Src::Reg(reg)));
    }
}

/// The low halves of two words.
pub fn pack_halves(s: &mut Selector<'_>, result: Value, args: &[Value]) {
    let target = s.reg_of(result);
    // A consumer may keep the result out of file A, where packs happen.
    let reg = if s.program.regs[target].places.a { target } else { s.program.reg() };
    for (&arg, pack) in args.iter().zip([Pack::Half0, Pack::Half1]) {
        // Float results would be converted, and sums saturated, by a pack (qpu.md §2.11).
        let plain = matches!(s.single(arg), Some((Unit::Add(op), Unpack::Nop))
            if !op.writes_float() && !matches!(op, AddOp::Add | AddOp::Sub));
        let mut op = if plain && s.foldable(arg) {
            s.fold(arg, Dst::Reg(reg))
        } else {
            let operand = s.operand(arg);
            Operation::mov(Dst::Reg(reg), operand)
        };
        op.pack = pack;
        s.push(op);
    }
    if reg != target {
        s.push(Operation::mov(Dst::Reg(target), Src::Reg(reg)));
    }
}

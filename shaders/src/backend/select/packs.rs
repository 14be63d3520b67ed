//! Results packed on their way out (qpu.md §2.11).

use vc4::qpu::{AddOp, MulOp, Pack, Unpack};

use super::selector::Selector;
use crate::backend::virt::{Dst, Operation, Reg, Src, Unit};
use crate::ir::Value;

impl Selector<'_> {
    pub fn pack_unorm8(&mut self, result: Value, args: &[Value]) {
        let reg = self.reg_of(result);
        if args.iter().all(|&arg| arg == args[0]) {
            self.packed_byte(args[0], reg, Pack::Rep8);
            return;
        }
        let bytes = [Pack::Byte0, Pack::Byte1, Pack::Byte2, Pack::Byte3];
        for (&arg, pack) in args.iter().zip(bytes) {
            self.packed_byte(arg, reg, pack);
        }
    }

    pub fn packed_byte(&mut self, value: Value, reg: Reg, pack: Pack) {
        let product = matches!(self.single(value), Some((Unit::Mul(MulOp::Fmul), Unpack::Nop)));
        let mut op = if product && self.foldable(value) {
            self.fold(value, Dst::Reg(reg))
        } else {
            let operand = self.operand(value);
            Operation::new(Unit::Mul(MulOp::V8min), Dst::Reg(reg), &[operand, operand])
        };
        (op.pack, op.mul_pack) = (pack, true);
        self.push(op);
    }

    /// Float results become float16 on their way into file A.
    pub fn pack_half_floats(&mut self, result: Value, args: &[Value]) {
        let target = self.reg_of(result);
        let reg = if self.program.regs[target].places.a { target } else { self.program.reg() };
        for (&arg, pack) in args.iter().zip([Pack::Half0, Pack::Half1]) {
            let float = match self.single(arg) {
                Some((Unit::Add(op), _)) => op.writes_float(),
                Some((Unit::Mul(op), _)) => op == MulOp::Fmul,
                _ => false,
            };
            let mut op = if float && self.foldable(arg) {
                self.fold(arg, Dst::Reg(reg))
            } else {
                let operand = self.operand(arg);
                Operation::new(Unit::Add(AddOp::Fmax), Dst::Reg(reg), &[operand, operand])
            };
            op.pack = pack;
            self.push(op);
        }
        if reg != target {
            self.push(Operation::mov(Dst::Reg(target), Src::Reg(reg)));
        }
    }

    pub fn pack_halves(&mut self, result: Value, args: &[Value]) {
        let target = self.reg_of(result);
        // A consumer may keep the result out of file A, where packs happen.
        let reg = if self.program.regs[target].places.a { target } else { self.program.reg() };
        for (&arg, pack) in args.iter().zip([Pack::Half0, Pack::Half1]) {
            // Float results would be converted, and sums saturated, by a pack (qpu.md §2.11).
            let plain = matches!(self.single(arg), Some((Unit::Add(op), Unpack::Nop))
                if !op.writes_float() && !matches!(op, AddOp::Add | AddOp::Sub));
            let mut op = if plain && self.foldable(arg) {
                self.fold(arg, Dst::Reg(reg))
            } else {
                let operand = self.operand(arg);
                Operation::mov(Dst::Reg(reg), operand)
            };
            op.pack = pack;
            self.push(op);
        }
        if reg != target {
            self.push(Operation::mov(Dst::Reg(target), Src::Reg(reg)));
        }
    }
}

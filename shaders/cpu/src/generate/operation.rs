//! Operations on values: as scalars where all elements share the result, else as vectors.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self as clif, InstBuilder, types};
use cranelift_frontend::FunctionBuilder;
use vc4_shaders::ir::{Block, BuiltinInput, Inst, Invocation, Memory, Op, SUBGROUP, Value};

use super::state::Generator;
use crate::batch::WIDTH;
use crate::divergence::Shape;
use crate::layout::Context;
use crate::math::Call;

impl Generator<'_, '_> {
    /// Generates the instructions of a block.
    pub fn instructions(&mut self, block: Block) {
        let shader = self.shader;
        for &inst in &shader.blocks[block].insts {
            self.instruction(inst);
        }
    }

    fn instruction(&mut self, inst: Inst) {
        let shader = self.shader;
        let data = &shader.insts[inst];
        let args = &data.args[..];
        match data.op {
            // Made where they are used.
            Op::Const(_) | Op::ConstBool(_) | Op::Undef | Op::Phi => {}
            Op::Barrier => self.wait(),
            Op::Fence => self.fence(),
            Op::LoadUbo { buffer, offset } => {
                let zero = self.word(0);
                self.load_at(Memory::Buffer(buffer), offset, zero, data.results[0]);
            }
            Op::LoadUboDynamic { buffer, offset, .. } => {
                self.load(Memory::Buffer(buffer), offset, args[0], data.results[0]);
            }
            Op::Load { memory, offset } => self.load(memory, offset, args[0], data.results[0]),
            Op::Store { memory, offset } => self.store(memory, offset, args[0], args[1]),
            Op::Atomic { memory, offset, action } => {
                let old = self.atomic(memory, offset, action, args);
                self.define(data.results[0], old);
            }
            Op::BufferElements { buffer, offset, stride } => {
                let count = self.buffer_elements(buffer, offset, stride);
                self.define(data.results[0], count);
            }
            op if is_image(op) => self.image(op, args, &data.results),
            op => {
                let result = data.results[0];
                let value = match self.shapes.of_value(result) {
                    Shape::Linear(_) => self.scalar(op, args),
                    _ => self.vector_operation(op, args),
                };
                self.define(result, value);
            }
        }
    }

    /// An operation whose result is shared, or linear as its operands are.
    fn scalar(&mut self, op: Op, args: &[Value]) -> clif::Value {
        if let Some(value) = self.scalar_float(op, args) {
            return value;
        }
        if let Some(value) = self.scalar_truth(op, args) {
            return value;
        }
        if let Some(value) = self.place(op) {
            return value;
        }
        match op {
            Op::Ballot => self.ballot(args[0]),
            Op::Shuffle => self.shuffled_scalar(args[0], args[1]),
            Op::Select => {
                let cond = self.truth(args[0]);
                let [a, b] = [args[1], args[2]].map(|arg| match self.shader.values[arg].ty {
                    vc4_shaders::ir::Type::Bool => self.truth(arg),
                    vc4_shaders::ir::Type::Word => self.base(arg),
                });
                self.b.ins().select(cond, a, b)
            }
            Op::LoadPush(offset) => self.push_constant(offset),
            _ => {
                let words: Vec<clif::Value> = args.iter().map(|&arg| self.base(arg)).collect();
                match self.integer(op, &words) {
                    Some(value) => value,
                    None => self.rare(op, args, true),
                }
            }
        }
    }

    fn scalar_float(&mut self, op: Op, args: &[Value]) -> Option<clif::Value> {
        if !takes_floats(op) {
            return None;
        }
        let floats: Vec<clif::Value> = args.iter().map(|&arg| self.float(arg)).collect();
        Some(self.float_operation(op, &floats))
    }

    fn scalar_truth(&mut self, op: Op, args: &[Value]) -> Option<clif::Value> {
        if op == Op::BAny {
            if self.is_uniform(args[0]) {
                return Some(self.truth(args[0]));
            }
            let holds = self.lanes(args[0]);
            let mask = self.mask_value(self.mask);
            let both = self.b.ins().band(holds, mask);
            return Some(self.b.ins().vany_true(both));
        }
        if !matches!(op, Op::BAnd | Op::BOr | Op::BXor | Op::BNot) {
            return None;
        }
        let truths: Vec<clif::Value> = args.iter().map(|&arg| self.truth(arg)).collect();
        Some(match op {
            Op::BAnd => self.b.ins().band(truths[0], truths[1]),
            Op::BOr => self.b.ins().bor(truths[0], truths[1]),
            Op::BXor => self.b.ins().bxor(truths[0], truths[1]),
            _ => self.b.ins().bxor_imm(truths[0], 1),
        })
    }

    /// What an invocation knows of its place, for element 0.
    fn place(&mut self, op: Op) -> Option<clif::Value> {
        let Op::LoadBuiltin(BuiltinInput::Invocation(place)) = op else {
            return None;
        };
        let workgroup = std::mem::offset_of!(Context, workgroup);
        let count = std::mem::offset_of!(Context, count);
        Some(match place {
            Invocation::WorkgroupId(axis) => self.field(types::I32, workgroup + 4 * usize::from(axis.min(2))),
            Invocation::WorkgroupCount(axis) => self.field(types::I32, count + 4 * usize::from(axis.min(2))),
            Invocation::LocalId(axis) => {
                let size = self.shader.workgroup.size[usize::from(axis.min(2))];
                if size == 1 { self.word(0) } else { self.local_id(types::I32, axis) }
            }
            Invocation::LocalIndex => self.b.ins().ishl_imm(self.start.batch, 2),
            Invocation::SubgroupInvocation => self.word(0),
            Invocation::SubgroupId => self.start.batch,
        })
    }

    fn local_id(&mut self, ty: clif::Type, axis: u8) -> clif::Value {
        let places = self.pointer(std::mem::offset_of!(Context, places));
        let batch = self.b.ins().uextend(types::I64, self.start.batch);
        let offset = self.b.ins().imul_imm(batch, size_of::<[u32; 12]>() as i64);
        let offset = self.distance(offset);
        let address = self.b.ins().iadd(places, offset);
        self.fixed(ty, address, 16 * usize::from(axis.min(2)))
    }

    fn vector_operation(&mut self, op: Op, args: &[Value]) -> clif::Value {
        match op {
            Op::LoadBuiltin(BuiltinInput::Invocation(Invocation::LocalId(axis))) => {
                return self.local_id(types::I32X4, axis);
            }
            Op::Select => return self.select(args),
            Op::Shuffle => return self.shuffled(args[0], args[1]),
            // The machine shifts all elements by one number.
            Op::Shl | Op::Shr | Op::Asr if self.is_uniform(args[1]) => {
                let (lanes, by) = (self.lanes(args[0]), self.base(args[1]));
                return self.shift(op, lanes, by);
            }
            _ => {}
        }
        if takes_floats(op) {
            let floats: Vec<clif::Value> = args.iter().map(|&arg| self.float_lanes(arg)).collect();
            return self.float_operation(op, &floats);
        }
        if is_by_element(op) {
            return self.by_element(op, args);
        }
        let lanes: Vec<clif::Value> = args.iter().map(|&arg| self.lanes(arg)).collect();
        match (op, &lanes[..]) {
            (Op::BAnd, &[a, b]) => self.b.ins().band(a, b),
            (Op::BOr, &[a, b]) => self.b.ins().bor(a, b),
            (Op::BXor, &[a, b]) => self.b.ins().bxor(a, b),
            (Op::BNot, &[a]) => self.b.ins().bnot(a),
            _ => match self.integer(op, &lanes) {
                Some(value) => value,
                None => self.rare(op, args, false),
            },
        }
    }

    fn select(&mut self, args: &[Value]) -> clif::Value {
        let (a, b) = (self.lanes(args[1]), self.lanes(args[2]));
        let truths = self.shader.values[args[1]].ty == vc4_shaders::ir::Type::Bool;
        if truths && args[2] == args[0] {
            return self.b.ins().band(a, b);
        }
        if truths && args[1] == args[0] {
            return self.b.ins().bor(a, b);
        }
        if self.is_uniform(args[0]) && !truths {
            let cond = self.truth(args[0]);
            return self.b.ins().select(cond, a, b);
        }
        let cond = self.lanes(args[0]);
        self.b.ins().bitselect(cond, a, b)
    }

    /// The elements that run and in which a truth holds, as bits.
    fn ballot(&mut self, vote: Value) -> clif::Value {
        let votes = self.lanes(vote);
        let mask = self.mask_value(self.mask);
        let votes = self.b.ins().band(votes, mask);
        self.b.ins().vhigh_bits(types::I32, votes)
    }

    /// A value of one element, or one that all have.
    fn shuffled_scalar(&mut self, value: Value, from: Value) -> clif::Value {
        if self.is_uniform(value) {
            return self.base(value);
        }
        let lanes = self.lanes(value);
        let extract = |b: &mut FunctionBuilder<'_>, element: u32| b.ins().extractlane(lanes, element as u8);
        if let Some(element) = self.shader.const_of(from) {
            return extract(&mut self.b, element % SUBGROUP);
        }
        let from = self.base(from);
        let from = self.b.ins().band_imm(from, i64::from(SUBGROUP - 1));
        let first = extract(&mut self.b, 0);
        (1..SUBGROUP).fold(first, |word, element| {
            let chosen = self.b.ins().icmp_imm(IntCC::Equal, from, i64::from(element));
            let other = extract(&mut self.b, element);
            self.b.ins().select(chosen, other, word)
        })
    }

    /// Of every element the value of another.
    fn shuffled(&mut self, value: Value, from: Value) -> clif::Value {
        let (lanes, from) = (self.lanes(value), self.lanes(from));
        let modulo = self.vector([SUBGROUP - 1; WIDTH]);
        let from = self.b.ins().band(from, modulo);
        let mut shuffled = lanes;
        for element in 0..SUBGROUP {
            let word = self.b.ins().extractlane(lanes, element as u8);
            let (word, number) = (self.splat(word), self.vector([element; WIDTH]));
            let chosen = self.b.ins().icmp(IntCC::Equal, from, number);
            shuffled = self.b.ins().bitselect(chosen, word, shuffled);
        }
        shuffled
    }

    fn by_element(&mut self, op: Op, args: &[Value]) -> clif::Value {
        // What all elements share is taken as it is: most divisors are.
        let operands: Vec<(clif::Value, bool)> = args
            .iter()
            .map(|&arg| match self.is_uniform(arg) {
                true => (self.base(arg), true),
                false => (self.lanes(arg), false),
            })
            .collect();
        let mut all = self.vector([0; 4]);
        for element in 0..4u8 {
            let word = |b: &mut FunctionBuilder<'_>, (value, shared)| match shared {
                true => value,
                false => b.ins().extractlane(value, element),
            };
            let words: Vec<clif::Value> =
                operands.iter().map(|&operand| word(&mut self.b, operand)).collect();
            if let Some(word) = self.integer(op, &words) {
                all = self.b.ins().insertlane(all, word, element);
            }
        }
        all
    }

    fn shift(&mut self, op: Op, a: clif::Value, by: clif::Value) -> clif::Value {
        match op {
            Op::Shl => self.b.ins().ishl(a, by),
            Op::Shr => self.b.ins().ushr(a, by),
            _ => self.b.ins().sshr(a, by),
        }
    }

    /// An operation on integers or between them and floats, of scalars or vectors alike; `None` if there is no code for it.
    fn integer(&mut self, op: Op, args: &[clif::Value]) -> Option<clif::Value> {
        if let &[a] = args {
            return self.integer_unary(op, a);
        }
        let &[a, b] = args else {
            return None;
        };
        if let Some(cc) = comparison(op) {
            return Some(self.b.ins().icmp(cc, a, b));
        }
        let ins = self.b.ins();
        Some(match op {
            Op::IAdd => ins.iadd(a, b),
            Op::ISub => ins.isub(a, b),
            Op::IMul => ins.imul(a, b),
            Op::And => ins.band(a, b),
            Op::Or => ins.bor(a, b),
            Op::Xor => ins.bxor(a, b),
            Op::SMin => ins.smin(a, b),
            Op::SMax => ins.smax(a, b),
            Op::UMin => ins.umin(a, b),
            Op::UMax => ins.umax(a, b),
            Op::Shl | Op::Shr | Op::Asr => self.shift(op, a, b),
            Op::UDiv | Op::UMod => self.unsigned_division(op, a, b),
            Op::SDiv | Op::SRem | Op::SMod => self.signed_division(op, a, b),
            Op::PackHalves => {
                let cut = ins.ishl_imm(a, 16);
                let low = self.b.ins().ushr_imm(cut, 16);
                let high = self.b.ins().ishl_imm(b, 16);
                self.b.ins().bor(low, high)
            }
            _ => return None,
        })
    }

    fn integer_unary(&mut self, op: Op, a: clif::Value) -> Option<clif::Value> {
        let ty = self.b.func.dfg.value_type(a);
        let float = if ty == types::I32 { types::F32 } else { types::F32X4 };
        Some(match op {
            Op::Not => self.b.ins().bnot(a),
            Op::Clz => self.b.ins().clz(a),
            Op::SToF => self.b.ins().fcvt_from_sint(float, a),
            Op::UToF => self.b.ins().fcvt_from_uint(float, a),
            _ => return None,
        })
    }

    /// Of scalars: what divisors of 0 give is any word, but it must not trap.
    fn unsigned_division(&mut self, op: Op, a: clif::Value, b: clif::Value) -> clif::Value {
        let is_zero = self.b.ins().icmp_imm(IntCC::Equal, b, 0);
        let one = self.word(1);
        let divisor = self.b.ins().select(is_zero, one, b);
        if op == Op::UDiv {
            let quotient = self.b.ins().udiv(a, divisor);
            let ones = self.word(!0);
            return self.b.ins().select(is_zero, ones, quotient);
        }
        let rest = self.b.ins().urem(a, divisor);
        self.b.ins().select(is_zero, a, rest)
    }

    /// Of scalars: -1 is apart because the quotient of the smallest number overflows.
    fn signed_division(&mut self, op: Op, a: clif::Value, b: clif::Value) -> clif::Value {
        let is_zero = self.b.ins().icmp_imm(IntCC::Equal, b, 0);
        let is_minus_one = self.b.ins().icmp_imm(IntCC::Equal, b, -1);
        let special = self.b.ins().bor(is_zero, is_minus_one);
        let one = self.word(1);
        let divisor = self.b.ins().select(special, one, b);
        let ones = self.word(!0);
        if op == Op::SDiv {
            let quotient = self.b.ins().sdiv(a, divisor);
            let negated = self.b.ins().ineg(a);
            let quotient = self.b.ins().select(is_minus_one, negated, quotient);
            return self.b.ins().select(is_zero, ones, quotient);
        }
        // By 1 instead of -1 the rest is 0 as well.
        let mut rest = self.b.ins().srem(a, divisor);
        if op == Op::SMod {
            let signs = self.b.ins().bxor(rest, divisor);
            let differ = self.b.ins().icmp_imm(IntCC::SignedLessThan, signs, 0);
            let moved = self.b.ins().iadd(rest, divisor);
            let there = self.b.ins().icmp_imm(IntCC::NotEqual, rest, 0);
            let both = self.b.ins().band(differ, there);
            rest = self.b.ins().select(both, moved, rest);
        }
        self.b.ins().select(is_zero, a, rest)
    }

    /// An operation on floats, of scalars or vectors alike.
    fn float_operation(&mut self, op: Op, args: &[clif::Value]) -> clif::Value {
        let a = args[0];
        let b = args.get(1).copied().unwrap_or(a);
        let vector = self.b.func.dfg.value_type(a) == types::F32X4;
        let integers = if vector { types::I32X4 } else { types::I32 };
        let ins = self.b.ins();
        match op {
            Op::FAdd => ins.fadd(a, b),
            Op::FSub => ins.fsub(a, b),
            Op::FMul => ins.fmul(a, b),
            Op::FDiv => ins.fdiv(a, b),
            Op::FNeg => ins.fneg(a),
            Op::FAbs => ins.fabs(a),
            Op::FSqrt => ins.sqrt(a),
            Op::FRsqrt | Op::FInverseLength => {
                let root = ins.sqrt(a);
                let one = self.float_constant(1.0, vector);
                self.b.ins().fdiv(one, root)
            }
            Op::FFloor if self.machine.rounds => self.b.ins().floor(a),
            Op::FCeil if self.machine.rounds => self.b.ins().ceil(a),
            Op::FTrunc if self.machine.rounds => self.b.ins().trunc(a),
            Op::FRoundEven if self.machine.rounds => self.b.ins().nearest(a),
            Op::FEq => ins.fcmp(FloatCC::Equal, a, b),
            Op::FNe => ins.fcmp(FloatCC::NotEqual, a, b),
            Op::FLt => ins.fcmp(FloatCC::LessThan, a, b),
            Op::FLe => ins.fcmp(FloatCC::LessThanOrEqual, a, b),
            Op::FToS => ins.fcvt_to_sint_sat(integers, a),
            Op::FToU => ins.fcvt_to_uint_sat(integers, a),
            Op::FMin => self.extreme(FloatCC::LessThan, a, b),
            Op::FMax => self.extreme(FloatCC::GreaterThan, a, b),
            Op::FSign => self.sign(a, vector),
            op => match Call::of(op) {
                Some(call) => self.function(call, a),
                None => a,
            },
        }
    }

    fn float_constant(&mut self, value: f32, vector: bool) -> clif::Value {
        if vector {
            let words = self.vector([value.to_bits(); 4]);
            self.as_floats(words)
        } else {
            self.b.ins().f32const(value)
        }
    }

    /// c ? a : b with c a comparison's result.
    fn choose(&mut self, cond: clif::Value, a: clif::Value, b: clif::Value) -> clif::Value {
        if self.b.func.dfg.value_type(a) != types::F32X4 {
            return self.b.ins().select(cond, a, b);
        }
        let (a, b) = (self.as_words(a), self.as_words(b));
        let chosen = self.b.ins().bitselect(cond, a, b);
        self.as_floats(chosen)
    }

    /// The smaller or larger number; the other operand of a NaN.
    fn extreme(&mut self, cc: FloatCC, a: clif::Value, b: clif::Value) -> clif::Value {
        let first = self.b.ins().fcmp(cc, a, b);
        let number = self.choose(first, a, b);
        let unordered = self.b.ins().fcmp(FloatCC::Unordered, b, b);
        self.choose(unordered, a, number)
    }

    fn sign(&mut self, a: clif::Value, vector: bool) -> clif::Value {
        let [zero, one, minus] = [0.0, 1.0, -1.0].map(|value| self.float_constant(value, vector));
        let above = self.b.ins().fcmp(FloatCC::GreaterThan, a, zero);
        let below = self.b.ins().fcmp(FloatCC::LessThan, a, zero);
        let rest = self.choose(below, minus, zero);
        self.choose(above, one, rest)
    }
}

/// Operations on floats with one float result or truth, or integers made of floats.
fn takes_floats(op: Op) -> bool {
    matches!(
        op,
        Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FNeg | Op::FAbs | Op::FSign | Op::FMin | Op::FMax
    ) || matches!(op, Op::FFloor | Op::FCeil | Op::FTrunc | Op::FRoundEven | Op::FRsqrt | Op::FInverseLength)
        || matches!(op, Op::FSqrt | Op::FExp2 | Op::FLog2 | Op::FSin | Op::FCos)
        || matches!(op, Op::FEq | Op::FNe | Op::FLt | Op::FLe | Op::FToS | Op::FToU)
}

fn comparison(op: Op) -> Option<IntCC> {
    Some(match op {
        Op::IEq => IntCC::Equal,
        Op::INe => IntCC::NotEqual,
        Op::SLt => IntCC::SignedLessThan,
        Op::SLe => IntCC::SignedLessThanOrEqual,
        Op::ULt => IntCC::UnsignedLessThan,
        Op::ULe => IntCC::UnsignedLessThanOrEqual,
        _ => return None,
    })
}

/// Operations that the machine has for scalars only.
fn is_by_element(op: Op) -> bool {
    matches!(op, Op::Shl | Op::Shr | Op::Asr | Op::Clz)
        || matches!(op, Op::UDiv | Op::UMod | Op::SDiv | Op::SRem | Op::SMod)
}

/// Operations that the host performs on images.
pub fn is_image(op: Op) -> bool {
    matches!(
        op,
        Op::Sample(_)
            | Op::Gather { .. }
            | Op::Fetch(_)
            | Op::ImageSize { .. }
            | Op::ImageLevels(_)
            | Op::ImageSamples(_)
            | Op::ImageLod(_)
            | Op::ImageRead(_)
            | Op::ImageWrite(_)
            | Op::ImageAtomic(..)
    )
}

/// Whether there is code for an operation.
pub fn is_supported(op: Op) -> bool {
    let compute = matches!(
        op,
        Op::Const(_) | Op::ConstBool(_) | Op::Undef | Op::Phi | Op::Select | Op::BAny | Op::LoadPush(_)
    ) || matches!(op, Op::LoadBuiltin(BuiltinInput::Invocation(_)) | Op::Ballot | Op::Shuffle)
        || matches!(op, Op::LoadUbo { .. } | Op::LoadUboDynamic { .. } | Op::BufferElements { .. })
        || matches!(op, Op::Load { .. } | Op::Store { .. } | Op::Atomic { .. } | Op::Fence | Op::Barrier);
    compute || is_image(op) || has_value(op)
}

/// Whether an operation is arithmetic that folding knows.
fn has_value(op: Op) -> bool {
    // Operations of the QPU's units have no place here.
    !matches!(op, Op::Add(_) | Op::Mul(_))
        && (1..=4).any(|count| vc4_shaders::ir::eval::eval(op, &[0; 4][..count]).is_some())
}

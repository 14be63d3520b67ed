//! Appends instructions to a block, folding what is constant and what is trivially one of its operands.

use smallvec::SmallVec;

use super::entity::{Block, Type, Value};
use super::eval::eval;
use super::interface::Output;
use super::op::{Op, Signature};
use super::shader::Shader;

/// Appends to one block of a shader.
#[derive(Debug)]
pub struct Builder<'a> {
    /// The shader.
    pub shader: &'a mut Shader,
    /// Where instructions go.
    pub block: Block,
    /// Mark of new instructions ([`super::InstData::relaxed`]).
    pub relaxed: bool,
    /// Mark of new instructions ([`super::InstData::exact`]).
    pub exact: bool,
}

/// Two-operand methods named after the operation.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $op:ident,)*) => {
        $($(#[$doc])* pub fn $name(&mut self, a: Value, b: Value) -> Value { self.op(Op::$op, &[a, b]) })*
    };
}

/// One-operand methods named after the operation.
macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident $op:ident,)*) => {
        $($(#[$doc])* pub fn $name(&mut self, a: Value) -> Value { self.op(Op::$op, &[a]) })*
    };
}

impl<'a> Builder<'a> {
    /// A builder that appends to `block`.
    pub fn new(shader: &'a mut Shader, block: Block) -> Builder<'a> {
        Builder { shader, block, relaxed: false, exact: false }
    }

    /// Appends an instruction as it is and returns its results.
    ///
    /// # Panics
    /// If the operation is a phi, select or undef: those have a type of their own choice and their own methods.
    pub fn emit(&mut self, op: Op, args: &[Value]) -> SmallVec<[Value; 1]> {
        let Signature::Fixed { results, .. } = op.signature() else {
            panic!("{op} has its own builder method");
        };
        self.append(op, args, &results)
    }

    fn append(&mut self, op: Op, args: &[Value], results: &[Type]) -> SmallVec<[Value; 1]> {
        let inst = self.shader.make_inst(op, SmallVec::from_slice(args), results, self.relaxed);
        self.shader.insts[inst].exact = self.exact;
        self.shader.blocks[self.block].insts.push(inst);
        self.shader.insts[inst].results.clone()
    }

    /// The one result of an operation, folded if it is constant or one of its operands.
    ///
    /// # Panics
    /// If the operation has no or several results.
    pub fn op(&mut self, op: Op, args: &[Value]) -> Value {
        if op == Op::Select {
            return self.select(args[0], args[1], args[2]);
        }
        if let Some(value) = self.fold(op, args) {
            return value;
        }
        self.emit(op, args)[0]
    }

    fn fold(&mut self, op: Op, args: &[Value]) -> Option<Value> {
        if args.is_empty() {
            return None;
        }
        let words: Option<SmallVec<[u32; 4]>> = args.iter().map(|&arg| self.shader.const_of(arg)).collect();
        if let Some(word) = words.and_then(|words| eval(op, &words)) {
            let Signature::Fixed { results, .. } = op.signature() else {
                return None;
            };
            return Some(self.constant(word, results[0]));
        }
        self.identity(op, args)
    }

    /// The operand that the operation hands through: integer identities only, because floats have signed zeros.
    fn identity(&self, op: Op, args: &[Value]) -> Option<Value> {
        let &[a, b] = args else {
            return None;
        };
        match (op, self.shader.const_of(a), self.shader.const_of(b)) {
            (Op::IAdd | Op::Or | Op::Xor | Op::BOr | Op::BXor, Some(0), _) => Some(b),
            (Op::IAdd | Op::Or | Op::Xor | Op::BOr | Op::BXor, _, Some(0)) => Some(a),
            (Op::ISub | Op::Shl | Op::Shr | Op::Asr, _, Some(0)) => Some(a),
            (Op::BAnd, Some(1), _) | (Op::IMul, Some(1), _) => Some(b),
            (Op::BAnd, _, Some(1)) | (Op::IMul, _, Some(1)) => Some(a),
            (Op::BAnd | Op::And | Op::IMul, Some(0), _) => Some(a),
            (Op::BAnd | Op::And | Op::IMul, _, Some(0)) => Some(b),
            _ => None,
        }
    }

    /// A constant of a type; booleans are 0 and 1.
    pub fn constant(&mut self, word: u32, ty: Type) -> Value {
        match ty {
            Type::Word => self.word(word),
            Type::Bool => self.truth(word != 0),
        }
    }

    /// A constant word.
    pub fn word(&mut self, word: u32) -> Value {
        self.emit(Op::Const(word), &[])[0]
    }

    /// A constant float.
    pub fn float(&mut self, value: f32) -> Value {
        self.word(value.to_bits())
    }

    /// A constant boolean.
    pub fn truth(&mut self, truth: bool) -> Value {
        self.emit(Op::ConstBool(truth), &[])[0]
    }

    /// Any value of a type.
    pub fn undef(&mut self, ty: Type) -> Value {
        self.append(Op::Undef, &[], &[ty])[0]
    }

    /// c ? a : b.
    pub fn select(&mut self, c: Value, a: Value, b: Value) -> Value {
        if a == b {
            return a;
        }
        match self.shader.const_of(c) {
            Some(0) => b,
            Some(_) => a,
            None => {
                let ty = self.shader.values[a].ty;
                self.append(Op::Select, &[c, a, b], &[ty])[0]
            }
        }
    }

    /// A phi at the front of the block; arguments may be added later with [`Builder::add_phi_arg`].
    pub fn phi(&mut self, ty: Type, args: &[(Block, Value)]) -> Value {
        let values = args.iter().map(|&(_, value)| value).collect();
        let inst = self.shader.make_inst(Op::Phi, values, &[ty], false);
        self.shader.insts[inst].phi_blocks = args.iter().map(|&(block, _)| block).collect();
        let insts = &self.shader.blocks[self.block].insts;
        let at = insts.partition_point(|&inst| self.shader.insts[inst].op.is(Op::Phi));
        self.shader.blocks[self.block].insts.insert(at, inst);
        self.shader.insts[inst].results[0]
    }

    /// Adds an argument to a phi made before.
    pub fn add_phi_arg(&mut self, phi: Value, from: Block, value: Value) {
        let data = &mut self.shader.insts[self.shader.values[phi].inst];
        data.args.push(value);
        data.phi_blocks.push(from);
    }

    /// Stores an output component.
    pub fn store_output(&mut self, output: Output, value: Value) {
        self.emit(Op::StoreOutput(output), &[value]);
    }

    /// Ends the elements in which `cond` holds.
    pub fn discard_if(&mut self, cond: Value) {
        if self.shader.const_of(cond) != Some(0) {
            self.emit(Op::DiscardIf, &[cond]);
        }
    }

    /// a * b + c.
    pub fn fmad(&mut self, a: Value, b: Value, c: Value) -> Value {
        let product = self.fmul(a, b);
        self.fadd(product, c)
    }

    /// a limited to [0, 1].
    pub fn saturate(&mut self, a: Value) -> Value {
        let (zero, one) = (self.float(0.0), self.float(1.0));
        let low = self.fmax(a, zero);
        self.fmin(low, one)
    }

    binary! {
        /// a + b.
        fadd FAdd,
        /// a - b.
        fsub FSub,
        /// a * b.
        fmul FMul,
        /// a / b.
        fdiv FDiv,
        /// Smaller float.
        fmin FMin,
        /// Larger float.
        fmax FMax,
        /// a + b, integers.
        iadd IAdd,
        /// a - b, integers.
        isub ISub,
        /// Low word of a * b.
        imul IMul,
        /// a << b.
        shl Shl,
        /// Logical a >> b.
        shr Shr,
        /// Arithmetic a >> b.
        asr Asr,
        /// a & b.
        and And,
        /// a | b.
        or Or,
        /// a ^ b.
        xor Xor,
        /// Signed minimum.
        smin SMin,
        /// Signed maximum.
        smax SMax,
        /// Unsigned minimum.
        umin UMin,
        /// Unsigned maximum.
        umax UMax,
        /// a == b, floats.
        feq FEq,
        /// a != b, floats.
        fne FNe,
        /// a < b, floats.
        flt FLt,
        /// a <= b, floats.
        fle FLe,
        /// a == b, words.
        ieq IEq,
        /// a != b, words.
        ine INe,
        /// Signed a < b.
        slt SLt,
        /// Unsigned a < b.
        ult ULt,
        /// Both.
        band BAnd,
        /// Either.
        bor BOr,
        /// Exactly one.
        bxor BXor,
    }

    unary! {
        /// -a.
        fneg FNeg,
        /// |a|.
        fabs FAbs,
        /// Largest integer not above a.
        ffloor FFloor,
        /// a without its fraction.
        ftrunc FTrunc,
        /// 1 / sqrt(a).
        frsqrt FRsqrt,
        /// sqrt(a).
        fsqrt FSqrt,
        /// 2^a.
        fexp2 FExp2,
        /// log2(a).
        flog2 FLog2,
        /// sin(a).
        fsin FSin,
        /// cos(a).
        fcos FCos,
        /// ~a.
        not Not,
        /// Leading zeros.
        clz Clz,
        /// Not a.
        bnot BNot,
        /// Float to signed integer.
        ftos FToS,
        /// Signed integer to float.
        stof SToF,
        /// Unsigned integer to float.
        utof UToF,
        /// Horizontal derivative.
        ddx Ddx,
        /// Vertical derivative.
        ddy Ddy,
    }
}

//! Instructions that compute values from values. Composites are flattened to their scalars, so most
//! operations are one IR operation per scalar.

use std::rc::Rc;

use smallvec::SmallVec;
use spirv::Op as Spv;

use crate::ir::{Builder, Op, Signature, Type, Value};
use crate::spirv::binary::parse::Inst;
use crate::spirv::error::{Result, SpirvError};
use crate::spirv::types::{Ty, Types};

/// A flattened value with its type.
#[derive(Clone, Debug)]
pub struct Typed {
    /// Type.
    pub ty: Ty,
    /// Scalars in declaration order.
    pub values: Rc<[Value]>,
}

/// Everything that one instruction's translation needs.
pub struct Emit<'a> {
    /// Where IR instructions go.
    pub b: Builder<'a>,
    /// The module's types.
    pub types: &'a Types,
    /// The instruction, for errors.
    pub inst: &'a Inst,
    /// Its result type.
    pub result: Ty,
}

/// Scalars of a result.
pub type Scalars = Vec<Value>;

/// Translates an instruction whose result depends on its operands only.
/// The result has the scalars that the result type demands.
pub fn expression(e: &mut Emit<'_>, op: Spv, args: &[Typed], literals: &[u32]) -> Result<Scalars> {
    let values = match super::composite::composite(e, op, args, literals)? {
        Some(values) => values,
        None => match super::matrix::matrix(e, op, args)? {
            Some(values) => values,
            None => match super::integer::integer(e, op, args)? {
                Some(values) => values,
                None => arithmetic(e, op, args)?,
            },
        },
    };
    e.check(values)
}

impl Emit<'_> {
    /// An operand.
    pub fn arg<'t>(&self, args: &'t [Typed], index: usize) -> Result<&'t Typed> {
        args.get(index).ok_or_else(|| self.inst.invalid(format!("operand {index} is missing")))
    }

    /// An operand that consists of words (not booleans).
    pub fn words(&self, args: &[Typed], index: usize) -> Result<Rc<[Value]>> {
        let values = self.arg(args, index)?.values.clone();
        self.all_words(&values)?;
        Ok(values)
    }

    /// An operand of words with as many scalars as the result.
    pub fn like_result(&self, args: &[Typed], index: usize) -> Result<Rc<[Value]>> {
        let values = self.words(args, index)?;
        if values.len() != self.width() {
            return Err(self.invalid("operands and result differ in size"));
        }
        Ok(values)
    }

    /// An operand that is one word.
    pub fn scalar(&self, args: &[Typed], index: usize) -> Result<Value> {
        match self.words(args, index)?[..] {
            [value] => Ok(value),
            _ => Err(self.invalid(format!("operand {index} is not a scalar"))),
        }
    }

    fn all_words(&self, values: &[Value]) -> Result<()> {
        if values.iter().any(|&value| self.b.shader.values[value].ty != Type::Word) {
            return Err(self.invalid("a boolean stands where a number should"));
        }
        Ok(())
    }

    /// Scalars of the result.
    pub fn width(&self) -> usize {
        self.types.scalars(self.result) as usize
    }

    /// A broken rule at this instruction.
    pub fn invalid(&self, reason: impl Into<String>) -> SpirvError {
        self.inst.invalid(reason)
    }

    /// One IR operation, after a check of its operands' types.
    pub fn op(&mut self, op: Op, args: &[Value]) -> Result<Value> {
        let types: SmallVec<[Type; 4]> = args.iter().map(|&arg| self.b.shader.values[arg].ty).collect();
        let fits = match op.signature() {
            Signature::Fixed { args: wanted, .. } => types == wanted,
            Signature::Select => types.len() == 3 && types[0] == Type::Bool && types[1] == types[2],
            Signature::Phi | Signature::Undef => false,
        };
        if fits { Ok(self.b.op(op, args)) } else { Err(self.invalid("operands have the wrong type")) }
    }

    /// One IR operation per scalar of the result; `order` names the operands.
    pub fn each(&mut self, op: Op, args: &[Typed], order: &[usize]) -> Result<Scalars> {
        let mut operands: SmallVec<[Rc<[Value]>; 3]> = SmallVec::new();
        for &index in order {
            let values = self.arg(args, index)?.values.clone();
            if values.len() != self.width() {
                return Err(self.invalid("operands and result differ in size"));
            }
            operands.push(values);
        }
        (0..self.width())
            .map(|at| {
                let scalars: SmallVec<[Value; 3]> = operands.iter().map(|values| values[at]).collect();
                self.op(op, &scalars)
            })
            .collect()
    }

    /// Negates every scalar of a boolean result.
    fn negated(&mut self, values: Scalars) -> Scalars {
        values.into_iter().map(|value| self.b.bnot(value)).collect()
    }

    /// Whether the scalars are what the result type demands.
    pub fn check(&self, values: Scalars) -> Result<Scalars> {
        let made: Vec<Type> = values.iter().map(|&value| self.b.shader.values[value].ty).collect();
        if made == self.types.flatten(self.result) {
            Ok(values)
        } else {
            Err(self.invalid("the operation does not yield the result type"))
        }
    }

    /// Sum of the products of corresponding scalars.
    pub fn dot(&mut self, a: &[Value], b: &[Value]) -> Value {
        let mut sum = None;
        for (&x, &y) in a.iter().zip(b) {
            let product = self.b.fmul(x, y);
            sum = Some(sum.map_or(product, |sum| self.b.fadd(sum, product)));
        }
        sum.unwrap_or_else(|| self.b.float(0.0))
    }

    /// a - b * floor(a / b), or with truncation.
    fn float_remainder(&mut self, round: Op, args: &[Typed]) -> Result<Scalars> {
        let (a, b) = (self.like_result(args, 0)?, self.like_result(args, 1)?);
        let one = |(&x, &y): (&Value, &Value)| {
            let quotient = self.b.fdiv(x, y);
            let whole = self.b.op(round, &[quotient]);
            let product = self.b.fmul(y, whole);
            self.b.fsub(x, product)
        };
        Ok(a.iter().zip(b.iter()).map(one).collect())
    }

    /// By the bits: comparisons subtract, and the difference of two equal infinities is a NaN, too.
    fn is_nan(&mut self, args: &[Typed]) -> Result<Scalars> {
        let values = self.like_result(args, 0)?;
        let (mask, infinity) = (self.b.word(0x7fff_ffff), self.b.word(0x7f80_0000));
        let one = |&value: &Value| {
            let magnitude = self.b.and(value, mask);
            self.b.slt(infinity, magnitude)
        };
        Ok(values.iter().map(one).collect())
    }

    fn is_infinite(&mut self, args: &[Typed]) -> Result<Scalars> {
        let values = self.like_result(args, 0)?;
        let (mask, infinity) = (self.b.word(0x7fff_ffff), self.b.word(0x7f80_0000));
        let one = |&value: &Value| {
            let magnitude = self.b.and(value, mask);
            self.b.ieq(magnitude, infinity)
        };
        Ok(values.iter().map(one).collect())
    }

    /// Rounded to the nearest float16 (even), whose denormals become zero.
    fn quantized(&mut self, args: &[Typed]) -> Result<Scalars> {
        let values = self.like_result(args, 0)?;
        let b = &mut self.b;
        let (magnitude_mask, sign_mask, infinity) =
            (b.word(0x7fff_ffff), b.word(1 << 31), b.word(0x7f80_0000));
        let (shift, one, almost_half, kept) = (b.word(13), b.word(1), b.word(0xfff), b.word(!0x1fff));
        // 2^-14, the smallest normal float16, and 2^16, which is none any more.
        let (smallest, overflow, zero) = (b.word(113 << 23), b.word(143 << 23), b.word(0));
        let one = |&value: &Value| {
            let (magnitude, sign) = (b.and(value, magnitude_mask), b.and(value, sign_mask));
            // Half a unit in the last place, less one bit where the kept mantissa is even.
            let last = b.shr(magnitude, shift);
            let odd = b.and(last, one);
            let bias = b.iadd(odd, almost_half);
            let biased = b.iadd(magnitude, bias);
            let rounded = b.and(biased, kept);
            let tiny = b.ult(rounded, smallest);
            let huge = b.op(Op::ULe, &[overflow, rounded]);
            let nan = b.ult(infinity, magnitude);
            let rounded = b.select(tiny, zero, rounded);
            let rounded = b.select(huge, infinity, rounded);
            let rounded = b.select(nan, magnitude, rounded);
            b.or(rounded, sign)
        };
        Ok(values.iter().map(one).collect())
    }

    fn fold_bools(&mut self, op: Op, args: &[Typed]) -> Result<Scalars> {
        let values = self.arg(args, 0)?.values.clone();
        let (&first, rest) = values.split_first().ok_or_else(|| self.invalid("an empty vector"))?;
        let mut all = first;
        for &value in rest {
            all = self.op(op, &[all, value])?;
        }
        Ok(vec![all])
    }

    /// One condition may choose between whole composites.
    fn select(&mut self, args: &[Typed]) -> Result<Scalars> {
        let conditions = self.arg(args, 0)?.values.clone();
        let (yes, no) = (self.arg(args, 1)?.values.clone(), self.arg(args, 2)?.values.clone());
        let width = self.width();
        if yes.len() != width || no.len() != width || (conditions.len() != width && conditions.len() != 1) {
            return Err(self.invalid("operands and result differ in size"));
        }
        (0..width)
            .map(|at| {
                let condition = *conditions.get(at).unwrap_or(&conditions[0]);
                self.op(Op::Select, &[condition, yes[at], no[at]])
            })
            .collect()
    }

    fn derivative_sum(&mut self, args: &[Typed]) -> Result<Scalars> {
        let values = self.like_result(args, 0)?;
        let one = |&value: &Value| {
            let (dx, dy) = (self.b.ddx(value), self.b.ddy(value));
            let (dx, dy) = (self.b.fabs(dx), self.b.fabs(dy));
            self.b.fadd(dx, dy)
        };
        Ok(values.iter().map(one).collect())
    }
}

/// The IR operation per scalar, the operands' order, and whether the result is negated.
fn plain(op: Spv) -> Option<(Op, &'static [usize], bool)> {
    const A: &[usize] = &[0];
    const AB: &[usize] = &[0, 1];
    const BA: &[usize] = &[1, 0];
    Some(match op {
        Spv::FNegate => (Op::FNeg, A, false),
        Spv::Not => (Op::Not, A, false),
        Spv::LogicalNot => (Op::BNot, A, false),
        Spv::ConvertFToS => (Op::FToS, A, false),
        Spv::ConvertFToU => (Op::FToU, A, false),
        Spv::ConvertSToF => (Op::SToF, A, false),
        Spv::ConvertUToF => (Op::UToF, A, false),
        Spv::DPdx | Spv::DPdxFine | Spv::DPdxCoarse => (Op::Ddx, A, false),
        Spv::DPdy | Spv::DPdyFine | Spv::DPdyCoarse => (Op::Ddy, A, false),
        Spv::FAdd => (Op::FAdd, AB, false),
        Spv::FSub => (Op::FSub, AB, false),
        Spv::FMul => (Op::FMul, AB, false),
        Spv::FDiv => (Op::FDiv, AB, false),
        Spv::IAdd => (Op::IAdd, AB, false),
        Spv::ISub => (Op::ISub, AB, false),
        Spv::IMul => (Op::IMul, AB, false),
        Spv::UDiv => (Op::UDiv, AB, false),
        Spv::SDiv => (Op::SDiv, AB, false),
        Spv::UMod => (Op::UMod, AB, false),
        Spv::SMod => (Op::SMod, AB, false),
        Spv::SRem => (Op::SRem, AB, false),
        Spv::ShiftLeftLogical => (Op::Shl, AB, false),
        Spv::ShiftRightLogical => (Op::Shr, AB, false),
        Spv::ShiftRightArithmetic => (Op::Asr, AB, false),
        Spv::BitwiseAnd => (Op::And, AB, false),
        Spv::BitwiseOr => (Op::Or, AB, false),
        Spv::BitwiseXor => (Op::Xor, AB, false),
        Spv::LogicalAnd => (Op::BAnd, AB, false),
        Spv::LogicalOr => (Op::BOr, AB, false),
        Spv::LogicalNotEqual => (Op::BXor, AB, false),
        Spv::LogicalEqual => (Op::BXor, AB, true),
        Spv::IEqual => (Op::IEq, AB, false),
        Spv::INotEqual => (Op::INe, AB, false),
        Spv::SLessThan => (Op::SLt, AB, false),
        Spv::SLessThanEqual => (Op::SLe, AB, false),
        Spv::SGreaterThan => (Op::SLt, BA, false),
        Spv::SGreaterThanEqual => (Op::SLe, BA, false),
        Spv::ULessThan => (Op::ULt, AB, false),
        Spv::ULessThanEqual => (Op::ULe, AB, false),
        Spv::UGreaterThan => (Op::ULt, BA, false),
        Spv::UGreaterThanEqual => (Op::ULe, BA, false),
        // Vulkan leaves NaN support open (vulkan-on-vc4.md §9): equality takes the cheap form of each pair.
        Spv::FOrdEqual | Spv::FUnordEqual => (Op::FEq, AB, false),
        Spv::FOrdNotEqual | Spv::FUnordNotEqual => (Op::FNe, AB, false),
        Spv::FOrdLessThan => (Op::FLt, AB, false),
        Spv::FOrdLessThanEqual => (Op::FLe, AB, false),
        Spv::FOrdGreaterThan => (Op::FLt, BA, false),
        Spv::FOrdGreaterThanEqual => (Op::FLe, BA, false),
        Spv::FUnordLessThan => (Op::FLe, BA, true),
        Spv::FUnordLessThanEqual => (Op::FLt, BA, true),
        Spv::FUnordGreaterThan => (Op::FLe, AB, true),
        Spv::FUnordGreaterThanEqual => (Op::FLt, AB, true),
        _ => return None,
    })
}

fn arithmetic(e: &mut Emit<'_>, op: Spv, args: &[Typed]) -> Result<Scalars> {
    if let Some((ir, order, negated)) = plain(op) {
        let values = e.each(ir, args, order)?;
        return Ok(if negated { e.negated(values) } else { values });
    }
    match op {
        Spv::FMod => e.float_remainder(Op::FFloor, args),
        Spv::FRem => e.float_remainder(Op::FTrunc, args),
        Spv::IsNan => e.is_nan(args),
        Spv::IsInf => e.is_infinite(args),
        Spv::QuantizeToF16 => e.quantized(args),
        Spv::Any => e.fold_bools(Op::BOr, args),
        Spv::All => e.fold_bools(Op::BAnd, args),
        Spv::Select => e.select(args),
        Spv::Fwidth | Spv::FwidthFine | Spv::FwidthCoarse => e.derivative_sum(args),
        Spv::Bitcast => Ok(e.like_result(args, 0)?.to_vec()),
        Spv::Dot => {
            let (a, b) = (e.words(args, 0)?, e.words(args, 1)?);
            if a.len() != b.len() {
                return Err(e.invalid("the vectors differ in size"));
            }
            Ok(vec![e.dot(&a, &b)])
        }
        op => {
            let supported = "the arithmetic, bit, comparison, conversion, composite and derivative instructions of \
                             the Shader capability on 32-bit types";
            Err(e.inst.unsupported(format!("Op{op:?}"), supported))
        }
    }
}

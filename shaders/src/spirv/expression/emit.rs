//! What the translation of every instruction from values to values needs: its operands, checked, and where IR goes.

use std::rc::Rc;

use smallvec::SmallVec;

use crate::ir::{Builder, Op, Signature, Type, Value};
use crate::spirv::binary::Inst;
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

    /// Whether the scalars are what the result type demands.
    pub fn check(&self, values: Scalars) -> Result<Scalars> {
        let made = values.iter().map(|&value| self.b.shader.values[value].ty);
        if made.eq(self.types.flatten(self.result)) {
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
}

/// A function of one scalar at a time.
pub fn map(
    e: &mut Emit<'_>,
    args: &[Typed],
    mut f: impl FnMut(&mut Builder<'_>, Value) -> Value,
) -> Result<Scalars> {
    let a = e.like_result(args, 0)?;
    Ok(a.iter().map(|&x| f(&mut e.b, x)).collect())
}

/// A function of two scalars at a time.
pub fn map2(
    e: &mut Emit<'_>,
    args: &[Typed],
    mut f: impl FnMut(&mut Builder<'_>, Value, Value) -> Value,
) -> Result<Scalars> {
    let (a, b) = (e.like_result(args, 0)?, e.like_result(args, 1)?);
    Ok(a.iter().zip(b.iter()).map(|(&x, &y)| f(&mut e.b, x, y)).collect())
}

/// A function of three scalars at a time.
pub fn map3(
    e: &mut Emit<'_>,
    args: &[Typed],
    mut f: impl FnMut(&mut Builder<'_>, Value, Value, Value) -> Value,
) -> Result<Scalars> {
    let (a, b, c) = (e.like_result(args, 0)?, e.like_result(args, 1)?, e.like_result(args, 2)?);
    Ok((0..a.len()).map(|at| f(&mut e.b, a[at], b[at], c[at])).collect())
}

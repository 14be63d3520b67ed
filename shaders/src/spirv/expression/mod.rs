//! Instructions that compute values from values, of functions as of constants. Composites are flattened to their
//! scalars, so most operations are one IR operation per scalar.
//!
//! `emit` is the vocabulary; a family of instructions is a file. Imports `binary` and `types`: constants of a module are
//! computed here before there is a translation.

mod arithmetic;
mod composite;
pub mod emit;
pub mod glsl;
pub mod integer;
mod matrix;

use spirv::Op as Spv;

use crate::spirv::error::Result;
use emit::{Emit, Scalars, Typed};

/// Translates an instruction whose result depends on its operands only.
/// The result has the scalars that the result type demands.
pub fn expression(e: &mut Emit<'_>, op: Spv, args: &[Typed], literals: &[u32]) -> Result<Scalars> {
    let values = match composite::composite(e, op, args, literals)? {
        Some(values) => values,
        None => match matrix::matrix(e, op, args)? {
            Some(values) => values,
            None => match integer::integer(e, op, args)? {
                Some(values) => values,
                None => arithmetic::arithmetic(e, op, args)?,
            },
        },
    };
    e.check(values)
}

//! Inputs at other places than the pixel's centre: interpolateAtCentroid, interpolateAtSample, interpolateAtOffset.

use spirv::GlslStd450Op as Glsl;

use super::memory::load_values;
use super::translator::Translator;
use crate::ir::{BuiltinInput, Interpolation, Op, Type, Value};
use crate::spirv::binary::{Id, Inst};
use crate::spirv::error::Result;
use vc4::image::layout::MSAA_SAMPLES;

/// Whether an extended instruction evaluates an input.
pub const fn evaluates(op: Glsl) -> bool {
    matches!(op, Glsl::InterpolateAtCentroid | Glsl::InterpolateAtSample | Glsl::InterpolateAtOffset)
}

/// Evaluates the input that the first operand points to.
pub fn evaluate(t: &mut Translator<'_>, inst: &Inst, op: Glsl, operands: &[Id]) -> Result<()> {
    let missing = || inst.invalid("an operand is missing");
    let pointer = t.pointer(*operands.first().ok_or_else(missing)?, inst)?;
    let values = load_values(t, &pointer, inst)?;
    let offset = match op {
        Glsl::InterpolateAtCentroid => None,
        Glsl::InterpolateAtSample => {
            let sample = t.scalar(*operands.get(1).ok_or_else(missing)?, Type::Word, inst)?;
            Some(sample_offset(t, sample))
        }
        _ => match t.data(*operands.get(1).ok_or_else(missing)?, inst)?.values[..] {
            [x, y] => Some([x, y]),
            _ => return Err(inst.invalid("an offset has two components")),
        },
    };
    let values: Vec<Value> = values.into_iter().map(|value| at(t, value, offset)).collect();
    t.define_data(inst, values)
}

/// A scalar of an input at an offset from the pixel's centre, or at the centroid.
fn at(t: &mut Translator<'_>, value: Value, offset: Option<[Value; 2]>) -> Value {
    let op = t.shader.op(value);
    let mut b = t.builder();
    let value = match op {
        Op::LoadInput { location, component, interpolation } => {
            let interpolation = match (interpolation.at_center(), offset) {
                (Interpolation::Smooth, None) => Interpolation::Centroid,
                (Interpolation::NoPerspective, None) => Interpolation::NoPerspectiveCentroid,
                (Interpolation::Smooth, Some(_)) => Interpolation::Center,
                (Interpolation::NoPerspective, Some(_)) => Interpolation::NoPerspectiveCenter,
                (other, _) => other,
            };
            b.op(Op::LoadInput { location, component, interpolation }, &[])
        }
        _ => value,
    };
    let Some(offset) = offset else { return value };
    let steps = [(Op::Ddx, offset[0]), (Op::Ddy, offset[1])].map(|(slope, offset)| {
        let slope = b.op(slope, &[value]);
        b.op(Op::FMul, &[slope, offset])
    });
    steps.into_iter().fold(value, |sum, step| b.op(Op::FAdd, &[sum, step]))
}

/// Where a sample lies from the pixel's centre. With one sample per pixel only number 0 is meant, and its place is what the
/// pipeline makes of it.
fn sample_offset(t: &mut Translator<'_>, sample: Value) -> [Value; 2] {
    let mut b = t.builder();
    [0, 1].map(|axis| {
        let mut offset = b.float(0.0);
        for number in 0..MSAA_SAMPLES as u8 {
            let place = b.op(Op::LoadBuiltin(BuiltinInput::SampleOffset { sample: number, axis }), &[]);
            let number = b.word(number.into());
            let is_it = b.op(Op::IEq, &[sample, number]);
            offset = b.select(is_it, place, offset);
        }
        offset
    })
}

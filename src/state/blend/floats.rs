//! Blending of one sample on floats: every format whose colours can be blended.

use super::equation::{BlendEquation, BlendFactor, BlendOp};
use super::output::ColorOutput;
use super::sources::{Sources, clamped};
use crate::image::ColorKind;
use crate::state::emitter::{Emitter, StateUniform};
use crate::state::target::{decode, encode};

/// A word of state or a number that costs nothing.
#[derive(Clone, Copy)]
pub(super) enum Factor<V> {
    /// 0
    Zero,
    /// 1
    One,
    /// Any other number.
    Value(V),
}

const ALPHA: usize = 3;

/// The word of the blended colour. Components that are not written keep the source's value, as nobody looks at them.
pub(super) fn emit<E: Emitter>(
    e: &mut E,
    output: &ColorOutput,
    sources: &mut Sources<E::Value>,
    dst: Option<E::Value>,
) -> E::Value {
    let (zero, one) = (e.word(0), e.float(1.0));
    let dst = dst.map_or([zero, zero, zero, one], |dst| decode(e, &output.encoding, dst));
    let mut color = sources.raw[0];
    for (component, value) in color.iter_mut().enumerate() {
        let equation = output.equation(component);
        if output.writes(component) && equation != BlendEquation::REPLACE {
            *value = apply(e, output, equation, sources, &dst, component);
        }
    }
    encode(e, &output.encoding, color)
}

fn apply<E: Emitter>(
    e: &mut E,
    output: &ColorOutput,
    equation: BlendEquation,
    sources: &mut Sources<E::Value>,
    dst: &[E::Value; 4],
    component: usize,
) -> E::Value {
    let (src, old) = (sources.operand(e, &output.encoding, 0, component), dst[component]);
    match equation.op {
        BlendOp::Min => return e.fmin(src, old),
        BlendOp::Max => return e.fmax(src, old),
        BlendOp::Add | BlendOp::Subtract | BlendOp::ReverseSubtract => {}
    }
    let src_factor = factor(e, output, equation.src, sources, dst, component);
    let dst_factor = factor(e, output, equation.dst, sources, dst, component);
    let (s, d) = (scaled(e, src, src_factor), scaled(e, old, dst_factor));
    let zero = e.word(0);
    match (equation.op, s, d) {
        (BlendOp::Add, Some(s), Some(d)) => e.fadd(s, d),
        (BlendOp::Subtract, Some(s), Some(d)) => e.fsub(s, d),
        (BlendOp::ReverseSubtract, Some(s), Some(d)) => e.fsub(d, s),
        (BlendOp::Add | BlendOp::Subtract, Some(s), None) => s,
        (BlendOp::Add | BlendOp::ReverseSubtract, None, Some(d)) => d,
        (BlendOp::ReverseSubtract, Some(v), None) | (BlendOp::Subtract, None, Some(v)) => e.fsub(zero, v),
        _ => zero,
    }
}

/// `value * factor`; `None` is zero.
fn scaled<E: Emitter>(e: &mut E, value: E::Value, factor: Factor<E::Value>) -> Option<E::Value> {
    match factor {
        Factor::Zero => None,
        Factor::One => Some(value),
        Factor::Value(factor) => Some(e.fmul(value, factor)),
    }
}

/// A factor for one component. `dst` is read by factors of the destination only.
pub(super) fn factor<E: Emitter>(
    e: &mut E,
    output: &ColorOutput,
    factor: BlendFactor,
    sources: &mut Sources<E::Value>,
    dst: &[E::Value; 4],
    component: usize,
) -> Factor<E::Value> {
    use BlendFactor as F;
    let encoding = &output.encoding;
    let value = match factor {
        F::Zero => return Factor::Zero,
        F::One => return Factor::One,
        F::SrcColor | F::OneMinusSrcColor => sources.operand(e, encoding, 0, component),
        F::SrcAlpha | F::OneMinusSrcAlpha => sources.operand(e, encoding, 0, ALPHA),
        F::Src1Color | F::OneMinusSrc1Color => sources.operand(e, encoding, 1, component),
        F::Src1Alpha | F::OneMinusSrc1Alpha => sources.operand(e, encoding, 1, ALPHA),
        F::DstColor | F::OneMinusDstColor => dst[component],
        F::DstAlpha | F::OneMinusDstAlpha => dst[ALPHA],
        F::ConstantColor | F::OneMinusConstantColor => constant(e, output, component),
        F::ConstantAlpha | F::OneMinusConstantAlpha => constant(e, output, ALPHA),
        F::SrcAlphaSaturate if component == ALPHA => return Factor::One,
        F::SrcAlphaSaturate => {
            let alpha = sources.operand(e, encoding, 0, ALPHA);
            let room = complement(e, dst[ALPHA]);
            return Factor::Value(e.fmin(alpha, room));
        }
    };
    Factor::Value(match factor {
        F::OneMinusSrcColor
        | F::OneMinusDstColor
        | F::OneMinusSrcAlpha
        | F::OneMinusDstAlpha
        | F::OneMinusConstantColor
        | F::OneMinusConstantAlpha
        | F::OneMinusSrc1Color
        | F::OneMinusSrc1Alpha => complement(e, value),
        _ => value,
    })
}

/// A blend constant within the bounds of the target's operands.
fn constant<E: Emitter>(e: &mut E, output: &ColorOutput, component: usize) -> E::Value {
    match output.encoding.kind {
        ColorKind::Unorm | ColorKind::Srgb => e.uniform(StateUniform::BlendConstant(component as u8)),
        _ => {
            let value = e.uniform(StateUniform::BlendConstantUnclamped(component as u8));
            clamped(e, &output.encoding, value)
        }
    }
}

/// 1 - value
fn complement<E: Emitter>(e: &mut E, value: E::Value) -> E::Value {
    let one = e.float(1.0);
    e.fsub(one, value)
}

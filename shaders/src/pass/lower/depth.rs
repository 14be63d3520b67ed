//! Depths that the fragment program computes: where the machine's own are clipped, of its line or point instead of the
//! triangle's, or moved by the wrong slope or without a clamp.

use super::corners::{BIAS, POSITION, hidden};
use crate::ir::{Builder, BuiltinInput, Interpolation, Op, Shader, Value};
use crate::pass::rewrite::emitter::{IrEmitter, recip};
use crate::pass::rewrite::{Action, prepend, rewrite};
use crate::state::{DepthClamp, PipelineState};
use vc4::state::{Emitter, StateUniform};

/// The depth of a fragment whose depths are clamped instead of clipped, before the clamp, put in front of a fragment stage;
/// the stage sees it, too. `None` where depths are the machine's.
///
/// The vertex programs then hide z from the clipper, so what it interpolates is no depth. z reaches fragments as a varying; over
/// w it is linear on the screen.
pub(super) fn unclipped(shader: &mut Shader, state: &PipelineState) -> Option<Value> {
    let clamp = state.depth_clamp?;
    let depth = prepend(shader, |b| {
        let z = Op::LoadInput { location: POSITION, component: 2, interpolation: Interpolation::Smooth };
        let (z, w) = (b.op(z, &[]), b.op(Op::PayloadW, &[]));
        let inverse = recip(b, w);
        let [start, scale, _] = range(b);
        let mut e = IrEmitter::new(b);
        let normal = e.fmul(z, inverse);
        let scaled = e.fmul(normal, scale);
        let depth = e.fadd(scaled, start);
        let bias = match state.polygon {
            _ if !clamp.biased => return depth,
            Some(polygon) if polygon.slope_bias => hidden(b, BIAS),
            // The slope of the line or point would not be the triangle's.
            Some(_) => {
                let flat = b.float(0.0);
                bias(b, flat)
            }
            None => sloped(b, depth),
        };
        b.op(Op::FAdd, &[depth, bias])
    });
    let Ok(()) = rewrite(shader, |_, data| {
        Ok::<_, std::convert::Infallible>(match data.op {
            Op::LoadBuiltin(BuiltinInput::FragCoord(2)) => Action::with(depth),
            _ => Action::Keep,
        })
    });
    Some(depth)
}

/// A depth that depths can be, inside of the viewport's range if the clamp says so.
pub(super) fn clamped(b: &mut Builder, clamp: DepthClamp, depth: Value) -> Value {
    let (low, high) = match clamp.to_viewport {
        true => {
            let [start, _, end] = range(b);
            let mut e = IrEmitter::new(b);
            (e.fmin(start, end), e.fmax(start, end))
        }
        false => (b.float(0.0), b.float(1.0)),
    };
    let mut e = IrEmitter::new(b);
    let depth = e.fmax(depth, low);
    e.fmin(depth, high)
}

/// The depth of a fragment that is moved by its triangle's slope: on an edge or a corner of one, or where the machine takes
/// another slope, or the bias has a clamp.
pub(super) fn moved(b: &mut Builder, state: &PipelineState) -> Option<Value> {
    let of_corners = state.polygon.is_some_and(|polygon| polygon.slope_bias);
    if !of_corners && !state.moves_depth {
        return None;
    }
    let depth = b.op(Op::LoadBuiltin(BuiltinInput::FragCoord(2)), &[]);
    let bias = if of_corners { hidden(b, BIAS) } else { sloped(b, depth) };
    Some(b.op(Op::FAdd, &[depth, bias]))
}

/// The offset of a triangle's depths: the larger of the two derivatives is the slope, as Vulkan allows.
fn sloped(b: &mut Builder, depth: Value) -> Value {
    let [x, y] = [Op::Ddx, Op::Ddy].map(|op| b.op(op, &[depth]));
    let slope = IrEmitter::new(b).add(vc4::qpu::AddOp::Fmaxabs, x, y);
    bias(b, slope)
}

/// Start, size and end of the viewport's depth range.
fn range(b: &mut Builder) -> [Value; 3] {
    let mut e = IrEmitter::new(b);
    let (start, scale) = (e.uniform(StateUniform::DepthBias), e.uniform(StateUniform::DepthScale));
    [start, scale, e.fadd(start, scale)]
}

/// The offset of depths for a slope, in depths of 0 to 1.
pub(super) fn bias(b: &mut Builder, slope: Value) -> Value {
    let mut e = IrEmitter::new(b);
    let (factor, constant) = (e.uniform(StateUniform::BiasSlope), e.uniform(StateUniform::BiasConstant));
    let sloped = e.fmul(slope, factor);
    let bias = e.fadd(sloped, constant);
    let (low, high) = (e.uniform(StateUniform::BiasLow), e.uniform(StateUniform::BiasHigh));
    let bias = e.fmax(bias, low);
    e.fmin(bias, high)
}

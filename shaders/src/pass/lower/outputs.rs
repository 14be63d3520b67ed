//! Stage outputs: a vertex's position and varyings become VPM rows, a fragment's colour and depth become tile
//! buffer writes, through the patches of `vc4::state` (vulkan-on-vc4.md §8.1–§8.2, qpu.md §4.7–§4.11).

use std::collections::BTreeMap;

use vc4::image::layout::MSAA_SAMPLES;
use vc4::state::blend::emit_color_samples;
use vc4::state::depth_stencil::emit_depth_stencil;
use vc4::state::multisample::{Coverage, emit_coverage};
use vc4::state::viewport::{Position, VertexStage, emit_position};
use vc4::state::{Emitter, Flag, SampleEmitter, StateUniform};

use super::corners::{self, CLIPPED, CULLED};
use super::depth;
use super::error::LowerError;
use super::inputs::Varying;
use crate::binding::UniformSlot;
use crate::ir::{Block, Builder, Interpolation, Node, Op, Output, Shader, Value};
use crate::pass::rewrite::emitter::IrEmitter;
use crate::pass::rewrite::{Action, rewrite};
use crate::state::PipelineState;

/// What a fragment program does beside its colour.
#[derive(Clone, Copy, Debug, Default)]
pub struct FragmentOutcome {
    /// It computes its own depth.
    pub writes_depth: bool,
    /// It may discard.
    pub discards: bool,
}

/// Lowers the outputs of the vertex stage for one of its two programs. `varyings`: what the fragment program
/// reads, in its order.
pub fn vertex(
    shader: &mut Shader,
    stage: VertexStage,
    state: &PipelineState,
    varyings: &[Varying],
) -> Result<(), LowerError> {
    let block = last_block(shader)?;
    let outputs = take_outputs(shader);
    let mut builder = Builder::new(shader, block);
    let mut emitter = IrEmitter::new(&mut builder);
    let (zero, one) = (emitter.word(0), emitter.float(1.0));
    let get = |output, default| outputs.get(&output).copied().unwrap_or(default);
    let mut clip = [0, 1, 2, 3].map(|n| get(Output::Position(n), if n == 3 { one } else { zero }));
    let w = clip[3];
    if state.depth_clamp.is_some() {
        // Halfway between near and far wherever there is an inside.
        let half = emitter.float(0.5);
        clip[2] = emitter.fmul(w, half);
    }
    if let Some(&culled) = outputs.get(&CULLED) {
        // Nothing is inside of a negative w.
        let nowhere = emitter.float(-1.0);
        clip = [(zero, 0), (zero, 1), (zero, 2), (nowhere, 3)]
            .map(|(value, n)| emitter.select(Flag::Negative, culled, value, clip[n]));
    }
    let point_size = state.points.then(|| get(Output::PointSize, one));
    emit_position(
        &mut emitter,
        stage,
        &Position {
            map: state.raster,
            near_plane: state.machine.near_plane,
            clip,
            is_far: clip[2] == clip[3],
            points: state.points,
            point_size,
        },
    );
    if stage == VertexStage::Vertex {
        for &Varying { location, component, interpolation } in varyings {
            let mut value = get(corners::output(state, location, component, interpolation), zero);
            if interpolation == Interpolation::NoPerspective {
                value = emitter.mul(vc4::qpu::MulOp::Fmul, value, w);
            }
            emitter.write_vpm(value);
        }
    }
    Ok(())
}

/// Lowers the outputs of a fragment shader: discard, coverage, depth and stencil, colour.
pub fn fragment(shader: &mut Shader, state: &PipelineState) -> Result<FragmentOutcome, LowerError> {
    let block = last_block(shader)?;
    let unclipped = depth::unclipped(shader, state);
    let outputs = take_outputs(shader);
    let early_tests = shader.early_fragment_tests;
    let kill = take_discards(shader, block);
    let mut builder = Builder::new(shader, block);
    let own_depth = outputs.get(&Output::FragDepth).copied().filter(|_| !early_tests);
    let depth = match (own_depth.or(unclipped), state.depth_clamp) {
        (Some(depth), Some(clamp)) => Some(depth::clamped(&mut builder, clamp, depth)),
        (depth, _) => depth.or_else(|| depth::moved(&mut builder, state)),
    };
    let four_samples = state.multisample.four_samples;
    let pipeline_mask = four_samples && (state.multisample.sample_mask || state.counted);
    let clipped = outputs.get(&CLIPPED).copied();
    let shaded = state.sample.filter(|_| four_samples).map(|sample| builder.word(1 << sample));
    let clip_mask = clipped.filter(|_| four_samples);
    let clip_mask = both(&mut builder, Op::And, clip_mask, shaded);
    let clip = clipped.filter(|_| !four_samples).map(|distance| {
        let zero = builder.float(0.0);
        builder.op(Op::FLt, &[distance, zero])
    });
    let other_pixel = state.counted.then(|| {
        let (element, three) = (builder.op(Op::ElementNumber, &[]), builder.word(3));
        let pixel = builder.op(Op::And, &[element, three]);
        let drawn = builder.op(Op::Uniform(UniformSlot::State(StateUniform::QuadPixel)), &[]);
        builder.op(Op::INe, &[pixel, drawn])
    });
    let clip = both(&mut builder, Op::BOr, clip, other_pixel);
    let fixed = Coverage { pipeline_mask, shader_mask: clip_mask, alpha: None };
    let computed = Coverage {
        pipeline_mask: false,
        shader_mask: outputs.get(&Output::SampleMask).copied(),
        alpha: state.multisample.alpha_to_coverage.then(|| color_output(&mut builder, &outputs, 0, 3)),
    };
    // Early tests ignore what the program computes, discard included.
    if early_tests {
        narrow(&mut builder, four_samples, fixed, clip);
    } else {
        let shader_mask = both(&mut builder, Op::And, computed.shader_mask, clip_mask);
        let kill = both(&mut builder, Op::BOr, kill, clip);
        narrow(&mut builder, four_samples, Coverage { pipeline_mask, shader_mask, ..computed }, kill);
    }
    emit_depth_stencil(&mut IrEmitter::new(&mut builder), state.depth_stencil, depth);
    if early_tests {
        narrow(&mut builder, four_samples, computed, kill);
    }
    color(&mut builder, &outputs, state)?;
    let writes_depth = depth.is_some() && state.depth_stencil.write_z;
    Ok(FragmentOutcome { writes_depth, discards: kill.is_some() || clip.is_some() })
}

/// What there is of two values, together if there are both.
fn both(builder: &mut Builder, op: Op, a: Option<Value>, b: Option<Value>) -> Option<Value> {
    match (a, b) {
        (Some(a), Some(b)) => Some(builder.op(op, &[a, b])),
        (a, b) => a.or(b),
    }
}

/// Leaves out elements and samples. With one sample per pixel, narrower coverage is a discard.
fn narrow(builder: &mut Builder, four_samples: bool, coverage: Coverage<Value>, kill: Option<Value>) {
    if four_samples {
        emit_coverage(&mut IrEmitter::new(builder), &coverage);
    }
    let mut kill = kill;
    let mut also = |builder: &mut Builder, condition: Value| {
        kill = Some(kill.map_or(condition, |kill| builder.op(Op::BOr, &[kill, condition])));
    };
    if let (false, Some(mask)) = (four_samples, coverage.shader_mask) {
        let (one, zero) = (builder.word(1), builder.word(0));
        let sample = builder.op(Op::And, &[mask, one]);
        let uncovered = builder.op(Op::IEq, &[sample, zero]);
        also(builder, uncovered);
    }
    if let (false, Some(alpha)) = (four_samples, coverage.alpha) {
        let half = builder.float(0.5);
        let uncovered = builder.op(Op::FLt, &[alpha, half]);
        also(builder, uncovered);
    }
    if let Some(kill) = kill {
        builder.discard_if(kill);
    }
}

/// A component of a colour; what the shader does not store is 0, 0, 0, 1.
fn color_output(
    builder: &mut Builder,
    outputs: &BTreeMap<Output, Value>,
    location: u32,
    component: u8,
) -> Value {
    let stored = outputs.get(&Output::User { location, component }).copied();
    stored.unwrap_or_else(|| if component == 3 { builder.float(1.0) } else { builder.word(0) })
}

/// Writes the colour; a program that has none to write touches the tile buffer all the same (qpu.md §4.7).
fn color(
    builder: &mut Builder,
    outputs: &BTreeMap<Output, Value>,
    state: &PipelineState,
) -> Result<(), LowerError> {
    match &state.color {
        Some(output) if output.writes_color() => {
            let location = state.color_location;
            let mut first = [0, 1, 2, 3].map(|n| color_output(builder, outputs, location, n));
            let mut second = [0, 1, 2, 3].map(|n| {
                let stored = outputs.get(&Output::SecondColor(n)).copied();
                stored.unwrap_or(first[usize::from(n)])
            });
            if state.multisample.alpha_to_one {
                (first[3], second[3]) = (builder.float(1.0), builder.float(1.0));
            }
            let has_second = outputs.keys().any(|output| matches!(output, Output::SecondColor(_)));
            let second = has_second.then_some(second);
            emit_color_samples(&mut IrEmitter::new(builder), output, first, second)?;
        }
        // Without a depth write a colour that nobody stores, or the colour that is there, does it.
        Some(output) if !state.depth_stencil.write_z => {
            let mut emitter = IrEmitter::new(builder);
            for _ in 0..if output.multisample { MSAA_SAMPLES } else { 1 } {
                let color = emitter.tlb_color();
                if output.multisample {
                    emitter.write_tlb_color_sample(color);
                } else {
                    emitter.write_tlb_color(color);
                }
            }
        }
        None if !state.depth_stencil.write_z => {
            let zero = builder.word(0);
            IrEmitter::new(builder).write_tlb_color(zero);
        }
        _ => {}
    }
    Ok(())
}

/// The block that control leaves the shader from.
pub(super) fn last_block(shader: &Shader) -> Result<Block, LowerError> {
    let last = shader.body.iter().rev().find(|node| !matches!(node, Node::Return));
    match last {
        Some(&Node::Block(block)) => Ok(block),
        _ => Err(LowerError::Structure { stage: shader.stage, what: "the shader does not end in one place" }),
    }
}

/// Removes output stores; the last value of each output remains.
fn take_outputs(shader: &mut Shader) -> BTreeMap<Output, Value> {
    let mut outputs = BTreeMap::new();
    let Ok(()) = rewrite(shader, |_, data| {
        Ok::<_, std::convert::Infallible>(match data.op {
            Op::StoreOutput(output) => {
                outputs.insert(output, data.args[0]);
                Action::remove()
            }
            _ => Action::Keep,
        })
    });
    outputs
}

/// Removes discards; the condition under which an element was discarded remains.
fn take_discards(shader: &mut Shader, block: Block) -> Option<Value> {
    let mut conditions = Vec::new();
    let Ok(()) = rewrite(shader, |_, data| {
        Ok::<_, std::convert::Infallible>(match data.op {
            Op::DiscardIf => {
                conditions.push(data.args[0]);
                Action::remove()
            }
            _ => Action::Keep,
        })
    });
    let mut builder = Builder::new(shader, block);
    conditions.into_iter().reduce(|a, b| builder.op(Op::BOr, &[a, b]))
}

//! Stage outputs: a vertex's position and varyings become VPM rows, a fragment's colour and depth become tile
//! buffer writes, through the patches of `vc4::state` (vulkan-on-vc4.md §8.1–§8.2, qpu.md §4.7–§4.11).

use std::collections::BTreeMap;

use vc4::state::Emitter;
use vc4::state::blend::emit_color;
use vc4::state::depth_stencil::emit_depth_stencil;
use vc4::state::viewport::{Position, VertexStage, emit_position};

use super::emitter::IrEmitter;
use super::lower_inputs::Varying;
use super::rewrite::{Action, rewrite};
use crate::compile::{CompileError, PipelineState};
use crate::ir::{Block, Builder, Interpolation, Node, Op, Output, Shader, Value};

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
) -> Result<(), CompileError> {
    let block = last_block(shader)?;
    let outputs = take_outputs(shader);
    let mut builder = Builder::new(shader, block);
    let mut emitter = IrEmitter::new(&mut builder);
    let (zero, one) = (emitter.word(0), emitter.float(1.0));
    let get = |output, default| outputs.get(&output).copied().unwrap_or(default);
    let clip = [0, 1, 2, 3].map(|n| get(Output::Position(n), if n == 3 { one } else { zero }));
    let point_size = state.points.then(|| get(Output::PointSize, one));
    emit_position(&mut emitter, stage, &Position { clip, points: state.points, point_size });
    if stage == VertexStage::Vertex {
        for &Varying { location, component, interpolation } in varyings {
            let mut value = get(Output::User { location, component }, zero);
            if interpolation == Interpolation::NoPerspective {
                value = emitter.mul(vc4::qpu::MulOp::Fmul, value, clip[3]);
            }
            emitter.write_vpm(value);
        }
    }
    Ok(())
}

/// Lowers the outputs of a fragment shader: discard, depth and stencil, colour.
pub fn fragment(shader: &mut Shader, state: &PipelineState) -> Result<FragmentOutcome, CompileError> {
    let block = last_block(shader)?;
    let outputs = take_outputs(shader);
    let early_tests = shader.early_fragment_tests;
    let kill = take_discards(shader, block);
    let mut builder = Builder::new(shader, block);
    let depth = outputs.get(&Output::FragDepth).copied().filter(|_| !early_tests);
    // Early tests ignore what the program computes, discard included.
    let discard_first = kill.filter(|_| !early_tests);
    let discard_late = kill.filter(|_| early_tests);
    if let Some(kill) = discard_first {
        builder.discard_if(kill);
    }
    emit_depth_stencil(&mut IrEmitter::new(&mut builder), state.depth_stencil, depth);
    if let Some(kill) = discard_late {
        builder.discard_if(kill);
    }
    let mut emitter = IrEmitter::new(&mut builder);
    let (zero, one) = (emitter.word(0), emitter.float(1.0));
    let component = |n: u8| {
        let output = Output::User { location: 0, component: n };
        outputs.get(&output).copied().unwrap_or(if n == 3 { one } else { zero })
    };
    match &state.color {
        Some(color) if color.writes_color() => {
            emit_color(&mut emitter, color, [component(0), component(1), component(2), component(3)], None)?;
        }
        // A program must touch the tile buffer; without a depth write a colour that nobody stores, or the
        // colour that is there, does it (qpu.md §4.7).
        Some(_) if !state.depth_stencil.write_z => {
            let color = emitter.tlb_color();
            emitter.write_tlb_color(color);
        }
        None if !state.depth_stencil.write_z => emitter.write_tlb_color(zero),
        _ => {}
    }
    let writes_depth = depth.is_some() && state.depth_stencil.write_z;
    Ok(FragmentOutcome { writes_depth, discards: kill.is_some() })
}

/// The block that control leaves the shader from.
fn last_block(shader: &Shader) -> Result<Block, CompileError> {
    let last = shader.body.iter().rev().find(|node| !matches!(node, Node::Return));
    match last {
        Some(&Node::Block(block)) => Ok(block),
        _ => {
            Err(CompileError::Structure { stage: shader.stage, what: "the shader does not end in one place" })
        }
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

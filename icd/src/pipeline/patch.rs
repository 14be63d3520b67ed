//! Patched programs: pipeline state spliced into assembly.

use vc4::qpu::{Inst, Stage};
use vc4::splice::{self, FragmentState, Reg, Slot, Spliced, VertexInput, VertexState};
use vc4_shaders::compile::PipelineState;
use vc4_shaders::program::UniformSlot;

use super::assembly::{Source, SourceColor, refuse, stage_name};
use super::attributes::Loads;
use crate::foundation::error::Error;

/// A program with its stream, as the machine will run it.
pub(super) struct Ready {
    /// Its instructions.
    pub insts: Vec<Inst>,
    /// Its uniform stream.
    pub uniforms: Vec<UniformSlot>,
}

/// The program with the state around it.
///
/// # Errors
/// It does not follow the conventions of patched programs.
pub(super) fn apply(
    state: &PipelineState,
    source: &Source,
    program: Ready,
    loads: Option<&Loads>,
) -> Result<Ready, Error> {
    let Ready { insts, uniforms } = program;
    let whole = splice::Source { stage: source.stage, insts: &insts, uniforms: &uniforms };
    let input = |(format, components): (_, Option<u8>)| match components {
        Some(components) => VertexInput { format, components },
        None => VertexInput::whole(format),
    };
    let inputs: Vec<VertexInput> = loads.iter().flat_map(|loads| loads.inputs()).map(input).collect();
    let vertex = VertexState { inputs: &inputs, points: state.points, near_plane: state.machine.near_plane };
    let spliced = match source.stage {
        Stage::Fragment => splice::fragment(&whole, &fragment_state(state, source.color)),
        Stage::Vertex => splice::vertex(&whole, &vertex),
        Stage::Coordinate => splice::coordinate(&whole, &vertex),
    };
    let name = stage_name(source.stage);
    let Spliced { insts, slots, .. } = spliced.or_else(|error| refuse(format!("{name} program: {error}")))?;
    Ok(Ready { insts, uniforms: slots.into_iter().map(slot).collect() })
}

fn fragment_state(state: &PipelineState, color: SourceColor) -> FragmentState {
    FragmentState {
        color: state.color,
        depth_stencil: state.depth_stencil,
        multisample: state.multisample,
        source: match color {
            SourceColor::Rgba8 => splice::SourceColor::Rgba8,
            SourceColor::Bgra8 => splice::SourceColor::Bgra8,
            SourceColor::Floats => splice::SourceColor::Registers([0, 1, 2, 3].map(Reg::Acc)),
        },
        second: None,
    }
}

fn slot(slot: Slot<UniformSlot>) -> UniformSlot {
    match slot {
        Slot::Own(slot) => slot,
        Slot::State(state) => UniformSlot::State(state),
        Slot::Const(word) => UniformSlot::Const(word),
        Slot::StreamAddress => UniformSlot::StreamAddress,
    }
}

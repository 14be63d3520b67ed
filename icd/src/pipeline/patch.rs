//! Patched programs: pipeline state spliced into assembly.

use vc4_shaders::compile::PipelineState;

use super::attributes::Loads;
use super::link::Ready;
use crate::assembly::{Source, refuse, stage_name};
use crate::error::Error;

/// The program with the state around it.
///
/// # Errors
/// It does not follow the conventions of patched programs.
pub(super) fn apply(
    _state: &PipelineState,
    source: &Source,
    _program: Ready,
    loads: Option<&Loads>,
) -> Result<Ready, Error> {
    let attributes = loads.map_or(0, |loads| loads.inputs().count());
    let name = stage_name(source.stage);
    refuse(format!("{name} program with {attributes} attributes: patched mode is not offered; use raw mode"))
}

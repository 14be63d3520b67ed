//! Passes over the IR, one per file: `opt_*` improve, `lower_*` replace what the machine has not.

pub mod emitter;
mod error;
pub mod link;
pub mod lower_bool;
pub mod lower_control;
pub mod lower_float;
pub mod lower_inputs;
pub mod lower_int;
pub mod lower_outputs;
pub mod lower_pack;
pub mod lower_texture;
pub mod lower_ubo;
mod negation;
pub mod opt_algebraic;
pub mod opt_all;
pub mod opt_blocks;
pub mod opt_branch;
pub mod opt_cse;
pub mod opt_dce;
pub mod opt_flatten;
pub mod opt_fold;
pub mod opt_mask;
pub mod opt_phi;
pub mod opt_precision;
pub mod opt_reassociate;
pub mod opt_scale;
pub mod opt_uniforms;
pub mod opt_unroll;
pub mod predicate;
pub mod range;
pub mod rewrite;
mod uses;

use crate::ir::{LineId, Shader, verify};
use crate::state::PipelineState;

pub use error::LowerError;

/// Log target of the IR between passes.
const LOG_TARGET: &str = "vc4::ir";

/// Runs one pass, prints the shader behind it if asked, and checks it in debug builds.
fn step(shader: &mut Shader, name: &str, pass: impl FnOnce(&mut Shader)) {
    pass(shader);
    // What a pass makes without saying where it comes from comes from nowhere.
    shader.line = LineId::NONE;
    log::trace!(target: LOG_TARGET, "{:?} after {name}:\n{shader}", shader.stage);
    verify::after_pass(shader, name);
}

/// Improves a shader without changing its level.
pub fn optimize(shader: &mut Shader) {
    opt_all::run(shader, |shader, name| {
        log::trace!(target: LOG_TARGET, "{:?} after {name}:\n{shader}", shader.stage);
        verify::after_pass(shader, name);
    });
}

/// Multiplies by what factors have in common once. Only the shader's own arithmetic may be rearranged so, not the sequences
/// that [`lower`] makes for the sake of their rounding.
pub fn factor(shader: &mut Shader) {
    for (name, pass) in
        [("opt_scale", opt_scale::run as opt_all::Pass), ("opt_reassociate", opt_reassociate::run)]
    {
        step(shader, name, |shader| {
            while pass(shader) {
                // Who uses what is counted.
                opt_dce::run(shader);
            }
        });
    }
}

/// Replaces inputs of a fragment stage by what is known of the vertex stage's outputs; see [`link::run`].
pub fn link(vertex: &Shader, fragment: &mut Shader) {
    step(fragment, "link", |fragment| link::run(vertex, fragment));
}

/// Turns what loops and ifs do per element into data.
pub fn lower_control(shader: &mut Shader) {
    step(shader, "lower_control", lower_control::run);
}

/// Turns a shader whose inputs and outputs are lowered into machine operations.
pub fn lower(shader: &mut Shader, state: &PipelineState) {
    step(shader, "lower_texture", |shader| lower_texture::run(shader, state));
    step(shader, "lower_ubo", lower_ubo::run);
    step(shader, "lower_int", lower_int::run);
    // Behind what makes colours, in front of what makes sequences of one operation.
    step(shader, "opt_precision", opt_precision::run);
    step(shader, "lower_float", lower_float::run);
    step(shader, "lower_pack", lower_pack::run);
    step(shader, "lower_bool", lower_bool::run);
    optimize(shader);
    step(shader, "opt_mask", |shader| {
        opt_mask::run(shader);
    });
}

/// A lowered shader whose long arms are jumped over where no element takes them; `None` if it has none.
pub fn branch(shader: &Shader) -> Option<Shader> {
    let plan = opt_branch::find(shader)?;
    let mut branched = shader.clone();
    step(&mut branched, "opt_branch", |branched| opt_branch::run(branched, plan));
    Some(branched)
}

/// A lowered shader with stream words in registers, as [`opt_uniforms`] chooses them; `None` if it chooses none. It comes last:
/// its copies are what other passes would remove.
pub fn keep_uniforms(shader: &Shader) -> Option<Shader> {
    let words = opt_uniforms::choose(shader);
    if words.is_empty() {
        return None;
    }
    let mut kept = shader.clone();
    step(&mut kept, "opt_uniforms", |kept| opt_uniforms::run(kept, &words));
    Some(kept)
}

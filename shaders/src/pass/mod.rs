//! Passes over the IR, one per file: `opt` improves, `lower` replaces what the machine has not.
//!
//! This page is the pipeline: which passes run, in which order. Below it `opt` and `lower` change shaders by means of
//! `rewrite` and look at them by means of `analysis`. Lowering takes what it must know of the pipeline from `state`; the rest
//! imports `ir` and `binding` only.

pub mod analysis;
pub mod lower;
pub mod opt;
pub mod rewrite;

use analysis::range::Range;

use crate::ir::{LineId, Shader, Stage, verify};
use crate::state::{Conversions, PipelineState, Precision};

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

/// Improves a shader without changing its level. Its instructions and values have other names then.
pub fn optimize(shader: &mut Shader) {
    opt::all::run(shader, |shader, name| {
        log::trace!(target: LOG_TARGET, "{:?} after {name}:\n{shader}", shader.stage);
        verify::after_pass(shader, name);
    });
    step(shader, "sweep", Shader::sweep);
}

/// Has lookups share clamped offsets, where no buffer is left; comes in front of all that joins blocks. See [`opt::places`].
pub fn places(shader: &mut Shader, state: &PipelineState) {
    if !state.robust {
        step(shader, "opt_places", |shader| {
            opt::places::run(shader);
        });
    }
}

/// Has the CPU compute what a draw gives to all elements alike, if it may; see [`opt::once`].
pub fn once(shader: &mut Shader, state: &PipelineState) {
    if !state.computes {
        return;
    }
    step(shader, "opt_once", |shader| {
        if opt::once::run(shader) {
            opt::dce::run(shader);
        }
    });
}

/// Multiplies by what factors have in common once. Only the shader's own arithmetic may be rearranged so, not the sequences
/// that [`lower`](fn@lower) makes for the sake of their rounding.
pub fn factor(shader: &mut Shader) {
    for (name, pass) in [
        ("opt_associate", opt::associate::run as opt::all::Pass),
        ("opt_scale", opt::scale::run),
        ("opt_reassociate", opt::reassociate::run),
    ] {
        step(shader, name, |shader| {
            while pass(shader) {
                // Who uses what is counted.
                opt::dce::run(shader);
            }
        });
    }
}

/// Replaces inputs of a fragment stage by what is known of the vertex stage's outputs; see [`opt::link::run`].
pub fn link(vertex: &Shader, fragment: &mut Shader) {
    step(fragment, "link", |fragment| opt::link::run(vertex, fragment));
}

/// Makes samples through samplers that convert Y'CBCR samples of planes; comes in front of all that looks at samples, in
/// graphics and compute stages alike.
pub fn lower_ycbcr(shader: &mut Shader, conversions: &Conversions) {
    step(shader, "lower_ycbcr", |shader| lower::ycbcr::run(shader, conversions));
}

/// Makes samples of anisotropic textures loops; they have derivatives only where they stand.
pub fn lower_anisotropy(shader: &mut Shader, state: &PipelineState) {
    step(shader, "lower_anisotropy", |shader| lower::texture::anisotropic(shader, state));
}

/// Turns what loops and ifs do per element into data.
pub fn lower_control(shader: &mut Shader) {
    step(shader, "lower_control", lower::control::run);
}

/// Turns a shader whose inputs and outputs are lowered into machine operations. Of the first varyings it knows bounds.
pub fn lower(shader: &mut Shader, state: &PipelineState, varyings: &[Range]) {
    step(shader, "lower_texture", |shader| lower::texture::run(shader, state));
    step(shader, "lower_ubo", lower::ubo::run);
    // Lookups have brought words of their own: sizes of textures.
    once(shader, state);
    let mut divides = false;
    step(shader, "lower_int", |shader| divides = lower::int::run(shader));
    if divides {
        // Their reciprocals may be the same for all.
        once(shader, state);
    }
    // Behind what makes colours, in front of what makes sequences of one operation.
    step(shader, "opt_precision", |shader| {
        if state.precision == Precision::Gl {
            opt::precision::estimate_powers(shader);
        }
        opt::precision::run(shader, varyings);
    });
    step(shader, "lower_float", lower::float::run);
    step(shader, "lower_pack", lower::pack::run);
    step(shader, "lower_bool", lower::boolean::run);
    optimize(shader);
    step(shader, "opt_mask", |shader| {
        opt::mask::run(shader);
    });
    step(shader, "opt_packed", |shader| {
        opt::packed::run(shader);
    });
    if shader.stage == Stage::Vertex {
        step(shader, "opt_rows", |shader| {
            opt::rows::run(shader);
        });
    }
}

/// A lowered shader whose long arms are jumped over where no element takes them; `None` if it has none.
pub fn branch(shader: &Shader) -> Option<Shader> {
    let plan = opt::branch::find(shader)?;
    let mut branched = shader.clone();
    step(&mut branched, "opt_branch", |branched| opt::branch::run(branched, plan));
    Some(branched)
}

/// A lowered shader with stream words in registers, as [`opt::uniforms`] chooses them; `None` if it chooses none. It comes last:
/// its copies are what other passes would remove.
pub fn keep_uniforms(shader: &Shader) -> Option<Shader> {
    let words = opt::uniforms::choose(shader);
    if words.is_empty() {
        return None;
    }
    let mut kept = shader.clone();
    step(&mut kept, "opt_uniforms", |kept| opt::uniforms::run(kept, &words));
    Some(kept)
}

/// A lowered shader that keeps words rather than parts of them; `None` if its parts are few. See [`opt::unpack`].
pub fn keep_words(shader: &Shader) -> Option<Shader> {
    let mut kept = opt::unpack::run(shader)?;
    step(&mut kept, "opt_unpack", |_| {});
    Some(kept)
}

/// A lowered shader with which [`relieve`] can begin; `None` if its values fit in no order.
pub fn spread(shader: &Shader, effort: opt::relieve::Effort) -> Option<Shader> {
    opt::relieve::spread(shader, effort)
}

/// Orders of a shader from [`spread`] that keep few values alive, with what is cheap made where it is used; see
/// [`opt::relieve`].
pub fn relieve(
    shader: &Shader,
    effort: opt::relieve::Effort,
    words: bool,
) -> Option<impl Iterator<Item = Shader>> {
    let orders = opt::relieve::run(shader, effort, words)?;
    // They are made; what is left of a step is to print and to check them.
    Some(orders.map(|mut order| {
        step(&mut order, "opt_relieve", |_| {});
        order
    }))
}

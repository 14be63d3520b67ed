//! SPIR-V modules to the IR: reading, specialisation, inlining, structured control flow.
//!
//! `parse` decodes instructions, `module` gathers types, constants, decorations and functions,
//! `translate` walks the entry point and emits IR. All functions are inlined, all composites become scalars, all
//! variables become SSA values. Whatever is not covered is a [`SpirvError`] that names the place.

mod buffer;
mod composite;
mod constant;
mod decoration;
mod env;
mod error;
mod expr;
mod flow;
mod function;
mod glsl;
mod glsl_math;
mod glsl_pack;
mod image;
mod integer;
mod interface;
mod line;
mod matrix;
mod memory;
mod module;
mod parse;
mod switch;
mod translate;
mod types;

pub use error::SpirvError;
pub use line::source_line;

use crate::diagnostic::LOG_TARGET;
use crate::ir::{Shader, Stage};

/// A shader stage as the application hands it over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StageSource<'a> {
    /// The module, in either byte order.
    pub words: &'a [u32],
    /// Name of the entry point.
    pub entry: &'a str,
    /// Specialisation: constant id and value bits; booleans are zero or not.
    pub specialization: &'a [(u32, u32)],
}

/// Translates one entry point of a module into the IR.
///
/// # Errors
/// What is wrong or lacking, and where: in the module, and in its source if the module tells.
pub fn translate(source: &StageSource<'_>, stage: Stage) -> Result<Shader, SpirvError> {
    let read = || translate::translate(&module::Module::read(source, stage)?, stage);
    let shader = read();
    log::trace!(target: LOG_TARGET, "{stage:?} after translate");
    shader.map_err(|error| match error.word().zip(parse::in_host_order(source.words).ok()) {
        Some((word, words)) => error.at(line::source_line(&words, word)),
        None => error,
    })
}

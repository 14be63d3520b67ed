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
mod matrix;
mod memory;
mod module;
mod parse;
mod switch;
mod translate;
mod types;

pub use error::SpirvError;

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
pub fn translate(source: &StageSource<'_>, stage: Stage) -> Result<Shader, SpirvError> {
    let module = module::Module::read(source, stage)?;
    translate::translate(&module, stage)
}

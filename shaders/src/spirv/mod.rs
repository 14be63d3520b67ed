//! SPIR-V modules to the IR: reading, specialisation, inlining, structured control flow.
//!
//! From the bottom: `error`; `binary` decodes instructions; `types`; `expression` computes values from values; `module`
//! gathers constants, decorations and functions; `translate` walks the entry point and emits IR. All functions are
//! inlined, all composites become scalars, variables become SSA values; of compute shaders, long arrays with any index become
//! scratch memory. Whatever is not covered is a [`SpirvError`]
//! that names the place. Of the rest of the crate `ir` and what that stands on are imported.

mod binary;
mod error;
mod expression;
mod module;
mod translate;
mod types;

pub use binary::source_line;
pub use error::SpirvError;
pub use module::StageSource;

use crate::diagnostic::LOG_TARGET;
use crate::ir::{Shader, Stage};

/// Translates one entry point of a module into the IR.
///
/// # Errors
/// What is wrong or lacking, and where: in the module, and in its source if the module tells.
pub fn translate(source: &StageSource<'_>, stage: Stage) -> Result<Shader, SpirvError> {
    let read = || translate::translate(&module::Module::read(source, stage)?, stage);
    let shader = read();
    log::trace!(target: LOG_TARGET, "{stage:?} after translate");
    shader.map_err(|error| match error.word().zip(binary::in_host_order(source.words).ok()) {
        Some((word, words)) => error.at(binary::source_line(&words, word)),
        None => error,
    })
}

//! From a module to the IR: the entry point is walked, functions are inlined, variables become SSA values.
//!
//! From the bottom: `env` (what names stand for) and `construct` (what is open around a place) are vocabulary, `residence`
//! decides which variables live in memory, `translator` holds the state. Above it the families of instructions, `choice`,
//! `buffer`, `words`, `atomic`, `subgroup`, `memory`, `image` and the stage's `interface`, with `instruction` that deals them out; beside them `join`, `label` and `switch`, the steps of control
//! flow. `descriptors` lets instructions choose among arrays of them. `flow` walks over all of it.

mod atomic;
mod buffer;
mod choice;
mod construct;
mod descriptors;
mod env;
mod flow;
mod image;
mod instruction;
mod interface;
mod interpolation;
mod join;
mod label;
mod memory;
mod residence;
mod subgroup;
mod switch;
mod translator;
mod words;

use super::error::{Result, SpirvError};
use super::module::Module;
use crate::ir::{LineId, Shader, Stage};
use translator::Translator;

/// Translates a module's entry point.
pub fn translate(module: &Module, stage: Stage) -> Result<Shader> {
    let mut t = Translator::new(module, stage);
    let entry = module.functions.get(&module.entry).ok_or_else(|| SpirvError::Invalid {
        word: 0,
        instruction: "OpEntryPoint".into(),
        reason: format!("function %{} is not defined", module.entry),
    })?;
    if let Some(parameter) = entry.parameters.first() {
        return Err(entry.inst.invalid(format!("the entry point has a parameter, %{parameter}")));
    }
    if stage == Stage::Compute {
        t.shader.workgroup.size = module.workgroup_size(&entry.inst)?;
        words::reserve_tables(&mut t, &entry.inst)?;
    }
    interface::declare_globals(&mut t);
    if flow::run_function(&mut t, entry, Vec::new(), 0..0)? {
        t.shader.line = LineId::NONE;
        interface::store_outputs(&mut t, &entry.inst)?;
    }
    Ok(t.into_shader())
}

//! What a stage stores for the next one.

use std::collections::BTreeSet;

use crate::ir::{Op, Output, Shader};

/// Location and component.
pub type Name = (u32, u8);

/// The user outputs that a stage stores, in order and each once.
pub fn user_outputs(shader: &Shader) -> Vec<Name> {
    let stored = shader.insts_in_order().into_iter().filter_map(|inst| match shader.insts[inst].op {
        Op::StoreOutput(Output::User { location, component }) => Some((location, component)),
        _ => None,
    });
    stored.collect::<BTreeSet<Name>>().into_iter().collect()
}

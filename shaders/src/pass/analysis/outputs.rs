//! What a stage stores for the next one.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Op, Output, Shader, Value};

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

/// What a stage stores; outputs with several stores are not known.
pub fn stored_once(shader: &Shader) -> BTreeMap<Name, Value> {
    let mut stores: BTreeMap<Name, Vec<Value>> = BTreeMap::new();
    for inst in shader.insts_in_order() {
        let data = &shader.insts[inst];
        if let Op::StoreOutput(Output::User { location, component }) = data.op {
            stores.entry((location, component)).or_default().push(data.args[0]);
        }
    }
    let only = |(name, values): (Name, Vec<Value>)| match values[..] {
        [value] => Some((name, value)),
        _ => None,
    };
    stores.into_iter().filter_map(only).collect()
}

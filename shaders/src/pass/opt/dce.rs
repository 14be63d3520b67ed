//! Removes instructions that nothing depends on, and stores of outputs that a later one in the block replaces.

use cranelift_entity::EntitySet;
use rustc_hash::FxHashSet;

use crate::ir::{Inst, Op, Shader, for_each_condition};

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    let stores = drop_stores(shader);
    let mut live = EntitySet::<Inst>::new();
    let mut work: Vec<Inst> = Vec::new();
    for inst in shader.insts_in_order() {
        if shader.insts[inst].op.has_effect() && live.insert(inst) {
            work.push(inst);
        }
    }
    for_each_condition(&shader.body, &mut |cond| {
        let inst = shader.values[cond].inst;
        if live.insert(inst) {
            work.push(inst);
        }
    });
    while let Some(inst) = work.pop() {
        for &arg in &shader.insts[inst].args {
            let inst = shader.values[arg].inst;
            if live.insert(inst) {
                work.push(inst);
            }
        }
    }
    let mut changed = stores;
    for block in shader.blocks_in_order() {
        let insts = &mut shader.blocks[block].insts;
        let before = insts.len();
        insts.retain(|&inst| live.contains(inst));
        changed |= insts.len() != before;
    }
    changed
}

fn drop_stores(shader: &mut Shader) -> bool {
    let mut changed = false;
    for block in shader.blocks_in_order() {
        let mut stored = FxHashSet::default();
        let mut insts = std::mem::take(&mut shader.blocks[block].insts);
        let before = insts.len();
        insts.reverse();
        insts.retain(|&inst| match shader.insts[inst].op {
            Op::StoreOutput(output) => stored.insert(output),
            _ => true,
        });
        insts.reverse();
        changed |= insts.len() != before;
        shader.blocks[block].insts = insts;
    }
    changed
}

//! Value numbering: an operation computed before, where it dominates, is not computed again.
//!
//! Constants are gathered at the start of the shader, so that equal ones are one value everywhere; the back end
//! makes them anew where it needs them.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ir::cfg::Cfg;
use crate::ir::{Block, Inst, Op, Replacements, Shader, Value};

type Key = (Op, SmallVec<[Value; 4]>, SmallVec<[Block; 2]>);

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    gather_constants(shader);
    let cfg = Cfg::new(shader);
    let mut known: FxHashMap<Key, SmallVec<[(Block, Inst); 1]>> = FxHashMap::default();
    let mut map = Replacements::default();
    for &block in &cfg.order {
        let insts = std::mem::take(&mut shader.blocks[block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts {
            for arg in &mut shader.insts[inst].args {
                *arg = map.resolve(*arg);
            }
            let Some(key) = key(shader, inst, block) else {
                kept.push(inst);
                continue;
            };
            let earlier = known.entry(key).or_default();
            match earlier.iter().find(|&&(home, _)| cfg.dominates(home, block)) {
                Some(&(_, same)) => {
                    unite(shader, same, inst, &mut map);
                }
                None => {
                    earlier.push((block, inst));
                    kept.push(inst);
                }
            }
        }
        shader.blocks[block].insts = kept;
    }
    shader.apply(&map);
    !map.is_empty()
}

/// What makes an instruction equal to another; `None` if it must stay.
fn key(shader: &Shader, inst: Inst, block: Block) -> Option<Key> {
    let data = &shader.insts[inst];
    if data.op == Op::Phi {
        // Equal phis of one block; the block is part of the key through its predecessors' order only, so name it.
        let mut blocks = SmallVec::from_slice(&data.phi_blocks);
        blocks.push(block);
        return Some((Op::Phi, SmallVec::from_slice(&data.args), blocks));
    }
    if !data.op.is_pure() || data.op == Op::Undef || data.results.is_empty() {
        return None;
    }
    let mut args: SmallVec<[Value; 4]> = SmallVec::from_slice(&data.args);
    if data.op.commutes() && args.len() >= 2 && args[1] < args[0] {
        args.swap(0, 1);
    }
    Some((data.op, args, SmallVec::new()))
}

fn unite(shader: &mut Shader, kept: Inst, gone: Inst, map: &mut Replacements) {
    let relaxed = shader.insts[gone].relaxed;
    // The result serves both: full precision if one of them wants it.
    shader.insts[kept].relaxed &= relaxed;
    for index in 0..shader.insts[gone].results.len() {
        map.insert(shader.insts[gone].results[index], shader.insts[kept].results[index]);
    }
}

/// Moves constants to the front of the entry block.
fn gather_constants(shader: &mut Shader) {
    let Some(entry) = shader.entry() else {
        return;
    };
    let is_const = |shader: &Shader, &inst: &Inst| shader.insts[inst].op.is_const();
    let mut constants = Vec::new();
    for block in shader.blocks_in_order() {
        let insts = &shader.blocks[block].insts;
        let front =
            if block == entry { insts.iter().take_while(|inst| is_const(shader, inst)).count() } else { 0 };
        if !insts[front..].iter().any(|inst| is_const(shader, inst)) {
            // They are where they belong.
            if block == entry {
                constants.extend(shader.blocks[block].insts.drain(..front));
            }
            continue;
        }
        let insts = std::mem::take(&mut shader.blocks[block].insts);
        let (moved, kept): (Vec<Inst>, Vec<Inst>) =
            insts.into_iter().partition(|inst| is_const(shader, inst));
        constants.extend(moved);
        shader.blocks[block].insts = kept;
    }
    constants.append(&mut shader.blocks[entry].insts);
    shader.blocks[entry].insts = constants;
}

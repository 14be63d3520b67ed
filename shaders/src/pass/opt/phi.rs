//! Phis that choose between one value and itself, or between a value and anything, are that value.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::ir::cfg::Cfg;
use crate::ir::{Block, BlockData, Inst, Op, Replacements, Shader, Value};

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    let mut changed = false;
    // A phi may become trivial when another one goes.
    while sweep(shader) {
        changed = true;
    }
    changed
}

fn sweep(shader: &mut Shader) -> bool {
    let first_is_phi =
        |data: &BlockData| data.insts.first().is_some_and(|&inst| shader.insts[inst].op.is(Op::Phi));
    if !shader.blocks.values().any(first_is_phi) {
        return false;
    }
    let cfg = Cfg::new(shader);
    let mut home: SecondaryMap<Inst, PackedOption<Block>> = shader.per_inst();
    for &block in &cfg.order {
        for &inst in &shader.blocks[block].insts {
            home[inst] = block.into();
        }
    }
    let mut map = Replacements::default();
    for &block in &cfg.order {
        let insts = std::mem::take(&mut shader.blocks[block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts {
            let value = match shader.insts[inst].op {
                Op::Phi => single_value(shader, inst, &map, |value| {
                    let home = home[shader.values[value].inst].expand();
                    home.is_some_and(|home| home != block && cfg.dominates(home, block))
                }),
                _ => None,
            };
            match value {
                Some(value) => map.insert(shader.insts[inst].results[0], value),
                None => kept.push(inst),
            }
        }
        shader.blocks[block].insts = kept;
    }
    shader.apply(&map);
    !map.is_empty()
}

/// The only value that a phi may take. Arguments that are undefined leave the choice open, but then the value must
/// be known before the phi's block, because no argument vouches for it on that way.
fn single_value(
    shader: &Shader,
    inst: Inst,
    map: &Replacements,
    is_known_before: impl Fn(Value) -> bool,
) -> Option<Value> {
    let data = &shader.insts[inst];
    let (mut only, mut undefined) = (None, None);
    for &arg in &data.args {
        let arg = map.resolve(arg);
        if arg == data.results[0] || only == Some(arg) {
            continue;
        }
        if shader.op(arg) == Op::Undef {
            undefined = Some(arg);
        } else if only.is_some() {
            return None;
        } else {
            only = Some(arg);
        }
    }
    match (only, undefined) {
        (Some(only), Some(_)) => is_known_before(only).then_some(only),
        (Some(only), None) => Some(only),
        (None, Some(undefined)) => is_known_before(undefined).then_some(undefined),
        (None, None) => None,
    }
}

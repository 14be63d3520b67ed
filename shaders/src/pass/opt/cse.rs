//! Value numbering: an operation computed before, where it dominates, is not computed again.
//!
//! Constants are gathered at the start of the shader, so that equal ones are one value everywhere; the back end
//! makes them anew where it needs them.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use crate::ir::cfg::Cfg;
use crate::ir::{Block, Inst, Op, Replacements, Shader, Value};
use crate::work;

/// Instructions with the block of each, by their [`digest`].
type Known = FxHashMap<u64, SmallVec<[(Block, Inst); 1]>>;

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    gather_constants(shader);
    let blocks = shader.blocks_in_order();
    // In a single block all that comes before dominates.
    let cfg = (blocks.len() > 1).then(|| Cfg::new(shader));
    let dominates = |a, b| cfg.as_ref().is_none_or(|cfg| cfg.dominates(a, b));
    let total = blocks.iter().map(|&block| shader.blocks[block].insts.len()).sum();
    let mut known = Known::with_capacity_and_hasher(total, Default::default());
    let mut map = Replacements::default();
    for &block in &blocks {
        let insts = std::mem::take(&mut shader.blocks[block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts {
            for arg in &mut shader.insts[inst].args {
                *arg = map.resolve(*arg);
            }
            if !is_numbered(shader, inst) {
                kept.push(inst);
                continue;
            }
            let alike = known.entry(digest(shader, inst)).or_default();
            let earlier = alike
                .iter_mut()
                .inspect(|_| work::count(1))
                .find(|(home, earlier)| is_same(shader, (*earlier, *home), (inst, block)));
            match earlier {
                Some(&mut (home, same)) if dominates(home, block) => {
                    unite(shader, same, inst, &mut map);
                }
                // What a block dominates stands together behind it: what does not dominate this one dominates nothing that
                // follows.
                Some(earlier) => {
                    *earlier = (block, inst);
                    kept.push(inst);
                }
                None => {
                    alike.push((block, inst));
                    kept.push(inst);
                }
            }
        }
        shader.blocks[block].insts = kept;
    }
    shader.apply(&map);
    !map.is_empty()
}

/// Whether an equal instruction may stand for this one.
fn is_numbered(shader: &Shader, inst: Inst) -> bool {
    let data = &shader.insts[inst];
    match data.op {
        Op::Phi => true,
        Op::Undef => false,
        op => op.is_pure() && !data.results.is_empty(),
    }
}

/// The operands; of commutative operations the first two are in order.
fn operands(shader: &Shader, inst: Inst) -> SmallVec<[Value; 4]> {
    let data = &shader.insts[inst];
    let mut args: SmallVec<[Value; 4]> = SmallVec::from_slice(&data.args);
    if data.op.commutes() && args.len() >= 2 && args[1] < args[0] {
        args.swap(0, 1);
    }
    args
}

/// What equal instructions have in common; others rarely do.
fn digest(shader: &Shader, inst: Inst) -> u64 {
    let data = &shader.insts[inst];
    let mut hasher = FxHasher::default();
    data.op.hash(&mut hasher);
    match data.args[..] {
        [x, y, ref rest @ ..] if y < x && data.op.commutes() => (y, x, rest).hash(&mut hasher),
        [x, y, ref rest @ ..] => (x, y, rest).hash(&mut hasher),
        ref args => args.hash(&mut hasher),
    }
    hasher.finish()
}

/// Whether two instructions compute the same; phis do so in one block only.
fn is_same(shader: &Shader, (a, home): (Inst, Block), (b, block): (Inst, Block)) -> bool {
    let (one, other) = (&shader.insts[a], &shader.insts[b]);
    let same_phi = !matches!(one.op, Op::Phi) || (home == block && one.phi_blocks == other.phi_blocks);
    one.op.is(other.op) && same_phi && operands(shader, a) == operands(shader, b)
}

fn unite(shader: &mut Shader, kept: Inst, gone: Inst, map: &mut Replacements) {
    let (relaxed, exact) = (shader.insts[gone].relaxed, shader.insts[gone].exact);
    // The result serves both: full precision if one of them wants it.
    shader.insts[kept].relaxed &= relaxed;
    shader.insts[kept].exact |= exact;
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

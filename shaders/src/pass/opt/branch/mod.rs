//! Long arms of selects become ifs that are jumped over where no element takes them.
//!
//! All passes in front of this one see straight code, where equal work of two arms is done once and everything may be
//! reordered. What is left in the end that only one side of a select needs is put behind a branch, if it is long enough:
//! a branch costs four slots and a few more to set the stream's position on each side, and nothing is paired or hidden
//! across it. What stands behind a branch is free of effects and run by all elements, so that derivatives in it are those
//! of straight code.

mod demand;
mod running;
mod scope;
pub mod share;
mod split;
mod weight;

use cranelift_entity::SecondaryMap;

use super::flatten::rename_blocks;
use crate::ir::uniform::Uniform;
use crate::ir::{Block, Node, Op, Region, Shader};
use demand::Demand;
use scope::Scope;
use split::Split;
use weight::{LONG_ARM, weight};

/// Blocks with what becomes of them.
pub struct Plan(Vec<(Block, Demand)>);

/// What to put behind branches; `None` if nothing is worth it. The shader must be lowered: of its loops only those that
/// [`crate::pass::lower::control`] leaves may remain.
pub fn find(shader: &Shader) -> Option<Plan> {
    let blocks = shader.blocks_in_order();
    let long = |block: &&Block| {
        let insts = &shader.blocks[**block].insts;
        let selects = insts.iter().any(|&inst| shader.insts[inst].op.is(Op::Select));
        selects && insts.iter().map(|&inst| weight(shader, inst)).sum::<u32>() >= LONG_ARM.uniform
    };
    let candidates: Vec<Block> = blocks.iter().filter(long).copied().collect();
    if candidates.is_empty() {
        return None;
    }
    let scope = Scope::of(shader, &blocks);
    let demands = candidates.into_iter().map(|block| (block, Demand::of(shader, block, &scope)));
    let mut demands: Vec<(Block, Demand)> = demands.filter(|(_, demand)| demand.may_skip()).collect();
    if demands.is_empty() {
        return None;
    }
    let uniform = Uniform::of(shader);
    let running = running::of(shader);
    demands.retain_mut(|(_, demand)| demand.choose(shader, &uniform, &running));
    (!demands.is_empty()).then_some(Plan(demands))
}

/// Carries out a plan for this shader.
pub fn run(shader: &mut Shader, plan: Plan) {
    let mut regions: SecondaryMap<Block, Option<Region>> = SecondaryMap::new();
    let mut renamed = Vec::new();
    for (block, demand) in plan.0 {
        let (region, last) = Split::new(shader, &demand, block).run();
        regions[block] = Some(region);
        renamed.push((block, last));
    }
    let mut body = std::mem::take(&mut shader.body);
    replace(&mut body, &mut regions);
    shader.body = body;
    // Phis elsewhere name the block that control now leaves through; those in front of it do not name it at all.
    rename_blocks(shader, &renamed);
}

/// Puts regions in the places of blocks.
fn replace(region: &mut Region, regions: &mut SecondaryMap<Block, Option<Region>>) {
    let mut nodes = Vec::with_capacity(region.len());
    for mut node in std::mem::take(region) {
        match &mut node {
            Node::Block(block) => {
                if let Some(region) = regions[*block].take() {
                    nodes.extend(region);
                    continue;
                }
            }
            Node::If { then, otherwise, .. } => {
                replace(then, regions);
                replace(otherwise, regions);
            }
            Node::Loop(body) => replace(body, regions),
            _ => {}
        }
        nodes.push(node);
    }
    *region = nodes;
}

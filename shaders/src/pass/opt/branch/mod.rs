//! Long arms of selects become ifs that are jumped over where no element takes them.
//!
//! All passes in front of this one see straight code, where equal work of two arms is done once and everything may be
//! reordered. What is left in the end that only one side of a select needs is put behind a branch, if it is long enough:
//! a branch costs four slots and a few more to set the stream's position on each side, and nothing is paired or hidden
//! across it. What stands behind a branch is free of effects and run by all elements, so that derivatives in it are those
//! of straight code.

mod demand;
mod split;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};

use super::flatten::rename_blocks;
use crate::ir::uniform::Uniform;
use crate::ir::{Block, Inst, Node, Op, Region, Shader, Value, for_each_condition};
use demand::Demand;
use split::Split;

/// Operations from which on an arm is worth a branch.
struct LongArm {
    /// All elements agree.
    uniform: u32,
    /// They may not, so that the arm is often run for the sake of a few.
    divergent: u32,
    /// All elements agree, and the other arm is long: there are branches anyway.
    beside: u32,
}

const LONG_ARM: LongArm = LongArm { uniform: 32, divergent: 96, beside: 8 };

/// Operations that a lookup counts for: what it costs besides its own is time in the texture unit.
const LOOKUP: u32 = 8;

/// Blocks with what becomes of them.
pub struct Plan(Vec<(Block, Demand)>);

/// What to put behind branches; `None` if nothing is worth it. The shader must be lowered: of its loops only those that
/// [`crate::pass::lower::control`] leaves may remain.
pub fn find(shader: &Shader) -> Option<Plan> {
    let blocks = shader.blocks_in_order();
    let long = |block: &&Block| {
        let insts = &shader.blocks[**block].insts;
        let selects = insts.iter().any(|&inst| shader.insts[inst].op == Op::Select);
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
    demands.retain_mut(|(_, demand)| demand.choose(&uniform));
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

/// Where values are made, and which are used in other blocks.
struct Scope {
    block_of: SecondaryMap<Inst, PackedOption<Block>>,
    /// Used by another block, a phi or a condition.
    elsewhere: EntitySet<Value>,
}

impl Scope {
    fn of(shader: &Shader, blocks: &[Block]) -> Scope {
        let mut scope = Scope { block_of: SecondaryMap::new(), elsewhere: EntitySet::new() };
        for &block in blocks {
            for &inst in &shader.blocks[block].insts {
                scope.block_of[inst] = block.into();
                let data = &shader.insts[inst];
                for &arg in &data.args {
                    let made_in = scope.block_of[shader.values[arg].inst].expand();
                    if data.op == Op::Phi || made_in != Some(block) {
                        scope.elsewhere.insert(arg);
                    }
                }
            }
        }
        for_each_condition(&shader.body, &mut |cond| {
            scope.elsewhere.insert(cond);
        });
        scope
    }
}

/// How much of an arm an instruction is.
fn weight(shader: &Shader, inst: Inst) -> u32 {
    match shader.insts[inst].op {
        op if stays_in_front(op) => 0,
        Op::TmuSample { .. } | Op::TmuDirect { .. } => LOOKUP,
        Op::PackUnorm8x4 => 4,
        Op::Select => 2,
        _ => 1,
    }
}

/// Whether an instruction has no code of its own, or none where it stands.
fn stays_in_front(op: Op) -> bool {
    op.is_leaf() || matches!(op, Op::Phi | Op::Varying(_) | Op::VpmRead(_) | Op::PayloadW | Op::PayloadZ)
}

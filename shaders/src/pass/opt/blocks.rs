//! Tidies the region tree: constant conditions, unreachable nodes, empty ifs, blocks in a row.

use super::flatten::rename_blocks;
use crate::ir::cfg::Cfg;
use crate::ir::{Block, Node, Op, Region, Replacements, Shader};

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    if shader.single_block().is_some() {
        return false;
    }
    let mut changed = false;
    let mut body = std::mem::take(&mut shader.body);
    changed |= choose_arms(shader, &mut body);
    shader.body = body;

    let cfg = Cfg::new(shader);
    let mut body = std::mem::take(&mut shader.body);
    changed |= cut(&cfg, &mut body);
    shader.body = body;
    changed |= prune_phis(shader);

    let mut body = std::mem::take(&mut shader.body);
    let mut merged = Merged { shader, map: Replacements::default(), renamed: Vec::new() };
    merged.region(&mut body);
    let Merged { map, renamed, .. } = merged;
    shader.body = body;
    changed |= !renamed.is_empty();
    rename_blocks(shader, &renamed);
    shader.apply(&map);
    changed
}

/// Puts the taken arm of an `If` with constant condition in its place.
fn choose_arms(shader: &Shader, region: &mut Region) -> bool {
    let mut changed = false;
    let mut nodes = Vec::with_capacity(region.len());
    for mut node in std::mem::take(region) {
        match &mut node {
            Node::If { cond, then, otherwise } => {
                changed |= choose_arms(shader, then) | choose_arms(shader, otherwise);
                if let Some(truth) = shader.const_of(*cond) {
                    let taken = if truth != 0 { then } else { otherwise };
                    let leaves = taken.last().is_some_and(is_jump);
                    nodes.append(taken);
                    changed = true;
                    if leaves {
                        break;
                    }
                    continue;
                }
            }
            Node::Loop(body) => changed |= choose_arms(shader, body),
            _ => {}
        }
        nodes.push(node);
    }
    *region = nodes;
    changed
}

const fn is_jump(node: &Node) -> bool {
    matches!(node, Node::Break | Node::Continue | Node::Return | Node::Discard)
}

/// Removes what follows an unreachable block, up to the region's end.
fn cut(cfg: &Cfg, region: &mut Region) -> bool {
    let mut changed = false;
    let unreachable = |node: &Node| matches!(node, Node::Block(block) if !cfg.is_reachable(*block));
    if let Some(at) = region.iter().position(unreachable) {
        // The block itself stays where one must follow an if or loop.
        changed |= at + 1 < region.len();
        region.truncate(at + 1);
    }
    for node in region {
        match node {
            Node::If { then, otherwise, .. } => changed |= cut(cfg, then) | cut(cfg, otherwise),
            Node::Loop(body) => changed |= cut(cfg, body),
            _ => {}
        }
    }
    changed
}

/// Empties unreachable blocks and drops phi arguments from blocks that are no predecessors any more.
fn prune_phis(shader: &mut Shader) -> bool {
    let cfg = Cfg::new(shader);
    let mut changed = false;
    for &block in &cfg.order {
        if !cfg.is_reachable(block) {
            changed |= !shader.blocks[block].insts.is_empty();
            shader.blocks[block].insts.clear();
            continue;
        }
        for &inst in &shader.blocks[block].insts {
            let data = &mut shader.insts[inst];
            if data.op != Op::Phi {
                break;
            }
            let kept: Vec<usize> =
                (0..data.args.len()).filter(|&at| cfg.preds(block).contains(&data.phi_blocks[at])).collect();
            if kept.len() != data.args.len() {
                data.args = kept.iter().map(|&at| data.args[at]).collect();
                data.phi_blocks = kept.iter().map(|&at| data.phi_blocks[at]).collect();
                changed = true;
            }
        }
    }
    changed
}

struct Merged<'a> {
    shader: &'a mut Shader,
    map: Replacements,
    /// Blocks that became part of others.
    renamed: Vec<(Block, Block)>,
}

impl Merged<'_> {
    /// Joins blocks in a row and drops ifs that do nothing.
    fn region(&mut self, region: &mut Region) {
        let mut nodes: Region = Vec::with_capacity(region.len());
        for mut node in std::mem::take(region) {
            match &mut node {
                Node::If { then, otherwise, .. } => {
                    self.region(then);
                    self.region(otherwise);
                }
                Node::Loop(body) => self.region(body),
                &mut Node::Block(block) => {
                    self.drop_empty_if(&mut nodes, block);
                    if let Some(&Node::Block(before)) = nodes.last() {
                        self.join(before, block);
                        continue;
                    }
                }
                _ => {}
            }
            nodes.push(node);
        }
        *region = nodes;
    }

    /// Removes the last node if it is an `If` of two empty blocks and `after`, the block behind it, has no phis.
    fn drop_empty_if(&mut self, nodes: &mut Region, after: Block) {
        let Some(Node::If { then, otherwise, .. }) = nodes.last() else {
            return;
        };
        let is_empty = |arm: &Region| match arm[..] {
            [Node::Block(block)] => self.shader.blocks[block].insts.is_empty(),
            _ => false,
        };
        let first = self.shader.blocks[after].insts.first();
        let has_phis = first.is_some_and(|&inst| self.shader.insts[inst].op.is(Op::Phi));
        if is_empty(then) && is_empty(otherwise) && !has_phis {
            nodes.pop();
        }
    }

    fn join(&mut self, before: Block, block: Block) {
        for inst in std::mem::take(&mut self.shader.blocks[block].insts) {
            let data = &self.shader.insts[inst];
            match (data.op, &data.args[..]) {
                (Op::Phi, &[arg]) => self.map.insert(data.results[0], arg),
                _ => self.shader.blocks[before].insts.push(inst),
            }
        }
        self.renamed.push((block, before));
    }
}

//! Small ifs become straight code: both arms run, selects choose (vulkan-on-vc4.md §9).
//!
//! An arm may store outputs (the store keeps the earlier value elsewhere) and discard. It may not leave a loop or the
//! shader, nor contain a loop, nor change memory.

use rustc_hash::FxHashSet;

use crate::ir::{Block, Node, Op, Output, Region, Replacements, Shader, Stage, collect_blocks};
use crate::pass::rewrite::predicate::{Edge, Linear, Map, Stored, is_straight_op};

/// Instructions that the two arms of a flattened if may have together. Generous, because code without branches
/// schedules well and a branch costs four slots and a uniform reset.
const MAX_INSTRUCTIONS: usize = 2000;

/// The same for the CPU, whose branches are cheap beside what they skip.
const MAX_ON_CPU: usize = 16;

/// What an access to memory or an image counts for there: it goes element by element.
const ACCESS: usize = 6;

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    if shader.single_block().is_some() {
        return false;
    }
    let mut body = std::mem::take(&mut shader.body);
    let mut flatten = Flatten {
        shader,
        stored: Stored::default(),
        unclear: FxHashSet::default(),
        map: Map::default(),
        renamed: Vec::new(),
    };
    flatten.region(&mut body);
    let Flatten { map, renamed, .. } = flatten;
    shader.body = body;
    let mut replacements = Replacements::default();
    for (from, to) in map.said {
        replacements.insert(from, to);
    }
    rename_blocks(shader, &renamed);
    shader.apply(&replacements);
    !renamed.is_empty()
}

/// Makes phis name the block that another one became part of.
pub fn rename_blocks(shader: &mut Shader, renamed: &[(Block, Block)]) {
    if renamed.is_empty() {
        return;
    }
    let mut names = cranelift_entity::SecondaryMap::<Block, Option<Block>>::new();
    for &(from, to) in renamed {
        names[from] = Some(to);
    }
    for inst in shader.insts_in_order() {
        for block in &mut shader.insts[inst].phi_blocks {
            while let Some(to) = names[*block] {
                *block = to;
            }
        }
    }
}

struct Flatten<'a> {
    shader: &'a mut Shader,
    /// Last stored value of outputs, where it is known.
    stored: Stored,
    /// Outputs whose last stored value depends on control flow that stays.
    unclear: FxHashSet<Output>,
    map: Map,
    renamed: Vec<(Block, Block)>,
}

impl Flatten<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut nodes: Region = Vec::with_capacity(region.len());
        // The block that a flattened if's successor becomes part of.
        let mut join: Option<Vec<Edge>> = None;
        for mut node in std::mem::take(region) {
            match &mut node {
                &mut Node::Block(block) => match (join.take(), nodes.last()) {
                    (Some(edges), Some(&Node::Block(before))) => {
                        self.linear(before).block(block, &edges);
                        self.map.joined.insert(block, before);
                        self.renamed.push((block, before));
                        continue;
                    }
                    _ => self.note_stores(block),
                },
                Node::If { cond, then, otherwise } => {
                    for arm in [&mut *then, &mut *otherwise] {
                        let stored = self.stored.clone();
                        self.region(arm);
                        self.stored = stored;
                    }
                    if let (Some(&Node::Block(before)), true) =
                        (nodes.last(), self.is_flat([then, otherwise]))
                    {
                        let entry = [Edge { from: before, pred: None }];
                        let (edges, _) = self.linear(before).branch(*cond, then, otherwise, &entry);
                        join = Some(edges);
                        continue;
                    }
                    self.forget([then, otherwise]);
                }
                Node::Loop(body) => {
                    self.forget([&*body]);
                    let stored = self.stored.clone();
                    self.region(body);
                    self.stored = stored;
                }
                _ => {}
            }
            nodes.push(node);
        }
        *region = nodes;
    }

    fn linear(&mut self, out: Block) -> Linear<'_> {
        Linear::moving(self.shader, out, &mut self.stored, &mut self.map)
    }

    fn note_stores(&mut self, block: Block) {
        for &inst in &self.shader.blocks[block].insts {
            if let Op::StoreOutput(output) = self.shader.insts[inst].op {
                self.stored.insert(output, self.shader.insts[inst].args[0]);
                self.unclear.remove(&output);
            }
        }
    }

    /// Outputs stored in regions that stay have no single last value behind them.
    fn forget<const N: usize>(&mut self, regions: [&Region; N]) {
        for region in regions {
            let mut blocks = Vec::new();
            collect_blocks(region, &mut blocks);
            for inst in blocks.iter().flat_map(|&block| &self.shader.blocks[block].insts) {
                if let Op::StoreOutput(output) = self.shader.insts[*inst].op {
                    self.stored.remove(&output);
                    self.unclear.insert(output);
                }
            }
        }
    }

    fn is_flat(&self, arms: [&Region; 2]) -> bool {
        let mut size = 0;
        let most = if self.shader.stage == Stage::Compute { MAX_ON_CPU } else { MAX_INSTRUCTIONS };
        arms.into_iter().all(|arm| self.measure(arm, &mut size)) && size <= most
    }

    /// How much of an arm an instruction is.
    fn weight(&self, op: Op) -> usize {
        let accesses = op.reads_memory()
            || matches!(op, Op::Sample(_) | Op::Gather { .. } | Op::Fetch(_) | Op::LoadUboDynamic { .. });
        if accesses && self.shader.stage == Stage::Compute { ACCESS } else { 1 }
    }

    fn measure(&self, region: &Region, size: &mut usize) -> bool {
        region.iter().all(|node| match node {
            &Node::Block(block) => {
                let insts = &self.shader.blocks[block].insts;
                *size += insts.iter().map(|&inst| self.weight(self.shader.insts[inst].op)).sum::<usize>();
                insts.iter().all(|&inst| match self.shader.insts[inst].op {
                    Op::StoreOutput(output) => !self.unclear.contains(&output),
                    op => is_straight_op(op),
                })
            }
            Node::If { then, otherwise, .. } => self.measure(then, size) && self.measure(otherwise, size),
            Node::Discard => true,
            Node::Loop(_) | Node::Break | Node::Continue | Node::Return => false,
        })
    }
}

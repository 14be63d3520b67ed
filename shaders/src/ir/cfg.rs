//! The graph behind the region tree: predecessors, reachability, dominance.
//!
//! Program order is a reverse post-order of the graph without its back edges, so one sweep in that order
//! finds immediate dominators (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm, 2001); back
//! edges never change them because a loop's header dominates its body.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use smallvec::SmallVec;

use super::entity::Block;
use super::shader::{Node, Region, Shader};

/// Blocks that control comes from.
pub type Predecessors = SmallVec<[Block; 2]>;

/// Predecessors and dominance of a shader's blocks.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// All blocks in program order.
    pub order: Vec<Block>,
    preds: SecondaryMap<Block, Predecessors>,
    /// Position in `order` plus one; 0 for blocks outside the body.
    position: SecondaryMap<Block, u32>,
    idom: SecondaryMap<Block, PackedOption<Block>>,
    depth: SecondaryMap<Block, u32>,
}

/// The loop around the walk's position.
#[derive(Default)]
struct LoopEnds {
    breaks: Predecessors,
    continues: Predecessors,
}

impl Cfg {
    /// Reads the graph off a shader's tree.
    pub fn new(shader: &Shader) -> Cfg {
        let mut cfg = Cfg {
            order: Vec::new(),
            preds: shader.per_block(),
            position: shader.per_block(),
            idom: shader.per_block(),
            depth: shader.per_block(),
        };
        cfg.region(&shader.body, SmallVec::new(), true, None);
        for (index, &block) in cfg.order.iter().enumerate() {
            cfg.position[block] = index as u32 + 1;
        }
        cfg.find_dominators();
        cfg
    }

    /// Blocks that control may come from, in program order of the edges; none for the entry and for unreachable blocks.
    pub fn preds(&self, block: Block) -> &[Block] {
        &self.preds[block]
    }

    /// Whether control can get to a block.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.order.first() == Some(&block) || !self.preds[block].is_empty()
    }

    /// Whether every way to `b` leads through `a`. True for equal blocks.
    pub fn dominates(&self, a: Block, mut b: Block) -> bool {
        while self.depth[b] > self.depth[a] {
            match self.idom[b].expand() {
                Some(up) => b = up,
                None => return false,
            }
        }
        a == b
    }

    /// The closest block on every way to `block`, except itself.
    pub fn idom(&self, block: Block) -> Option<Block> {
        self.idom[block].expand()
    }

    /// Walks a region; `from` is where control comes from. Returns where it leaves at the end.
    fn region(
        &mut self,
        region: &Region,
        mut from: Predecessors,
        mut entry: bool,
        mut ends: Option<&mut LoopEnds>,
    ) -> Predecessors {
        for node in region {
            match node {
                &Node::Block(block) => {
                    self.order.push(block);
                    let reachable = entry || !from.is_empty();
                    entry = false;
                    self.preds[block] = from;
                    from = if reachable { SmallVec::from_slice(&[block]) } else { SmallVec::new() };
                }
                Node::If { then, otherwise, .. } => {
                    let mut out = self.region(then, from.clone(), false, ends.as_deref_mut());
                    out.extend(self.region(otherwise, from, false, ends.as_deref_mut()));
                    from = out;
                }
                Node::Loop(body) => from = self.endless_loop(body, from),
                Node::Break => {
                    if let Some(ends) = &mut ends {
                        ends.breaks.append(&mut from);
                    }
                    return SmallVec::new();
                }
                Node::Continue => {
                    if let Some(ends) = &mut ends {
                        ends.continues.append(&mut from);
                    }
                    return SmallVec::new();
                }
                Node::Return | Node::Discard => return SmallVec::new(),
            }
        }
        from
    }

    fn endless_loop(&mut self, body: &Region, from: Predecessors) -> Predecessors {
        let reachable = !from.is_empty();
        let mut ends = LoopEnds::default();
        let last = self.region(body, from, false, Some(&mut ends));
        if let (Some(&Node::Block(header)), true) = (body.first(), reachable) {
            self.preds[header].append(&mut ends.continues);
            self.preds[header].extend(last);
        }
        ends.breaks
    }

    fn find_dominators(&mut self) {
        for index in 1..self.order.len() {
            let block = self.order[index];
            let mut common: Option<Block> = None;
            for at in 0..self.preds[block].len() {
                let pred = self.preds[block][at];
                if self.position[pred] > index as u32 {
                    continue;
                }
                common = Some(common.map_or(pred, |other| self.meet(other, pred)));
            }
            self.idom[block] = common.into();
            self.depth[block] = common.map_or(0, |up| self.depth[up] + 1);
        }
    }

    fn meet(&self, mut a: Block, mut b: Block) -> Block {
        while a != b {
            if self.depth[a] < self.depth[b] {
                std::mem::swap(&mut a, &mut b);
            }
            match self.idom[a].expand() {
                Some(up) => a = up,
                None => return a,
            }
        }
        a
    }
}

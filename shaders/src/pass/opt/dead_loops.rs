//! Removes loops that nobody looks at: without effects, without a way out of the shader, and whose values are not used
//! behind them. Coordinate programs are full of them, as what lights a vertex does not move it. Whether such a loop ends
//! does not matter then, unless nothing ends it: what stands behind would never run.

use cranelift_entity::SecondaryMap;

use crate::ir::{Block, Inst, Node, Region, Shader, collect_blocks, has_loop};

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    if !has_loop(&shader.body) {
        return false;
    }
    let places = Places::new(shader);
    let mut body = std::mem::take(&mut shader.body);
    let changed = sweep(&mut body, shader, &places);
    shader.body = body;
    changed
}

/// Where blocks stand in program order, and where they are looked at from.
#[derive(Default)]
struct Places {
    of: SecondaryMap<Block, u32>,
    /// For each block by its place, the first and the last place of what needs it.
    needed: Vec<(u32, u32)>,
}

impl Places {
    fn new(shader: &Shader) -> Places {
        let blocks = shader.blocks_in_order();
        let mut places = Places::default();
        for (place, &block) in blocks.iter().enumerate() {
            places.of[block] = place as u32;
        }
        let mut home = shader.per_inst();
        for &block in &blocks {
            for &inst in &shader.blocks[block].insts {
                home[inst] = places.of[block];
            }
        }
        places.needed = (0..blocks.len() as u32).map(|place| (place, place)).collect();
        for &block in &blocks {
            for &inst in &shader.blocks[block].insts {
                let data = &shader.insts[inst];
                data.args
                    .iter()
                    .for_each(|&arg| places.need(home[shader.values[arg].inst], places.of[block]));
                // A phi chooses by the ways into its block.
                data.phi_blocks.iter().for_each(|&from| places.need(places.of[from], places.of[block]));
            }
        }
        let mut at = 0;
        places.conditions(&shader.body, shader, &home, &mut at);
        places
    }

    fn need(&mut self, place: u32, by: u32) {
        let (first, last) = &mut self.needed[place as usize];
        (*first, *last) = ((*first).min(by), (*last).max(by));
    }

    /// Conditions are looked at from the block in front of them; `at` is its place.
    fn conditions(&mut self, region: &Region, shader: &Shader, home: &SecondaryMap<Inst, u32>, at: &mut u32) {
        for node in region {
            match node {
                Node::Block(block) => *at = self.of[*block],
                Node::If { cond, then, otherwise } => {
                    self.need(home[shader.values[*cond].inst], *at);
                    self.conditions(then, shader, home, at);
                    self.conditions(otherwise, shader, home, at);
                }
                Node::Loop(body) => self.conditions(body, shader, home, at),
                _ => {}
            }
        }
    }

    /// Whether anything outside of these blocks, which stand one behind the other, needs one of them.
    fn are_needed(&self, blocks: &[Block]) -> bool {
        let places = |&block: &Block| self.of[block];
        let (Some(first), Some(last)) = (blocks.first().map(places), blocks.last().map(places)) else {
            return false;
        };
        self.needed[first as usize..=last as usize].iter().any(|&(from, to)| from < first || to > last)
    }
}

fn sweep(region: &mut Region, shader: &Shader, places: &Places) -> bool {
    let before = region.len();
    region.retain(|node| !matches!(node, Node::Loop(body) if is_dead(body, shader, places)));
    let mut changed = region.len() != before;
    for node in region {
        match node {
            Node::Loop(body) => changed |= sweep(body, shader, places),
            Node::If { then, otherwise, .. } => {
                changed |= sweep(then, shader, places);
                changed |= sweep(otherwise, shader, places);
            }
            _ => {}
        }
    }
    changed
}

fn is_dead(body: &Region, shader: &Shader, places: &Places) -> bool {
    let mut blocks = Vec::new();
    collect_blocks(body, &mut blocks);
    let mut insts = blocks.iter().flat_map(|&block| &shader.blocks[block].insts);
    has_break(body)
        && !leaves_shader(body)
        && !insts.any(|&inst| shader.insts[inst].op.has_effect())
        && !places.are_needed(&blocks)
}

/// Whether the loop of this body can be left.
fn has_break(body: &Region) -> bool {
    body.iter().any(|node| match node {
        Node::Break => true,
        Node::If { then, otherwise, .. } => has_break(then) || has_break(otherwise),
        // Its own breaks leave it only.
        Node::Loop(_) => false,
        Node::Block(_) | Node::Continue | Node::Return | Node::Discard => false,
    })
}

fn leaves_shader(region: &Region) -> bool {
    region.iter().any(|node| match node {
        Node::Return | Node::Discard => true,
        Node::If { then, otherwise, .. } => leaves_shader(then) || leaves_shader(otherwise),
        Node::Loop(body) => leaves_shader(body),
        Node::Block(_) | Node::Break | Node::Continue => false,
    })
}

//! What lowering must know of loops in advance: what they define, store and end.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::EntitySet;

use super::head::Head;
use crate::ir::{Block, Inst, Node, Op, Output, Region, Shader, Value, collect_blocks, has_loop};
use crate::pass::analysis::outside::Outside;

/// A value that is used behind its loop.
#[derive(Clone, Copy)]
pub enum Leaver {
    /// One that every iteration computes.
    Value(Value),
    /// A phi behind the loop.
    Phi(Inst),
}

/// What lowering must know of a loop in advance.
#[derive(Default)]
pub struct Facts {
    /// Its blocks.
    pub inside: EntitySet<Block>,
    /// Phis of its first block.
    pub header: Vec<Inst>,
    /// What is used behind it.
    pub leavers: Vec<Leaver>,
    /// For each of `leavers` the phi of `header` that keeps it where an element has left: what elements that run need the
    /// phi for, others do not.
    pub keepers: Vec<Option<usize>>,
    /// Outputs that it stores.
    pub stores: BTreeSet<Output>,
    /// Discards elements.
    pub kills: bool,
    /// Elements leave the shader in it.
    pub returns: bool,
    /// Instructions.
    pub size: usize,
    /// Its head.
    pub head: Head,
}

/// The first block of a region.
pub fn first_block(body: &Region) -> Block {
    match body.first() {
        Some(&Node::Block(block)) => block,
        _ => unreachable!("the verifier has regions start with a block"),
    }
}

/// Facts of each loop of a shader, by its first block.
pub fn collect_facts(shader: &Shader) -> BTreeMap<Block, Facts> {
    let mut all = BTreeMap::new();
    if !has_loop(&shader.body) {
        return all;
    }
    collect(shader, &Outside::of(shader), &shader.body, &mut all);
    all
}

fn collect(shader: &Shader, outside: &Outside, region: &Region, all: &mut BTreeMap<Block, Facts>) {
    for (index, node) in region.iter().enumerate() {
        match node {
            Node::If { then, otherwise, .. } => {
                collect(shader, outside, then, all);
                collect(shader, outside, otherwise, all);
            }
            Node::Loop(body) => {
                let behind = match region.get(index + 1) {
                    Some(&Node::Block(block)) => Some(block),
                    _ => None,
                };
                all.insert(first_block(body), loop_facts(shader, outside, body, behind));
                collect(shader, outside, body, all);
            }
            _ => {}
        }
    }
}

fn phis(shader: &Shader, block: Block) -> impl Iterator<Item = Inst> {
    shader.blocks[block].insts.iter().copied().filter(|&inst| shader.insts[inst].op.is(Op::Phi))
}

fn loop_facts(shader: &Shader, outside: &Outside, body: &Region, behind: Option<Block>) -> Facts {
    let mut blocks = Vec::new();
    collect_blocks(body, &mut blocks);
    let mut facts = Facts::default();
    for &block in &blocks {
        facts.inside.insert(block);
    }
    facts.header = phis(shader, first_block(body)).collect();
    facts.head = Head::of(shader, body);
    let exit_phis: Vec<Inst> = behind.into_iter().flat_map(|block| phis(shader, block)).collect();
    for &block in &blocks {
        facts.size += shader.blocks[block].insts.len();
        for &inst in &shader.blocks[block].insts {
            match shader.insts[inst].op {
                Op::StoreOutput(output) => {
                    facts.stores.insert(output);
                }
                Op::DiscardIf => facts.kills = true,
                _ => {}
            }
        }
    }
    leaves(body, &mut facts);
    facts.leavers = exit_phis.iter().map(|&inst| Leaver::Phi(inst)).collect();
    let used = outside.uses(shader, body, &exit_phis);
    facts.leavers.extend(used.into_iter().map(Leaver::Value));
    find_keepers(shader, &mut facts);
    facts
}

/// Finds for each leaver a phi that is what leaves, or becomes it, so that little has to be moved.
fn find_keepers(shader: &Shader, facts: &mut Facts) {
    // By the value that a phi is or becomes.
    let mut kept: BTreeMap<Value, Vec<usize>> = BTreeMap::new();
    let from_inside = |facts: &Facts, inst: Inst| -> Vec<Value> {
        let data = &shader.insts[inst];
        let ways = data.phi_blocks.iter().zip(&data.args);
        ways.filter(|&(&from, _)| facts.inside.contains(from)).map(|(_, &value)| value).collect()
    };
    for (index, &inst) in facts.header.iter().enumerate() {
        kept.entry(shader.insts[inst].results[0]).or_default().push(index);
    }
    for (index, &inst) in facts.header.iter().enumerate() {
        from_inside(facts, inst).into_iter().for_each(|value| kept.entry(value).or_default().push(index));
    }
    let mut taken = vec![false; facts.header.len()];
    for leaver in &facts.leavers {
        let values = match *leaver {
            Leaver::Value(value) => vec![value],
            Leaver::Phi(inst) => from_inside(facts, inst),
        };
        let mut keepers = values.iter().filter_map(|value| kept.get(value)).flatten();
        let keeper = keepers.find(|&&keeper| !taken[keeper]).copied();
        keeper.into_iter().for_each(|keeper| taken[keeper] = true);
        facts.keepers.push(keeper);
    }
}

fn leaves(region: &Region, facts: &mut Facts) {
    for node in region {
        match node {
            Node::Return => facts.returns = true,
            Node::Discard => (facts.returns, facts.kills) = (true, true),
            Node::If { then, otherwise, .. } => {
                leaves(then, facts);
                leaves(otherwise, facts);
            }
            Node::Loop(body) => leaves(body, facts),
            _ => {}
        }
    }
}

//! What is needed, and how often, before the walk.

use cranelift_entity::EntitySet;

use super::selector::Selector;
use crate::backend::error::BackendError;
use crate::ir::{Block, Node, Op, Value, for_each_condition};

/// Marks what effects and loop conditions need, and counts the uses of each value by marked instructions.
pub fn count_uses(s: &mut Selector<'_>) {
    let mut needed: Vec<Value> = Vec::new();
    for block in s.shader.blocks_in_order() {
        for &inst in &s.shader.blocks[block].insts {
            s.block_of[inst] = block.into();
            let data = &s.shader.insts[inst];
            if data.op.has_effect() {
                s.live.insert(inst);
                needed.extend(data.args.iter().copied());
            }
        }
    }
    for_each_condition(&s.shader.body, &mut |condition| needed.push(condition));
    find_headers(&s.shader.body, &mut s.headers);
    while let Some(value) = needed.pop() {
        s.uses[value] += 1;
        let inst = s.shader.values[value].inst;
        if s.live.insert(inst) {
            needed.extend(s.shader.insts[inst].args.iter().copied());
        }
    }
    let blocks = s.shader.blocks_in_order();
    s.program.ops.reserve(blocks.iter().map(|&block| s.shader.blocks[block].insts.len()).sum());
}

/// Finds the condition of the one discard.
pub fn find_kill(s: &mut Selector<'_>) -> Result<(), BackendError> {
    for inst in s.shader.insts_in_order() {
        let data = &s.shader.insts[inst];
        if data.op == Op::DiscardIf {
            if s.kill.is_some() {
                return Err(BackendError::NotLowered { op: "a second discard".into() });
            }
            s.kill = Some(data.args[0]);
            // Each conditional tile write looks at the condition again.
            s.uses[data.args[0]] += 1;
        }
    }
    Ok(())
}

/// Marks the writes of rows that need a set-up: the hardware counts on from there.
pub fn find_first_rows(s: &mut Selector<'_>) {
    let mut next = None;
    for inst in s.shader.insts_in_order() {
        if let Op::VpmWrite(row) = s.shader.insts[inst].op {
            if next != Some(row) {
                s.first_rows.insert(inst);
            }
            next = Some(row + 1);
        }
    }
}

fn find_headers(region: &[Node], headers: &mut EntitySet<Block>) {
    for node in region {
        match node {
            Node::If { then, otherwise, .. } => {
                find_headers(then, headers);
                find_headers(otherwise, headers);
            }
            Node::Loop(body) => {
                if let Some(&Node::Block(header)) = body.first() {
                    headers.insert(header);
                }
                find_headers(body, headers);
            }
            _ => {}
        }
    }
}

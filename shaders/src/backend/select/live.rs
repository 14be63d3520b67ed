//! What is needed, and how often, before the walk.

use cranelift_entity::EntitySet;

use super::selector::Selector;
use crate::backend::error::BackendError;
use crate::ir::{Block, Node, Op, Value, for_each_condition};

impl Selector<'_> {
    /// Marks what effects and loop conditions need, and counts the uses of each value by marked instructions.
    pub fn count_uses(&mut self) {
        let mut needed: Vec<Value> = Vec::new();
        for block in self.shader.blocks_in_order() {
            for &inst in &self.shader.blocks[block].insts {
                self.block_of[inst] = block.into();
                let data = &self.shader.insts[inst];
                if data.op.has_effect() {
                    self.live.insert(inst);
                    needed.extend(data.args.iter().copied());
                }
            }
        }
        for_each_condition(&self.shader.body, &mut |condition| needed.push(condition));
        find_headers(&self.shader.body, &mut self.headers);
        while let Some(value) = needed.pop() {
            self.uses[value] += 1;
            let inst = self.shader.values[value].inst;
            if self.live.insert(inst) {
                needed.extend(self.shader.insts[inst].args.iter().copied());
            }
        }
    }

    /// Finds the condition of the one discard.
    pub fn find_kill(&mut self) -> Result<(), BackendError> {
        for inst in self.shader.insts_in_order() {
            let data = &self.shader.insts[inst];
            if data.op == Op::DiscardIf {
                if self.kill.is_some() {
                    return Err(BackendError::NotLowered { op: "a second discard".into() });
                }
                self.kill = Some(data.args[0]);
                // Each conditional tile write looks at the condition again.
                self.uses[data.args[0]] += 1;
            }
        }
        Ok(())
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

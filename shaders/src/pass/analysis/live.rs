//! What is alive where blocks end.

use cranelift_entity::{EntitySet, SecondaryMap};

use crate::ir::cfg::Cfg;
use crate::ir::{Block, Node, Op, Shader, Value};
use crate::work;

/// The values that are used behind each block's end: in other blocks, by their phis, by control flow.
pub struct Live(SecondaryMap<Block, EntitySet<Value>>);

impl Live {
    /// Of a shader.
    pub fn of(shader: &Shader) -> Live {
        let cfg = Cfg::new(shader);
        let mut home: SecondaryMap<Value, Option<Block>> = SecondaryMap::with_capacity(shader.values.len());
        let mut seen: EntitySet<Block> = EntitySet::new();
        let mut has_loops = false;
        for &block in &cfg.order {
            seen.insert(block);
            has_loops |= cfg.preds(block).iter().any(|&pred| !seen.contains(pred) || pred == block);
            for &inst in &shader.blocks[block].insts {
                shader.insts[inst].results.iter().for_each(|&value| home[value] = Some(block));
            }
        }
        let mut live = Live(SecondaryMap::new());
        live.keep_conditions(&shader.body);
        let mut changed = true;
        // Loops hand what is alive at their start to their end; without any, what comes behind is known before.
        while changed {
            changed = false;
            for &block in cfg.order.iter().rev() {
                let before = live.at_start(shader, block, &home);
                for &pred in cfg.preds(block) {
                    for &value in &before {
                        changed |= live.0[pred].insert(value);
                    }
                }
                for &inst in &shader.blocks[block].insts {
                    let data = &shader.insts[inst];
                    if data.op == Op::Phi {
                        for (&pred, &value) in data.phi_blocks.iter().zip(&data.args) {
                            changed |= live.0[pred].insert(value);
                        }
                    }
                }
            }
            changed &= has_loops;
        }
        live
    }

    /// Whether a value is used behind the end of a block.
    pub fn is_behind(&self, block: Block, value: Value) -> bool {
        self.0[block].contains(value)
    }

    /// The values that are used behind the end of a block.
    pub fn behind(&self, block: Block) -> impl Iterator<Item = Value> + '_ {
        self.0[block].iter()
    }

    /// What is alive in front of a block's instructions but its phis; some of it more than once.
    fn at_start(
        &self,
        shader: &Shader,
        block: Block,
        home: &SecondaryMap<Value, Option<Block>>,
    ) -> Vec<Value> {
        let insts = &shader.blocks[block].insts;
        work::count(insts.len());
        let is_from_before = |value: &Value| home[*value] != Some(block);
        let mut live: Vec<Value> = self.behind(block).filter(is_from_before).collect();
        for &inst in insts {
            let data = &shader.insts[inst];
            if data.op != Op::Phi {
                live.extend(data.args.iter().copied().filter(is_from_before));
            }
        }
        live
    }

    /// The block in front of an if ends with a look at its condition.
    fn keep_conditions(&mut self, region: &[Node]) {
        let mut before = None;
        for node in region {
            work::count(1);
            match node {
                &Node::Block(block) => before = Some(block),
                Node::If { cond, then, otherwise } => {
                    if let Some(block) = before {
                        self.0[block].insert(*cond);
                    }
                    self.keep_conditions(then);
                    self.keep_conditions(otherwise);
                }
                Node::Loop(body) => self.keep_conditions(body),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Builder, Stage, Type};

    #[test]
    fn loops_hand_on_what_they_want_again() {
        // first: a, b. loop { header: sum = phi(a, next); if sum == b { break }; last: next = sum + b }. end: sum.
        let mut shader = Shader::new(Stage::Fragment);
        let first = shader.entry().expect("a new shader has a block");
        let mut b = Builder::new(&mut shader, first);
        let (one, two) = (b.op(Op::Varying(0), &[]), b.op(Op::Varying(1), &[]));
        let [header, then, last, end] = [(); 4].map(|()| shader.blocks.push(Default::default()));
        let sum = Builder::new(&mut shader, header).phi(Type::Word, &[(first, one)]);
        let ends = Builder::new(&mut shader, header).op(Op::IEq, &[sum, two]);
        let next = Builder::new(&mut shader, last).op(Op::IAdd, &[sum, two]);
        Builder::new(&mut shader, last).add_phi_arg(sum, last, next);
        Builder::new(&mut shader, end).emit(Op::TlbColorWrite, &[sum]);
        let leave = Node::If { cond: ends, then: vec![Node::Block(then), Node::Break], otherwise: vec![] };
        let body = vec![Node::Block(header), leave, Node::Block(last)];
        shader.body.extend([Node::Loop(body), Node::Block(end)]);

        let live = Live::of(&shader);
        let behind = |block| {
            let mut values: Vec<Value> = live.behind(block).collect();
            values.sort_unstable();
            values
        };
        assert_eq!(behind(first), [one, two]);
        assert_eq!(behind(header), [two, sum, ends]);
        assert_eq!(behind(then), [sum]);
        assert_eq!(behind(last), [two, next]);
        assert!(behind(end).is_empty());
    }
}

//! What is alive where blocks end.

use cranelift_entity::{EntitySet, SecondaryMap};

use crate::ir::cfg::Cfg;
use crate::ir::{Block, Node, Op, Shader, Value};
use crate::work;

/// The values that are used behind each block's end: in other blocks, by their phis, by control flow. They are few beside all
/// values of a shader, so they are lists, sorted.
pub struct Live(SecondaryMap<Block, Vec<Value>>);

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
        let used: SecondaryMap<Block, Vec<Value>> =
            cfg.order.iter().fold(SecondaryMap::with_capacity(shader.blocks.len()), |mut used, &block| {
                used[block] = used_from_before(shader, block, &home);
                used
            });
        let mut live = Live(SecondaryMap::with_capacity(shader.blocks.len()));
        live.keep_conditions(&shader.body);
        let mut changed = true;
        // Loops hand what is alive at their start to their end; without any, what comes behind is known before.
        while changed {
            changed = false;
            for &block in cfg.order.iter().rev() {
                let from_before = |value: &Value| home[*value] != Some(block);
                let mut before: Vec<Value> = live.behind(block).filter(from_before).collect();
                join(&mut before, &used[block]);
                for &pred in cfg.preds(block) {
                    changed |= join(&mut live.0[pred], &before);
                    changed |= join(&mut live.0[pred], &handed(shader, block, pred));
                }
            }
            changed &= has_loops;
        }
        live
    }

    /// Whether a value is used behind the end of a block.
    pub fn is_behind(&self, block: Block, value: Value) -> bool {
        self.0[block].binary_search(&value).is_ok()
    }

    /// The values that are used behind the end of a block.
    pub fn behind(&self, block: Block) -> impl Iterator<Item = Value> + '_ {
        self.0[block].iter().copied()
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
                        join(&mut self.0[block], &[*cond]);
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

/// What the instructions of a block use of other blocks, their phis left out.
fn used_from_before(shader: &Shader, block: Block, home: &SecondaryMap<Value, Option<Block>>) -> Vec<Value> {
    let insts = &shader.blocks[block].insts;
    work::count(insts.len());
    let args = insts.iter().map(|&inst| &shader.insts[inst]).filter(|data| data.op != Op::Phi);
    let args = args.flat_map(|data| &data.args).copied();
    sorted(args.filter(|&value| home[value] != Some(block)).collect())
}

/// What the phis of a block take where control comes from `pred`.
fn handed(shader: &Shader, block: Block, pred: Block) -> Vec<Value> {
    let phis = shader.blocks[block].insts.iter().map(|&inst| &shader.insts[inst]);
    let phis = phis.take_while(|data| data.op == Op::Phi);
    let from = |(&from, &value): (&Block, &Value)| (from == pred).then_some(value);
    sorted(phis.flat_map(|data| data.phi_blocks.iter().zip(&data.args).filter_map(from)).collect())
}

fn sorted(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_unstable();
    values.dedup();
    values
}

/// Adds values to others, both sorted; whether there was a new one.
fn join(to: &mut Vec<Value>, more: &[Value]) -> bool {
    let mut old = to.iter().peekable();
    let is_new = |value: &&Value| {
        while old.next_if(|old| old < value).is_some() {}
        old.peek() != Some(value)
    };
    let new: Vec<Value> = more.iter().filter(is_new).copied().collect();
    if new.is_empty() {
        return false;
    }
    // Two sorted runs, which the sort merges.
    to.extend(new);
    to.sort();
    true
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

//! What is alive where blocks end, as the machine runs them.
//!
//! Both arms of an if are run, one behind the other, so what the second one wants is alive in the first one, and so is what the
//! first one leaves in the second. Registers are given for the whole of a piece of the program, from where a value is made to
//! where it is used last, and so it is here: there is nothing to iterate over.

use std::ops::Range;

use cranelift_entity::SecondaryMap;

use crate::ir::arms::Arms;
use crate::ir::uniform::Uniform;
use crate::ir::{Block, Node, Region, Shader, Value};
use crate::work;

/// The values that are used behind each block's end: in other blocks, by their phis, by control flow. They are few beside all
/// values of a shader, so they are lists, sorted.
pub struct Live(SecondaryMap<Block, Vec<Value>>);

impl Live {
    /// Of a shader.
    pub fn of(shader: &Shader) -> Live {
        Live::along(shader, &Path::of(shader))
    }

    /// Of a shader whose blocks are run along a path.
    pub fn along(shader: &Shader, path: &Path) -> Live {
        let mut position: SecondaryMap<Block, usize> = SecondaryMap::with_capacity(shader.blocks.len());
        path.blocks.iter().zip(0..).for_each(|(&block, at)| position[block] = at);
        let insts = |block: Block| shader.blocks[block].insts.iter().map(|&inst| &shader.insts[inst]);
        let mut lives: SecondaryMap<Value, Option<Range<usize>>> =
            SecondaryMap::with_capacity(shader.values.len());
        for (at, &block) in path.blocks.iter().enumerate() {
            for data in insts(block) {
                // What a phi takes over is in its register from the first of the ways on that come to it.
                let ways = data.phi_blocks.iter().map(|&from| position[from] + 1);
                let start = ways.min().map_or(at, |first| first.min(at));
                data.results.iter().for_each(|&value| lives[value] = Some(start..start));
            }
        }
        let around = path.around();
        let mut use_at = |value: Value, at: usize, end: usize| {
            let Some(life) = lives[value].as_mut().filter(|life| life.start < end) else { return };
            // The next iteration uses it again.
            let body = around[at].iter().find(|body| life.start < body.start);
            life.end = life.end.max(body.map_or(end, |body| body.end));
        };
        for (at, &block) in path.blocks.iter().enumerate() {
            work::count(shader.blocks[block].insts.len());
            for data in insts(block) {
                for (n, &arg) in data.args.iter().enumerate() {
                    match data.phi_blocks.get(n) {
                        Some(&from) => use_at(arg, position[from], position[from] + 1),
                        None => use_at(arg, at, at),
                    }
                }
            }
        }
        path.conditions.iter().for_each(|&(condition, at)| use_at(condition, at, at + 1));
        let mut live = Live(SecondaryMap::with_capacity(shader.blocks.len()));
        for (value, life) in lives.iter() {
            for &block in life.clone().and_then(|life| path.blocks.get(life)).unwrap_or_default() {
                live.0[block].push(value);
            }
        }
        live
    }

    /// The values that are used behind the end of a block.
    pub fn behind(&self, block: Block) -> impl Iterator<Item = Value> + '_ {
        self.0[block].iter().copied()
    }
}

/// The blocks of a shader as they come in its program.
pub struct Path {
    blocks: Vec<Block>,
    /// Which of them are loops.
    loops: Vec<Range<usize>>,
    /// What control flow looks at, and where: at a block's end.
    conditions: Vec<(Value, usize)>,
    /// Which values all elements share, if an if had to know.
    uniform: Option<Uniform>,
}

impl Path {
    /// Of a shader.
    pub fn of(shader: &Shader) -> Path {
        Path::among(shader, None)
    }

    /// Of the same shader, if its blocks hold other code but its conditions are the same values.
    pub fn again(self, shader: &Shader) -> Path {
        Path::among(shader, self.uniform)
    }

    fn among(shader: &Shader, uniform: Option<Uniform>) -> Path {
        let mut path = Path { blocks: Vec::new(), loops: Vec::new(), conditions: Vec::new(), uniform };
        path.region(shader, &shader.body);
        path
    }

    fn region(&mut self, shader: &Shader, region: &Region) {
        for node in region {
            work::count(1);
            match node {
                Node::Block(block) => self.blocks.push(*block),
                Node::Loop(body) => {
                    let start = self.blocks.len();
                    self.region(shader, body);
                    self.loops.push(start..self.blocks.len());
                }
                Node::If { cond, then, otherwise } => {
                    let one_arm = self.uniform.get_or_insert_with(|| Uniform::of(shader)).contains(*cond);
                    self.look_at(*cond);
                    let arms = Arms::of(shader, *cond, one_arm, [then, otherwise], |_| true);
                    arms.in_order().into_iter().for_each(|arm| self.region(shader, arm));
                    // What the second arm leaves is kept where it was taken, if it is not the way out of a loop.
                    if !one_arm && !matches!(then.last(), Some(Node::Break)) {
                        self.look_at(*cond);
                    }
                }
                _ => {}
            }
        }
    }

    /// The loops around each block, the outer ones first.
    fn around(&self) -> Vec<Vec<Range<usize>>> {
        let mut around = vec![Vec::new(); self.blocks.len()];
        // Inner ones end first.
        for body in self.loops.iter().rev() {
            around[body.clone()].iter_mut().for_each(|around| around.push(body.clone()));
        }
        around
    }

    /// Notes a look at a condition, at the end of the last block.
    fn look_at(&mut self, condition: Value) {
        self.conditions.extend(self.blocks.len().checked_sub(1).map(|at| (condition, at)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Builder, Op, Stage, Type};

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
        assert_eq!(behind(then), [two, sum]);
        assert_eq!(behind(last), [two, sum, next]);
        assert!(behind(end).is_empty());
    }

    #[test]
    fn what_the_second_arm_wants_is_alive_in_the_first() {
        // before: a, b. if a < b { then: b } else { otherwise: product = a * a; sum = product + product }. join.
        let mut shader = Shader::new(Stage::Fragment);
        let before = shader.entry().expect("a new shader has a block");
        let mut b = Builder::new(&mut shader, before);
        let (one, two) = (b.op(Op::Varying(0), &[]), b.op(Op::Varying(1), &[]));
        let cond = b.op(Op::FLt, &[one, two]);
        let [then, otherwise, join] = [(); 3].map(|()| shader.blocks.push(Default::default()));
        let double = Builder::new(&mut shader, then).op(Op::FAdd, &[two, two]);
        let square = Builder::new(&mut shader, otherwise).op(Op::FMul, &[one, one]);
        let arms = [then, otherwise].map(|arm| vec![Node::Block(arm)]);
        let [arm, other] = arms;
        shader.body.extend([Node::If { cond, then: arm, otherwise: other }, Node::Block(join)]);
        let phi = Builder::new(&mut shader, join).phi(Type::Word, &[(then, double), (otherwise, square)]);
        Builder::new(&mut shader, join).emit(Op::TlbColorWrite, &[phi]);

        let live = Live::of(&shader);
        let behind = |block| {
            let mut values: Vec<Value> = live.behind(block).collect();
            values.sort_unstable();
            values
        };
        assert_eq!(behind(before), [one, two, cond]);
        assert_eq!(behind(otherwise), [two, cond, square], "it is run first");
        assert_eq!(behind(then), [cond, double, phi]);
    }
}

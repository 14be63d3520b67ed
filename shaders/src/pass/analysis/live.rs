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
pub struct Live(SecondaryMap<Block, Behind>);

#[derive(Clone, Default)]
struct Behind {
    values: Vec<Value>,
    /// How many of them are in registers.
    registers: usize,
}

impl Live {
    /// Of a shader.
    pub fn of(shader: &Shader) -> Live {
        Live::along(shader, &Path::of(shader))
    }

    /// Of a shader whose blocks are run along a path.
    pub fn along(shader: &Shader, path: &Path) -> Live {
        let lives = Lives::along(shader, path);
        let mut live = Live(shader.per_block());
        for (value, life) in lives.across_blocks() {
            let registers = usize::from(shader.op(value).takes_register());
            for &block in &path.blocks[life] {
                live.0[block].values.push(value);
                live.0[block].registers += registers;
            }
        }
        live
    }

    /// The values that are used behind the end of a block.
    pub fn behind(&self, block: Block) -> impl Iterator<Item = Value> + '_ {
        self.0[block].values.iter().copied()
    }

    /// How many of them are in registers.
    pub fn registers(&self, block: Block) -> usize {
        self.0[block].registers
    }
}

/// Where on a path each value is there: what [`Live`] lists, of a shader that changes.
pub struct Lives<'a> {
    path: &'a Path,
    /// Where blocks are on the path.
    position: SecondaryMap<Block, u32>,
    /// The loops around each place.
    around: Vec<Vec<Range<u32>>>,
    lives: SecondaryMap<Value, Life>,
}

/// Where a value is made, and the place behind the last one at whose end it is used behind.
#[derive(Clone, Copy)]
struct Life {
    start: u32,
    end: u32,
}

impl Default for Life {
    /// That of a value that nothing makes.
    fn default() -> Life {
        Life { start: u32::MAX, end: 0 }
    }
}

impl<'a> Lives<'a> {
    /// In a shader whose blocks are run along a path.
    pub fn along(shader: &Shader, path: &'a Path) -> Lives<'a> {
        let (position, around, lives) = (shader.per_block(), path.around(), shader.per_value());
        let mut lives = Lives { path, position, around, lives };
        path.blocks.iter().zip(0..).for_each(|(&block, at)| lives.position[block] = at);
        // What phis look at may be made behind them.
        let mut handed: Vec<(Value, u32)> = Vec::new();
        for (&block, at) in path.blocks.iter().zip(0..) {
            work::count(shader.blocks[block].insts.len());
            for &inst in &shader.blocks[block].insts {
                let data = &shader.insts[inst];
                let mut start = at;
                if data.phi_blocks.is_empty() {
                    data.args.iter().for_each(|&arg| lives.use_at(arg, at, at));
                } else {
                    let ways = data.phi_blocks.iter().map(|&from| lives.position[from]);
                    // What a phi takes over is in its register from the first of the ways on that come to it.
                    start = ways.clone().min().map_or(at, |first| at.min(first + 1));
                    handed.extend(data.args.iter().copied().zip(ways));
                }
                data.results.iter().for_each(|&value| lives.lives[value] = Life { start, end: start });
            }
        }
        for &(value, at) in handed.iter().chain(&path.conditions) {
            lives.use_at(value, at, at + 1);
        }
        lives
    }

    /// A value that is made in another block is used in a block, too.
    pub fn use_in(&mut self, value: Value, block: Block) {
        let at = self.position[block];
        self.use_at(value, at, at);
    }

    fn use_at(&mut self, value: Value, at: u32, end: u32) {
        let life = &mut self.lives[value];
        if life.start < end {
            // The next iteration uses it again.
            let body = self.around[at as usize].iter().find(|body| life.start < body.start);
            life.end = life.end.max(body.map_or(end, |body| body.end));
        }
    }

    /// A value is used nowhere any more but in the block that makes it.
    pub fn keep_at_home(&mut self, value: Value) {
        self.lives[value].end = self.lives[value].start;
    }

    /// How many values are in registers behind the end of each block.
    pub fn registers(&self, shader: &Shader) -> impl Iterator<Item = (usize, Block)> + '_ {
        // At each place those that come, less those that were there in front of it only.
        let mut more = vec![0_isize; self.path.blocks.len() + 1];
        for (_, life) in self.across_blocks().filter(|&(value, _)| shader.op(value).takes_register()) {
            more[life.start] += 1;
            more[life.end] -= 1;
        }
        let mut count = 0;
        self.path.blocks.iter().zip(more).map(move |(&block, more)| {
            count += more;
            (count as usize, block)
        })
    }

    /// The values that are used behind the end of a block.
    pub fn behind(&self, block: Block) -> impl Iterator<Item = Value> + '_ {
        let at = self.position[block] as usize;
        self.across_blocks().filter(move |(_, life)| life.contains(&at)).map(|(value, _)| value)
    }

    /// The values that are used behind the ends of blocks, and of which on the path.
    fn across_blocks(&self) -> impl Iterator<Item = (Value, Range<usize>)> + '_ {
        let lives = self.lives.iter().filter(|(_, life)| life.start < life.end);
        lives.map(|(value, life)| (value, life.start as usize..life.end as usize))
    }
}

/// The blocks of a shader as they come in its program.
pub struct Path {
    blocks: Vec<Block>,
    /// Which of them are loops.
    loops: Vec<Range<u32>>,
    /// What control flow looks at, and where: at a block's end.
    conditions: Vec<(Value, u32)>,
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
                    let start = self.blocks.len() as u32;
                    self.region(shader, body);
                    self.loops.push(start..self.blocks.len() as u32);
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
    fn around(&self) -> Vec<Vec<Range<u32>>> {
        let mut around = vec![Vec::new(); self.blocks.len()];
        // Inner ones end first.
        for body in self.loops.iter().rev() {
            let inside = &mut around[body.start as usize..body.end as usize];
            inside.iter_mut().for_each(|around| around.push(body.clone()));
        }
        around
    }

    /// Notes a look at a condition, at the end of the last block.
    fn look_at(&mut self, condition: Value) {
        self.conditions.extend(self.blocks.len().checked_sub(1).map(|at| (condition, at as u32)));
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

//! A block becomes a region: what is jumped over in ifs, everything else in the blocks between them.

use smallvec::smallvec;

use super::demand::{ArmId, ChoiceId, Demand};
use crate::ir::{Block, Node, Op, Region, Shader};

/// The region under construction.
pub struct Split<'a> {
    shader: &'a mut Shader,
    demand: &'a Demand,
    region: Region,
    current: Block,
}

impl<'a> Split<'a> {
    /// Of a block.
    pub fn new(shader: &'a mut Shader, demand: &'a Demand, block: Block) -> Split<'a> {
        shader.blocks[block].insts.clone_from(&demand.front);
        Split { shader, demand, region: vec![Node::Block(block)], current: block }
    }

    /// The region, and its last block.
    pub fn run(mut self) -> (Region, Block) {
        self.arm(self.demand.root);
        (self.region, self.current)
    }

    /// Appends what an arm holds.
    fn arm(&mut self, arm: ArmId) {
        let arm = &self.demand.arms[arm];
        for (index, piece) in arm.pieces.iter().enumerate().rev() {
            self.shader.blocks[self.current].insts.extend(piece.iter().rev());
            if let Some(choice) = index.checked_sub(1) {
                self.choice(arm.choices[choice]);
            }
        }
    }

    fn choice(&mut self, id: ChoiceId) {
        let choice = &self.demand.choices[id];
        for (arm, _) in choice.arms.into_iter().zip(choice.skips).filter(|(_, skips)| !skips) {
            self.arm(arm);
        }
        if choice.skips == [false; 2] {
            let selects = choice.selects.iter().rev().map(|&(inst, _)| inst);
            self.shader.blocks[self.current].insts.extend(selects);
            return;
        }
        let mut arms = [0, 1].map(|side| {
            let block = self.shader.blocks.push(Default::default());
            let demand = self.demand;
            let mut arm =
                Split { shader: self.shader, demand, region: vec![Node::Block(block)], current: block };
            if choice.skips[side] {
                arm.arm(choice.arms[side]);
            }
            (arm.region, arm.current)
        });
        let [(then, last_then), (otherwise, last_otherwise)] = &mut arms;
        let (then, otherwise) = (std::mem::take(then), std::mem::take(otherwise));
        self.region.push(Node::If { cond: choice.cond, then, otherwise });
        let join = self.shader.blocks.push(Default::default());
        self.region.push(Node::Block(join));
        self.current = join;
        for &(inst, inverted) in choice.selects.iter().rev() {
            let data = &mut self.shader.insts[inst];
            data.op = Op::Phi;
            data.args.remove(0);
            data.phi_blocks = if inverted {
                smallvec![*last_otherwise, *last_then]
            } else {
                smallvec![*last_then, *last_otherwise]
            };
            self.shader.blocks[join].insts.push(inst);
        }
    }
}

//! What is known of loops once they are lowered: whether all elements agree on how often they go round.

use cranelift_entity::EntitySet;

use crate::ir::uniform::Uniform;
use crate::ir::{Block, Op, Shader, Value};

/// Instructions from which on a loop saves more by the iteration that it does not run than it pays where elements differ: who
/// runs, and who runs the next iteration, are then two questions, with three instructions in each.
pub const LONG: usize = 40;

/// A lowered loop.
pub struct Turn {
    /// The first block of its body, as it was.
    pub first: Block,
    /// The first block now.
    pub header: Block,
    /// The elements that run an iteration: a phi of that block.
    pub active: Value,
    /// Its head ran ahead, though it is no long one.
    pub is_short: bool,
}

/// An iteration runs for some element; where all elements agree, it does for all. Of the loops where they may not, returns those whose heads
/// had better not run ahead, by the first blocks of their bodies.
pub fn settle(shader: &mut Shader, entry: Block, turns: &[Turn]) -> EntitySet<Block> {
    let uniform = Uniform::of(shader);
    let mut dear = EntitySet::new();
    for turn in turns {
        if !uniform.contains(turn.active) {
            if turn.is_short {
                dear.insert(turn.first);
            }
            continue;
        }
        let phi = shader.values[turn.active].inst;
        shader.blocks[turn.header].insts.retain(|&inst| inst != phi);
        shader.blocks[entry].insts.push(phi);
        let data = &mut shader.insts[phi];
        data.op = Op::ConstBool(true);
        data.args.clear();
        data.phi_blocks.clear();
    }
    dear
}

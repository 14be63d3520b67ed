//! Where the values of a shader are made, and which leave their block.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};

use crate::ir::{Block, Inst, Op, Shader, Value, for_each_condition};

/// Where values are made, and which are used in other blocks.
pub struct Scope {
    /// The block of an instruction.
    pub block_of: SecondaryMap<Inst, PackedOption<Block>>,
    /// Used by another block, a phi or a condition.
    pub elsewhere: EntitySet<Value>,
}

impl Scope {
    /// Of a shader whose blocks stand in this order.
    pub fn of(shader: &Shader, blocks: &[Block]) -> Scope {
        let mut scope = Scope { block_of: SecondaryMap::new(), elsewhere: EntitySet::new() };
        for &block in blocks {
            for &inst in &shader.blocks[block].insts {
                scope.block_of[inst] = block.into();
                let data = &shader.insts[inst];
                for &arg in &data.args {
                    let made_in = scope.block_of[shader.values[arg].inst].expand();
                    if data.op.is(Op::Phi) || made_in != Some(block) {
                        scope.elsewhere.insert(arg);
                    }
                }
            }
        }
        for_each_condition(&shader.body, &mut |cond| {
            scope.elsewhere.insert(cond);
        });
        scope
    }
}

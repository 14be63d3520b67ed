//! What a part of a shader makes for the rest of it.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use rustc_hash::FxHashMap;

use super::uses::Uses;
use crate::ir::{Block, Inst, Region, Shader, Value, collect_blocks, for_each_condition};
use crate::work;

/// Who uses what, and where: looked up once, for all loops of a shader.
pub struct Outside {
    uses: Uses,
    home: SecondaryMap<Inst, PackedOption<Block>>,
    /// How many ifs look at a value.
    conditions: FxHashMap<Value, usize>,
}

impl Outside {
    /// Of a shader.
    pub fn of(shader: &Shader) -> Outside {
        let mut home: SecondaryMap<Inst, PackedOption<Block>> = shader.per_inst();
        for block in shader.blocks_in_order() {
            shader.blocks[block].insts.iter().for_each(|&inst| home[inst] = block.into());
        }
        let insts = shader.insts_in_order();
        work::count(insts.len());
        Outside { uses: Uses::of(shader, &insts), home, conditions: conditions(&shader.body) }
    }

    /// Values that a region of the shader makes and that instructions outside, but some, or ifs outside look at: in order.
    pub fn uses(&self, shader: &Shader, region: &Region, but: &[Inst]) -> Vec<Value> {
        let mut blocks: Vec<Block> = Vec::new();
        collect_blocks(region, &mut blocks);
        let mut inside = EntitySet::<Block>::with_capacity(shader.blocks.len());
        inside.extend(blocks.iter().copied());
        let is_outside = |&inst: &Inst| {
            let home = self.home[inst].expand();
            home.is_some_and(|home| !inside.contains(home)) && !but.contains(&inst)
        };
        let inner = conditions(region);
        let insts = blocks.iter().flat_map(|&block| &shader.blocks[block].insts);
        let made = insts.flat_map(|&inst| shader.insts[inst].results.iter().copied());
        let is_used = |&value: &Value| {
            let users = self.uses.of_value(value);
            work::count(users.len());
            self.conditions.get(&value) != inner.get(&value) || users.iter().any(is_outside)
        };
        let mut used: Vec<Value> = made.filter(is_used).collect();
        used.sort_unstable();
        used
    }
}

/// How many ifs of a region look at each value.
fn conditions(region: &Region) -> FxHashMap<Value, usize> {
    let mut conditions = FxHashMap::default();
    for_each_condition(region, &mut |condition| *conditions.entry(condition).or_default() += 1);
    conditions
}

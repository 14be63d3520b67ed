//! Which values are the same in all elements of an instance.
//!
//! Elements share the program counter, so a value is uniform if what it is made of is; a loop that is left when no
//! element is active runs as often for all of them. Phis are taken for uniform until something says otherwise.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;

use super::entity::{Block, Inst, Value};
use super::op::Op;
use super::shader::{InstData, Node, Region, Shader};

/// The values of a shader that are the same in all elements.
pub struct Uniform {
    varying: EntitySet<Value>,
}

impl Uniform {
    /// Of a shader whose loops have the form that [`crate::pass::lower::control`] gives them: elements that left one run
    /// on in it.
    pub fn of(shader: &Shader) -> Uniform {
        let mut joins: SecondaryMap<Block, PackedOption<Value>> = shader.per_block();
        collect_joins(&shader.body, &mut joins);
        let mut varying = EntitySet::<Value>::with_capacity(shader.values.len());
        for block in shader.blocks_in_order() {
            // Behind an if whose ways differ by element its phis do.
            let merges = joins[block].expand().is_some_and(|cond| varying.contains(cond));
            for &inst in &shader.blocks[block].insts {
                let data = &shader.insts[inst];
                let is_merged = merges && data.op.is(Op::Phi);
                if data.op.differs_by_element() || is_merged || is_made_of(data, &varying) {
                    varying.extend(data.results.iter().copied());
                }
            }
        }
        let mut uniform = Uniform { varying };
        uniform.carry_around_loops(shader, &joins);
        uniform
    }

    /// Only what loops hand on to their next iterations was used before it was made.
    fn carry_around_loops(&mut self, shader: &Shader, joins: &SecondaryMap<Block, PackedOption<Value>>) {
        let is_late = |data: &InstData| is_made_of(data, &self.varying) && self.contains(data.results[0]);
        let insts = shader.insts_in_order().into_iter().map(|inst| &shader.insts[inst]);
        let late = insts.filter(|data| data.op.is(Op::Phi) && is_late(data));
        let mut work: Vec<Value> = late.flat_map(|phi| phi.results.iter().copied()).collect();
        if work.is_empty() {
            return;
        }
        let mut users: SecondaryMap<Value, SmallVec<[Inst; 2]>> = shader.per_value();
        for block in shader.blocks_in_order() {
            for &inst in &shader.blocks[block].insts {
                let data = &shader.insts[inst];
                let cond = joins[block].expand().filter(|_| data.op.is(Op::Phi));
                data.args.iter().copied().chain(cond).for_each(|arg| users[arg].push(inst));
            }
        }
        while let Some(value) = work.pop() {
            if self.varying.insert(value) {
                let made_of_it = users[value].iter().filter(|&&inst| !shader.insts[inst].op.is(Op::BAny));
                work.extend(made_of_it.flat_map(|&inst| &shader.insts[inst].results));
            }
        }
    }

    /// Whether `value` is the same in all elements.
    pub fn contains(&self, value: Value) -> bool {
        !self.varying.contains(value)
    }
}

/// Whether an instruction is made of what differs by element, and not the same for all of them nevertheless.
fn is_made_of(data: &InstData, varying: &EntitySet<Value>) -> bool {
    !data.op.is(Op::BAny) && data.args.iter().any(|&arg| varying.contains(arg))
}

/// The condition of the if that each block is behind.
fn collect_joins(region: &Region, joins: &mut SecondaryMap<Block, PackedOption<Value>>) {
    for (index, node) in region.iter().enumerate() {
        match node {
            Node::If { cond, then, otherwise } => {
                if let Some(&Node::Block(join)) = region.get(index + 1) {
                    joins[join] = (*cond).into();
                }
                collect_joins(then, joins);
                collect_joins(otherwise, joins);
            }
            Node::Loop(body) => collect_joins(body, joins),
            _ => {}
        }
    }
}

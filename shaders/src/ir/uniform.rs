//! Which values are the same in all elements of an instance.
//!
//! Elements share the program counter, so a value is uniform if what it is made of is; a loop that is left when no
//! element is active runs as often for all of them. Phis are taken for uniform until something says otherwise.

use cranelift_entity::{EntitySet, PrimaryMap, SecondaryMap};
use smallvec::SmallVec;

use super::entity::{Inst, Value};
use super::op::Op;
use super::shader::{Node, Region, Shader};

/// The values of a shader that are the same in all elements.
pub struct Uniform {
    varying: EntitySet<Value>,
}

impl Uniform {
    /// Of a shader whose loops have the form that [`crate::pass::lower::control`] gives them: elements that left one run
    /// on in it.
    pub fn of(shader: &Shader) -> Uniform {
        let mut varying = EntitySet::new();
        let mut users: PrimaryMap<Value, SmallVec<[Inst; 2]>> =
            shader.values.keys().map(|_| SmallVec::new()).collect();
        let mut work: Vec<Value> = Vec::new();
        for inst in shader.insts_in_order() {
            let data = &shader.insts[inst];
            data.args.iter().for_each(|&arg| users[arg].push(inst));
            if data.op.differs_by_element() {
                work.extend(data.results.iter().copied());
            }
        }
        // Behind an if whose ways differ by element its phis do.
        let mut merges: SecondaryMap<Value, SmallVec<[Inst; 2]>> = SecondaryMap::new();
        collect_merges(shader, &shader.body, &mut merges);
        while let Some(value) = work.pop() {
            if varying.insert(value) {
                let made_of_it = users[value].iter().filter(|&&inst| !shader.insts[inst].op.is(Op::BAny));
                for &inst in made_of_it.chain(&merges[value]) {
                    work.extend(shader.insts[inst].results.iter().copied());
                }
            }
        }
        Uniform { varying }
    }

    /// Whether `value` is the same in all elements.
    pub fn contains(&self, value: Value) -> bool {
        !self.varying.contains(value)
    }
}

/// The phis behind each if, by its condition.
fn collect_merges(shader: &Shader, region: &Region, merges: &mut SecondaryMap<Value, SmallVec<[Inst; 2]>>) {
    for (index, node) in region.iter().enumerate() {
        match node {
            Node::If { cond, then, otherwise } => {
                if let Some(&Node::Block(join)) = region.get(index + 1) {
                    let insts = shader.blocks[join].insts.iter().copied();
                    merges[*cond].extend(insts.take_while(|&inst| shader.insts[inst].op.is(Op::Phi)));
                }
                collect_merges(shader, then, merges);
                collect_merges(shader, otherwise, merges);
            }
            Node::Loop(body) => collect_merges(shader, body, merges),
            _ => {}
        }
    }
}

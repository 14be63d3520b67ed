//! Takes what stands nowhere out of a shader. Passes leave instructions, values and blocks behind that nothing refers to any more: two of
//! three in a long shader. Copies of it would hold them, and each table of values an entry for each.

use cranelift_entity::packed_option::ReservedValue;
use cranelift_entity::{EntitySet, PrimaryMap, SecondaryMap};

use super::entity::{Block, Inst, Value};
use super::shader::{InstData, Node, Region, Shader};

/// Instructions that stand nowhere up to which they stay: to give new names to all others takes longer than it saves.
const FEW: usize = 1024;

/// The new names of what stays.
struct Names {
    values: SecondaryMap<Value, Value>,
    blocks: SecondaryMap<Block, Block>,
}

impl Shader {
    /// Forgets instructions, values and blocks that are not of the body, if they are many. What stays keeps its order, but not
    /// its names.
    pub fn sweep(&mut self) {
        let blocks_in_order = self.blocks_in_order();
        let count = blocks_in_order.iter().map(|&block| self.blocks[block].insts.len()).sum();
        if self.insts.len() <= count + FEW {
            return;
        }
        let mut standing = EntitySet::<Block>::with_capacity(self.blocks.len());
        standing.extend(blocks_in_order.iter().copied());
        let mut living = EntitySet::<Inst>::with_capacity(self.insts.len());
        for &block in &blocks_in_order {
            living.extend(self.blocks[block].insts.iter().copied());
        }
        let mut names = Names {
            values: SecondaryMap::with_default(Value::reserved_value()),
            blocks: SecondaryMap::with_default(Block::reserved_value()),
        };
        let mut insts: SecondaryMap<Inst, Inst> = SecondaryMap::with_default(Inst::reserved_value());
        insts.resize(self.insts.len());
        names.values.resize(self.values.len());
        names.blocks.resize(self.blocks.len());

        let old = std::mem::replace(&mut self.insts, PrimaryMap::with_capacity(count));
        for (inst, data) in old.into_iter().filter(|&(inst, _)| living.contains(inst)) {
            insts[inst] = self.insts.push(data);
        }
        let old = std::mem::replace(&mut self.values, PrimaryMap::with_capacity(count));
        for (value, mut data) in old.into_iter().filter(|(_, data)| living.contains(data.inst)) {
            data.inst = insts[data.inst];
            names.values[value] = self.values.push(data);
        }
        let old = std::mem::take(&mut self.blocks);
        for (block, mut data) in old.into_iter().filter(|&(block, _)| standing.contains(block)) {
            data.insts.iter_mut().for_each(|inst| *inst = insts[*inst]);
            names.blocks[block] = self.blocks.push(data);
        }
        self.insts.values_mut().for_each(|data| names.rename(data));
        names.rename_region(&mut self.body);
    }
}

impl Names {
    fn rename(&self, data: &mut InstData) {
        for value in data.args.iter_mut().chain(&mut data.results) {
            *value = self.values[*value];
        }
        data.phi_blocks.iter_mut().for_each(|block| *block = self.blocks[*block]);
    }

    fn rename_region(&self, region: &mut Region) {
        for node in region {
            match node {
                Node::Block(block) => *block = self.blocks[*block],
                Node::If { cond, then, otherwise } => {
                    *cond = self.values[*cond];
                    self.rename_region(then);
                    self.rename_region(otherwise);
                }
                Node::Loop(body) => self.rename_region(body),
                Node::Break | Node::Continue | Node::Return | Node::Discard => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::verify::verify;
    use crate::ir::{Builder, Interpolation, Op, Output, Stage, Type};

    #[test]
    fn what_stands_nowhere_is_forgotten() {
        let mut shader = Shader::new(Stage::Fragment);
        let entry = shader.entry().expect("a new shader has a block");
        let dead_block = shader.blocks.push(Default::default());
        let [then, otherwise, join] = [(); 3].map(|()| shader.blocks.push(Default::default()));
        let b = &mut Builder::new(&mut shader, dead_block);
        for _ in 0..FEW {
            b.op(Op::LoadPush(1), &[]);
        }
        let b = &mut Builder::new(&mut shader, entry);
        let interpolation = Interpolation::Smooth;
        let input = b.op(Op::LoadInput { location: 0, component: 0, interpolation }, &[]);
        let zero = b.float(0.0);
        let unused = b.op(Op::FMul, &[input, zero]);
        let cond = b.op(Op::FLt, &[input, zero]);
        b.shader.blocks[entry].insts.retain(|&inst| inst != b.shader.values[unused].inst);
        let sum = Builder::new(&mut shader, then).op(Op::FAdd, &[input, input]);
        let arms = [then, otherwise].map(|arm| vec![Node::Block(arm)]);
        let [then_arm, otherwise_arm] = arms;
        shader.body.extend([Node::If { cond, then: then_arm, otherwise: otherwise_arm }, Node::Block(join)]);
        let b = &mut Builder::new(&mut shader, join);
        let phi = b.phi(Type::Word, &[(then, sum), (otherwise, input)]);
        b.store_output(Output::User { location: 0, component: 0 }, phi);
        verify(&shader).expect("it is whole");
        let count = shader.insts_in_order().len();
        assert_eq!(shader.insts.len(), count + FEW + 1, "those of a block, and {unused}");

        let before: Vec<Op> = shader.insts_in_order().into_iter().map(|inst| shader.insts[inst].op).collect();
        shader.sweep();
        verify(&shader).expect("it is whole");
        let after: Vec<Op> = shader.insts_in_order().into_iter().map(|inst| shader.insts[inst].op).collect();
        assert_eq!(after, before);
        assert_eq!([shader.insts.len(), shader.values.len(), shader.blocks.len()], [count, count - 1, 4]);
        let [Node::Block(_), Node::If { cond, .. }, Node::Block(join)] = &shader.body[..] else {
            panic!("its body is {:?}", shader.body);
        };
        assert_eq!(shader.op(*cond), Op::FLt);
        let phi = &shader.insts[shader.blocks[*join].insts[0]];
        assert_eq!(phi.args.iter().map(|&arg| shader.op(arg)).collect::<Vec<_>>()[0], Op::FAdd);
    }
}

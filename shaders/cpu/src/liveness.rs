//! Which values are still used behind a barrier: what a batch has to keep while it waits.

use cranelift_entity::{EntityRef, SecondaryMap};
use fixedbitset::FixedBitSet;
use vc4_shaders::ir::cfg::Cfg;
use vc4_shaders::ir::{Block, Inst, Node, Op, Region, Shader, Value};

/// The values that live across each barrier, in program order of the barriers.
pub fn across_barriers(shader: &Shader, cfg: &Cfg) -> Vec<(Inst, Vec<Value>)> {
    let is_barrier = |inst: &Inst| shader.insts[*inst].op == Op::Barrier;
    let barriers = shader.insts_in_order().into_iter().filter(is_barrier).count();
    if barriers == 0 {
        return Vec::new();
    }
    let mut flow = Flow::new(shader, cfg);
    flow.solve();
    let mut found = Vec::with_capacity(barriers);
    for &block in &cfg.order {
        if !cfg.is_reachable(block) || !shader.blocks[block].insts.iter().any(is_barrier) {
            continue;
        }
        let mut live = flow.out[block].clone();
        let at = found.len();
        for &inst in shader.blocks[block].insts.iter().rev() {
            let data = &shader.insts[inst];
            if data.op == Op::Barrier {
                found.insert(at, (inst, live.ones().map(Value::new).collect()));
            }
            flow.step(inst, &mut live);
        }
    }
    found
}

struct Flow<'a> {
    shader: &'a Shader,
    cfg: &'a Cfg,
    /// The condition of the `If` behind a block.
    condition: SecondaryMap<Block, Option<Value>>,
    out: SecondaryMap<Block, FixedBitSet>,
}

impl<'a> Flow<'a> {
    fn new(shader: &'a Shader, cfg: &'a Cfg) -> Flow<'a> {
        let mut condition = SecondaryMap::new();
        conditions(&shader.body, &mut condition);
        let none = FixedBitSet::with_capacity(shader.values.len());
        Flow { shader, cfg, condition, out: SecondaryMap::with_default(none) }
    }

    /// Moves from behind an instruction to in front of it. Phi operands live at the ends of the predecessors.
    fn step(&self, inst: Inst, live: &mut FixedBitSet) {
        let data = &self.shader.insts[inst];
        data.results.iter().for_each(|&result| live.remove(result.index()));
        if data.op != Op::Phi {
            data.args.iter().for_each(|&arg| live.insert(arg.index()));
        }
    }

    fn solve(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for at in (0..self.cfg.order.len()).rev() {
                let block = self.cfg.order[at];
                if let Some(cond) = self.condition[block] {
                    self.out[block].insert(cond.index());
                }
                let mut live = self.out[block].clone();
                for &inst in self.shader.blocks[block].insts.iter().rev() {
                    self.step(inst, &mut live);
                }
                for &pred in self.cfg.preds(block) {
                    changed |= !live.is_subset(&self.out[pred]);
                    self.out[pred].union_with(&live);
                }
                changed |= self.phi_operands(block);
            }
        }
    }

    fn phi_operands(&mut self, block: Block) -> bool {
        let shader = self.shader;
        let mut changed = false;
        for &inst in &shader.blocks[block].insts {
            let data = &shader.insts[inst];
            for (&arg, &from) in data.args.iter().zip(&data.phi_blocks) {
                changed |= !self.out[from].put(arg.index());
            }
        }
        changed
    }
}

fn conditions(region: &Region, found: &mut SecondaryMap<Block, Option<Value>>) {
    let mut last = None;
    for node in region {
        match node {
            Node::Block(block) => last = Some(*block),
            Node::If { cond, then, otherwise } => {
                if let Some(block) = last {
                    found[block] = Some(*cond);
                }
                conditions(then, found);
                conditions(otherwise, found);
            }
            Node::Loop(body) => conditions(body, found),
            _ => {}
        }
    }
}

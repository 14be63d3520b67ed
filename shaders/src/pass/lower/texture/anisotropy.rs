//! Anisotropic samples: the texture unit has none, so a loop averages samples along the longer axis of an
//! element's footprint, each at the level of detail of its part.
//!
//! Elements take as many as their footprint is longer than wide, so that a surface seen from the front costs one lookup.

use smallvec::SmallVec;

use super::image::{Axes, Components, Image, Operands};
use super::lod::{self, Parts};
use crate::ir::{
    Block, BlockData, Builder, Inst, LineId, Lod, Node, Op, Region, Replacements, Sample, Shader, Type, Value,
};
use crate::state::PipelineState;

/// Replaces the samples of anisotropic textures by loops of samples with explicit levels of detail.
pub fn run(shader: &mut Shader, state: &PipelineState) {
    if !state.textures.values().any(|key| key.anisotropic) {
        return;
    }
    let body = std::mem::take(&mut shader.body);
    let mut pass = Pass { shader, state, map: Replacements::default() };
    let body = pass.region(body);
    let Pass { map, .. } = pass;
    shader.body = body;
    shader.line = LineId::NONE;
    shader.apply(&map);
}

struct Pass<'a> {
    shader: &'a mut Shader,
    state: &'a PipelineState,
    /// What stands for results of replaced samples.
    map: Replacements,
}

impl Pass<'_> {
    fn region(&mut self, region: Region) -> Region {
        let mut nodes = Region::with_capacity(region.len());
        for node in region {
            match node {
                Node::Block(block) => self.block(block, &mut nodes),
                Node::If { cond, then, otherwise } => {
                    let (then, otherwise) = (self.region(then), self.region(otherwise));
                    nodes.push(Node::If { cond, then, otherwise });
                }
                Node::Loop(body) => {
                    let body = self.region(body);
                    nodes.push(Node::Loop(body));
                }
                node => nodes.push(node),
            }
        }
        nodes
    }

    /// Appends a block, cut at its anisotropic samples.
    fn block(&mut self, mut block: Block, nodes: &mut Region) {
        while let Some(at) = self.first_sample(block) {
            let rest = self.shader.blocks[block].insts.split_off(at + 1);
            let after = self.shader.blocks.push(BlockData { insts: rest });
            // Where control came from the whole block it comes from its end now.
            for data in self.shader.insts.values_mut() {
                for from in data.phi_blocks.iter_mut().filter(|from| **from == block) {
                    *from = after;
                }
            }
            if let Some(inst) = self.shader.blocks[block].insts.pop() {
                self.averaged(block, inst, after, nodes);
            }
            block = after;
        }
        nodes.push(Node::Block(block));
    }

    /// The first sample with several in its footprint.
    fn first_sample(&self, block: Block) -> Option<usize> {
        self.shader.blocks[block].insts.iter().position(|&inst| match &self.shader.insts[inst].op {
            Op::Sample(sample) => {
                let key = self.state.textures.get(&sample.texture);
                key.is_some_and(|key| key.anisotropic) && lod::has_footprint(self.shader.stage, sample.lod)
            }
            _ => false,
        })
    }

    /// Appends `block`, which ends with what the loop needs, and the loop; `after` begins with the averages of its samples, which
    /// stand for those of `inst`.
    fn averaged(&mut self, block: Block, inst: Inst, after: Block, nodes: &mut Region) {
        let data = self.shader.insts[inst].clone();
        let Op::Sample(sample) = data.op else { return };
        let args: SmallVec<[Value; 4]> = data.args.iter().map(|&arg| self.map.resolve(arg)).collect();
        let operands = Operands::new(&sample, &args);
        let stage = self.shader.stage;
        self.shader.line = data.line;
        let mut b = Builder::new(self.shader, block);
        b.relaxed = data.relaxed;
        let walk = Walk::new(&mut Image::new(&mut b, self.state, stage, &sample), &operands)
            .expect("only samples with a footprint are replaced");
        let (zero, none, one) = (b.float(0.0), b.word(0), b.word(1));
        nodes.push(Node::Block(block));

        let [header, leaving, staying, latch] =
            [(); 4].map(|()| self.shader.blocks.push(BlockData::default()));
        let mut b = Builder::new(self.shader, header);
        b.relaxed = data.relaxed;
        let left = b.phi(Type::Word, &[(block, walk.parts.count)]);
        let at: Axes = walk.start.iter().map(|&c| b.phi(Type::Word, &[(block, c)])).collect();
        let sums: Components = data.results.iter().map(|_| b.phi(Type::Word, &[(block, zero)])).collect();
        let mut args: SmallVec<[Value; 4]> = at.iter().copied().chain(operands.layer).collect();
        args.push(walk.lambda);
        args.extend(operands.offset.iter().copied().chain(operands.reference));
        let tap = b.emit(Op::Sample(Sample { lod: Lod::Explicit, ..sample }), &args);
        let results: Components = sums.iter().zip(tap).map(|(&sum, tap)| b.fadd(sum, tap)).collect();
        let remaining = b.op(Op::ISub, &[left, one]);
        let done = b.op(Op::IEq, &[remaining, none]);

        let mut b = Builder::new(self.shader, latch);
        let next: Axes = at.iter().zip(&walk.step).map(|(&c, &step)| b.fadd(c, step)).collect();
        b.add_phi_arg(left, latch, remaining);
        for (&phi, &value) in at.iter().chain(&sums).zip(next.iter().chain(&results)) {
            b.add_phi_arg(phi, latch, value);
        }
        nodes.push(Node::Loop(vec![
            Node::Block(header),
            Node::If {
                cond: done,
                then: vec![Node::Block(leaving), Node::Break],
                otherwise: vec![Node::Block(staying)],
            },
            Node::Block(latch),
        ]));

        let rest = std::mem::take(&mut self.shader.blocks[after].insts);
        let mut b = Builder::new(self.shader, after);
        b.relaxed = data.relaxed;
        for (&result, &sum) in data.results.iter().zip(&results) {
            let average = b.fmul(sum, walk.parts.share);
            self.map.insert(result, average);
        }
        self.shader.blocks[after].insts.extend(rest);
    }
}

/// Where an element looks.
struct Walk {
    /// How often.
    parts: Parts,
    /// Coordinates of the first, and from one to the next.
    start: Axes,
    step: Axes,
    /// Level of detail of each.
    lambda: Value,
}

impl Walk {
    fn new(image: &mut Image<'_, '_>, operands: &Operands<'_>) -> Option<Walk> {
        let footprint = lod::footprint(image, operands)?;
        let parts = footprint.parts?;
        let lambda = lod::of_footprint(image, operands, &footprint);
        let share = parts.share;
        let [x, y] = footprint.squares;
        let upright = image.b.op(Op::FLt, &[x, y]);
        let (half, minus_half) = (image.float(0.5), image.float(-0.5));
        // The middle of the first part: -1/2 + share/2 of the way.
        let first = image.b.fmad(share, half, minus_half);
        let (mut start, mut step) = (Axes::new(), Axes::new());
        for (axis, &c) in operands.coordinates.iter().enumerate() {
            let longer = image.b.select(upright, footprint.dy[axis], footprint.dx[axis]);
            start.push(image.b.fmad(longer, first, c));
            step.push(image.b.fmul(longer, share));
        }
        Some(Walk { parts, start, step, lambda })
    }
}

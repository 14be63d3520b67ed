//! What a whole primitive decides and the machine does not know: of edges and corners of triangles (T-NONSOLID) the triangle's
//! face, provoking vertex and slope, of every primitive whether a cull distance is negative all over. The vertex program
//! computes it from all corners. It holds the stage once
//! for its own vertex and once for each corner, of which dead code leaves what is asked for: mostly positions.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use vc4::state::raster::FrontFace;
use vc4::state::{Emitter, StateUniform};

use super::corners::{BACK, BIAS, CULLED, Corner, hidden, output};
use super::depth::bias;
use super::distances::culling;
use super::error::LowerError;
use super::inputs::Varying;
use super::outputs::last_block;
use crate::binding::UniformSlot;
use crate::ir::{Block, Builder, BuiltinInput, Inst, Interpolation, Node, Op, Output, Region, Shader, Value};
use crate::pass::rewrite::emitter::{IrEmitter, recip};
use crate::pass::rewrite::{Action, rewrite};
use crate::state::{PipelineState, Polygon};

const SIGN: u32 = 1 << 31;

/// Adds what the whole primitive decides to the outputs of a vertex stage without ifs. `varyings`: what the fragment
/// program reads.
pub fn vertex(shader: &mut Shader, state: &PipelineState, varyings: &[Varying]) -> Result<(), LowerError> {
    let distances = culling(shader);
    if state.polygon.is_none() && distances.is_empty() {
        return Ok(());
    }
    while let Some(Node::Return) = shader.body.last() {
        shader.body.pop();
    }
    let stage = shader.clone();
    let corners = match (state.polygon, state.points, state.lines) {
        (None, true, _) => 0..0,
        (None, false, true) => 0..2,
        _ => 0..3,
    };
    // A point is its only corner.
    let mut corners: Vec<_> =
        corners.map(|corner| copy(shader, state, &stage, corner)).collect::<Result<_, _>>()?;
    if corners.is_empty() {
        corners.push(stored(&stage));
    }
    let block = last_block(shader)?;
    let mut b = Builder::new(shader, block);
    let by_distance = is_outside(&mut b, &corners, &distances);
    let by_face = match state.polygon {
        Some(polygon) => triangle(&mut b, state, polygon, &corners, varyings),
        None => None,
    };
    let culled = match (by_distance, by_face) {
        (Some(p), Some(q)) => Some(b.op(Op::BOr, &[p, q])),
        (p, q) => p.or(q),
    };
    if let Some(culled) = culled {
        let (sign, none) = (b.word(SIGN), b.word(0));
        let culled = b.select(culled, sign, none);
        b.store_output(CULLED, culled);
    }
    Ok(())
}

/// Whether some cull distance is negative at all corners; `None` without any.
fn is_outside(
    b: &mut Builder,
    corners: &[BTreeMap<Output, Value>],
    distances: &BTreeSet<(u32, u8)>,
) -> Option<Value> {
    let zero = b.float(0.0);
    let outside: Vec<Value> = distances
        .iter()
        .filter_map(|&(location, component)| {
            let negative: Vec<Value> = corners
                .iter()
                .filter_map(|corner| corner.get(&Output::User { location, component }))
                .map(|distance| b.op(Op::FLt, &[*distance, zero]))
                .collect();
            negative.into_iter().reduce(|p, q| b.op(Op::BAnd, &[p, q]))
        })
        .collect();
    outside.into_iter().reduce(|p, q| b.op(Op::BOr, &[p, q]))
}

/// Stores what programs ask of a triangle that is not filled; whether its face is culled.
fn triangle(
    b: &mut Builder,
    state: &PipelineState,
    polygon: Polygon,
    corners: &[BTreeMap<Output, Value>],
    varyings: &[Varying],
) -> Option<Value> {
    for varying in varyings.iter().filter(|varying| varying.interpolation == Interpolation::Flat) {
        let name = Output::User { location: varying.location, component: varying.component };
        if let Some(&value) = corners[0].get(&name) {
            b.store_output(output(state, varying.location, varying.component, varying.interpolation), value);
        }
    }
    let (zero, one) = (b.word(0), b.float(1.0));
    let position = |corner: &BTreeMap<Output, Value>| {
        [0, 1, 2, 3].map(|n| {
            let default = if n == 3 { one } else { zero };
            corner.get(&Output::Position(n)).copied().unwrap_or(default)
        })
    };
    let triangle = Triangle::new(b, [0, 1, 2].map(|n: usize| position(&corners[n])));
    let is_front = triangle.is_front(b, polygon.front_face);
    let (none, back) = (b.word(0), b.word(1));
    let reverse = b.select(is_front, none, back);
    b.store_output(Output::User { location: BACK, component: 0 }, reverse);
    if polygon.slope_bias {
        let slope = triangle.slope(b);
        let bias = bias(b, slope);
        b.store_output(Output::User { location: BIAS, component: 0 }, bias);
    }
    match (polygon.cull_front, polygon.cull_back) {
        (true, true) => Some(b.truth(true)),
        (true, false) => Some(is_front),
        (false, true) => Some(b.op(Op::BNot, &[is_front])),
        (false, false) => None,
    }
}

/// What a stage stores.
fn stored(stage: &Shader) -> BTreeMap<Output, Value> {
    let stores = stage.insts_in_order().into_iter().filter_map(|inst| match stage.insts[inst].op {
        Op::StoreOutput(output) => Some((output, stage.insts[inst].args[0])),
        _ => None,
    });
    stores.collect()
}

/// Makes a fragment stage whose outputs are lowered take faces from the vertex program.
pub fn fragment(shader: &mut Shader, state: &PipelineState) {
    if state.polygon.is_none() {
        return;
    }
    let Ok(()) = rewrite(shader, |b, data| {
        Ok::<_, std::convert::Infallible>(match data.op {
            Op::RevFlag => Action::with(hidden(b, BACK)),
            Op::LoadBuiltin(BuiltinInput::FrontFacing) => {
                let (back, zero) = (hidden(b, BACK), b.word(0));
                Action::with(b.op(Op::IEq, &[back, zero]))
            }
            _ => Action::Keep,
        })
    });
}

/// A triangle in clip coordinates: a corner and the ways to the two others.
struct Triangle {
    at: [Value; 4],
    edges: [[Value; 4]; 2],
    /// The determinant of x, y and w: twice the area on the screen, times what is positive in view.
    area: Value,
}

impl Triangle {
    fn new(b: &mut Builder, [at, second, third]: [[Value; 4]; 3]) -> Triangle {
        let mut way = |to: [Value; 4]| [0, 1, 2, 3].map(|n| b.op(Op::FSub, &[to[n], at[n]]));
        let edges = [way(second), way(third)];
        let mut triangle = Triangle { at, edges, area: at[0] };
        triangle.area = triangle.determinant(b, [0, 1, 3]);
        triangle
    }

    /// The determinant of three of the coordinates.
    fn determinant(&self, b: &mut Builder, [i, j, k]: [usize; 3]) -> Value {
        let [p, q] = &self.edges;
        let mut minor = |m: usize, n: usize| {
            let (plus, minus) = (b.op(Op::FMul, &[p[m], q[n]]), b.op(Op::FMul, &[p[n], q[m]]));
            b.op(Op::FSub, &[plus, minus])
        };
        let minors = [minor(j, k), minor(k, i), minor(i, j)];
        let [x, y, z] = [0, 1, 2].map(|n| b.op(Op::FMul, &[self.at[[i, j, k][n]], minors[n]]));
        let sum = b.op(Op::FAdd, &[x, y]);
        b.op(Op::FAdd, &[sum, z])
    }

    /// Whether it shows its front; what has no area does not (Vulkan 1.0 §24.8.1).
    fn is_front(&self, b: &mut Builder, front: FrontFace) -> Value {
        // A viewport of negative height mirrors.
        let height = b.op(Op::Uniform(UniformSlot::State(StateUniform::ScreenYScale)), &[]);
        let sign = b.word(SIGN);
        let mirrored = b.op(Op::And, &[height, sign]);
        let turned = b.op(Op::Xor, &[self.area, mirrored]);
        // Row 0 is at the top, so what turns left has a negative area.
        let zero = b.float(0.0);
        match front {
            FrontFace::CounterClockwise => b.op(Op::FLt, &[turned, zero]),
            FrontFace::Clockwise => b.op(Op::FLt, &[zero, turned]),
        }
    }

    /// The larger change of depth from pixel to pixel, along x or y; 0 without an area.
    fn slope(&self, b: &mut Builder) -> Value {
        let changes = [self.determinant(b, [2, 1, 3]), self.determinant(b, [0, 2, 3])];
        let inverse = recip(b, self.area);
        let mut e = IrEmitter::new(b);
        // Halves of the viewport in sixteenths of pixels.
        let sixteen = e.float(16.0);
        let depth = e.uniform(StateUniform::DepthScale);
        let scale = e.fmul(depth, sixteen);
        let [x, y] = [(changes[0], StateUniform::ScreenXScale), (changes[1], StateUniform::ScreenYScale)]
            .map(|(change, half)| {
                let half = e.uniform(half);
                let half = e.recip(half);
                let change = e.fmul(change, inverse);
                e.fmul(change, half)
            });
        let larger = e.add(vc4::qpu::AddOp::Fmaxabs, x, y);
        let slope = e.fmul(larger, scale);
        let zero = b.float(0.0);
        let is_flat = b.op(Op::FEq, &[self.area, zero]);
        b.select(is_flat, zero, slope)
    }
}

/// Appends `stage` once more, for a corner; what it stores.
fn copy(
    shader: &mut Shader,
    state: &PipelineState,
    stage: &Shader,
    corner: u8,
) -> Result<BTreeMap<Output, Value>, LowerError> {
    let what = "the shader does not begin with a block";
    let Some((&Node::Block(first), rest)) = stage.body.split_first() else {
        return Err(LowerError::Structure { stage: stage.stage, what });
    };
    let end = last_block(shader)?;
    let mut copier = Copier {
        shader,
        state,
        stage,
        corner,
        values: FxHashMap::default(),
        blocks: FxHashMap::default(),
        made: Vec::new(),
        outputs: BTreeMap::new(),
    };
    copier.block(first, end);
    let rest = copier.region(rest);
    copier.shader.body.extend(rest);
    Ok(copier.finish())
}

/// A copy of a stage under way.
struct Copier<'a> {
    shader: &'a mut Shader,
    state: &'a PipelineState,
    stage: &'a Shader,
    corner: u8,
    values: FxHashMap<Value, Value>,
    blocks: FxHashMap<Block, Block>,
    made: Vec<Inst>,
    /// What it stores, in the stage's own values.
    outputs: BTreeMap<Output, Value>,
}

impl Copier<'_> {
    fn region(&mut self, region: &[Node]) -> Region {
        let node = |node: &Node| match node {
            &Node::Block(block) => {
                let to = self.shader.blocks.push(Default::default());
                self.block(block, to);
                Node::Block(to)
            }
            Node::If { cond, then, otherwise } => {
                let cond = self.value(*cond);
                Node::If { cond, then: self.region(then), otherwise: self.region(otherwise) }
            }
            Node::Loop(body) => Node::Loop(self.region(body)),
            node => node.clone(),
        };
        region.iter().map(node).collect()
    }

    /// Appends the instructions of a block to another one.
    fn block(&mut self, from: Block, to: Block) {
        self.blocks.insert(from, to);
        for &inst in &self.stage.blocks[from].insts {
            let data = &self.stage.insts[inst];
            if let Op::StoreOutput(output) = data.op {
                self.outputs.insert(output, data.args[0]);
                continue;
            }
            let types: Vec<_> = data.results.iter().map(|&result| self.stage.values[result].ty).collect();
            let made = self.shader.make_inst(self.op(data.op), data.args.clone(), &types, data.relaxed);
            let copy = &mut self.shader.insts[made];
            (copy.exact, copy.line, copy.phi_blocks) = (data.exact, data.line, data.phi_blocks.clone());
            self.values.extend(data.results.iter().copied().zip(copy.results.iter().copied()));
            self.made.push(made);
            self.shader.blocks[to].insts.push(made);
        }
    }

    /// What an operation of the stage is for the corner.
    fn op(&self, op: Op) -> Op {
        let per_instance = |location| {
            let attribute = self.state.attributes.iter().find(|attribute| attribute.location == location);
            attribute.is_some_and(|attribute| attribute.per_instance)
        };
        match op {
            Op::LoadInput { location, component, interpolation } if !per_instance(location) => {
                Op::LoadInput { location: Corner::of(self.corner, location), component, interpolation }
            }
            Op::LoadBuiltin(BuiltinInput::VertexIndex) => Op::LoadInput {
                location: Corner::index_of(self.corner),
                component: 0,
                interpolation: Interpolation::Flat,
            },
            op => op,
        }
    }

    fn value(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }

    /// Makes the copies use each other; what is stored.
    fn finish(self) -> BTreeMap<Output, Value> {
        for &inst in &self.made {
            let data = &mut self.shader.insts[inst];
            data.args.iter_mut().for_each(|arg| *arg = self.values.get(arg).copied().unwrap_or(*arg));
            data.phi_blocks
                .iter_mut()
                .for_each(|from| *from = self.blocks.get(from).copied().unwrap_or(*from));
        }
        self.outputs.iter().map(|(&output, &value)| (output, self.value(value))).collect()
    }
}

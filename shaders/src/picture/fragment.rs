//! A kernel that is a picture as a fragment stage, and the rectangle that it is drawn over.
//!
//! What a fragment does not know of a dispatch stands behind the application's push constants.

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

use super::guard::Guards;
use super::linear::Linear;
use super::target::{Order, Target};
use crate::ir::{
    Block, Builder, BuiltinInput, Fetch, ImageDim, Invocation, Memory, Node, Op, Output, Region, Shader,
    Stage, Texel, Value,
};
use crate::pass;
use crate::pass::rewrite::{Action, rewrite};

/// First byte of the push constants that say what a fragment does not know; in front of it are the application's.
pub const PARAMETERS_AT: u32 = 512;
/// The number of every invocation along the third axis.
pub const LAYER_AT: u32 = PARAMETERS_AT;
/// Workgroups along each axis.
pub const GROUPS_AT: u32 = PARAMETERS_AT + 4;
/// Words of a row, of buffers in one line.
pub const ROW_AT: u32 = PARAMETERS_AT + 16;
/// First byte behind.
pub const PARAMETERS_END: u32 = PARAMETERS_AT + 20;

/// Where nothing was written the pixel is not covered.
const WRITTEN: Output = Output::SampleMask;

/// The fragment stage of a kernel, where its guards hold, and whether it leaves pixels out.
pub fn of(kernel: &Shader, target: &Target, guards: &Guards) -> (Shader, bool) {
    // Numbers along an axis that the kernel has made are the pixel's own.
    let mut axes: SecondaryMap<Value, Option<u8>> = SecondaryMap::new();
    for inst in kernel.insts_in_order() {
        let data = &kernel.insts[inst];
        if let (Op::IAdd | Op::LoadBuiltin(_), [value]) = (data.op, &data.results[..]) {
            let place = Linear::of(kernel, *value);
            axes[*value] = place.and_then(|place| (0..3).find(|&axis| place == Linear::global(kernel, axis)));
        }
    }
    let size = kernel.workgroup.size;
    let mut shader = kernel.clone();
    shader.stage = Stage::Fragment;
    shader.workgroup = Default::default();
    let global = places(&mut shader, target);
    let Ok(()) = rewrite(&mut shader, |b, data| {
        let result = data.results.first().copied();
        if let Some(axis) = result.and_then(|value| axes[value]) {
            return Ok::<_, std::convert::Infallible>(Action::with(global[usize::from(axis)]));
        }
        if let Some((_, truth)) = guards.known.iter().find(|(value, _)| Some(*value) == result) {
            let known = b.truth(*truth);
            return Ok(Action::with(known));
        }
        Ok(match data.op {
            Op::LoadBuiltin(BuiltinInput::Invocation(what)) => {
                Action::with(invocation(b, what, size, global))
            }
            Op::Load { memory: Memory::Buffer(buffer), offset } => {
                Action::with(match b.shader.const_of(data.args[0]).map(|at| at.checked_add(offset)) {
                    Some(Some(offset)) if offset % 4 == 0 => b.op(Op::LoadUbo { buffer, offset }, &[]),
                    _ => b.op(Op::LoadUboDynamic { buffer, offset, last: offset }, &data.args),
                })
            }
            Op::ImageRead(texel) => Action::Replace(read(b, texel, &data.args)),
            Op::ImageWrite(texel) => {
                let words = data.args[texel.coordinates()..].iter();
                (0..).zip(words).for_each(|(component, &word)| {
                    b.store_output(Output::User { location: 0, component }, word);
                });
                written(b, true);
                Action::remove()
            }
            Op::Store { .. } => {
                b.store_output(Output::User { location: 0, component: 0 }, data.args[1]);
                written(b, true);
                Action::remove()
            }
            Op::Fence => Action::remove(),
            _ => Action::Keep,
        })
    });
    pass::optimize(&mut shader);
    let mut keeps = Keeps { shader: &shader, keeps: false };
    let end = keeps.region(&shader.body, false);
    let keeps = keeps.keeps || end == Some(false);
    (shader, keeps)
}

/// Notes at the start of the shader that nothing is written, and makes the numbers along all axes.
fn places(shader: &mut Shader, target: &Target) -> [Value; 3] {
    let entry = shader.entry().expect("a shader starts with a block");
    let rest = std::mem::take(&mut shader.blocks[entry].insts);
    let b = &mut Builder::new(shader, entry);
    written(b, false);
    let [x, y] = [Op::PixelX, Op::PixelY].map(|op| b.op(op, &[]));
    let global = match target {
        Target::Image(_) => [x, y, b.op(Op::LoadPush(LAYER_AT), &[])],
        Target::Buffer { order: Order::Rows(_), .. } => [x, y, b.word(0)],
        Target::Buffer { order: Order::Line, .. } => {
            let row = b.op(Op::LoadPush(ROW_AT), &[]);
            let first = b.imul(y, row);
            [b.iadd(first, x), b.word(0), b.word(0)]
        }
    };
    shader.blocks[entry].insts.extend(rest);
    global
}

fn written(b: &mut Builder, truth: bool) {
    let flag = b.word(truth.into());
    b.store_output(WRITTEN, flag);
}

/// Where an invocation stands, made of its numbers along all axes.
fn invocation(b: &mut Builder, what: Invocation, size: [u32; 3], global: [Value; 3]) -> Value {
    let number = |axis: u8| usize::from(axis).min(2);
    match what {
        Invocation::WorkgroupId(axis) => {
            let size = b.word(size[number(axis)]);
            b.op(Op::UDiv, &[global[number(axis)], size])
        }
        Invocation::LocalId(axis) => local(b, axis, size, global),
        Invocation::WorkgroupCount(axis) => b.op(Op::LoadPush(GROUPS_AT + 4 * u32::from(axis)), &[]),
        Invocation::LocalIndex => {
            let [x, y, z] = [0, 1, 2].map(|axis| local(b, axis, size, global));
            let (columns, rows) = (b.word(size[0]), b.word(size[0].wrapping_mul(size[1])));
            let (y, z) = (b.imul(y, columns), b.imul(z, rows));
            let sum = b.iadd(x, y);
            b.iadd(sum, z)
        }
        // Kernels that ask for these are no pictures.
        Invocation::SubgroupInvocation | Invocation::SubgroupId => b.word(0),
    }
}

fn local(b: &mut Builder, axis: u8, size: [u32; 3], global: [Value; 3]) -> Value {
    let number = usize::from(axis).min(2);
    match size[number] {
        1 => b.word(0),
        size => {
            let size = b.word(size);
            b.op(Op::UMod, &[global[number], size])
        }
    }
}

/// A texel of a storage image, as fragment stages read it.
fn read(b: &mut Builder, texel: Texel, args: &[Value]) -> SmallVec<[Value; 4]> {
    let (dim, arrayed) = match texel.dim {
        ImageDim::Cube => (ImageDim::D2, true),
        dim => (dim, texel.arrayed),
    };
    let fetch = Fetch { image: texel.image, dim, arrayed, offset: false };
    let mut args: SmallVec<[Value; 4]> = SmallVec::from_slice(args);
    if !texel.multisampled {
        args.push(b.word(0));
    }
    b.emit(Op::Fetch(fetch), &args).into_iter().collect()
}

/// Looks for ways through the shader that write nothing.
struct Keeps<'a> {
    shader: &'a Shader,
    keeps: bool,
}

impl Keeps<'_> {
    /// Whether something was written where control leaves the region at its end; `None` if it never does.
    fn region(&mut self, region: &Region, mut written: bool) -> Option<bool> {
        for node in region {
            match node {
                Node::Block(block) => written |= self.writes(*block),
                Node::If { then, otherwise, .. } => {
                    let ways = [then, otherwise].map(|arm| self.region(arm, written));
                    written = ways.into_iter().flatten().reduce(|a, b| a && b)?;
                }
                // It may be left at any place.
                Node::Loop(body) => {
                    self.region(body, written);
                }
                Node::Break | Node::Continue => return None,
                Node::Return | Node::Discard => {
                    self.keeps |= !written;
                    return None;
                }
            }
        }
        Some(written)
    }

    fn writes(&self, block: Block) -> bool {
        self.shader.blocks[block].insts.iter().any(|&inst| {
            let data = &self.shader.insts[inst];
            data.op == Op::StoreOutput(WRITTEN) && self.shader.const_of(data.args[0]) == Some(1)
        })
    }
}

/// The vertex stage of a rectangle over the whole viewport, a strip of four vertices.
pub fn rectangle() -> Shader {
    let mut shader = Shader::new(Stage::Vertex);
    let entry = shader.entry().expect("a new shader has a block");
    let b = &mut Builder::new(&mut shader, entry);
    let number = b.op(Op::LoadBuiltin(BuiltinInput::VertexIndex), &[]);
    let one = b.word(1);
    let upper = b.op(Op::Shr, &[number, one]);
    for (axis, bits) in [(0, number), (1, upper)] {
        let (bit, two) = (b.and(bits, one), b.float(2.0));
        let bit = b.stof(bit);
        let (twice, minus) = (b.fmul(bit, two), b.float(-1.0));
        let place = b.fadd(twice, minus);
        b.store_output(Output::Position(axis), place);
    }
    let (zero, one) = (b.word(0), b.float(1.0));
    b.store_output(Output::Position(2), zero);
    b.store_output(Output::Position(3), one);
    shader
}

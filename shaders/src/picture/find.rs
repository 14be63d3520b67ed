//! The proof that a kernel is a picture.

use super::fragment;
use super::guard::{self, Limit};
use super::linear::Linear;
use super::target::{Order, Target};
use crate::binding::Descriptor;
use crate::ir::{BuiltinInput, ImageDim, Invocation, Memory, Op, Shader, Texel, Value};

/// A kernel as a fragment stage.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What it draws to.
    pub target: Target,
    /// Invocations of a workgroup along each axis.
    pub workgroup: [u32; 3],
    /// Where the picture ends if the dispatch does not end before; taken for granted by `fragment`.
    pub limits: Vec<Limit>,
    /// Some invocations write nothing inside of the picture, too.
    pub keeps: bool,
    /// Buffers and images that it reads, each once.
    pub reads: Vec<Descriptor>,
    /// What draws it. Of a buffer it writes one component.
    pub fragment: Shader,
}

/// Why a kernel is no picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAPicture {
    /// It writes nothing.
    #[error("it writes nothing")]
    WritesNothing,
    /// Different resources.
    #[error("it writes more than one image or buffer")]
    Targets,
    /// A place that is not the invocation's own.
    #[error("it writes elsewhere than at its own place")]
    Place,
    /// A kind of image.
    #[error("it writes an image of a kind that is not drawn to")]
    Kind,
    /// Words of a buffer that would have to stay.
    #[error("it writes words of a buffer under conditions")]
    Conditions,
    /// The target.
    #[error("it reads what it writes")]
    ReadsTarget,
    /// Barriers, workgroup memory, subgroups.
    #[error("its invocations share something")]
    Shares,
    /// Atomic operations.
    #[error("it has atomic operations")]
    Atomics,
    /// Arrays in memory.
    #[error("its invocations have memory of their own")]
    Scratch,
    /// Anything else.
    #[error("it does what fragment programs cannot")]
    Operation,
}

/// The picture that an optimised compute shader draws.
///
/// # Errors
/// Why it is none.
pub fn find(shader: &Shader) -> Result<Picture, NotAPicture> {
    let target = target(shader)?;
    let written = match &target {
        Target::Image(texel) => texel.image,
        Target::Buffer { buffer, .. } => *buffer,
    };
    let reads = reads(shader, written)?;
    let guards = guard::find(shader);
    let (fragment, keeps) = fragment::of(shader, &target, &guards);
    if keeps && matches!(target, Target::Buffer { .. }) {
        return Err(NotAPicture::Conditions);
    }
    let workgroup = shader.workgroup.size;
    Ok(Picture { target, workgroup, limits: guards.limits, keeps, reads, fragment })
}

/// Where all writes go.
fn target(shader: &Shader) -> Result<Target, NotAPicture> {
    let mut found: Option<Target> = None;
    for inst in shader.insts_in_order() {
        let data = &shader.insts[inst];
        let target = match data.op {
            Op::ImageWrite(texel) => image_target(shader, texel, &data.args)?,
            Op::Store { memory: Memory::Buffer(buffer), offset } => {
                buffer_target(shader, buffer, offset, data.args[0])?
            }
            Op::Store { memory: Memory::Shared, .. } => return Err(NotAPicture::Shares),
            Op::Store { memory: Memory::Scratch, .. } => return Err(NotAPicture::Scratch),
            _ => continue,
        };
        match &found {
            Some(known) if *known != target => {
                return Err(match resource(known) == resource(&target) {
                    true => NotAPicture::Place,
                    false => NotAPicture::Targets,
                });
            }
            _ => found = Some(target),
        }
    }
    found.ok_or(NotAPicture::WritesNothing)
}

fn resource(target: &Target) -> Descriptor {
    match target {
        Target::Image(texel) => texel.image,
        Target::Buffer { buffer, .. } => *buffer,
    }
}

fn image_target(shader: &Shader, texel: Texel, args: &[Value]) -> Result<Target, NotAPicture> {
    let line = texel.dim == ImageDim::D1 && texel.arrayed;
    if texel.dim == ImageDim::Buffer || texel.multisampled || line {
        return Err(NotAPicture::Kind);
    }
    let own = (0..).zip(&args[..texel.coordinates()]).all(|(axis, &coordinate)| {
        Linear::of(shader, coordinate).is_some_and(|place| place == Linear::global(shader, axis))
    });
    own.then_some(Target::Image(texel)).ok_or(NotAPicture::Place)
}

fn buffer_target(
    shader: &Shader,
    buffer: Descriptor,
    offset: u32,
    address: Value,
) -> Result<Target, NotAPicture> {
    const WORD: u32 = 4;
    let place = || {
        let (mut start, rest) = Linear::of(shader, address)?.split();
        start.constant = start.constant.wrapping_add(offset);
        let [columns, rows, layers] = rest.by_axis();
        if !columns.over_global(shader, 0)?.is(WORD) || layers != Linear::default() {
            return None;
        }
        let order = match rows == Linear::default() {
            true => Order::Line,
            false => Order::Rows(rows.over_global(shader, 1)?.divided(WORD)?),
        };
        Some(Target::Buffer { buffer, start, order })
    };
    place().ok_or(NotAPicture::Place)
}

/// What is read, if fragment programs can do all that the kernel does.
fn reads(shader: &Shader, target: Descriptor) -> Result<Vec<Descriptor>, NotAPicture> {
    let mut reads = Vec::new();
    for inst in shader.insts_in_order() {
        match shader.insts[inst].op {
            Op::Load { memory: Memory::Buffer(place), .. }
            | Op::LoadUbo { buffer: place, .. }
            | Op::LoadUboDynamic { buffer: place, .. } => reads.push(place),
            Op::ImageRead(texel) => reads.push(texel.image),
            Op::Fetch(fetch) => reads.push(fetch.image),
            Op::Gather { sample, .. } => reads.push(sample.texture.image),
            Op::Sample(sample) if !sample.lod.is_implicit() => reads.push(sample.texture.image),
            Op::Load { memory: Memory::Shared, .. } | Op::Barrier | Op::Ballot | Op::Shuffle => {
                return Err(NotAPicture::Shares);
            }
            Op::LoadBuiltin(BuiltinInput::Invocation(
                Invocation::SubgroupInvocation | Invocation::SubgroupId,
            )) => return Err(NotAPicture::Shares),
            Op::Load { memory: Memory::Scratch, .. } => return Err(NotAPicture::Scratch),
            Op::Atomic { .. } | Op::ImageAtomic(..) => return Err(NotAPicture::Atomics),
            Op::Sample(_) | Op::ImageLod(_) | Op::Ddx | Op::Ddy => return Err(NotAPicture::Operation),
            _ => {}
        }
    }
    reads.sort_unstable();
    reads.dedup();
    if reads.contains(&target) { Err(NotAPicture::ReadsTarget) } else { Ok(reads) }
}

//! Image operations (textures.md §1, §3; vulkan-on-vc4.md §8.3).
//!
//! What a sample becomes depends on the key of its texture (T-TEX-KEY): one request that the texture unit filters, the
//! same at a level that the program computes, or texels that the program fetches and weighs. Texels come from the
//! texture unit, looked at in their centres, or from memory by direct lookups. Everything else - fetches, gathers,
//! comparisons - is made of texels.

mod decode;
mod direct;
mod face;
mod filter;
mod lod;
mod texel;
mod unit;

use smallvec::{SmallVec, smallvec};

use crate::binding::{Descriptor, Texture, TextureValue, UniformSlot};
use crate::ir::{Builder, Fetch, ImageDim, InstData, Op, Sample, Shader, Stage, Value};
use crate::pass::rewrite::{Action, rewrite};
use crate::state::{PipelineState, TextureFilter, TextureKey};

/// Components of a texel, or the one result of a comparison.
type Components = SmallVec<[Value; 4]>;
/// A value per axis.
type Axes = SmallVec<[Value; 3]>;

/// Replaces image operations by requests, direct lookups and arithmetic.
pub fn run(shader: &mut Shader, state: &PipelineState) {
    let stage = shader.stage;
    let Ok(()) = rewrite(shader, |b, data| {
        let values = match data.op {
            Op::Sample(sample) => image(b, state, stage, &sample).sample(&Operands::new(&sample, &data.args)),
            Op::Gather { sample, component } => {
                image(b, state, stage, &sample).gather(&Operands::new(&sample, &data.args), component)
            }
            Op::ImageLod(sample) => {
                image(b, state, stage, &sample).query_lod(&Operands::new(&sample, &data.args))
            }
            Op::Fetch(fetch) => fetched(b, state, stage, &fetch, data),
            Op::ImageSize { image, axis, halves } => smallvec![size(b, image, axis, halves, data.args[0])],
            Op::ImageLevels(image) => smallvec![value(b, Texture::alone(image), TextureValue::Levels)],
            Op::ImageSamples(image) => smallvec![value(b, Texture::alone(image), TextureValue::Samples)],
            _ => return Ok::<_, std::convert::Infallible>(Action::Keep),
        };
        Ok(Action::Replace(values))
    });
}

/// One operation on an image.
struct Image<'b, 'a> {
    b: &'b mut Builder<'a>,
    stage: Stage,
    texture: Texture,
    dim: ImageDim,
    key: TextureKey,
}

/// The arguments of a sample or gather, taken apart.
struct Operands<'d> {
    sample: Sample,
    coordinates: &'d [Value],
    layer: Option<Value>,
    lod: &'d [Value],
    offset: &'d [Value],
    reference: Option<Value>,
}

impl<'d> Operands<'d> {
    fn new(sample: &Sample, args: &'d [Value]) -> Operands<'d> {
        let (coordinates, rest) = args.split_at(sample.dim.coordinates());
        let (layer, rest) = rest.split_at(usize::from(sample.arrayed));
        let (lod, rest) = rest.split_at(sample.lod_arguments());
        let (offset, reference) = rest.split_at(if sample.offset { sample.dim.axes() } else { 0 });
        let (layer, reference) = (layer.first().copied(), reference.first().copied());
        Operands { sample: *sample, coordinates, layer, lod, offset, reference }
    }
}

fn image<'b, 'a>(
    b: &'b mut Builder<'a>,
    state: &PipelineState,
    stage: Stage,
    sample: &Sample,
) -> Image<'b, 'a> {
    let key = state.textures.get(&sample.texture).copied().unwrap_or_default();
    Image { b, stage, texture: sample.texture, dim: sample.dim, key }
}

impl Image<'_, '_> {
    fn sample(&mut self, operands: &Operands<'_>) -> Components {
        match self.key.filter {
            // Comparisons are made of texels whatever the key says.
            _ if operands.reference.is_some() => self.filtered(operands),
            TextureFilter::Program { .. } => self.filtered(operands),
            TextureFilter::Unit | TextureFilter::Level => self.sampled_by_unit(operands),
        }
    }

    /// A number of the texture.
    fn value(&mut self, which: TextureValue) -> Value {
        value(self.b, self.texture, which)
    }

    fn float(&mut self, number: f32) -> Value {
        self.b.float(number)
    }

    /// a + (b - a)·t for every component.
    fn lerp(&mut self, a: &Components, b: &Components, t: Value) -> Components {
        let one = |(&a, &b): (&Value, &Value)| {
            let difference = self.b.fsub(b, a);
            self.b.fmad(difference, t, a)
        };
        a.iter().zip(b).map(one).collect()
    }

    fn clamp(&mut self, v: Value, low: Value, high: Value) -> Value {
        let v = self.b.fmax(v, low);
        self.b.fmin(v, high)
    }
}

fn value(b: &mut Builder, texture: Texture, value: TextureValue) -> Value {
    b.op(Op::Uniform(UniformSlot::Texture { texture, value }), &[])
}

fn fetched(
    b: &mut Builder,
    state: &PipelineState,
    stage: Stage,
    fetch: &Fetch,
    data: &InstData,
) -> Components {
    let texture = Texture::alone(fetch.image);
    let key = state.textures.get(&texture).copied().unwrap_or_default();
    let mut image = Image { b, stage, texture, dim: fetch.dim, key };
    image.fetch(fetch, &data.args)
}

/// Texels of a level along an axis: max(1, size >> level) where levels halve it.
fn size(b: &mut Builder, image: Descriptor, axis: u8, halves: bool, level: Value) -> Value {
    let whole = value(b, Texture::alone(image), TextureValue::Extent(axis));
    if !halves || b.shader.const_of(level) == Some(0) {
        return whole;
    }
    let shifted = b.op(Op::Shr, &[whole, level]);
    let one = b.word(1);
    b.op(Op::SMax, &[shifted, one])
}

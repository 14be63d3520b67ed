//! An operation on an image under way: its texture's key and numbers, and its arguments taken apart.

use smallvec::SmallVec;

use crate::binding::{Texture, TextureValue, UniformSlot};
use crate::ir::{Builder, ImageDim, Op, Sample, Stage, Value};
use crate::state::{PipelineState, TextureKey};

/// Components of a texel, or the one result of a comparison.
pub type Components = SmallVec<[Value; 4]>;
/// A value per axis.
pub type Axes = SmallVec<[Value; 3]>;

/// One operation on an image.
pub struct Image<'b, 'a> {
    pub b: &'b mut Builder<'a>,
    pub stage: Stage,
    pub texture: Texture,
    pub dim: ImageDim,
    pub key: TextureKey,
}

/// The arguments of a sample or gather, taken apart.
pub struct Operands<'d> {
    pub sample: Sample,
    pub coordinates: &'d [Value],
    pub layer: Option<Value>,
    pub lod: &'d [Value],
    pub offset: &'d [Value],
    pub reference: Option<Value>,
}

impl<'d> Operands<'d> {
    /// Takes the arguments of a sample or gather apart.
    pub fn new(sample: &Sample, args: &'d [Value]) -> Operands<'d> {
        let (coordinates, rest) = args.split_at(sample.dim.coordinates());
        let (layer, rest) = rest.split_at(usize::from(sample.arrayed));
        let (lod, rest) = rest.split_at(sample.lod_arguments());
        let (offset, reference) = rest.split_at(if sample.offset { sample.dim.axes() } else { 0 });
        let (layer, reference) = (layer.first().copied(), reference.first().copied());
        Operands { sample: *sample, coordinates, layer, lod, offset, reference }
    }
}

impl<'b, 'a> Image<'b, 'a> {
    /// The image of a sample or gather.
    pub fn new(
        b: &'b mut Builder<'a>,
        state: &PipelineState,
        stage: Stage,
        sample: &Sample,
    ) -> Image<'b, 'a> {
        let key = state.textures.get(&sample.texture).copied().unwrap_or_default();
        Image { b, stage, texture: sample.texture, dim: sample.dim, key }
    }
}

impl Image<'_, '_> {
    /// A number of the texture.
    pub fn value(&mut self, which: TextureValue) -> Value {
        value(self.b, self.texture, which)
    }

    /// A constant.
    pub fn float(&mut self, number: f32) -> Value {
        self.b.float(number)
    }

    /// a + (b - a)·t for every component.
    pub fn lerp(&mut self, a: &Components, b: &Components, t: Value) -> Components {
        let one = |(&a, &b): (&Value, &Value)| {
            let difference = self.b.fsub(b, a);
            self.b.fmad(difference, t, a)
        };
        a.iter().zip(b).map(one).collect()
    }

    /// `v` between two bounds.
    pub fn clamp(&mut self, v: Value, low: Value, high: Value) -> Value {
        let v = self.b.fmax(v, low);
        self.b.fmin(v, high)
    }
}

/// A number of a texture.
pub fn value(b: &mut Builder, texture: Texture, value: TextureValue) -> Value {
    b.op(Op::Uniform(UniformSlot::Texture { texture, value }), &[])
}

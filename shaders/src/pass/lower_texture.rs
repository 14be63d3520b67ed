//! Image operations: coordinates as the TMU wants them, results decoded from the word that it returns
//! (textures.md §1, §3; T-TEX-KEY).

use smallvec::{SmallVec, smallvec};
use vc4::qpu::Unpack;

use super::emitter::recip;
use super::rewrite::{Action, rewrite};
use crate::compile::{PipelineState, TextureClass, TextureDecode, TextureSwizzle};
use crate::ir::{Builder, ImageDim, InstData, Lod, Op, Shader, Stage, Value};
use crate::program::{Descriptor, UniformSlot};

/// Replaces samples and fetches by TMU requests and decoding.
pub fn run(shader: &mut Shader, state: &PipelineState) {
    let stage = shader.stage;
    let Ok(()) = rewrite(shader, |b, data| {
        let (image, word) = match data.op {
            Op::Sample { image, dim, lod } => (image, sample(b, stage, data, image, dim, lod)),
            Op::Fetch { image, dim } => (image, fetch(b, data, image, dim)),
            _ => return Ok::<_, std::convert::Infallible>(Action::Keep),
        };
        let decode = state.textures.get(&image).copied().unwrap_or_default();
        Ok(Action::Replace(decoded(b, decode, word)))
    });
}

fn sample(
    b: &mut Builder,
    stage: Stage,
    data: &InstData,
    image: Descriptor,
    dim: ImageDim,
    lod: Lod,
) -> Value {
    let mut args = coordinates(b, dim, &data.args);
    let mut lod = lod;
    match (stage, lod) {
        // Without quads there are no derivatives: level 0 (plus the bias) is asked for.
        (Stage::Vertex, Lod::Auto) => args.push(b.float(0.0)),
        (_, Lod::Auto) => {}
        _ => args.extend(data.args.last().copied()),
    }
    if stage == Stage::Vertex {
        lod = Lod::Explicit;
    }
    b.op(Op::TmuSample { image, cube: dim == ImageDim::Cube, lod }, &args)
}

fn coordinates(b: &mut Builder, dim: ImageDim, args: &[Value]) -> SmallVec<[Value; 4]> {
    match dim {
        ImageDim::D1 => smallvec![args[0], b.float(0.5)],
        ImageDim::D2 => smallvec![args[0], args[1]],
        ImageDim::Cube => {
            let magnitudes = [0, 1, 2].map(|n| b.op(Op::FAbs, &[args[n]]));
            let largest = b.op(Op::FMax, &[magnitudes[0], magnitudes[1]]);
            let largest = b.op(Op::FMax, &[largest, magnitudes[2]]);
            let scale = if b.relaxed { b.op(Op::SfuRecip, &[largest]) } else { recip(b, largest) };
            (0..3).map(|n| b.op(Op::FMul, &[args[n], scale])).collect()
        }
    }
}

/// A texel by its centre (i + ½)/size at an explicit level. The centre is exact to 2^-22 of the texture, so a
/// linear filter gives the neighbours no weight either (T-FETCH).
fn fetch(b: &mut Builder, data: &InstData, image: Descriptor, dim: ImageDim) -> Value {
    let axes = dim.coordinates().min(2);
    let level = data.args[axes];
    let mut args: SmallVec<[Value; 4]> = (0..axes)
        .map(|axis| {
            let size = level_size(b, image, axis as u8, level);
            let inverse = recip(b, size);
            let half = b.float(0.5);
            let index = b.op(Op::SToF, &[data.args[axis]]);
            let centre = b.op(Op::FAdd, &[index, half]);
            b.op(Op::FMul, &[centre, inverse])
        })
        .collect();
    if axes == 1 {
        args.push(b.float(0.5));
    }
    let level = b.op(Op::SToF, &[level]);
    args.push(level);
    b.op(Op::TmuSample { image, cube: false, lod: Lod::Explicit }, &args)
}

/// Texels of a level along an axis: max(1, size >> level).
fn level_size(b: &mut Builder, image: Descriptor, axis: u8, level: Value) -> Value {
    let size = b.op(Op::Uniform(UniformSlot::TextureSize { image, axis }), &[]);
    if b.shader.const_of(level) == Some(0) {
        return size;
    }
    let whole = b.op(Op::FToS, &[size]);
    let shifted = b.op(Op::Shr, &[whole, level]);
    let one = b.word(1);
    let at_least_one = b.op(Op::SMax, &[shifted, one]);
    b.op(Op::SToF, &[at_least_one])
}

fn decoded(b: &mut Builder, decode: TextureDecode, word: Value) -> SmallVec<[Value; 4]> {
    let texel: [Value; 4] = match decode.class {
        TextureClass::Unorm8 => [Unpack::Byte0, Unpack::Byte1, Unpack::Byte2, Unpack::Byte3]
            .map(|byte| b.op(Op::UnpackFloat(byte), &[word])),
        TextureClass::Srgb8 => {
            let bytes = [Unpack::Byte0, Unpack::Byte1, Unpack::Byte2];
            let [red, green, blue] = bytes.map(|byte| {
                let encoded = b.op(Op::UnpackFloat(byte), &[word]);
                srgb_to_linear(b, encoded)
            });
            [red, green, blue, b.op(Op::UnpackFloat(Unpack::Byte3), &[word])]
        }
        TextureClass::Depth24 => {
            let eight = b.word(8);
            let depth = b.op(Op::Shr, &[word, eight]);
            let depth = b.op(Op::SToF, &[depth]);
            let unit = b.float(1.0 / vc4::hw::DEPTH_MAX as f32);
            let depth = b.op(Op::FMul, &[depth, unit]);
            let (zero, one) = (b.float(0.0), b.float(1.0));
            [depth, zero, zero, one]
        }
        TextureClass::Word32 => {
            let (zero, one) = (b.word(0), b.word(1));
            [word, zero, zero, one]
        }
    };
    decode
        .swizzle
        .iter()
        .map(|swizzle| match swizzle {
            TextureSwizzle::Component(n) => texel[usize::from(n & 3)],
            TextureSwizzle::Zero => b.word(0),
            TextureSwizzle::One => b.float(1.0),
        })
        .collect()
}

/// The sRGB decoding curve: c/12.92 below 0.04045, ((c + 0.055)/1.055)^2.4 above. The power goes through the
/// SFU, whose error of 2^-12 is half a step of an 8-bit result.
fn srgb_to_linear(b: &mut Builder, c: Value) -> Value {
    let (slope, limit) = (b.float(1.0 / 12.92), b.float(0.04045));
    let (scale, offset, power) = (b.float(1.0 / 1.055), b.float(0.055 / 1.055), b.float(2.4));
    let linear = b.op(Op::FMul, &[c, slope]);
    let base = b.op(Op::FMul, &[c, scale]);
    let base = b.op(Op::FAdd, &[base, offset]);
    let log = b.op(Op::SfuLog2, &[base]);
    let log = b.op(Op::FMul, &[log, power]);
    let curve = b.op(Op::SfuExp2, &[log]);
    let above = b.op(Op::FLt, &[limit, c]);
    b.select(above, curve, linear)
}

//! Samples through samplers that convert Y'CBCR become samples of every plane and arithmetic ("Sampler Y'CBCR Conversion" and
//! "Chroma Reconstruction" in the chapter "Image Operations" of the Vulkan specification).
//!
//! Chroma is reconstructed implicitly: by the filter of its own plane. Sizes and levels that a shader asks for are the first
//! plane's. Vulkan allows neither gathers, offsets nor fetches through such samplers, which are left as they are.

use smallvec::SmallVec;

use crate::binding::Texture;
use crate::ir::{Builder, InstData, Op, Sample, Shader, Value};
use crate::pass::rewrite::emitter::IrEmitter;
use crate::pass::rewrite::{Action, rewrite};
use crate::state::{ChromaPlanes, Conversions, TextureSwizzle, YcbcrKey};

/// Replaces the samples that are converted.
pub fn run(shader: &mut Shader, conversions: &Conversions) {
    if conversions.is_empty() {
        return;
    }
    let Ok(()) = rewrite(shader, |b, data| {
        let Op::Sample(sample) = data.op else { return Ok::<_, std::convert::Infallible>(Action::Keep) };
        // Formats with planes are not compared.
        Ok(match conversions.get(&sample.texture) {
            Some(key) if !sample.compare => Action::Replace(converted(b, key, &sample, data)),
            _ => Action::Keep,
        })
    });
}

fn converted(b: &mut Builder, key: &YcbcrKey, sample: &Sample, data: &InstData) -> SmallVec<[Value; 4]> {
    let luma = b.emit(Op::Sample(*sample), &data.args);
    let (zero, one) = (b.float(0.0), b.float(1.0));
    let texel = match key.chroma {
        ChromaPlanes::Together(texture) => {
            let args = moved(b, key, sample, &data.args);
            let chroma = plane(b, sample, texture, &args);
            [chroma[1], luma[0], chroma[0], one]
        }
        ChromaPlanes::Apart { blue, red } => {
            let args = moved(b, key, sample, &data.args);
            let [blue, red] = [blue, red].map(|texture| plane(b, sample, texture, &args)[0]);
            [red, luma[0], blue, one]
        }
    };
    let [red, green, blue, alpha] = key.swizzle.map(|swizzle| match swizzle {
        TextureSwizzle::Component(n) => texel[usize::from(n & 3)],
        TextureSwizzle::Zero => zero,
        TextureSwizzle::One => one,
    });
    let color = key.conversion.convert(&mut IrEmitter::new(b), [red, green, blue]);
    color.into_iter().chain([alpha]).collect()
}

fn plane(b: &mut Builder, sample: &Sample, texture: Texture, args: &[Value]) -> SmallVec<[Value; 1]> {
    b.emit(Op::Sample(Sample { texture, ..*sample }), args)
}

/// The arguments of a sample in a chroma plane. A plane of half the texels halves coordinates that count texels, which leaves those
/// that count images as they are; what remains is the way from the places of luma to those of chroma.
fn moved(b: &mut Builder, key: &YcbcrKey, sample: &Sample, args: &[Value]) -> SmallVec<[Value; 4]> {
    let mut args = SmallVec::from_slice(args);
    for (axis, location) in key.location.into_iter().enumerate().take(sample.dim.coordinates()) {
        let Some(offset) = location.map(|location| location.offset()).filter(|&offset| offset != 0.0) else {
            continue;
        };
        let level = b.word(0);
        let size = Op::ImageSize { image: sample.texture.image, axis: axis as u8, halves: false };
        let size = b.op(size, &[level]);
        let size = b.op(Op::SToF, &[size]);
        let offset = b.float(offset);
        let way = b.op(Op::FDiv, &[offset, size]);
        args[axis] = b.fadd(args[axis], way);
    }
    args
}

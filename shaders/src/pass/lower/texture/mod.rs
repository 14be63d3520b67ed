//! Image operations (textures.md §1, §3; vulkan-on-vc4.md §8.3).
//!
//! What a sample becomes depends on the key of its texture (T-TEX-KEY): one request that the texture unit filters, the
//! same at a level that the program computes, or texels that the program fetches and weighs. Texels come from the
//! texture unit, looked at in their centres, or from memory by direct lookups. Everything else - fetches, gathers,
//! comparisons - is made of texels.
//!
//! From the bottom: `image`, the operation under way; `face`, `level`, `decode`; `lod`; the two ways to a word, `request` and
//! `direct`; `texel` that chooses between them, `folded` for images that are longer than textures; `unit` and `filter`, which make samples. `anisotropy` comes in front of it all:
//! it makes one sample several.

mod anisotropy;
mod decode;
mod direct;
mod face;
mod filter;
mod folded;
mod image;
mod level;
mod lod;
mod request;
mod texel;
mod unit;

use smallvec::smallvec;

use crate::binding::{Descriptor, Texture, TextureValue};
use crate::ir::{Builder, Fetch, InstData, Op, Shader, Stage, Value};
use crate::pass::rewrite::{Action, rewrite};
use crate::state::{PipelineState, TextureFilter};
use image::{Components, Image, Operands, value};

/// Makes anisotropic samples loops of plain ones; comes before control flow is lowered.
pub fn anisotropic(shader: &mut Shader, state: &PipelineState) {
    anisotropy::run(shader, state);
}

/// Replaces image operations by requests, direct lookups and arithmetic.
pub fn run(shader: &mut Shader, state: &PipelineState) {
    let stage = shader.stage;
    let Ok(()) = rewrite(shader, |b, data| {
        let values = match data.op {
            Op::Sample(sample) => {
                sampled(Image::new(b, state, stage, &sample), &Operands::new(&sample, &data.args))
            }
            Op::Gather { sample, component } => filter::gather(
                &mut Image::new(b, state, stage, &sample),
                &Operands::new(&sample, &data.args),
                component,
            ),
            Op::ImageLod(sample) => {
                lod::query_lod(&mut Image::new(b, state, stage, &sample), &Operands::new(&sample, &data.args))
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

fn sampled(mut image: Image<'_, '_>, operands: &Operands<'_>) -> Components {
    match image.key.filter {
        // Comparisons are made of texels whatever the key says.
        _ if operands.reference.is_some() => filter::filtered(&mut image, operands),
        TextureFilter::Program { .. } => filter::filtered(&mut image, operands),
        TextureFilter::Unit | TextureFilter::Level => unit::sampled(&mut image, operands),
    }
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
    texel::fetch(&mut image, fetch, &data.args)
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

//! Image instructions.

use smallvec::SmallVec;
use spirv::{ImageOperands, Op as Spv};

use super::env::Entity;
use super::error::{Result, SpirvError};
use super::parse::{Id, Inst, Operand};
use super::translate::Translator;
use super::types::ImageType;
use crate::ir::{ImageDim, Lod, Op, Stage, Type, Value};
use crate::program::Descriptor;

const SUPPORTED: &str = "OpImageSampleImplicitLod and OpImageSampleExplicitLod with or without Proj, with Bias or Lod; \
    OpImageFetch with Lod; combined image samplers of dimension 1D, 2D and Cube";

/// Whether an instruction deals with images.
pub fn is_image_op(op: Spv) -> bool {
    matches!(op, Spv::SampledImage | Spv::Image) || format!("{op:?}").starts_with("Image")
}

/// Translates an image instruction.
pub fn image(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let (explicit, projected) = match inst.op {
        Spv::Image => {
            let (descriptor, image) = operand(t, inst)?;
            return t.define(inst, Entity::Image { descriptor, image });
        }
        Spv::SampledImage => {
            return Err(inst.unsupported("combining a separate image and sampler in the shader", SUPPORTED));
        }
        Spv::ImageFetch => return fetch(t, inst),
        Spv::ImageSampleImplicitLod => (false, false),
        Spv::ImageSampleExplicitLod => (true, false),
        Spv::ImageSampleProjImplicitLod => (false, true),
        Spv::ImageSampleProjExplicitLod => (true, true),
        op => return Err(inst.unsupported(format!("Op{op:?}"), SUPPORTED)),
    };
    let (descriptor, image) = operand(t, inst)?;
    let dim = dimension(&image, inst)?;
    let Extra { bias, lod } = extra(inst)?;
    let (mode, argument) = match (explicit, bias, lod) {
        (false, None, None) => (Lod::Auto, None),
        (false, Some(bias), None) => (Lod::Bias, Some(bias)),
        (true, None, Some(lod)) => (Lod::Explicit, Some(lod)),
        _ => return Err(inst.invalid("the image operands do not fit the instruction")),
    };
    if mode != Lod::Explicit && t.shader.stage != Stage::Fragment {
        return Err(inst.invalid("an implicit level of detail exists in fragment shaders only"));
    }
    let mut args = coordinates(t, inst, dim, projected)?;
    if let Some(id) = argument {
        args.push(t.scalar(id, Type::Word, inst)?);
    }
    sample(t, inst, Op::Sample { image: descriptor, dim, lod: mode }, &args)
}

fn sample(t: &mut Translator<'_>, inst: &Inst, op: Op, args: &[Value]) -> Result<()> {
    let mut e = t.emit(inst)?;
    let texel = e.b.emit(op, args);
    t.define_data(inst, texel.to_vec())
}

fn operand(t: &mut Translator<'_>, inst: &Inst) -> Result<(Descriptor, ImageType)> {
    match t.entity(inst.id_at(0)?, inst)? {
        Entity::Image { descriptor, image } => Ok((descriptor, image)),
        _ => Err(inst.invalid("the first operand is not an image")),
    }
}

fn dimension(image: &ImageType, inst: &Inst) -> Result<ImageDim> {
    let lacks = |what: &str| -> Result<ImageDim> { Err(inst.unsupported(what, SUPPORTED)) };
    match *image {
        ImageType { arrayed: true, .. } => lacks("an array of image layers"),
        ImageType { multisampled: true, .. } => lacks("a multisampled image"),
        ImageType { sampled: false, .. } => lacks("a storage image"),
        ImageType { dim: None, named, .. } => lacks(&format!("dimension {named:?}")),
        ImageType { dim: Some(dim), .. } => Ok(dim),
    }
}

/// Coordinates, divided by the one after them if `projected`.
fn coordinates(
    t: &mut Translator<'_>,
    inst: &Inst,
    dim: ImageDim,
    projected: bool,
) -> Result<SmallVec<[Value; 4]>> {
    let given = t.data(inst.id_at(1)?, inst)?.values;
    let count = dim.coordinates();
    let needed = count + usize::from(projected);
    if given.len() < needed || given.iter().any(|&value| t.shader.values[value].ty != Type::Word) {
        return Err(inst.invalid(format!("the image takes {needed} coordinates")));
    }
    let mut coordinates: SmallVec<[Value; 4]> = SmallVec::from_slice(&given[..count]);
    if projected {
        let mut e = t.emit(inst)?;
        let one = e.b.float(1.0);
        let scale = e.b.fdiv(one, given[count]);
        for coordinate in &mut coordinates {
            *coordinate = e.b.fmul(*coordinate, scale);
        }
    }
    Ok(coordinates)
}

fn fetch(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let (descriptor, image) = operand(t, inst)?;
    let dim = dimension(&image, inst)?;
    if dim == ImageDim::Cube {
        return Err(inst.invalid("texels of cube maps cannot be fetched"));
    }
    let Extra { bias: None, lod } = extra(inst)? else {
        return Err(inst.invalid("a fetch takes no bias"));
    };
    let mut args = coordinates(t, inst, dim, false)?;
    args.push(match lod {
        Some(id) => t.scalar(id, Type::Word, inst)?,
        None => t.constant(Type::Word, 0),
    });
    sample(t, inst, Op::Fetch { image: descriptor, dim }, &args)
}

/// The supported optional operands.
struct Extra {
    bias: Option<Id>,
    lod: Option<Id>,
}

fn extra(inst: &Inst) -> Result<Extra> {
    let mut extra = Extra { bias: None, lod: None };
    let Some(operand) = inst.operands.get(2) else {
        return Ok(extra);
    };
    let &Operand::ImageOperands(mask) = operand else {
        return Err(inst.invalid("image operands are missing"));
    };
    let known = ImageOperands::BIAS | ImageOperands::LOD;
    if !known.contains(mask) {
        return Err(lacks(inst, mask.difference(known)));
    }
    let mut at = 3;
    if mask.contains(ImageOperands::BIAS) {
        extra.bias = Some(inst.id_at(at)?);
        at += 1;
    }
    if mask.contains(ImageOperands::LOD) {
        extra.lod = Some(inst.id_at(at)?);
    }
    Ok(extra)
}

fn lacks(inst: &Inst, mask: ImageOperands) -> SpirvError {
    inst.unsupported(format!("image operand {mask:?}"), SUPPORTED)
}

//! Image instructions.

use smallvec::SmallVec;
use spirv::{ImageOperands, Op as Spv};

use std::rc::Rc;

use super::env::{Entity, Place, TexelPointer};
use super::translator::Translator;
use crate::binding::{Descriptor, Texture};
use crate::ir::{BuiltinInput, Fetch, ImageDim, Lod, Op, Sample, Stage, Texel, Type, Value};
use crate::spirv::binary::{Id, Inst, Operand};
use crate::spirv::error::{Result, SpirvError};
use crate::spirv::types::{ImageType, Kind};

const SUPPORTED: &str = "OpImageSample… with or without Proj and Dref, OpImageGather, OpImageDrefGather, OpImageFetch, \
    OpImageRead and OpImageQuery…, in compute shaders OpImageWrite and OpImageTexelPointer, with operands Bias, Lod, Grad, ConstOffset, Offset, ConstOffsets and Sample; images of dimension 1D, \
    2D, 3D, Cube, Buffer and SubpassData";

/// Whether an instruction deals with images.
pub fn is_image_op(op: Spv) -> bool {
    matches!(op, Spv::SampledImage | Spv::Image) || format!("{op:?}").starts_with("Image")
}

/// Translates an image instruction.
pub fn image(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let form = |explicit, projected, compare| Form { explicit, projected, compare };
    match inst.op {
        Spv::Image => {
            let (texture, image) = operand(t, inst)?;
            t.define(inst, Entity::Image { texture: Texture::alone(texture.image), image })
        }
        Spv::SampledImage => combine(t, inst),
        Spv::ImageSampleImplicitLod => sample(t, inst, form(false, false, false)),
        Spv::ImageSampleExplicitLod => sample(t, inst, form(true, false, false)),
        Spv::ImageSampleDrefImplicitLod => sample(t, inst, form(false, false, true)),
        Spv::ImageSampleDrefExplicitLod => sample(t, inst, form(true, false, true)),
        Spv::ImageSampleProjImplicitLod => sample(t, inst, form(false, true, false)),
        Spv::ImageSampleProjExplicitLod => sample(t, inst, form(true, true, false)),
        Spv::ImageSampleProjDrefImplicitLod => sample(t, inst, form(false, true, true)),
        Spv::ImageSampleProjDrefExplicitLod => sample(t, inst, form(true, true, true)),
        Spv::ImageGather => gather(t, inst, false),
        Spv::ImageDrefGather => gather(t, inst, true),
        Spv::ImageRead if t.shader.stage == Stage::Compute => read(t, inst),
        Spv::ImageFetch | Spv::ImageRead => fetch(t, inst),
        Spv::ImageWrite if t.shader.stage == Stage::Compute => write(t, inst),
        Spv::ImageTexelPointer => texel_pointer(t, inst),
        Spv::ImageQuerySizeLod => query_size(t, inst, true),
        Spv::ImageQuerySize => query_size(t, inst, false),
        Spv::ImageQueryLevels | Spv::ImageQuerySamples => query_number(t, inst),
        Spv::ImageQueryLod => query_lod(t, inst),
        Spv::ImageWrite => Err(inst.unsupported(
            "a write to an image (vertexPipelineStoresAndAtomics and fragmentStoresAndAtomics are off)",
            SUPPORTED,
        )),
        op => Err(inst.unsupported(format!("Op{op:?}"), SUPPORTED)),
    }
}

/// What the name of a sample instruction says.
#[derive(Clone, Copy)]
struct Form {
    explicit: bool,
    projected: bool,
    compare: bool,
}

/// OpSampledImage: an image and a sampler that are bound apart.
fn combine(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let (texture, image) = operand(t, inst)?;
    let Entity::Sampler(sampler) = t.entity(inst.id_at(1)?, inst)? else {
        return Err(inst.invalid("the second operand is not a sampler"));
    };
    t.define(inst, Entity::Image { texture: Texture { image: texture.image, sampler: Some(sampler) }, image })
}

fn operand(t: &mut Translator<'_>, inst: &Inst) -> Result<(Texture, ImageType)> {
    match t.entity(inst.id_at(0)?, inst)? {
        Entity::Image { texture, image } => Ok((texture, image)),
        _ => Err(inst.invalid("the first operand is not an image")),
    }
}

fn dimension(image: &ImageType, inst: &Inst) -> Result<ImageDim> {
    image.dim.ok_or_else(|| inst.unsupported(format!("dimension {:?}", image.named), SUPPORTED))
}

/// An image with a sampler, as sample instructions take it.
fn sampled(t: &mut Translator<'_>, inst: &Inst, form: Form) -> Result<Sample> {
    let (texture, image) = operand(t, inst)?;
    let dim = dimension(&image, inst)?;
    if texture.sampler.is_none() || image.multisampled || dim == ImageDim::Buffer || !image.sampled {
        return Err(inst.invalid("the image has no sampler"));
    }
    let lod = if form.explicit { Lod::Explicit } else { Lod::Auto };
    Ok(Sample { texture, dim, arrayed: image.arrayed, lod, offset: false, compare: form.compare })
}

fn sample(t: &mut Translator<'_>, inst: &Inst, form: Form) -> Result<()> {
    let mut sample = sampled(t, inst, form)?;
    let extra = Extra::of(inst, if form.compare { 3 } else { 2 })?;
    sample.lod = match (form.explicit, extra.bias, extra.lod, extra.grad) {
        (false, None, None, None) => Lod::Auto,
        (false, Some(_), None, None) => Lod::Bias,
        (true, None, Some(_), None) => Lod::Explicit,
        (true, None, None, Some(_)) => Lod::Grad,
        _ => return Err(inst.invalid("the image operands do not fit the instruction")),
    };
    if sample.lod.is_implicit() && t.shader.stage != Stage::Fragment {
        return Err(inst.invalid("an implicit level of detail exists in fragment shaders only"));
    }
    let reference = if form.compare { Some(t.scalar(inst.id_at(2)?, Type::Word, inst)?) } else { None };
    let mut divisor = None;
    let mut args = coordinates(t, inst, sample.coordinates(), form.projected, &mut divisor)?;
    match extra.grad {
        Some(ids) => {
            for id in ids {
                args.extend(vector(t, id, sample.dim.coordinates(), inst)?);
            }
        }
        None => {
            if let Some(id) = extra.bias.or(extra.lod) {
                args.push(t.scalar(id, Type::Word, inst)?);
            }
        }
    }
    if let Some(id) = extra.offset {
        sample.offset = true;
        args.extend(vector(t, id, sample.dim.axes(), inst)?);
    }
    if let Some(reference) = reference {
        let mut e = t.emit(inst)?;
        args.push(match divisor {
            Some(divisor) => e.b.fmul(reference, divisor),
            None => reference,
        });
    }
    emit(t, inst, Op::Sample(sample), &args)
}

fn gather(t: &mut Translator<'_>, inst: &Inst, compare: bool) -> Result<()> {
    let mut sample = sampled(t, inst, Form { explicit: false, projected: false, compare })?;
    if !matches!(sample.dim, ImageDim::D2 | ImageDim::Cube) {
        return Err(inst.invalid("texels are gathered from 2D images and cubes"));
    }
    let extra = Extra::of(inst, 3)?;
    if extra.bias.is_some() || extra.lod.is_some() || extra.grad.is_some() {
        return Err(inst.invalid("the image operands do not fit the instruction"));
    }
    let given = t.scalar(inst.id_at(2)?, Type::Word, inst)?;
    let mut args = coordinates(t, inst, sample.coordinates(), false, &mut None)?;
    if let Some(id) = extra.offset {
        sample.offset = true;
        args.extend(vector(t, id, sample.dim.axes(), inst)?);
    }
    let component = if compare {
        args.push(given);
        0
    } else {
        match t.shader.const_of(given) {
            Some(component @ 0..=3) => component as u8,
            _ => return Err(inst.invalid("the component of a gather is a constant from 0 to 3")),
        }
    };
    let Some(id) = extra.offsets else { return emit(t, inst, Op::Gather { sample, component }, &args) };
    // Each offset moves a footprint of its own, whose texel (0, 0) counts.
    sample.offset = true;
    let offsets = t.data(id, inst)?.values;
    let axes = sample.dim.axes();
    if sample.dim != ImageDim::D2 || offsets.len() != 4 * axes {
        return Err(inst.invalid("ConstOffsets are four offsets in a 2D image"));
    }
    let reference = if compare { args.pop() } else { None };
    let mut texels = Vec::with_capacity(4);
    for offset in offsets.chunks_exact(axes) {
        let args: SmallVec<[Value; 8]> = args.iter().chain(offset).chain(&reference).copied().collect();
        texels.push(t.builder().emit(Op::Gather { sample, component }, &args)[3]);
    }
    t.define_data(inst, texels)
}

/// Emits an operation whose first results are the instruction's.
fn emit(t: &mut Translator<'_>, inst: &Inst, op: Op, args: &[Value]) -> Result<()> {
    let mut e = t.emit(inst)?;
    let mut values = e.b.emit(op, args).to_vec();
    // A sample of a format without some components has a type of four all the same, but reads of images may be narrow.
    values.truncate(e.width());
    t.define_data(inst, values)
}

fn vector(t: &mut Translator<'_>, id: Id, count: usize, inst: &Inst) -> Result<SmallVec<[Value; 4]>> {
    let given = t.data(id, inst)?.values;
    if given.len() < count || given.iter().any(|&value| t.shader.values[value].ty != Type::Word) {
        return Err(inst.invalid(format!("operand %{id} has fewer than {count} components")));
    }
    Ok(SmallVec::from_slice(&given[..count]))
}

/// Coordinates, divided by the one after them if `projected`; `divisor` becomes that one's reciprocal.
fn coordinates(
    t: &mut Translator<'_>,
    inst: &Inst,
    count: usize,
    projected: bool,
    divisor: &mut Option<Value>,
) -> Result<SmallVec<[Value; 4]>> {
    let mut given = vector(t, inst.id_at(1)?, count + usize::from(projected), inst)?;
    if projected {
        let last = given[count];
        given.truncate(count);
        let mut e = t.emit(inst)?;
        let one = e.b.float(1.0);
        let scale = e.b.fdiv(one, last);
        for coordinate in &mut given {
            *coordinate = e.b.fmul(*coordinate, scale);
        }
        *divisor = Some(scale);
    }
    Ok(given)
}

/// OpImageFetch and OpImageRead.
fn fetch(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let (texture, image) = operand(t, inst)?;
    let dim = dimension(&image, inst)?;
    if dim == ImageDim::Cube && image.sampled {
        return Err(inst.invalid("texels of cube maps cannot be fetched"));
    }
    let extra = Extra::of(inst, 2)?;
    if extra.bias.is_some() || extra.grad.is_some() || (extra.sample.is_some() != image.multisampled) {
        return Err(inst.invalid("the image operands do not fit the instruction"));
    }
    // Cubes are read as arrays of faces.
    let (dim, arrayed) = match dim {
        ImageDim::Cube => (ImageDim::D2, true),
        dim => (dim, image.arrayed),
    };
    let mut fetch = Fetch { image: texture.image, dim, arrayed, offset: false };
    let mut args = vector(t, inst.id_at(1)?, fetch.coordinates(), inst)?;
    if image.subpass {
        if t.shader.stage != Stage::Fragment {
            return Err(inst.invalid("input attachments are read in fragment shaders"));
        }
        for (axis, coordinate) in args.iter_mut().enumerate() {
            let mut b = t.builder();
            let pixel = b.emit(Op::LoadBuiltin(BuiltinInput::Pixel(axis as u8)), &[])[0];
            *coordinate = b.iadd(*coordinate, pixel);
        }
    }
    args.push(match extra.lod.or(extra.sample) {
        Some(id) => t.scalar(id, Type::Word, inst)?,
        None => t.constant(Type::Word, 0),
    });
    if let Some(id) = extra.offset {
        fetch.offset = true;
        args.extend(vector(t, id, fetch.dim.axes(), inst)?);
    }
    emit(t, inst, Op::Fetch(fetch), &args)
}

/// A storage image or texel buffer whose texels are accessed at the coordinates of operand 1, and those.
fn texel(
    t: &mut Translator<'_>,
    (image, ty): (Descriptor, &ImageType),
    sample: Option<Id>,
    inst: &Inst,
) -> Result<(Texel, SmallVec<[Value; 4]>)> {
    let dim = dimension(ty, inst)?;
    if ty.sampled || ty.subpass {
        return Err(inst.invalid("the image is not a storage image"));
    }
    if sample.is_some() != ty.multisampled {
        return Err(inst.invalid("multisampled images, and no others, are accessed by sample"));
    }
    let mut texel = Texel { image, dim, arrayed: ty.arrayed, multisampled: false, format: ty.format };
    let mut args = vector(t, inst.id_at(1)?, texel.coordinates(), inst)?;
    texel.multisampled = ty.multisampled;
    if let Some(sample) = sample {
        args.push(t.scalar(sample, Type::Word, inst)?);
    }
    Ok((texel, args))
}

/// OpImageRead where images change.
fn read(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let (texture, image) = operand(t, inst)?;
    let extra = Extra::of(inst, 2)?;
    extra.only_sample(inst)?;
    let (texel, args) = texel(t, (texture.image, &image), extra.sample, inst)?;
    emit(t, inst, Op::ImageRead(texel), &args)
}

/// OpImageWrite. A texel may come with fewer components than four.
fn write(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let (texture, image) = operand(t, inst)?;
    let extra = Extra::of(inst, 3)?;
    extra.only_sample(inst)?;
    let (texel, mut args) = texel(t, (texture.image, &image), extra.sample, inst)?;
    let mut words = vector(t, inst.id_at(2)?, 1, inst)?;
    let given = t.data(inst.id_at(2)?, inst)?.values;
    words.extend(given.iter().skip(1).take(3).copied());
    let zero = t.constant(Type::Word, 0);
    words.resize(4, zero);
    args.extend(words);
    t.builder().emit(Op::ImageWrite(texel), &args);
    Ok(())
}

/// OpImageTexelPointer, which atomic operations take.
fn texel_pointer(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let pointer = t.pointer(inst.id_at(0)?, inst)?;
    let (image, ty) = match (pointer.place, t.module.types.kind(pointer.ty)) {
        (Place::Image(image), &Kind::Image(ty)) => (image, ty),
        _ => return Err(inst.invalid("the first operand does not point to an image")),
    };
    // The sample is there in any case.
    let sample = if ty.multisampled { Some(inst.id_at(2)?) } else { None };
    let (texel, coordinates) = texel(t, (image, &ty), sample, inst)?;
    t.define(inst, Entity::Texel(Rc::new(TexelPointer { texel, coordinates })))
}

/// OpImageQuerySizeLod and OpImageQuerySize: texels per axis, then layers.
fn query_size(t: &mut Translator<'_>, inst: &Inst, of_level: bool) -> Result<()> {
    let (texture, image) = operand(t, inst)?;
    let dim = dimension(&image, inst)?;
    let level =
        if of_level { t.scalar(inst.id_at(1)?, Type::Word, inst)? } else { t.constant(Type::Word, 0) };
    let axes = (0..dim.axes() as u8).map(|axis| (axis, true));
    let layers = image.arrayed.then_some((2, false));
    let sizes: Vec<Value> = axes
        .chain(layers)
        .map(|(axis, halves)| {
            let op = Op::ImageSize { image: texture.image, axis, halves };
            t.builder().emit(op, &[level])[0]
        })
        .collect();
    t.define_data(inst, sizes)
}

fn query_number(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let (texture, _) = operand(t, inst)?;
    let op = match inst.op {
        Spv::ImageQueryLevels => Op::ImageLevels(texture.image),
        _ => Op::ImageSamples(texture.image),
    };
    let number = t.builder().emit(op, &[])[0];
    t.define_data(inst, vec![number])
}

fn query_lod(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let mut sample = sampled(t, inst, Form { explicit: false, projected: false, compare: false })?;
    if t.shader.stage != Stage::Fragment {
        return Err(inst.invalid("an implicit level of detail exists in fragment shaders only"));
    }
    // The layer has no influence.
    sample.arrayed = false;
    let args = vector(t, inst.id_at(1)?, sample.coordinates(), inst)?;
    emit(t, inst, Op::ImageLod(sample), &args)
}

/// The optional operands.
#[derive(Default)]
struct Extra {
    bias: Option<Id>,
    lod: Option<Id>,
    grad: Option<[Id; 2]>,
    offset: Option<Id>,
    offsets: Option<Id>,
    sample: Option<Id>,
}

impl Extra {
    /// Those of an instruction whose mask is operand `at`.
    fn of(inst: &Inst, at: usize) -> Result<Extra> {
        let mut extra = Extra::default();
        let Some(operand) = inst.operands.get(at) else {
            return Ok(extra);
        };
        let &Operand::ImageOperands(mask) = operand else {
            return Err(inst.invalid("image operands are missing"));
        };
        let known = ImageOperands::BIAS
            | ImageOperands::LOD
            | ImageOperands::GRAD
            | ImageOperands::CONST_OFFSET
            | ImageOperands::OFFSET
            | ImageOperands::CONST_OFFSETS
            | ImageOperands::SAMPLE
            // Memory is the same for all who see each other's texels, and their order is that of fences.
            | ImageOperands::MAKE_TEXEL_AVAILABLE
            | ImageOperands::MAKE_TEXEL_VISIBLE
            | ImageOperands::NON_PRIVATE_TEXEL
            | ImageOperands::VOLATILE_TEXEL
            // The format says it, too.
            | ImageOperands::SIGN_EXTEND
            | ImageOperands::ZERO_EXTEND;
        if !known.contains(mask) {
            return Err(lacks(inst, mask.difference(known)));
        }
        // They stand in the order of their bits.
        let mut at = at + 1;
        let mut next = |bit: ImageOperands| -> Result<Option<Id>> {
            if !mask.contains(bit) {
                return Ok(None);
            }
            at += 1;
            inst.id_at(at - 1).map(Some)
        };
        extra.bias = next(ImageOperands::BIAS)?;
        extra.lod = next(ImageOperands::LOD)?;
        if let (Some(dx), Some(dy)) = (next(ImageOperands::GRAD)?, next(ImageOperands::GRAD)?) {
            extra.grad = Some([dx, dy]);
        }
        let constant = next(ImageOperands::CONST_OFFSET)?;
        extra.offset = constant.or(next(ImageOperands::OFFSET)?);
        extra.offsets = next(ImageOperands::CONST_OFFSETS)?;
        extra.sample = next(ImageOperands::SAMPLE)?;
        Ok(extra)
    }

    /// Texels that are not sampled are told apart by nothing else.
    fn only_sample(&self, inst: &Inst) -> Result<()> {
        let others = [self.bias, self.lod, self.offset, self.offsets];
        match others.iter().all(Option::is_none) && self.grad.is_none() {
            true => Ok(()),
            false => Err(inst.invalid("the image operands do not fit the instruction")),
        }
    }
}

fn lacks(inst: &Inst, mask: ImageOperands) -> SpirvError {
    inst.unsupported(format!("image operand {mask:?}"), SUPPORTED)
}

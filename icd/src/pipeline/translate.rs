//! The API's pipeline state in the terms of `vc4::state`.

use ash::vk;
use vc4::cl::packets::{CompareFunc, PrimitiveMode};
use vc4::cl::words::StencilOp;
use vc4::facts::DepthSlope;
use vc4::state::{
    Blend, BlendEquation, BlendFactor, BlendOp, ColorOutput, DepthStencil, FrontFace, LogicOp, Multisample,
    Raster, StencilFaceState,
};
use vc4_shaders::compile::{DepthClamp, Polygon, VertexAttribute};

use super::dynamic::StencilFace;
use super::info::{ColorBlend, GraphicsInfo, VertexInput};
use crate::foundation::error::Error;
use crate::foundation::facts::facts;
use crate::foundation::format::{self, FormatRow};
use crate::foundation::limits::SAMPLE_COUNTS;
use crate::foundation::terms::compare;

/// Refuses state that features which are off would allow.
pub(super) fn check(info: &GraphicsInfo) -> Result<(), Error> {
    let raster = &info.raster;
    if info.depth_stencil.is_some_and(|state| state.bounds.is_some()) {
        return Err(Error::FeatureNotPresent("depthBounds"));
    }
    match raster.lines {
        _ if raster.stippled => return Err(Error::FeatureNotPresent("stippledLines")),
        vk::LineRasterizationModeKHR::RECTANGULAR => {
            return Err(Error::FeatureNotPresent("rectangularLines"));
        }
        vk::LineRasterizationModeKHR::RECTANGULAR_SMOOTH => {
            return Err(Error::FeatureNotPresent("smoothLines"));
        }
        _ => {}
    }
    if raster.depth_bias.is_some() && raster.clamps_bias && info.has_assembly() {
        let what = "QPU assembly whose depths are moved by their slope up to a clamp".to_string();
        return Err(Error::unsupported(what, "move the depth in the fragment program, or use no clamp"));
    }
    if (raster.depth_clamp || raster.depth_clip == Some(false)) && info.has_assembly() {
        let what = "QPU assembly whose depths are clamped".to_string();
        return Err(Error::unsupported(
            what,
            "clamp the depth in the fragment program, or let it be clipped",
        ));
    }
    if shades_samples(info) && info.has_assembly() {
        let what = "QPU assembly in an invocation per sample".to_string();
        return Err(Error::unsupported(what, "shade pixels"));
    }
    match info.multisample.map(|state| state.samples) {
        Some(samples) if !SAMPLE_COUNTS.contains(samples) => {
            Err(Error::unsupported(format!("a pipeline of {samples:?}"), "use one sample or four"))
        }
        _ => Ok(()),
    }
}

/// Whether the pipeline's state asks for more than one invocation per pixel: then there is one per sample.
pub(super) fn shades_samples(info: &GraphicsInfo) -> bool {
    let fraction = info.multisample.filter(|state| state.samples == vk::SampleCountFlags::TYPE_4);
    let invocations = fraction.and_then(|state| state.sample_shading).map_or(0.0, |fraction| 4.0 * fraction);
    invocations > 1.0
}

/// What narrows the coverage of pixels.
pub(super) fn multisample(info: &GraphicsInfo) -> Multisample {
    let Some(state) = info.multisample else { return Multisample::default() };
    let four_samples = state.samples == vk::SampleCountFlags::TYPE_4;
    let all = state.all_samples();
    Multisample {
        four_samples,
        sample_mask: state.mask & all != all,
        alpha_to_coverage: state.alpha_to_coverage,
        alpha_to_one: state.alpha_to_one,
    }
}

/// The hardware's name of a topology, and whether adjacent vertices stand between those of its primitives. They are
/// for geometry shaders; without one they are passed over.
pub(super) fn topology(topology: vk::PrimitiveTopology) -> Result<(PrimitiveMode, bool), Error> {
    match topology {
        vk::PrimitiveTopology::POINT_LIST => Ok((PrimitiveMode::Points, false)),
        vk::PrimitiveTopology::LINE_LIST => Ok((PrimitiveMode::Lines, false)),
        vk::PrimitiveTopology::LINE_STRIP => Ok((PrimitiveMode::LineStrip, false)),
        vk::PrimitiveTopology::TRIANGLE_LIST => Ok((PrimitiveMode::Triangles, false)),
        vk::PrimitiveTopology::TRIANGLE_STRIP => Ok((PrimitiveMode::TriangleStrip, false)),
        vk::PrimitiveTopology::TRIANGLE_FAN => Ok((PrimitiveMode::TriangleFan, false)),
        vk::PrimitiveTopology::LINE_LIST_WITH_ADJACENCY => Ok((PrimitiveMode::Lines, true)),
        vk::PrimitiveTopology::LINE_STRIP_WITH_ADJACENCY => Ok((PrimitiveMode::LineStrip, true)),
        vk::PrimitiveTopology::TRIANGLE_LIST_WITH_ADJACENCY => Ok((PrimitiveMode::Triangles, true)),
        vk::PrimitiveTopology::TRIANGLE_STRIP_WITH_ADJACENCY => Ok((PrimitiveMode::TriangleStrip, true)),
        _ => Err(Error::FeatureNotPresent("tessellationShader")),
    }
}

/// Whether primitives are lines.
pub(super) fn is_line(mode: PrimitiveMode) -> bool {
    matches!(mode, PrimitiveMode::Lines | PrimitiveMode::LineStrip)
}

/// Whether primitives have faces.
pub(super) fn is_area(mode: PrimitiveMode) -> bool {
    matches!(mode, PrimitiveMode::Triangles | PrimitiveMode::TriangleStrip | PrimitiveMode::TriangleFan)
}

/// How depths are clamped where none are clipped. Without the feature asking for a clamp is against the rules, and yet usual,
/// Khronos' own tests included.
pub(super) fn depth_clamp(info: &GraphicsInfo, is_enabled: bool, mode: PrimitiveMode) -> Option<DepthClamp> {
    let to_viewport = info.raster.depth_clamp && is_enabled;
    let clips = info.raster.depth_clip.unwrap_or(!to_viewport);
    let biased = info.raster.depth_bias.is_some() && is_area(mode);
    (!clips).then_some(DepthClamp { biased, to_viewport })
}

/// What the machine draws of primitives that are assembled in a way: of triangles their edges or corners, if the polygon
/// mode says so.
pub(super) fn drawn(info: &GraphicsInfo, mode: PrimitiveMode) -> Result<PrimitiveMode, Error> {
    let drawn = match info.raster.polygon_mode {
        vk::PolygonMode::LINE if is_area(mode) => PrimitiveMode::Lines,
        vk::PolygonMode::POINT if is_area(mode) => PrimitiveMode::Points,
        vk::PolygonMode::FILL | vk::PolygonMode::LINE | vk::PolygonMode::POINT => mode,
        other => return Err(Error::InvalidUse(format!("polygon mode {other:?}"))),
    };
    if drawn != mode && info.has_assembly() {
        let what = "QPU assembly for edges or corners of triangles".to_string();
        return Err(Error::unsupported(what, "draw lines or points"));
    }
    Ok(drawn)
}

/// Whether lines may be wider than a pixel. Whoever sets widths by commands may set any.
pub(super) fn has_wide_lines(info: &GraphicsInfo) -> bool {
    info.is_dynamic(vk::DynamicState::LINE_WIDTH) || info.raster.line_width > 1.0
}

/// Whether a bias may move depths by their slope.
fn has_slope_bias(info: &GraphicsInfo) -> bool {
    let is_dynamic = info.is_dynamic(vk::DynamicState::DEPTH_BIAS);
    info.raster.depth_bias.is_some_and(|[.., slope]| is_dynamic || slope != 0.0)
}

/// Whether programs move the depths of what is drawn, as a bias by the machine's slope would be more than Vulkan allows, or has
/// a clamp, which the machine knows none of (v3d.md §9.7). Finished programs leave it to the machine.
pub(super) fn moves_depth(info: &GraphicsInfo, is_area: bool) -> bool {
    let is_clamped = info.raster.depth_bias.is_some() && info.raster.clamps_bias;
    let is_steep = facts().depth_slope == DepthSlope::Sum && has_slope_bias(info);
    is_area && (is_steep || is_clamped) && !info.has_assembly()
}

/// What programs know of triangles whose edges or corners are drawn.
pub(super) fn polygon(info: &GraphicsInfo) -> Polygon {
    let raster = raster(info, PrimitiveMode::Triangles, false);
    Polygon {
        cull_front: raster.cull_front,
        cull_back: raster.cull_back,
        front_face: raster.front_face,
        slope_bias: has_slope_bias(info),
    }
}

/// Vertex attributes.
pub(super) fn attributes(input: &VertexInput) -> Result<Vec<VertexAttribute>, Error> {
    let attribute = |attribute: &vk::VertexInputAttributeDescription| {
        let vk::VertexInputAttributeDescription { location, binding, format, .. } = *attribute;
        let unknown = || Error::FormatNotSupported(format!("{format:?} vertex attributes are not offered"));
        let binding = input.bindings.iter().find(|description| description.binding == binding);
        Ok(VertexAttribute {
            location,
            format: format::row(format).and_then(|row| row.vertex).ok_or_else(unknown)?,
            per_instance: binding.is_some_and(|b| b.input_rate == vk::VertexInputRate::INSTANCE),
        })
    };
    input.attributes.iter().map(attribute).collect()
}

/// What one pass over the draws of a subpass does to colours.
pub(super) struct ColorPass {
    /// Location of the fragment stage's output.
    pub location: u32,
    /// What becomes of it, in one word of a texel.
    pub output: ColorOutput,
}

/// The passes for a subpass's colours, in the order of [`crate::segments::Target::colors`].
pub(super) fn colors(info: &GraphicsInfo) -> Result<Vec<ColorPass>, Error> {
    let mut passes = Vec::new();
    for &(location, row) in &info.formats.colors {
        let (whole, planes) = color(info, location, row)?;
        passes.extend((0..planes).map(|plane| ColorPass {
            location,
            output: ColorOutput { encoding: whole.encoding.in_word(plane), ..whole },
        }));
    }
    if passes.len() > 1 && info.has_assembly() {
        let what = format!("QPU assembly for {} words of colours", passes.len());
        return Err(Error::unsupported(what, "use one colour attachment of at most 32 bits"));
    }
    Ok(passes)
}

/// What happens to a colour, and how many words its texels have.
fn color(info: &GraphicsInfo, location: u32, row: &FormatRow) -> Result<(ColorOutput, u8), Error> {
    let (Some(target), Some(encoding)) = (row.target, row.encoding()) else {
        let what = format!("a colour attachment of {:?}", row.format);
        return Err(Error::unsupported(what, "use a format with the feature"));
    };
    let plain =
        ColorOutput { encoding, ..ColorOutput::plain(target.texel.info(), multisample(info).four_samples) };
    let planes = target.planes();
    let Some(state) = &info.blend else { return Ok((plain, planes)) };
    let Some(blend) = state.attachments.get(location as usize) else { return Ok((plain, planes)) };
    let bits = [
        vk::ColorComponentFlags::R,
        vk::ColorComponentFlags::G,
        vk::ColorComponentFlags::B,
        vk::ColorComponentFlags::A,
    ];
    let output = ColorOutput {
        write: bits.map(|bit| blend.color_write_mask.contains(bit)),
        blend: (blend.blend_enable != vk::FALSE).then(|| equations(blend)).transpose()?,
        logic_op: logic_op(state)?,
        ..plain
    };
    if planes > 1 && output.reads_destination_alpha() {
        let what = format!("blending by the destination's alpha in {:?}", row.format);
        return Err(Error::unsupported(what, "use other factors, or a format of 32 bits"));
    }
    Ok((output, planes))
}

fn equations(state: &vk::PipelineColorBlendAttachmentState) -> Result<Blend, Error> {
    let equation = |src, dst, op| {
        Ok::<_, Error>(BlendEquation { src: factor(src)?, dst: factor(dst)?, op: blend_op(op)? })
    };
    Ok(Blend {
        color: equation(state.src_color_blend_factor, state.dst_color_blend_factor, state.color_blend_op)?,
        alpha: equation(state.src_alpha_blend_factor, state.dst_alpha_blend_factor, state.alpha_blend_op)?,
    })
}

fn factor(factor: vk::BlendFactor) -> Result<BlendFactor, Error> {
    Ok(match factor {
        vk::BlendFactor::ZERO => BlendFactor::Zero,
        vk::BlendFactor::ONE => BlendFactor::One,
        vk::BlendFactor::SRC_COLOR => BlendFactor::SrcColor,
        vk::BlendFactor::ONE_MINUS_SRC_COLOR => BlendFactor::OneMinusSrcColor,
        vk::BlendFactor::DST_COLOR => BlendFactor::DstColor,
        vk::BlendFactor::ONE_MINUS_DST_COLOR => BlendFactor::OneMinusDstColor,
        vk::BlendFactor::SRC_ALPHA => BlendFactor::SrcAlpha,
        vk::BlendFactor::ONE_MINUS_SRC_ALPHA => BlendFactor::OneMinusSrcAlpha,
        vk::BlendFactor::DST_ALPHA => BlendFactor::DstAlpha,
        vk::BlendFactor::ONE_MINUS_DST_ALPHA => BlendFactor::OneMinusDstAlpha,
        vk::BlendFactor::CONSTANT_COLOR => BlendFactor::ConstantColor,
        vk::BlendFactor::ONE_MINUS_CONSTANT_COLOR => BlendFactor::OneMinusConstantColor,
        vk::BlendFactor::CONSTANT_ALPHA => BlendFactor::ConstantAlpha,
        vk::BlendFactor::ONE_MINUS_CONSTANT_ALPHA => BlendFactor::OneMinusConstantAlpha,
        vk::BlendFactor::SRC_ALPHA_SATURATE => BlendFactor::SrcAlphaSaturate,
        vk::BlendFactor::SRC1_COLOR => BlendFactor::Src1Color,
        vk::BlendFactor::ONE_MINUS_SRC1_COLOR => BlendFactor::OneMinusSrc1Color,
        vk::BlendFactor::SRC1_ALPHA => BlendFactor::Src1Alpha,
        vk::BlendFactor::ONE_MINUS_SRC1_ALPHA => BlendFactor::OneMinusSrc1Alpha,
        _ => return Err(Error::InvalidUse(format!("blend factor {factor:?}"))),
    })
}

fn blend_op(op: vk::BlendOp) -> Result<BlendOp, Error> {
    Ok(match op {
        vk::BlendOp::ADD => BlendOp::Add,
        vk::BlendOp::SUBTRACT => BlendOp::Subtract,
        vk::BlendOp::REVERSE_SUBTRACT => BlendOp::ReverseSubtract,
        vk::BlendOp::MIN => BlendOp::Min,
        vk::BlendOp::MAX => BlendOp::Max,
        _ => return Err(Error::InvalidUse(format!("blend operation {op:?}"))),
    })
}

fn logic_op(state: &ColorBlend) -> Result<Option<LogicOp>, Error> {
    let Some(op) = state.logic_op else { return Ok(None) };
    Ok(Some(match op {
        vk::LogicOp::CLEAR => LogicOp::Clear,
        vk::LogicOp::AND => LogicOp::And,
        vk::LogicOp::AND_REVERSE => LogicOp::AndReverse,
        vk::LogicOp::COPY => LogicOp::Copy,
        vk::LogicOp::AND_INVERTED => LogicOp::AndInverted,
        vk::LogicOp::NO_OP => LogicOp::NoOp,
        vk::LogicOp::XOR => LogicOp::Xor,
        vk::LogicOp::OR => LogicOp::Or,
        vk::LogicOp::NOR => LogicOp::Nor,
        vk::LogicOp::EQUIVALENT => LogicOp::Equivalent,
        vk::LogicOp::INVERT => LogicOp::Invert,
        vk::LogicOp::OR_REVERSE => LogicOp::OrReverse,
        vk::LogicOp::COPY_INVERTED => LogicOp::CopyInverted,
        vk::LogicOp::OR_INVERTED => LogicOp::OrInverted,
        vk::LogicOp::NAND => LogicOp::Nand,
        vk::LogicOp::SET => LogicOp::Set,
        _ => return Err(Error::InvalidUse(format!("logic operation {op:?}"))),
    }))
}

/// Depth and stencil tests; `None` without such an attachment.
pub(super) fn depth_stencil(info: &GraphicsInfo) -> Result<Option<DepthStencil>, Error> {
    let aspects = info.formats.depth_stencil;
    let Some(state) = info.depth_stencil.as_ref().filter(|_| !aspects.is_empty()) else { return Ok(None) };
    let depth_test = state.depth_test.filter(|_| aspects.contains(vk::ImageAspectFlags::DEPTH));
    let has_stencil = aspects.contains(vk::ImageAspectFlags::STENCIL);
    let stencil = match state.stencil.filter(|_| has_stencil) {
        None => None,
        Some([front, back]) => Some([stencil_face(&front)?, stencil_face(&back)?]),
    };
    Ok(Some(DepthStencil {
        depth_test: depth_test.is_some(),
        depth_write: state.depth_write && depth_test.is_some(),
        depth_func: depth_test.map_or(Ok(CompareFunc::Always), compare)?,
        stencil,
    }))
}

fn stencil_op(op: vk::StencilOp) -> Result<StencilOp, Error> {
    Ok(match op {
        vk::StencilOp::KEEP => StencilOp::Keep,
        vk::StencilOp::ZERO => StencilOp::Zero,
        vk::StencilOp::REPLACE => StencilOp::Replace,
        vk::StencilOp::INCREMENT_AND_CLAMP => StencilOp::IncrementClamp,
        vk::StencilOp::DECREMENT_AND_CLAMP => StencilOp::DecrementClamp,
        vk::StencilOp::INVERT => StencilOp::Invert,
        vk::StencilOp::INCREMENT_AND_WRAP => StencilOp::IncrementWrap,
        vk::StencilOp::DECREMENT_AND_WRAP => StencilOp::DecrementWrap,
        _ => return Err(Error::InvalidUse(format!("stencil operation {op:?}"))),
    })
}

fn stencil_face(state: &vk::StencilOpState) -> Result<StencilFaceState, Error> {
    Ok(StencilFaceState {
        fail: stencil_op(state.fail_op)?,
        pass: stencil_op(state.pass_op)?,
        depth_fail: stencil_op(state.depth_fail_op)?,
        func: compare(state.compare_op)?,
        compare_mask: state.compare_mask as u8,
        write_mask: state.write_mask as u8,
        reference: state.reference as u8,
    })
}

/// Masks and reference of a pipeline's stencil state.
pub(super) fn stencil_values(state: &vk::StencilOpState) -> StencilFace {
    let vk::StencilOpState { compare_mask, write_mask, reference, .. } = *state;
    StencilFace { compare_mask, write_mask, reference }
}

/// The only face that is drawn, 0 for front and 1 for back; `None` if both may be. What has no area is front.
pub(super) fn only_face(info: &GraphicsInfo, has_area: bool) -> Option<usize> {
    let culls = |face| info.raster.cull.contains(face);
    match (has_area, culls(vk::CullModeFlags::BACK), culls(vk::CullModeFlags::FRONT)) {
        (false, _, _) | (true, true, _) => Some(0),
        (true, false, true) => Some(1),
        (true, false, false) => None,
    }
}

/// Rasteriser state for what the machine draws.
pub(super) fn raster(info: &GraphicsInfo, drawn: PrimitiveMode, shader_depth: bool) -> Raster {
    Raster {
        triangles: is_area(drawn),
        cull_front: info.raster.cull.contains(vk::CullModeFlags::FRONT),
        cull_back: info.raster.cull.contains(vk::CullModeFlags::BACK),
        front_face: match info.raster.front_face {
            vk::FrontFace::CLOCKWISE => FrontFace::Clockwise,
            _ => FrontFace::CounterClockwise,
        },
        depth_bias: info.raster.depth_bias.is_some(),
        multisample: multisample(info).four_samples,
        // Such lines cover pixels, not samples (Vulkan 1.3 §28.11.2).
        whole_pixels: is_line(drawn) && info.raster.lines == vk::LineRasterizationModeKHR::BRESENHAM,
        shader_depth,
    }
}

//! A compute stage, compiled: what the CPU runs, and where it is a picture, what the QPUs draw.

use ash::vk;
use vc4::state::ColorOutput;
use vc4_shaders::compile::{PipelineState, compile_picture};
use vc4_shaders::ir::{ImageFormat, Shader};
use vc4_shaders::picture::estimate::Estimate;
use vc4_shaders::picture::{self, Picture, Target};
use vc4_shaders_cpu::Kernel;

use crate::foundation::engine::{Engine, kernels};
use crate::foundation::facts::{facts, numbers};
use crate::foundation::format::{self, FormatRow};

/// A compute stage that is a picture.
pub struct DrawnKernel {
    /// The picture.
    pub picture: Picture,
    /// What it costs.
    pub estimate: Estimate,
}

/// A compute stage.
pub struct CompiledKernel {
    /// What the CPU runs.
    pub cpu: Kernel,
    /// What is drawn; why not.
    pub drawn: Result<DrawnKernel, String>,
}

/// What a colour of a format is written as, without blending.
pub fn plain_output(row: &FormatRow) -> Option<ColorOutput> {
    let (target, encoding) = (row.target?, row.encoding()?);
    Some(ColorOutput { encoding, ..ColorOutput::plain(target.texel.info(), false) })
}

/// The format that a picture is drawn to: words of a buffer always are, images mostly are what the shader says. Where it says nothing
/// they tell when it is dispatched.
pub fn usual_row(picture: &Picture) -> Option<&'static FormatRow> {
    format::row(match picture.target {
        Target::Buffer { .. } => vk::Format::R32_UINT,
        Target::Image(texel) => declared(texel.format).unwrap_or(vk::Format::R8G8B8A8_UNORM),
    })
}

/// The format of texels of 32 bits that a shader names.
fn declared(format: ImageFormat) -> Option<vk::Format> {
    Some(match format {
        ImageFormat::R32f => vk::Format::R32_SFLOAT,
        ImageFormat::R32i => vk::Format::R32_SINT,
        ImageFormat::R32ui => vk::Format::R32_UINT,
        ImageFormat::Rgba8 => vk::Format::R8G8B8A8_UNORM,
        ImageFormat::Rgba8Snorm => vk::Format::R8G8B8A8_SNORM,
        ImageFormat::Rgba8i => vk::Format::R8G8B8A8_SINT,
        ImageFormat::Rgba8ui => vk::Format::R8G8B8A8_UINT,
        ImageFormat::Rg16f => vk::Format::R16G16_SFLOAT,
        ImageFormat::Rg16i => vk::Format::R16G16_SINT,
        ImageFormat::Rg16ui => vk::Format::R16G16_UINT,
        ImageFormat::Rg16 => vk::Format::R16G16_UNORM,
        ImageFormat::Rg16Snorm => vk::Format::R16G16_SNORM,
        ImageFormat::Rgb10A2 => vk::Format::A2B10G10R10_UNORM_PACK32,
        ImageFormat::Rgb10a2ui => vk::Format::A2B10G10R10_UINT_PACK32,
        ImageFormat::R11fG11fB10f => vk::Format::B10G11R11_UFLOAT_PACK32,
        _ => return None,
    })
}

/// The picture that an optimised compute shader draws, or why it draws none. `cpu` is what runs it else; `simulated`: the GPU is.
pub fn drawn(shader: &Shader, cpu: &Kernel, simulated: bool) -> Result<DrawnKernel, String> {
    match kernels() {
        Engine::Cpu => return Err("VC4VK_COMPUTE says so".into()),
        Engine::Auto if simulated => return Err("the GPU is a simulated one".into()),
        Engine::Auto | Engine::Qpu => {}
    }
    let picture = picture::find(shader).map_err(|why| why.to_string())?;
    let state = PipelineState {
        color: usual_row(&picture).and_then(plain_output),
        machine: *facts(),
        ..PipelineState::default()
    };
    let programs = compile_picture(&picture, &state).map_err(|error| error.to_string())?;
    let mut estimate = Estimate::new(shader, &programs.fragment, numbers());
    estimate.cpu *= cpu.engine().slowdown();
    match estimate.may_hang() {
        true => Err("a tile of it may take longer than the kernel waits".into()),
        false => Ok(DrawnKernel { picture, estimate }),
    }
}

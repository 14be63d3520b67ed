//! A compute stage, compiled: what the CPU runs, and where it is a picture, what the QPUs draw.

use ash::vk;
use vc4::state::ColorOutput;
use vc4_shaders::compile::{PipelineState, compile_picture};
use vc4_shaders::ir::Shader;
use vc4_shaders::picture::estimate::Estimate;
use vc4_shaders::picture::{self, Picture, Target};
use vc4_shaders_cpu::Kernel;

use crate::foundation::engine::{Engine, kernels};
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

/// The format that a picture is most likely drawn to: words of a buffer always are, images tell when it is dispatched.
pub fn usual_row(picture: &Picture) -> Option<&'static FormatRow> {
    format::row(match picture.target {
        Target::Buffer { .. } => vk::Format::R32_UINT,
        Target::Image(_) => vk::Format::R8G8B8A8_UNORM,
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
    let state =
        PipelineState { color: usual_row(&picture).and_then(plain_output), ..PipelineState::default() };
    let programs = compile_picture(&picture, &state).map_err(|error| error.to_string())?;
    let mut estimate = Estimate::new(shader, &programs.fragment);
    estimate.cpu *= cpu.engine().slowdown();
    match estimate.may_hang() {
        true => Err("a tile of it may take longer than the kernel waits".into()),
        false => Ok(DrawnKernel { picture, estimate }),
    }
}

//! Where the programs of a pipeline come from: SPIR-V, assembly, or one of each.

use ash::vk;
use vc4::state::depth_stencil::StencilPlan;
use vc4_shaders::compile::{PipelineState, Varying, compile_shaders, compile_vertex};
use vc4_shaders::ir::{self, Shader};
use vc4_shaders::program::{self, Program};
use vc4_shaders::spirv::{StageSource, translate};

use super::link::{self, Fragment, Linker};
use super::{GraphicsInfo, ShaderModule, Stage};
use crate::assembly::{Mode, RasterWindow, refuse};
use crate::debug::{Debug, flags};
use crate::error::Error;

/// What a pipeline's programs are made from.
pub(super) enum Programs {
    /// SPIR-V; without a fragment stage only depth and stencil are written.
    Compiled {
        /// The vertex stage.
        vertex: Box<Shader>,
        /// The fragment stage.
        fragment: Option<Box<Shader>>,
    },
    /// A fragment program of assembly behind SPIR-V.
    Mixed {
        /// The vertex stage.
        vertex: Box<Shader>,
        /// The fragment program.
        fragment: Box<Fragment>,
        /// What it reads.
        varyings: Vec<Varying>,
    },
    /// Assembly, linked.
    Linked {
        /// The programs.
        pipeline: Box<program::Pipeline>,
        /// Where the raster lies.
        window: RasterWindow,
    },
}

impl Programs {
    /// Reads the stages of a pipeline. Raw fragment programs read the general form of the stencil words, whatever the
    /// masks are; `state` is made to say so.
    pub(super) fn new(info: &GraphicsInfo, state: &mut PipelineState) -> Result<Programs, Error> {
        let find = |flag| info.stages.iter().find(|source| source.stage == flag);
        let no_vertex = || Error::InvalidUse("a graphics pipeline without a vertex stage".into());
        let vertex = find(vk::ShaderStageFlags::VERTEX).ok_or_else(no_vertex)?;
        let fragment = find(vk::ShaderStageFlags::FRAGMENT);
        if let Some(ShaderModule::Assembly(module)) = fragment.map(|stage| &*stage.module) {
            if module.mode == Mode::Raw && state.depth_stencil.stencil != StencilPlan::Off {
                state.depth_stencil.stencil = StencilPlan::Full;
            }
        }
        let linker = Linker { info, state };
        match (&*vertex.module, fragment.map(|stage| (stage, &*stage.module))) {
            (ShaderModule::Spirv(words), None) => {
                let vertex = translated(vertex, words, ir::Stage::Vertex)?;
                Ok(Programs::Compiled { vertex, fragment: None })
            }
            (ShaderModule::Spirv(words), Some((stage, ShaderModule::Spirv(fragment)))) => {
                let fragment = Some(translated(stage, fragment, ir::Stage::Fragment)?);
                Ok(Programs::Compiled { vertex: translated(vertex, words, ir::Stage::Vertex)?, fragment })
            }
            (ShaderModule::Spirv(words), Some((stage, ShaderModule::Assembly(module)))) => {
                let vertex = translated(vertex, words, ir::Stage::Vertex)?;
                let fragment = Box::new(linker.fragment(module, &stage.constants)?);
                let varyings = link::varyings(module, fragment.varyings);
                Ok(Programs::Mixed { vertex, fragment, varyings })
            }
            (ShaderModule::Assembly(_), Some((_, ShaderModule::Spirv(_)))) => refuse(
                "a vertex stage of assembly with a fragment stage of SPIR-V, whose varyings have no fixed order; \
                 give the fragment stage in assembly, too, or the vertex stage in SPIR-V",
            ),
            (ShaderModule::Assembly(module), fragment) => {
                let fragment = match fragment {
                    Some((stage, ShaderModule::Assembly(module))) => {
                        linker.fragment(module, &stage.constants)?
                    }
                    _ => depth_only(state)?,
                };
                let pipeline = Box::new(linker.vertex(module, &vertex.constants, fragment)?);
                Ok(Programs::Linked { pipeline, window: module.window })
            }
        }
    }

    /// Where the raster lies.
    pub(super) fn window(&self) -> RasterWindow {
        match self {
            Programs::Linked { window, .. } => *window,
            _ => RasterWindow::Driver,
        }
    }

    /// Images that the stages look at, used or not.
    pub(super) fn textures(&self) -> Vec<program::Texture> {
        let of_shader = |shader: &Shader| shader.textures();
        let mut textures = match self {
            Programs::Compiled { vertex, fragment } => {
                let mut textures = of_shader(vertex);
                textures.extend(fragment.iter().flat_map(|fragment| of_shader(fragment)));
                textures
            }
            Programs::Mixed { vertex, fragment, .. } => {
                let mut textures = of_shader(vertex);
                textures.extend(fragment.program().textures());
                textures
            }
            Programs::Linked { pipeline, .. } => {
                [&pipeline.vertex, &pipeline.coordinate, &pipeline.fragment].map(Program::textures).concat()
            }
        };
        textures.sort_unstable();
        textures.dedup();
        textures
    }

    /// Whether the code depends on how textures are to be decoded; assembly takes texels as they come.
    pub(super) fn decode_textures(&self) -> bool {
        !matches!(self, Programs::Linked { .. })
    }

    /// The programs for a state that differs in textures only from that of [`Programs::new`].
    pub(super) fn build(&self, state: &PipelineState) -> Result<program::Pipeline, Error> {
        let failed = |error: vc4_shaders::compile::CompileError| Error::Shader(error.to_string());
        match self {
            Programs::Compiled { vertex, fragment } => {
                let fragment = fragment.as_deref().cloned();
                compile_shaders((**vertex).clone(), fragment, state).map_err(failed)
            }
            Programs::Mixed { vertex, fragment, varyings } => {
                let pipeline = compile_vertex((**vertex).clone(), state, varyings).map_err(failed)?;
                Ok(fragment.attach(pipeline))
            }
            Programs::Linked { pipeline, .. } => Ok((**pipeline).clone()),
        }
    }
}

/// The fragment program of a pipeline without a fragment stage.
fn depth_only(state: &PipelineState) -> Result<Fragment, Error> {
    let vertex = Shader::new(ir::Stage::Vertex);
    let pipeline = compile_shaders(vertex, None, state).map_err(|error| Error::Shader(error.to_string()))?;
    Ok(Fragment::compiled(pipeline))
}

fn translated(source: &Stage, words: &[u32], stage: ir::Stage) -> Result<Box<Shader>, Error> {
    let constants = source.constants.iter().map(|(id, bytes)| constant(bytes).map(|value| (*id, value)));
    let specialization = constants.collect::<Result<Vec<_>, _>>()?;
    let source = StageSource { words, entry: &source.entry, specialization: &specialization };
    let shader = translate(&source, stage).map_err(|error| Error::Shader(error.to_string()))?;
    if flags().contains(Debug::IR) {
        eprintln!("{stage:?} stage \"{}\":\n{shader}", source.entry);
    }
    Ok(Box::new(shader))
}

/// The value of a specialisation constant.
pub(super) fn constant(bytes: &[u8]) -> Result<u32, Error> {
    match *bytes {
        [a] => Ok(u32::from(a)),
        [a, b] => Ok(u32::from(u16::from_le_bytes([a, b]))),
        [a, b, c, d] => Ok(u32::from_le_bytes([a, b, c, d])),
        _ => Err(Error::unsupported(
            format!("a specialisation constant of {} bytes", bytes.len()),
            "use constants of at most 32 bits",
        )),
    }
}

//! Where the programs of a pipeline come from: SPIR-V, assembly, or one of each.

use std::sync::{Arc, OnceLock};

use ash::vk;
use vc4::state::depth_stencil::StencilPlan;
use vc4_shaders::compile::{
    CompileError, ErrorKind, PipelineState, Varying, compile_rectangle, compile_shaders, compile_vertex,
    convert,
};
#[cfg(feature = "compute")]
use vc4_shaders::compile::{compute_stage, relay};
use vc4_shaders::ir::{self, Shader};
use vc4_shaders::key::{self, StageKey};
use vc4_shaders::program::{self, Program};
#[cfg(feature = "compute")]
use vc4_shaders::relay::Relay;
use vc4_shaders::spirv::{StageSource, translate};
use vc4_shaders::state::Conversions;

use super::assembly::{Mode, RasterWindow, refuse};
use super::cache::PipelineCache;
use super::info::{GraphicsInfo, Stage, constant};
use super::link::{self, Fragment, Linker};
use super::module::ShaderModule;
use crate::foundation::debug::{Debug, flags};
use crate::foundation::error::Error;

/// What a pipeline's programs are made from.
pub(super) enum Programs {
    /// SPIR-V; without a fragment stage only depth and stencil are written.
    Compiled(Box<Spirv>),
    /// A fragment program of assembly behind SPIR-V.
    Mixed {
        /// The vertex stage.
        vertex: Shader,
        /// The fragment program.
        fragment: Box<Fragment>,
        /// What it reads.
        varyings: Vec<Varying>,
    },
    /// A fragment stage that fills a rectangle.
    Rectangle(Box<Shader>),
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
    pub(super) fn new(
        info: &GraphicsInfo,
        state: &mut PipelineState,
        cache: Option<&Arc<PipelineCache>>,
    ) -> Result<Programs, Error> {
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
            (ShaderModule::Spirv(_), None) => {
                Ok(Programs::Compiled(Box::new(Spirv::new(vertex, None, cache)?)))
            }
            (ShaderModule::Spirv(_), Some((stage, ShaderModule::Spirv(_)))) => {
                Ok(Programs::Compiled(Box::new(Spirv::new(vertex, Some(stage), cache)?)))
            }
            (ShaderModule::Spirv(_), Some((stage, ShaderModule::Assembly(module)))) => {
                let vertex = Source::new(vertex)?.translated(ir::Stage::Vertex)?;
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

    /// Where the raster of finished programs lies; compiled ones are made for the viewport of a draw.
    pub(super) fn window(&self) -> Option<RasterWindow> {
        match self {
            Programs::Linked { window, .. } => Some(*window),
            _ => None,
        }
    }

    /// Whether they have a fragment stage.
    pub(super) fn has_fragment_stage(&self) -> bool {
        !matches!(self, Programs::Compiled(spirv) if spirv.fragment.is_none())
    }

    /// Images that the stages of `built` programs look at, used or not.
    pub(super) fn textures(&self, built: &program::Pipeline) -> Vec<program::Texture> {
        let mut textures = built.textures.clone();
        match self {
            Programs::Compiled(_) => {}
            Programs::Rectangle(_) => {}
            Programs::Mixed { fragment, .. } => textures.extend(fragment.program().textures()),
            Programs::Linked { pipeline, .. } => {
                let programs = [&pipeline.vertex, &pipeline.coordinate, &pipeline.fragment];
                textures.extend(programs.into_iter().flat_map(Program::textures));
            }
        }
        textures.sort_unstable();
        textures.dedup();
        textures
    }

    /// The vertex stage as the CPU runs it, for programs that are relayed.
    #[cfg(feature = "compute")]
    pub(super) fn relay(&self) -> Result<Relay, Error> {
        match self {
            Programs::Compiled(spirv) => spirv.vertex().map(relay),
            _ => Err(Error::InvalidUse("a vertex stage on the CPU that is not in SPIR-V".into())),
        }
    }

    /// Whether the code depends on what a draw brings; assembly takes texels as they come.
    pub(super) fn has_variants(&self) -> bool {
        !matches!(self, Programs::Linked { .. })
    }

    /// The programs for a state that differs from that of [`Programs::new`] only in textures and raster. Those that would
    /// have to be compiled are an error unless that is allowed.
    pub(super) fn build(&self, state: &PipelineState, may_compile: bool) -> Result<program::Pipeline, Error> {
        match self {
            Programs::Compiled(spirv) => spirv.build(state, may_compile),
            Programs::Rectangle(_) | Programs::Mixed { .. } if !may_compile => Err(Error::compile_required()),
            Programs::Rectangle(fragment) => compile_rectangle(fragment, state).map_err(failed),
            Programs::Mixed { vertex, fragment, varyings } => {
                let pipeline = compile_vertex(vertex.clone(), state, varyings).map_err(failed)?;
                Ok(fragment.attach(pipeline))
            }
            Programs::Linked { pipeline, .. } => Ok((**pipeline).clone()),
        }
    }
}

/// The fragment program of a pipeline without a fragment stage.
fn depth_only(state: &PipelineState) -> Result<Fragment, Error> {
    let vertex = Shader::new(ir::Stage::Vertex);
    let pipeline = compile_shaders(vertex, None, state).map_err(failed)?;
    Ok(Fragment::compiled(pipeline))
}

fn failed(error: CompileError) -> Error {
    match error.kind() {
        ErrorKind::DoesNotFit => Error::ShaderDoesNotFit(error.to_string()),
        ErrorKind::Invalid | ErrorKind::Unsupported | ErrorKind::Bug => Error::Shader(error.to_string()),
    }
}

/// A stage in SPIR-V.
pub(super) struct Source {
    module: Arc<ShaderModule>,
    entry: String,
    specialization: Vec<(u32, u32)>,
    conversions: Arc<Conversions>,
}

impl Source {
    /// A stage, its specialisation read.
    pub(super) fn new(stage: &Stage) -> Result<Source, Error> {
        let constants = stage.constants.iter().map(|(id, bytes)| constant(bytes).map(|value| (*id, value)));
        let specialization = constants.collect::<Result<_, _>>()?;
        let (module, entry) = (stage.module.clone(), stage.entry.clone());
        Ok(Source { module, entry, specialization, conversions: stage.conversions.clone() })
    }

    fn source(&self) -> StageSource<'_> {
        let words = match &*self.module {
            ShaderModule::Spirv(spirv) => &spirv.words,
            ShaderModule::Assembly(_) => &[][..],
        };
        StageSource { words, entry: &self.entry, specialization: &self.specialization }
    }

    /// What the stage is made of, for the cache.
    pub(super) fn key(&self) -> StageKey<'_> {
        match &*self.module {
            ShaderModule::Spirv(spirv) => StageKey {
                module: spirv.key(),
                entry: &self.entry,
                specialization: &self.specialization,
                conversions: &self.conversions,
            },
            ShaderModule::Assembly(_) => StageKey::from(&self.source()),
        }
    }

    fn translated(&self, stage: ir::Stage) -> Result<Shader, Error> {
        let mut shader =
            translate(&self.source(), stage).map_err(|error| failed(CompileError::Spirv { stage, error }))?;
        convert(&mut shader, &self.conversions);
        if flags().contains(Debug::IR) {
            eprintln!("{stage:?} stage \"{}\":\n{shader}", self.entry);
        }
        Ok(shader)
    }

    /// The stage as the CPU's back end gets it.
    #[cfg(feature = "compute")]
    pub(super) fn compute(&self) -> Result<Shader, Error> {
        let shader = compute_stage(&self.source(), &self.conversions).map_err(failed)?;
        if flags().contains(Debug::IR) {
            eprintln!("compute stage \"{}\":\n{shader}", self.entry);
        }
        Ok(shader)
    }
}

/// The stages of a pipeline in SPIR-V, translated when the cache lacks its programs.
pub(super) struct Spirv {
    vertex: Source,
    fragment: Option<Source>,
    translated: OnceLock<(Shader, Option<Shader>)>,
    cache: Option<Arc<PipelineCache>>,
}

impl Spirv {
    fn new(
        vertex: &Stage,
        fragment: Option<&Stage>,
        cache: Option<&Arc<PipelineCache>>,
    ) -> Result<Spirv, Error> {
        let (vertex, fragment) = (Source::new(vertex)?, fragment.map(Source::new).transpose()?);
        // Who wants to see the IR wants it made.
        let cache = cache.filter(|_| !flags().contains(Debug::IR)).cloned();
        Ok(Spirv { vertex, fragment, translated: OnceLock::new(), cache })
    }

    fn build(&self, state: &PipelineState, may_compile: bool) -> Result<program::Pipeline, Error> {
        let refused = || Err(Error::compile_required());
        let Some(cache) = &self.cache else {
            return if may_compile { self.compile(state) } else { refused() };
        };
        let key = key::pipeline(self.vertex.key(), self.fragment.as_ref().map(Source::key), state);
        if let Some(found) = cache.find(&key) {
            return Ok(found);
        }
        if !may_compile {
            return refused();
        }
        let programs = self.compile(state)?;
        cache.insert(key, &programs);
        Ok(programs)
    }

    fn translated(&self) -> Result<&(Shader, Option<Shader>), Error> {
        if let Some(translated) = self.translated.get() {
            return Ok(translated);
        }
        let fragment = self.fragment.as_ref().map(|source| source.translated(ir::Stage::Fragment));
        let translated = (self.vertex.translated(ir::Stage::Vertex)?, fragment.transpose()?);
        Ok(self.translated.get_or_init(|| translated))
    }

    /// The translated vertex stage.
    #[cfg(feature = "compute")]
    fn vertex(&self) -> Result<Shader, Error> {
        match self.translated.get() {
            Some((vertex, _)) => Ok(vertex.clone()),
            None => self.vertex.translated(ir::Stage::Vertex),
        }
    }

    fn compile(&self, state: &PipelineState) -> Result<program::Pipeline, Error> {
        let (vertex, fragment) = self.translated()?;
        compile_shaders(vertex.clone(), fragment.clone(), state).map_err(failed)
    }
}

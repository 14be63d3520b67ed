//! Pipelines as SPIR-V, and what the compiler makes of them in the baseline's state.

use std::path::{Path, PathBuf};

use vc4::state::blend::ColorOutput;
use vc4::state::depth_stencil::{DepthStencilPlan, StencilPlan};
use vc4_shaders::compile::{PipelineState, VertexAttribute, compile_shaders};
use vc4_shaders::ir::Stage;
use vc4_shaders::program::Pipeline;
use vc4_shaders::spirv::{StageSource, translate};

use crate::outside::{glsl, shared};

/// A pipeline of the corpus as SPIR-V.
pub struct Module {
    /// Vertex and fragment stage.
    pub words: [Vec<u32>; 2],
    /// It draws points.
    pub points: bool,
}

impl Module {
    /// Reads a stage pair `NAME.vert.spv`, `NAME.frag.spv`.
    ///
    /// # Errors
    /// The file that cannot be read.
    pub fn read(directory: &Path, name: &str) -> Result<Module, String> {
        let words = |stage: &str| glsl::words(&directory.join(format!("{name}.{stage}.spv")));
        Ok(Module { words: [words("vert")?, words("frag")?], points: name == "point_sprite" })
    }

    /// Compiles a shader of the shared corpus to SPIR-V, in a directory for such files.
    ///
    /// # Errors
    /// What glslangValidator says, or that it is not there.
    pub fn from_corpus(directory: &Path, name: &str) -> Result<Module, String> {
        let sources = shared::path("shader-corpus").join(name);
        Module::from_files(directory, name, ["vert", "frag"].map(|stage| sources.join(format!("vk.{stage}"))))
    }

    /// Compiles GLSL, vertex and fragment stage, to SPIR-V.
    ///
    /// # Errors
    /// What glslangValidator says, or that it is not there.
    pub fn from_source(directory: &Path, name: &str, sources: [&str; 2]) -> Result<Module, String> {
        let paths = ["vert", "frag"].map(|stage| directory.join(format!("{name}.{stage}")));
        for (path, source) in paths.iter().zip(sources) {
            std::fs::write(path, source).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Module::from_files(directory, name, paths)
    }

    fn from_files(directory: &Path, name: &str, sources: [PathBuf; 2]) -> Result<Module, String> {
        for (stage, source) in ["vert", "frag"].iter().zip(&sources) {
            let module = directory.join(format!("{name}.{stage}.spv"));
            glsl::compile(source, &module).map_err(|error| format!("{name}: {error}"))?;
        }
        Module::read(directory, name)
    }

    /// The pipeline in the baseline's state: RGBA8 colour, depth test, no blending, float attributes.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn compile(&self) -> Result<Pipeline, String> {
        let stage = |words: &[u32], stage| {
            let source = StageSource { words, entry: "main", specialization: &[] };
            translate(&source, stage).map_err(|error| error.to_string())
        };
        let vertex = stage(&self.words[0], Stage::Vertex)?;
        let fragment = stage(&self.words[1], Stage::Fragment)?;
        let state = PipelineState {
            attributes: VertexAttribute::read_by(&vertex),
            points: self.points,
            color: Some(ColorOutput::plain(vc4::image::format::Format::R8G8B8A8.info(), false)),
            depth_stencil: DepthStencilPlan { write_z: true, stencil: StencilPlan::Off },
            ..PipelineState::default()
        };
        compile_shaders(vertex, Some(fragment), &state).map_err(|error| error.to_string())
    }
}

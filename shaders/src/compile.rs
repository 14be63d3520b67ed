//! The compiler's door: SPIR-V of a pipeline's stages and its state in, three QPU programs out.
//!
//! Everything that Vulkan 1.0 fixes at pipeline creation is part of the code (vulkan-on-vc4.md §8); what changes
//! per draw is a [`crate::program::UniformSlot`]. The one thing known only at draw time is how a sampled image's
//! words are to be decoded: a pipeline is compiled for an assumption ([`PipelineState::textures`]) and again when a
//! draw meets another one (T-TEX-KEY).

use std::collections::BTreeMap;

use vc4::cl::packets::CompareFunc;
use vc4::cl::words::Wrap;
use vc4::state::blend::ColorOutput;
use vc4::state::depth_stencil::DepthStencilPlan;
use vc4::state::multisample::Multisample;
use vc4::state::raster::StateError;
use vc4::state::texture::MipMode;
use vc4::state::vertex_fetch::VertexFormat;
use vc4::state::viewport::{RasterMap, VertexStage};

use crate::backend::{self, BackendError, Inputs};
use crate::ir::{Shader, Stage};
pub use crate::pass::lower_inputs::Varying;
use crate::pass::{self, lower_inputs, lower_outputs};
use crate::program::{Pipeline, Program, Texture};
use crate::spirv::{self, SpirvError, StageSource};

/// Log target of what ends in front of the passes and behind them; [`pass`] logs those.
pub(crate) const LOG_TARGET: &str = "vc4::compile";

/// A vertex attribute of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VertexAttribute {
    /// Vertex input location.
    pub location: u32,
    /// Format in the vertex buffer.
    pub format: VertexFormat,
    /// Advances per instance: the words come from the uniform stream (T-INST a).
    pub per_instance: bool,
}

/// How the word that the TMU returns, or the words of a texel in memory, become four components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TextureClass {
    /// Four bytes as fractions of 255: all types that the TMU expands to RGBA8888.
    #[default]
    Unorm8,
    /// As `Unorm8`, red, green and blue sRGB encoded.
    Srgb8,
    /// Z24 in bits 31:8, as a fraction of its largest value.
    Depth24,
    /// Bits 7:0 as an integer.
    Stencil8,
    /// The 32-bit word itself, which is a float or an integer.
    Word32,
    /// Fields as they lie in memory.
    Fields(VertexFormat),
    /// The same of a 16-bit texel whose bytes the TMU returns as bytes 0 and 3 (type LUMALPHA).
    SplitFields(VertexFormat),
}

impl TextureClass {
    /// Whether components are integers.
    pub fn is_integer(self) -> bool {
        match self {
            TextureClass::Stencil8 => true,
            TextureClass::Fields(format) | TextureClass::SplitFields(format) => format.numeric.is_integer(),
            _ => false,
        }
    }

    /// Components of a texel; what a lookup has beyond them is 0, and 1 in alpha.
    pub fn components(self) -> usize {
        match self {
            TextureClass::Unorm8 | TextureClass::Srgb8 => 4,
            TextureClass::Depth24 | TextureClass::Stencil8 | TextureClass::Word32 => 1,
            TextureClass::Fields(format) | TextureClass::SplitFields(format) => format.components(),
        }
    }
}

/// Where a component of a sample result comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TextureSwizzle {
    /// Component 0–3 of the texel.
    Component(u8),
    /// 0.
    Zero,
    /// 1, in the kind of number that the texel has.
    One,
}

/// How the texels of an image are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureDecode {
    /// Meaning of the word.
    pub class: TextureClass,
    /// View swizzle, after the exchange of red and blue that BGRA images need.
    pub swizzle: [TextureSwizzle; 4],
}

impl Default for TextureDecode {
    fn default() -> Self {
        let [r, g, b, a] = [0, 1, 2, 3].map(TextureSwizzle::Component);
        TextureDecode { class: TextureClass::default(), swizzle: [r, g, b, a] }
    }
}

/// Who finds a texel in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TextureAccess {
    /// The texture unit; arrays have one layer.
    #[default]
    Unit,
    /// The program, by direct lookups: rows in raster order, levels below each other
    /// ([`crate::program::TextureValue::LevelRows`]).
    Direct {
        /// Bytes per texel (of a plane): 1, 2, 4, and in texel buffers 8 or 16.
        bytes: u8,
        /// Outside of the image along each axis.
        wrap: [Wrap; 3],
    },
    /// The program: samples of four in blocks of tiles, by direct lookups. Only fetches see such images.
    Samples,
    /// The texture unit, to which layers are the faces of a cube; it knows no wrapping there (T-ARRAY c).
    Faces {
        /// Outside of the image along each axis.
        wrap: [Wrap; 3],
    },
}

/// Who chooses levels and weighs texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TextureFilter {
    /// The texture unit.
    #[default]
    Unit,
    /// The texture unit weighs texels at a level of detail that the program computes, with what it cannot do: bias,
    /// clamps, and levels that begin in the middle of an image (T-LOD).
    Level,
    /// The program: formats that the texture unit cannot filter, comparisons, decoding in front of the filter.
    Program {
        /// Magnified: weighs the texels around.
        mag_linear: bool,
        /// Minified: weighs the texels around.
        min_linear: bool,
        /// Levels.
        mip: MipMode,
        /// Coordinates count texels.
        unnormalized: bool,
    },
}

/// How an image is looked at through a sampler: the draw-time key of a pipeline (T-TEX-KEY).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureKey {
    /// What texels mean.
    pub decode: TextureDecode,
    /// Images that hold a texel together, a word each: 1, or 2 or 4 of wide formats that were drawn to, by direct lookups.
    pub planes: u8,
    /// Who finds them.
    pub access: TextureAccess,
    /// Who filters.
    pub filter: TextureFilter,
    /// Comparison with the reference, of samples that have one. Without, they pass where the reference is less.
    pub compare: Option<CompareFunc>,
    /// Coordinates outside of the image give the border colour.
    pub border: bool,
    /// Along which axes the image is mirrored at its origin, in front of all other wrapping.
    pub mirror_once: [bool; 3],
}

impl Default for TextureKey {
    fn default() -> Self {
        TextureKey {
            decode: TextureDecode::default(),
            planes: 1,
            access: TextureAccess::Unit,
            filter: TextureFilter::Unit,
            compare: None,
            border: false,
            mirror_once: [false; 3],
        }
    }
}

impl From<TextureDecode> for TextureKey {
    fn from(decode: TextureDecode) -> TextureKey {
        TextureKey { decode, ..TextureKey::default() }
    }
}

/// What of a pipeline's state becomes code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PipelineState {
    /// Vertex attributes; at most one per location.
    pub attributes: Vec<VertexAttribute>,
    /// What the raster is.
    pub raster: RasterMap,
    /// The topology is points: point size is an output, and varyings begin with the point coordinate.
    pub points: bool,
    /// The topology is lines: varyings begin with the place across the line.
    pub lines: bool,
    /// The colour attachment; `None` without one.
    pub color: Option<ColorOutput>,
    /// Location of the output that goes there. Others are left out: there is one colour in a tile (T-MRT).
    pub color_location: u32,
    /// Depth and stencil tests.
    pub depth_stencil: DepthStencilPlan,
    /// What narrows the coverage of pixels, and alpha to one.
    pub multisample: Multisample,
    /// How images are looked at; what is missing is RGBA8 unorm with identity swizzle, left to the texture unit.
    pub textures: BTreeMap<Texture, TextureKey>,
}

impl Default for PipelineState {
    fn default() -> Self {
        PipelineState {
            attributes: Vec::new(),
            raster: RasterMap::default(),
            points: false,
            lines: false,
            color: None,
            color_location: 0,
            depth_stencil: DepthStencilPlan::OFF,
            multisample: Multisample::default(),
            textures: BTreeMap::new(),
        }
    }
}

/// The program of a pipeline that an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    /// Coordinate shader, made of the vertex stage.
    Coordinate,
    /// Vertex shader.
    Vertex,
    /// Fragment shader.
    Fragment,
}

impl std::fmt::Display for ProgramKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ProgramKind::Coordinate => "vertex stage (coordinate program)",
            ProgramKind::Vertex => "vertex stage (vertex program)",
            ProgramKind::Fragment => "fragment stage",
        })
    }
}

/// Why a pipeline cannot be compiled.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CompileError {
    /// The module is invalid or uses something unknown.
    #[error("{stage:?} stage: {error}")]
    Spirv {
        /// The stage.
        stage: Stage,
        /// What and where.
        error: SpirvError,
    },
    /// Lowered code does not fit the machine.
    #[error("{program}: {error}")]
    Backend {
        /// The program.
        program: ProgramKind,
        /// What.
        error: BackendError,
    },
    /// Pipeline state without code.
    #[error("pipeline state: {0}")]
    State(#[from] StateError),
    /// The record holds eight arrays.
    #[error(
        "the vertex stage reads {count} attribute arrays, the hardware fetches {limit}; merge attributes or make some of them per-instance"
    )]
    TooManyAttributes {
        /// Arrays needed.
        count: usize,
        /// Arrays there are.
        limit: usize,
    },
    /// The attributes of a vertex do not fit its VPM rows.
    #[error("the vertex stage reads {rows} words of attributes per vertex, at most {limit} fit")]
    AttributeWords {
        /// Words needed.
        rows: u32,
        /// Words there are.
        limit: u32,
    },
    /// Too many varyings.
    #[error(
        "the fragment stage reads {count} varying components, the hardware interpolates {limit}; pack them or read fewer"
    )]
    TooManyVaryings {
        /// Components read.
        count: usize,
        /// Components there are.
        limit: usize,
    },
    /// Control flow where outputs are stored.
    #[error("{stage:?} stage: {what}")]
    Structure {
        /// The stage.
        stage: Stage,
        /// What.
        what: &'static str,
    },
}

/// What can be done about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The modules break a rule: nothing can run them.
    Invalid,
    /// They want something that this compiler lacks.
    Unsupported,
    /// They are fine and understood, but larger than the machine: something without its limits could run them.
    DoesNotFit,
    /// A bug of this compiler.
    Bug,
}

impl CompileError {
    /// What can be done about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            CompileError::Spirv { error, .. } => error.kind(),
            CompileError::Backend { error, .. } => error.kind(),
            CompileError::State(_) => ErrorKind::Unsupported,
            CompileError::TooManyAttributes { .. }
            | CompileError::AttributeWords { .. }
            | CompileError::TooManyVaryings { .. } => ErrorKind::DoesNotFit,
            CompileError::Structure { .. } => ErrorKind::Bug,
        }
    }
}

/// Compiles a pipeline. Without a fragment stage only depth and stencil are written.
///
/// # Errors
/// What is wrong or unsupported, in which stage, and what to do instead.
pub fn compile_pipeline(
    vertex: &StageSource<'_>,
    fragment: Option<&StageSource<'_>>,
    state: &PipelineState,
) -> Result<Pipeline, CompileError> {
    let translate =
        |source, stage| spirv::translate(source, stage).map_err(|error| CompileError::Spirv { stage, error });
    let vertex = translate(vertex, Stage::Vertex)?;
    let fragment = fragment.map(|source| translate(source, Stage::Fragment)).transpose()?;
    compile_shaders(vertex, fragment, state)
}

/// Compiles translated stages; see [`compile_pipeline`].
pub fn compile_shaders(
    mut vertex: Shader,
    fragment: Option<Shader>,
    state: &PipelineState,
) -> Result<Pipeline, CompileError> {
    let mut pipeline =
        Pipeline { textures: textures(&[Some(&vertex), fragment.as_ref()]), ..Pipeline::default() };
    let mut fragment = fragment.unwrap_or_else(|| Shader::new(Stage::Fragment));
    pass::optimize(&mut vertex);
    pass::link(&vertex, &mut fragment);
    pass::optimize(&mut fragment);
    pass::factor(&mut fragment);
    pass::lower_control(&mut fragment);
    let outcome = lower_outputs::fragment(&mut fragment, state)?;
    pass::optimize(&mut fragment);
    let interface = lower_inputs::fragment(&mut fragment, state)?;
    pass::lower(&mut fragment, state);
    let inputs = Inputs { count: interface.inputs(), flat: interface.flat_inputs() };
    pipeline.fragment = back(&fragment, inputs, ProgramKind::Fragment)?;
    pipeline.varyings = interface.varyings.len() as u32;
    pipeline.flat_varyings = interface.flat;
    pipeline.point_size = state.points;
    pipeline.writes_depth = outcome.writes_depth;
    pipeline.discards = outcome.discards;
    pipeline.reads_color = state.color.is_some_and(|color| color.reads_destination());

    vertex_programs(&mut pipeline, vertex, state, &interface.varyings)?;
    Ok(pipeline)
}

/// Compiles the vertex stage alone, for a fragment program from elsewhere that reads `varyings` in this order.
///
/// # Errors
/// As for [`compile_pipeline`].
pub fn compile_vertex(
    mut vertex: Shader,
    state: &PipelineState,
    varyings: &[Varying],
) -> Result<Pipeline, CompileError> {
    let textures = textures(&[Some(&vertex)]);
    pass::optimize(&mut vertex);
    let mut pipeline = Pipeline { point_size: state.points, textures, ..Pipeline::default() };
    pipeline.varyings = varyings.len() as u32;
    vertex_programs(&mut pipeline, vertex, state, varyings)?;
    Ok(pipeline)
}

/// What stages look at, in order and each once.
fn textures(stages: &[Option<&Shader>]) -> Vec<Texture> {
    let mut textures: Vec<Texture> = stages.iter().flatten().flat_map(|stage| stage.textures()).collect();
    textures.sort_unstable();
    textures.dedup();
    textures
}

/// Compiles an optimised vertex stage.
fn vertex_programs(
    pipeline: &mut Pipeline,
    mut vertex: Shader,
    state: &PipelineState,
    varyings: &[Varying],
) -> Result<(), CompileError> {
    pass::factor(&mut vertex);
    pass::lower_control(&mut vertex);
    let mut coordinate = vertex.clone();
    lower_outputs::vertex(&mut coordinate, VertexStage::Coordinate, state, varyings)?;
    lower_outputs::vertex(&mut vertex, VertexStage::Vertex, state, varyings)?;
    pass::optimize(&mut coordinate);
    pass::optimize(&mut vertex);
    let attributes = lower_inputs::vertex(&mut vertex, &mut coordinate, state)?;
    for (shader, rows, kind, program) in [
        (&mut coordinate, attributes.coordinate_rows, ProgramKind::Coordinate, &mut pipeline.coordinate),
        (&mut vertex, attributes.vertex_rows, ProgramKind::Vertex, &mut pipeline.vertex),
    ] {
        pass::lower(shader, state);
        *program = back(shader, Inputs { count: rows, flat: 0 }, kind)?;
    }
    pipeline.vertex_attribute_bytes = 4 * attributes.vertex_rows;
    pipeline.coordinate_attribute_bytes = 4 * attributes.coordinate_rows;
    pipeline.attributes = attributes.arrays;
    Ok(())
}

/// The code of a lowered shader: with branches where they pay, straight where only that fits or has two threads.
fn back(shader: &Shader, inputs: Inputs, program: ProgramKind) -> Result<Program, CompileError> {
    let straight = || words_in_registers(shader, inputs);
    let code = match pass::branch(shader).map(|branched| backend::compile(&branched, inputs)) {
        // Where there are lookups, the other thread hides more than a branch saves.
        Some(Ok(branched))
            if shader.stage == Stage::Fragment && !branched.threaded && !branched.samples.is_empty() =>
        {
            Ok(straight().ok().filter(|straight| straight.threaded).unwrap_or(branched))
        }
        Some(Err(error)) if error.kind() == ErrorKind::DoesNotFit => straight(),
        Some(error) => error,
        None => straight(),
    };
    log::trace!(target: LOG_TARGET, "{program} after back end");
    code.map_err(|error| CompileError::Backend { program, error })
}

/// The code of a shader that keeps words of the stream in registers where it can.
fn words_in_registers(shader: &Shader, inputs: Inputs) -> Result<Program, BackendError> {
    let kept = pass::keep_uniforms(shader).map(|kept| backend::compile(&kept, inputs));
    match kept {
        // Words in registers are a saving only where there are registers.
        Some(Err(error)) if error.kind() == ErrorKind::DoesNotFit => backend::compile(shader, inputs),
        Some(code) => code,
        None => backend::compile(shader, inputs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Builder, BuiltinInput, ImageDim, Interpolation, Lod, Op, Output, Sample};
    use crate::program::{Descriptor, UniformSlot};

    fn shader(stage: Stage, build: impl FnOnce(&mut Builder)) -> Shader {
        let mut shader = Shader::new(stage);
        let block = shader.entry().unwrap();
        build(&mut Builder::new(&mut shader, block));
        shader
    }

    #[test]
    fn cube_like() {
        let ubo = Descriptor { set: 0, binding: 0, element: 0 };
        let image = Descriptor { set: 0, binding: 1, element: 0 };
        let vertex = shader(Stage::Vertex, |b| {
            let index = b.op(Op::LoadBuiltin(BuiltinInput::VertexIndex), &[]);
            let four = b.word(4);
            let offset = b.op(Op::Shl, &[index, four]);
            let position: Vec<_> = (0..4)
                .map(|n| b.op(Op::LoadUboDynamic { buffer: ubo, offset: 64 + 4 * n, last: 76 }, &[offset]))
                .collect();
            for row in 0..4 {
                let mut sum = None;
                for (column, &p) in position.iter().enumerate() {
                    let m = b.op(Op::LoadUbo { buffer: ubo, offset: 16 * column as u32 + 4 * row }, &[]);
                    let product = b.op(Op::FMul, &[m, p]);
                    sum = Some(match sum {
                        None => product,
                        Some(sum) => b.op(Op::FAdd, &[sum, product]),
                    });
                }
                b.store_output(Output::Position(row as u8), sum.unwrap());
            }
            for n in 0..2 {
                b.store_output(Output::User { location: 0, component: n }, position[n as usize]);
            }
        });
        let fragment = shader(Stage::Fragment, |b| {
            let interpolation = Interpolation::Smooth;
            let uv: Vec<_> = (0..2)
                .map(|c| b.op(Op::LoadInput { location: 0, component: c, interpolation }, &[]))
                .collect();
            let dx = b.op(Op::Ddx, &[uv[0]]);
            let texel = b.emit(Op::Sample(Sample::plain(image, ImageDim::D2, Lod::Auto)), &uv);
            for (n, &c) in texel.iter().enumerate() {
                let c = b.op(Op::FMul, &[c, dx]);
                b.store_output(Output::User { location: 0, component: n as u8 }, c);
            }
        });
        let state = PipelineState {
            color: Some(ColorOutput::plain(&vc4::image::format::FORMATS[0], false)),
            depth_stencil: DepthStencilPlan {
                write_z: true,
                stencil: vc4::state::depth_stencil::StencilPlan::Off,
            },
            ..Default::default()
        };
        let pipeline = compile_shaders(vertex, Some(fragment), &state).unwrap();
        for program in [&pipeline.coordinate, &pipeline.vertex] {
            let words = |wanted: fn(&UniformSlot) -> Option<u32>| -> Vec<u32> {
                program.uniforms.iter().filter_map(wanted).collect()
            };
            let bases = words(|slot| match slot {
                UniformSlot::UboBase { offset, .. } => Some(*offset),
                _ => None,
            });
            let limits = words(|slot| match slot {
                UniformSlot::UboLimit { last, .. } => Some(*last),
                _ => None,
            });
            assert_eq!(bases, [64, 68, 72, 76], "each component has its place in the stream");
            assert_eq!(limits, [76], "the components of a vector share a clamp");
        }
    }
}

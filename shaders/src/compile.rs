//! The compiler's door: SPIR-V of a pipeline's stages and its state in, three QPU programs out. Compute shaders leave it as
//! IR, which is what the CPU's back end takes.
//!
//! Everything that Vulkan 1.0 fixes at pipeline creation is part of the code (vulkan-on-vc4.md §8); what changes
//! per draw is a [`crate::program::UniformSlot`]. The one thing known only at draw time is how a sampled image's
//! words are to be decoded: a pipeline is compiled for an assumption ([`PipelineState::textures`]) and again when a
//! draw meets another one (T-TEX-KEY).

mod orders;

use vc4::state::viewport::VertexStage;

use crate::backend::{self, BackendError, Inputs, Selected};
use crate::binding::Texture;
use crate::diagnostic::LOG_TARGET;
use crate::ir::{Shader, Stage, computed};
use crate::pass;
use crate::pass::lower::relay::Extent;
use crate::pass::lower::{self, LowerError};
use crate::pass::opt::branch::share::Share;
use crate::picture::{self, Picture};
use crate::program::{Pipeline, Program};
use crate::relay::Relay;
use crate::spirv::{self, SpirvError, StageSource};
use crate::state::Conversions;

pub use crate::diagnostic::ErrorKind;
pub use crate::pass::lower::inputs::Varying;
pub use crate::program::ProgramKind;
pub use crate::state::{
    DepthClamp, PipelineState, Polygon, Precision, TextureAccess, TextureClass, TextureDecode, TextureFilter,
    TextureKey, TextureSwizzle, VertexAttribute,
};

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
    /// Inputs, outputs or pipeline state cannot be lowered.
    #[error(transparent)]
    Lower(#[from] LowerError),
}

impl CompileError {
    /// What can be done about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            CompileError::Spirv { error, .. } => error.kind(),
            CompileError::Backend { error, .. } => error.kind(),
            CompileError::Lower(error) => error.kind(),
        }
    }
}

/// Translates and optimises a compute shader, which stays in the IR: what runs it on the CPU makes code of that. Its
/// arithmetic is IEEE single precision, rounded as written. For `conversions` see [`convert`].
///
/// # Errors
/// What is wrong or unsupported, and where.
pub fn compute_stage(source: &StageSource<'_>, conversions: &Conversions) -> Result<Shader, CompileError> {
    let stage = Stage::Compute;
    let mut shader = spirv::translate(source, stage).map_err(|error| CompileError::Spirv { stage, error })?;
    convert(&mut shader, conversions);
    pass::optimize(&mut shader);
    Ok(shader)
}

/// Makes samples of a translated stage through samplers that convert Y'CBCR samples of planes; nothing without such samplers.
pub fn convert(shader: &mut Shader, conversions: &Conversions) {
    if !conversions.is_empty() {
        pass::lower_ycbcr(shader, conversions);
    }
}

/// Makes a translated vertex stage the compute shader that stores what [`compile_shaders`] leaves to memory, if
/// [`Pipeline::is_relayed`].
pub fn relay(mut vertex: Shader) -> Relay {
    pass::optimize(&mut vertex);
    Relay::new(&vertex)
}

/// Compiles the rectangle that stands for a kernel, for the format that it writes ([`PipelineState::color`]).
///
/// # Errors
/// What does not fit the machine.
pub fn compile_picture(picture: &Picture, state: &PipelineState) -> Result<Pipeline, CompileError> {
    compile_rectangle(&picture.fragment, state)
}

/// Compiles a rectangle over the whole viewport, a strip of four vertices, with a fragment stage that reads no varyings. That
/// stage was optimised before: it may look at what the module does not, so that it is compiled as if buffers might be left.
///
/// # Errors
/// What does not fit the machine.
pub fn compile_rectangle(fragment: &Shader, state: &PipelineState) -> Result<Pipeline, CompileError> {
    let state = PipelineState { robust: true, ..state.clone() };
    compile_shaders(picture::rectangle(), Some(fragment.clone()), &state)
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

/// Compiles stages as they were translated; see [`compile_pipeline`].
pub fn compile_shaders(
    mut vertex: Shader,
    fragment: Option<Shader>,
    state: &PipelineState,
) -> Result<Pipeline, CompileError> {
    let mut pipeline =
        Pipeline { textures: textures(&[Some(&vertex), fragment.as_ref()]), ..Pipeline::default() };
    let mut fragment = fragment.unwrap_or_else(|| Shader::new(Stage::Fragment));
    pipeline.per_sample = lower::inputs::is_per_sample(&fragment);
    pass::places(&mut vertex, state);
    pass::places(&mut fragment, state);
    pass::optimize(&mut vertex);
    lower::distances::fragment(&mut fragment, &vertex, state);
    pass::link(&vertex, &mut fragment);
    pass::optimize(&mut fragment);
    pass::once(&mut fragment, state);
    pass::factor(&mut fragment);
    pass::lower_anisotropy(&mut fragment, state);
    pass::lower_control(&mut fragment);
    let outcome = lower::outputs::fragment(&mut fragment, state)?;
    pass::optimize(&mut fragment);
    lower::polygon::fragment(&mut fragment, state);
    pipeline.point_size = state.points;
    pipeline.writes_depth = outcome.writes_depth;
    pipeline.discards = outcome.discards;
    pipeline.reads_color = state.color.is_some_and(|color| color.reads_destination());
    if !lower::relay::is_needed(&fragment) {
        return programs(pipeline, vertex, fragment, state);
    }
    let relayed = |extent| {
        let mut fragment = fragment.clone();
        lower::relay::fragment(&mut fragment, &vertex, state, extent)?;
        programs(pipeline.clone(), vertex.clone(), fragment, state)
    };
    match relayed(Extent::Least) {
        // A varying from memory is in a register for as long as it is used, and in the vertex program not at all.
        Err(error) if error.kind() == ErrorKind::DoesNotFit => relayed(Extent::All).map_err(|_| error),
        done => done,
    }
}

/// Compiles stages whose outputs are lowered, the fragment stage's with what it writes.
fn programs(
    mut pipeline: Pipeline,
    vertex: Shader,
    mut fragment: Shader,
    state: &PipelineState,
) -> Result<Pipeline, CompileError> {
    let interface = lower::inputs::fragment(&mut fragment, state)?;
    let varyings = lower::varyings::bounds(&vertex, &interface, state);
    pass::lower(&mut fragment, state, &varyings);
    let inputs = Inputs { count: interface.inputs(), flat: interface.flat_inputs() };
    pipeline.fragment = back(&fragment, inputs, ProgramKind::Fragment)?;
    pipeline.varyings = interface.varyings.len() as u32;
    pipeline.flat_varyings = interface.flat;
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
    pass::places(&mut vertex, state);
    pass::optimize(&mut vertex);
    if !lower::distances::clipping(&vertex).is_empty() {
        return Err(LowerError::Distances.into());
    }
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
    pass::once(&mut vertex, state);
    pass::factor(&mut vertex);
    pass::lower_anisotropy(&mut vertex, state);
    pass::lower_control(&mut vertex);
    lower::polygon::vertex(&mut vertex, state, varyings)?;
    lower::relay::vertex(&mut vertex, varyings)?;
    let mut coordinate = vertex.clone();
    lower::outputs::vertex(&mut coordinate, VertexStage::Coordinate, state, varyings)?;
    lower::outputs::vertex(&mut vertex, VertexStage::Vertex, state, varyings)?;
    pass::optimize(&mut coordinate);
    pass::optimize(&mut vertex);
    let attributes = lower::inputs::vertex(&mut vertex, &mut coordinate, state)?;
    for (shader, rows, kind, program) in [
        (&mut coordinate, attributes.coordinate_rows, ProgramKind::Coordinate, &mut pipeline.coordinate),
        (&mut vertex, attributes.vertex_rows, ProgramKind::Vertex, &mut pipeline.vertex),
    ] {
        pass::lower(shader, state, &[]);
        *program = back(shader, Inputs { count: rows, flat: 0 }, kind)?;
    }
    pipeline.vertex_attribute_bytes = 4 * attributes.vertex_rows;
    pipeline.coordinate_attribute_bytes = 4 * attributes.coordinate_rows;
    pipeline.attributes = attributes.arrays;
    Ok(())
}

/// The code of a lowered shader, in its own order if it fits so. Parts of words are values, or each user takes them by itself:
/// which takes less depends on what else is read where.
fn back(shader: &Shader, inputs: Inputs, program: ProgramKind) -> Result<Program, CompileError> {
    let code = if orders::is_too_long(shader) {
        // It is made in one way only, the one that is more likely to fit.
        match pass::keep_words(shader) {
            Some(kept) => backend::compile(&kept, inputs),
            None => in_order(shader, inputs),
        }
    } else {
        match in_order(shader, inputs) {
            Ok(code) if code.code.len() <= MOST_TWICE => {
                let kept = pass::keep_words(shader).and_then(|kept| in_order(&kept, inputs).ok());
                Ok(kept.filter(|kept| kept.clocks() < code.clocks()).unwrap_or(code))
            }
            Err(error) if error.kind() == ErrorKind::DoesNotFit => {
                let branched = pass::branch(shader);
                orders::in_fewer_registers([shader].into_iter().chain(&branched), inputs)
                    .unwrap_or(Err(error))
            }
            code => code,
        }
    };
    log::trace!(target: LOG_TARGET, "{program} after back end");
    let mut code = code.map_err(|error| CompileError::Backend { program, error })?;
    code.computed = computed::prune(&shader.computed, &mut code.uniforms);
    Ok(code)
}

/// Instructions up to which code is made in two ways: the compiler takes its time for what is longer.
const MOST_TWICE: usize = 1024;

/// The code of a shader in its own order: with branches where they pay, straight where only that fits or has two threads.
fn in_order(shader: &Shader, inputs: Inputs) -> Result<Program, BackendError> {
    let Some(branched) = pass::branch(shader) else { return words_in_registers(shader, inputs) };
    match backend::compile(&branched, inputs) {
        // Where there are lookups, the other thread hides more than short branches save.
        Ok(code) if shader.stage == Stage::Fragment && !code.threaded && !code.samples.is_empty() => {
            match threaded_with_words_in_registers(shader, inputs) {
                Some(Ok(threaded)) if alone(&code, &branched, &threaded) < threaded.code.len() => Ok(code),
                threaded => threaded.unwrap_or(Ok(code)),
            }
        }
        Err(error) if error.kind() == ErrorKind::DoesNotFit && !orders::is_too_long(shader) => {
            words_in_registers(shader, inputs)
        }
        code => code,
    }
}

/// Clocks that an average draw's elements take in code for one thread, made of a shader with branches. What they skip is as
/// dense as the same in straight code.
fn alone(code: &Program, branched: &Shader, straight: &Program) -> usize {
    let share = Share::of(branched);
    let skipped = straight.code.len() - share.part_of(straight.code.len());
    code.code.len().saturating_sub(skipped) + share.part_of(Program::WAIT * code.samples.len())
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

/// The code for two threads of a shader that keeps words of the stream in registers where it can, if there is any.
fn threaded_with_words_in_registers(
    shader: &Shader,
    inputs: Inputs,
) -> Option<Result<Program, BackendError>> {
    let kept = pass::keep_uniforms(shader);
    kept.iter().chain([shader]).find_map(|shader| Selected::new(shader, inputs).ok()?.threaded())
}

#[cfg(test)]
mod tests {
    use vc4::state::blend::ColorOutput;
    use vc4::state::depth_stencil::{DepthStencilPlan, StencilPlan};

    use super::*;
    use crate::binding::{Descriptor, UniformSlot};
    use crate::ir::{Builder, BuiltinInput, ImageDim, Interpolation, Lod, Op, Output, Sample, Value};

    fn shader(stage: Stage, build: impl FnOnce(&mut Builder)) -> Shader {
        let mut shader = Shader::new(stage);
        let block = shader.entry().unwrap();
        build(&mut Builder::new(&mut shader, block));
        shader
    }

    /// A lookup, `length` operations on it that a push constant asks for, and `varyings` numbers that are needed behind them.
    fn adjusted(length: usize, varyings: u32) -> Program {
        let image = Descriptor { set: 0, binding: 1, element: 0 };
        let interpolation = Interpolation::Smooth;
        let places = || (0..varyings).map(|n| (1 + n / 4, (n % 4) as u8));
        let vertex = shader(Stage::Vertex, |b| {
            let word = |b: &mut Builder, n: u32| {
                let vertex = b.op(Op::LoadBuiltin(BuiltinInput::VertexIndex), &[]);
                let (factor, float) = (b.float(n as f32), b.op(Op::SToF, &[vertex]));
                b.op(Op::FMul, &[float, factor])
            };
            let one = b.float(1.0);
            (0..4).for_each(|n| b.store_output(Output::Position(n), one));
            for (location, component) in [(0, 0), (0, 1)].into_iter().chain(places()) {
                let value = word(b, 4 * location + u32::from(component) + 2);
                b.store_output(Output::User { location, component }, value);
            }
        });
        let fragment = shader(Stage::Fragment, |b| {
            let input = |b: &mut Builder, (location, component)| {
                b.op(Op::LoadInput { location, component, interpolation }, &[])
            };
            let uv = [(0, 0), (0, 1)].map(|place| input(b, place));
            let values: Vec<_> = places().map(|place| input(b, place)).collect();
            let mut colors = b.emit(Op::Sample(Sample::plain(image, ImageDim::D2, Lod::Auto)), &uv);
            let (word, zero) = (b.op(Op::LoadPush(0), &[]), b.word(0));
            let asked = b.op(Op::INe, &[word, zero]);
            for color in &mut colors {
                let mut adjusted = *color;
                for step in 0..length / 8 {
                    let factor = b.float(0.25 + step as f32 / 64.0);
                    let product = b.op(Op::FMul, &[adjusted, factor]);
                    adjusted = b.op(Op::FAdd, &[product, uv[0]]);
                }
                *color = b.select(asked, adjusted, *color);
            }
            for (n, &value) in values.iter().enumerate() {
                let color = colors[n % 4];
                let product = b.op(Op::FMul, &[color, value]);
                colors[(n + 1) % 4] = b.op(Op::FAdd, &[product, colors[(n + 1) % 4]]);
            }
            for (component, &color) in (0..).zip(&colors) {
                b.store_output(Output::User { location: 0, component }, color);
            }
        });
        let state = PipelineState {
            color: Some(ColorOutput::plain(&vc4::image::format::FORMATS[0], false)),
            ..Default::default()
        };
        compile_shaders(vertex, Some(fragment), &state).unwrap().fragment
    }

    /// Numbers that wait behind an arm take registers that two threads have not, unless it is straight code.
    #[test]
    fn long_arms_that_draws_skip_are_worth_a_thread() {
        let branches = |program: &Program| program.code.iter().filter(|&&word| word >> 60 == 15).count();
        for varyings in [24, 27, 30] {
            let short = adjusted(80, varyings);
            assert!(short.threaded && branches(&short) == 0, "{varyings} varyings");
            let long = adjusted(640, varyings);
            assert!(!long.threaded && branches(&long) > 0, "{varyings} varyings");
        }
        let both = adjusted(640, 16);
        assert!(both.threaded && branches(&both) > 0);
    }

    /// Two sums with other weights of each component of many texels: the texels fit into the files, but not all of their components.
    #[test]
    fn texels_that_are_read_twice_are_looked_up_once() {
        const TEXELS: u32 = 24;
        let image = Descriptor { set: 0, binding: 1, element: 0 };
        let vertex = shader(Stage::Vertex, |b| {
            let index = b.op(Op::LoadBuiltin(BuiltinInput::VertexIndex), &[]);
            let place = b.op(Op::SToF, &[index]);
            let zero = b.float(0.0);
            let texels: Vec<_> = (0..TEXELS)
                .map(|n| {
                    let step = b.float(n as f32 / 16.0);
                    let place = b.op(Op::FAdd, &[place, step]);
                    b.emit(
                        Op::Sample(Sample::plain(image, ImageDim::D2, Lod::Explicit)),
                        &[place, zero, zero],
                    )
                })
                .collect();
            let sums: Vec<Value> = (0..2)
                .map(|sum| {
                    let terms = texels.iter().flatten().zip(0..);
                    let products: Vec<Value> = terms
                        .map(|(&component, n)| {
                            let weight = b.op(Op::LoadPush(4 * (n + sum * 4 * TEXELS)), &[]);
                            b.op(Op::FMul, &[component, weight])
                        })
                        .collect();
                    products.into_iter().reduce(|sum, product| b.op(Op::FAdd, &[sum, product])).unwrap()
                })
                .collect();
            for n in 0..4 {
                b.store_output(Output::Position(n), sums[usize::from(n) % 2]);
            }
        });
        let pipeline = compile_shaders(vertex, None, &PipelineState::default()).unwrap();
        assert_eq!(pipeline.vertex.samples.len(), TEXELS as usize);
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
            depth_stencil: DepthStencilPlan { write_z: true, stencil: StencilPlan::Off },
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

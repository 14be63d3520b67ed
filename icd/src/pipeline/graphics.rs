//! VkPipeline: compiled programs, one variant per word of its colours (T-MRT, T-WIDE), way that its textures are decoded
//! (T-TEX-KEY) and that its viewport is mapped ([`RasterMap`]).

use std::collections::{BTreeMap, BTreeSet};
#[cfg(feature = "compute")]
use std::sync::OnceLock;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use vc4::cl::packets::PrimitiveMode;
use vc4::image::layout::MSAA_SAMPLES;
use vc4::qpu::disasm::disassemble;
use vc4::state::depth_stencil::StencilPlan;
use vc4::state::{DepthStencil, DepthStencilPlan, Raster, RasterMap};
use vc4_kernel_abi::validate::{self, Mode, ShaderInfo};
use vc4_kernel_abi::{Gpu, GpuError};
use vc4_shaders::compile::{PipelineState, TextureKey};
use vc4_shaders::ir::Shader;
use vc4_shaders::program::{self, Descriptor, Program, SampleBo, Texture, UniformSlot};

use super::assembly::RasterWindow;
use super::cache::PipelineCache;
use super::dynamic::Dynamic;
use super::effects::Effects;
use super::info::GraphicsInfo;
use super::kinds::{Kinds, Switches};
use super::programs::Programs;
use super::recipe::Recipe;
#[cfg(feature = "compute")]
use super::relay::RelayKernel;
use super::translate as api;
use super::workshop::Workshop;
use crate::foundation::bo::Bo;
use crate::foundation::debug::{Debug, flags, is_strict, slow, tells_slow};
use crate::foundation::demands;
use crate::foundation::error::Error;
use crate::foundation::facts::facts;
use crate::foundation::format::FormatRow;
use crate::foundation::name::Name;
use crate::foundation::terms::viewport;
use crate::objects::device::Device;
use crate::objects::query::QUAD_PIXELS;
use crate::objects::render_pass::Formats;

/// How each image is looked at; what is missing is as [`TextureKey::default`] says.
pub type Textures = BTreeMap<Texture, TextureKey>;

/// What code depends on that only a draw knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariantKey {
    /// Which of the passes that a segment needs draws.
    pub pass: usize,
    /// The sample that is shaded; all at once without one.
    pub sample: Option<u8>,
    /// One pixel of each quad is drawn.
    pub counted: bool,
    /// Decoding of images.
    pub textures: Textures,
    /// What the raster is.
    pub raster: RasterMap,
}

/// What of a draw is drawn at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// The sample that is shaded; all at once without one.
    pub sample: Option<u8>,
    /// The pixel of quads that is drawn; all of them without one.
    pub counted: Option<Counted>,
}

/// What of a quad is drawn, so that counting quads counts samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The pixel, 0 to 3.
    pub pixel: u8,
    /// Mask of samples.
    pub samples: u32,
}

/// A mask of all samples.
const ALL_SAMPLES: u32 = (1 << MSAA_SAMPLES) - 1;

/// A program in memory.
pub struct ProgramBo {
    /// The code.
    pub bo: Arc<Bo>,
    /// What the kernel's validator knows of it, where submissions are checked before they leave.
    pub info: Option<Arc<ShaderInfo>>,
}

/// The programs for one kind of draws.
pub struct Variant {
    /// What the compiler said.
    pub programs: program::Pipeline,
    /// What their uniform streams are made of.
    pub recipe: Recipe,
    /// Where they lie, if anything was to be drawn with them.
    bos: OnceLock<ProgramBos>,
}

/// The programs of a variant in memory.
pub struct ProgramBos {
    /// Vertex program.
    pub vertex: ProgramBo,
    /// Coordinate program.
    pub coordinate: ProgramBo,
    /// Fragment program.
    pub fragment: ProgramBo,
}

impl Variant {
    /// The programs in memory; they are there since somebody asked for the variant to draw with it.
    pub fn bos(&self) -> Result<&ProgramBos, Error> {
        self.bos.get().ok_or_else(|| Error::Panic("programs that nobody brought to memory".into()))
    }
}

/// What draws need besides programs.
pub struct Compiled {
    gpu: Arc<dyn Gpu>,
    name: Arc<Name>,
    programs: Programs,
    state: PipelineState,
    /// What each pass draws to; the state has the first.
    colors: Vec<api::ColorPass>,
    variants: Mutex<Vec<(VariantKey, Arc<Variant>)>>,
    /// Those that a workshop was asked for, and why there are none.
    orders: Mutex<Vec<(VariantKey, Option<String>)>>,
    /// The vertex stage on the CPU, if any variant is relayed.
    #[cfg(feature = "compute")]
    relay: OnceLock<RelayKernel>,
    /// Images that the programs look at.
    pub textures: Vec<Texture>,
    /// Rasteriser state.
    pub raster: Raster,
    /// Depth and stencil; `None` without such an attachment.
    pub depth_stencil: Option<DepthStencil>,
    /// What draws may do to attachments.
    pub effects: Effects,
    /// Attributes advance after several instances, or never.
    divides: bool,
    /// How often draws are drawn: once, or once for each sample.
    pub invocations: u8,
    /// The only face that is drawn, 0 for front: its stencil state stands for both.
    pub face: Option<usize>,
}

/// VkPipeline (graphics).
pub struct Pipeline {
    /// What it was made from.
    pub info: GraphicsInfo,
    /// How vertices are assembled.
    pub mode: PrimitiveMode,
    /// What the machine draws: edges or corners of triangles, or just the assembled primitives.
    pub drawn: PrimitiveMode,
    /// Adjacent vertices stand between them.
    pub adjacency: bool,
    /// `None` if nothing that it draws can be seen.
    pub compiled: Option<Compiled>,
    /// What stands for it where commands set more than [`Dynamic`].
    kinds: Option<Box<Kinds<Pipeline>>>,
}

impl Pipeline {
    /// Makes a pipeline that commands set switches of; what it draws by itself is what they are before.
    pub fn of_kinds(kinds: Kinds<Pipeline>) -> Result<Pipeline, Error> {
        let first = kinds.first(Pipeline::new)?;
        Ok(Pipeline { kinds: Some(Box::new(kinds)), ..first })
    }

    /// Gives it a name.
    pub fn set_name(&self, name: &str) {
        self.info.name.set(name);
        self.compiled.iter().for_each(Compiled::label_all);
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        &self.info.name
    }

    /// Whether commands set switches of it.
    pub fn has_kinds(&self) -> bool {
        self.kinds.is_some()
    }

    /// What draws where commands set those switches: itself, unless it has kinds.
    pub fn kind(self: &Arc<Pipeline>, switches: &Switches) -> Result<Arc<Pipeline>, Error> {
        match &self.kinds {
            Some(kinds) => kinds.find(switches, Pipeline::new),
            None => Ok(self.clone()),
        }
    }

    /// Makes a pipeline, from the cache if it has the programs.
    pub fn new(
        device: &Arc<Device>,
        info: GraphicsInfo,
        cache: Option<&Arc<PipelineCache>>,
    ) -> Result<Pipeline, Error> {
        api::check(&info)?;
        let (mode, adjacency) = api::topology(info.topology)?;
        // Shaders have no side effects, so what is not rasterised is not run.
        let drawn = api::drawn(&info, mode)?;
        let culled = drawn != mode && info.raster.cull.contains(vk::CullModeFlags::FRONT_AND_BACK);
        let seen = !(info.raster.discard || culled)
            && info.multisample.is_some_and(|state| state.mask & state.all_samples() != 0);
        let programs = |state: &mut PipelineState| Programs::new(&info, state, cache);
        let compiled = seen.then(|| Compiled::new(device, &info, (mode, drawn), programs)).transpose()?;
        Ok(Pipeline { info, mode, drawn, adjacency, compiled, kinds: None })
    }

    /// What fills the whole viewport with what a fragment stage without varyings gives to a format.
    pub fn of_rectangle(
        device: &Arc<Device>,
        fragment: &Shader,
        row: &'static FormatRow,
    ) -> Result<Pipeline, Error> {
        let formats = Formats { colors: vec![(0, row)], ..Formats::default() };
        Pipeline::of_fragment(device, fragment, GraphicsInfo::of_rectangle(formats)?)
    }

    /// As [`Pipeline::of_rectangle`], with state of its own ([`GraphicsInfo::of_rectangle`]).
    pub(super) fn of_fragment(
        device: &Arc<Device>,
        fragment: &Shader,
        info: GraphicsInfo,
    ) -> Result<Pipeline, Error> {
        let (mode, adjacency) = api::topology(info.topology)?;
        let programs = |_: &mut PipelineState| Ok(Programs::Rectangle(Box::new(fragment.clone())));
        let compiled = Some(Compiled::new(device, &info, (mode, mode), programs)?);
        Ok(Pipeline { info, mode, drawn: mode, adjacency, compiled, kinds: None })
    }

    /// Whether the programs for draws of a kind are there. If not, a workshop is asked for them, once; an error if it could
    /// not make them.
    pub fn is_ready(self: &Arc<Pipeline>, key: &VariantKey, workshop: &mut Workshop) -> Result<bool, Error> {
        let Some(compiled) = &self.compiled else { return Ok(true) };
        if compiled.known(key).is_some() {
            return Ok(true);
        }
        let mut orders = compiled.orders();
        match orders.iter().find(|(ordered, _)| ordered == key) {
            Some((_, Some(why))) => return Err(Error::ShaderDoesNotFit(why.clone())),
            Some((_, None)) => {}
            None => {
                orders.push((key.clone(), None));
                let (pipeline, key) = (self.clone(), key.clone());
                workshop.order(move || {
                    let Some(compiled) = &pipeline.compiled else { return };
                    let Err(error) = compiled.variant(key.clone()) else { return };
                    let mut orders = compiled.orders();
                    let order = orders.iter_mut().find(|(ordered, _)| *ordered == key);
                    order.into_iter().for_each(|(_, why)| *why = Some(error.to_string()));
                });
            }
        }
        Ok(false)
    }

    /// Whether edges or corners of triangles are drawn.
    pub fn is_taken_apart(&self) -> bool {
        self.drawn != self.mode
    }

    /// Primitives that so many vertices make.
    pub fn primitives(&self, count: u32) -> u32 {
        let strip = |first: u32| count.saturating_sub(first);
        match (self.mode, self.adjacency) {
            (PrimitiveMode::Points, _) => count,
            (PrimitiveMode::Lines, false) => count / 2,
            (PrimitiveMode::Lines, true) => count / 4,
            (PrimitiveMode::LineLoop, _) => {
                if count < 2 {
                    0
                } else {
                    count
                }
            }
            (PrimitiveMode::LineStrip, false) => strip(1),
            (PrimitiveMode::LineStrip, true) => strip(3),
            (PrimitiveMode::Triangles, false) => count / 3,
            (PrimitiveMode::Triangles, true) => count / 6,
            (PrimitiveMode::TriangleStrip, true) => strip(4) / 2,
            (PrimitiveMode::TriangleStrip, false) | (PrimitiveMode::TriangleFan, _) => strip(2),
        }
    }

    /// Samples of a pixel; `None` if nothing is rasterised.
    pub fn samples(&self) -> Option<u32> {
        self.info.multisample.map(|state| state.samples.as_raw())
    }

    /// The state of a draw: what commands set, unless the pipeline fixes it.
    pub fn fix(&self, mut dynamic: Dynamic) -> Dynamic {
        let info = &self.info;
        let fixed = |state| !info.is_dynamic(state);
        if let Some(viewport) = info.viewports.first().filter(|_| fixed(vk::DynamicState::VIEWPORT)) {
            dynamic.viewport = *viewport;
        }
        if let Some(scissor) = info.scissors.first().filter(|_| fixed(vk::DynamicState::SCISSOR)) {
            dynamic.scissor = *scissor;
        }
        if fixed(vk::DynamicState::LINE_WIDTH) {
            dynamic.line_width = info.raster.line_width;
        }
        if let Some(bias) = info.raster.depth_bias.filter(|_| fixed(vk::DynamicState::DEPTH_BIAS)) {
            dynamic.depth_bias = bias;
        }
        if let Some(blend) = info.blend.as_ref().filter(|_| fixed(vk::DynamicState::BLEND_CONSTANTS)) {
            dynamic.blend_constants = blend.constants;
        }
        if let Some(faces) = info.depth_stencil.and_then(|state| state.stencil) {
            for (face, state) in dynamic.stencil.iter_mut().zip(&faces) {
                let values = api::stencil_values(state);
                if fixed(vk::DynamicState::STENCIL_COMPARE_MASK) {
                    face.compare_mask = values.compare_mask;
                }
                if fixed(vk::DynamicState::STENCIL_WRITE_MASK) {
                    face.write_mask = values.write_mask;
                }
                if fixed(vk::DynamicState::STENCIL_REFERENCE) {
                    face.reference = values.reference;
                }
            }
        }
        dynamic
    }
}

/// States that make stencil words differ from draw to draw.
const STENCIL_STATES: [vk::DynamicState; 3] = [
    vk::DynamicState::STENCIL_COMPARE_MASK,
    vk::DynamicState::STENCIL_WRITE_MASK,
    vk::DynamicState::STENCIL_REFERENCE,
];

impl Compiled {
    fn new(
        device: &Arc<Device>,
        info: &GraphicsInfo,
        (mode, drawn): (PrimitiveMode, PrimitiveMode),
        programs: impl FnOnce(&mut PipelineState) -> Result<Programs, Error>,
    ) -> Result<Compiled, Error> {
        let dynamic = STENCIL_STATES.iter().any(|state| info.is_dynamic(*state));
        let face = api::only_face(info, api::is_area(mode));
        let depth_stencil = api::depth_stencil(info)?.map(|state| DepthStencil {
            stencil: state.stencil.map(|faces| face.map_or(faces, |face| [faces[face]; 2])),
            ..state
        });
        let plan = |state| match (DepthStencilPlan::new(state, dynamic), face) {
            (plan, Some(_)) => plan.one_face(),
            (plan, None) if info.has_assembly() => plan,
            (plan, None) => plan.apart(),
        };
        let colors = api::colors(info)?;
        let mut state = PipelineState {
            attributes: api::attributes(&info.vertex)?,
            points: drawn == PrimitiveMode::Points,
            lines: api::is_line(drawn),
            wide_lines: api::is_line(drawn) && !info.has_assembly() && api::has_wide_lines(info),
            polygon: (drawn != mode).then(|| api::polygon(info)),
            color: colors.first().map(|first| first.output),
            color_location: colors.first().map_or(0, |first| first.location),
            multisample: api::multisample(info),
            depth_stencil: depth_stencil.as_ref().map_or(DepthStencilPlan::OFF, plan),
            depth_clamp: api::depth_clamp(info, device.features().depth_clamp == vk::TRUE, mode),
            moves_depth: api::moves_depth(info, api::is_area(drawn)),
            precision: demands::precision(),
            robust: device.features().robust_buffer_access == vk::TRUE,
            machine: *facts(),
            ..PipelineState::default()
        };
        let moves_depth = state.depth_clamp.is_some()
            || state.moves_depth
            || state.polygon.is_some_and(|polygon| polygon.slope_bias);
        let programs = programs(&mut state)?;
        let mut compiled = Compiled {
            effects: Effects::new(info, &colors, depth_stencil.as_ref(), programs.has_fragment_stage()),
            gpu: device.gpu().clone(),
            name: info.name.clone(),
            programs,
            state,
            colors,
            variants: Mutex::default(),
            orders: Mutex::default(),
            #[cfg(feature = "compute")]
            relay: OnceLock::new(),
            textures: Vec::new(),
            raster: Raster {
                // The program moves depths then.
                depth_bias: info.raster.depth_bias.is_some() && !moves_depth,
                ..api::raster(info, drawn, false)
            },
            depth_stencil,
            divides: !info.vertex.divisors.is_empty(),
            invocations: if api::shades_samples(info) { MSAA_SAMPLES as u8 } else { 1 },
            face,
        };
        // What is dynamic is expected to be what nearly all applications set.
        let fixed = info.viewports.first().filter(|_| !info.is_dynamic(vk::DynamicState::VIEWPORT));
        let raster =
            fixed.map_or_else(RasterMap::default, |fixed| viewport(fixed).raster_map(facts().guard_band));
        let mut read = BTreeSet::new();
        for pass in 0..compiled.colors.len().max(1) {
            let sample = compiled.sample(0);
            let key = VariantKey { pass, sample, raster, ..VariantKey::default() };
            let mut variant = compiled.find(key, info.may_compile)?;
            if variant.programs.per_sample && compiled.state.multisample.four_samples {
                compiled.invocations = MSAA_SAMPLES as u8;
            }
            for sample in (0..compiled.invocations).filter_map(|n| compiled.sample(n)) {
                let sample = Some(sample);
                let key = VariantKey { pass, sample, raster, ..VariantKey::default() };
                variant = compiled.find(key, info.may_compile)?;
            }
            compiled.raster.shader_depth = variant.programs.writes_depth;
            compiled.textures = compiled.programs.textures(&variant.programs);
            read.extend(images(&variant.programs));
        }
        compiled.textures.retain(|texture| read.contains(&texture.image));
        // Applications hear of what memory lacks now; the driver's own may draw with no such variant.
        if !matches!(compiled.programs, Programs::Rectangle(_)) {
            compiled.variants().iter().try_for_each(|(_, variant)| compiled.load(variant))?;
        }
        Ok(compiled)
    }

    /// How many stencil words the programs read.
    pub fn stencil_plan(&self) -> StencilPlan {
        self.state.depth_stencil.stencil
    }

    /// The sample that one of the invocations shades; `None` if it shades all.
    fn sample(&self, invocation: u8) -> Option<u8> {
        (self.invocations > 1).then_some(invocation)
    }

    /// The parts that each of its draws is drawn in, where one of them is not enough: for each sample that has an invocation of
    /// its own, and where what passes is `counted` exactly, for each pixel of quads and each sample.
    pub fn slices(&self, counted: bool) -> impl Iterator<Item = Slice> {
        // Finished programs draw what they draw.
        let counted = counted && self.programs.has_variants();
        let (pixels, masks) = match (counted, self.state.multisample.four_samples && self.invocations == 1) {
            (true, true) => (QUAD_PIXELS, MSAA_SAMPLES as u8),
            (true, false) => (QUAD_PIXELS, 1),
            (false, _) => (1, 1),
        };
        let all = (0..self.invocations).flat_map(move |invocation| {
            (0..pixels).flat_map(move |pixel| (0..masks).map(move |mask| (invocation, pixel, mask)))
        });
        let samples = move |mask| if masks > 1 { 1u32 << mask } else { ALL_SAMPLES };
        all.map(move |(invocation, pixel, mask)| Slice {
            sample: self.sample(invocation),
            counted: counted.then(|| Counted { pixel, samples: samples(mask) }),
        })
    }

    /// Where the raster of finished programs lies; others have that of their variant.
    pub fn window(&self) -> Option<RasterWindow> {
        self.programs.window()
    }

    /// The programs for draws of a kind, compiled at first use.
    pub fn variant(&self, key: VariantKey) -> Result<Arc<Variant>, Error> {
        let variant = self.find(key, true)?;
        self.load(&variant)?;
        Ok(variant)
    }

    /// Brings the programs of a variant to memory.
    fn load(&self, variant: &Variant) -> Result<(), Error> {
        if variant.bos.get().is_none() {
            let program::Pipeline { vertex, coordinate, fragment, .. } = &variant.programs;
            let bos = ProgramBos {
                vertex: self.loaded(vertex, "vertex")?,
                coordinate: self.loaded(coordinate, "coordinate")?,
                fragment: self.loaded(fragment, "fragment")?,
            };
            variant.bos.get_or_init(|| bos);
        }
        Ok(())
    }

    fn variants(&self) -> MutexGuard<'_, Vec<(VariantKey, Arc<Variant>)>> {
        self.variants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The programs, if they are compiled.
    fn known(&self, key: &VariantKey) -> Option<Arc<Variant>> {
        self.variants().iter().find(|(known, _)| known == key).map(|(_, variant)| variant.clone())
    }

    fn orders(&self) -> MutexGuard<'_, Vec<(VariantKey, Option<String>)>> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`Compiled::variant`]; an error if that takes compiling and it is not allowed.
    fn find(&self, key: VariantKey, may_compile: bool) -> Result<Arc<Variant>, Error> {
        let key = if self.programs.has_variants() { key } else { VariantKey::default() };
        if let Some(variant) = self.known(&key) {
            return Ok(variant);
        }
        if tells_slow()
            && self.variants().iter().any(|(known, _)| (known.pass, known.sample) == (key.pass, key.sample))
        {
            let name = &self.name;
            slow(format_args!("pipeline{name} is compiled again for draws of another kind: {key:?}"));
        }
        let color = self.colors.get(key.pass);
        if color.is_none() && key.pass > 0 {
            return Err(Error::InvalidUse("a pipeline made for fewer colours than the subpass has".into()));
        }
        let state = PipelineState {
            color: color.map(|color| color.output),
            color_location: color.map_or(0, |color| color.location),
            textures: key.textures.clone(),
            sample: key.sample,
            counted: key.counted,
            raster: key.raster,
            ..self.state.clone()
        };
        let programs = self.programs.build(&state, may_compile)?;
        if programs.is_relayed() {
            // The CPU's part of it is in no cache.
            if !may_compile {
                return Err(Error::compile_required());
            }
            self.make_relay()?;
        }
        let mut recipe = Recipe::new(&programs);
        recipe.is_told |= self.divides;
        let variant = Arc::new(Variant { recipe, programs, bos: OnceLock::new() });
        // Nobody waits for another thread's compilation; whose is there first is everybody's.
        let mut variants = self.variants();
        if let Some((_, variant)) = variants.iter().find(|(known, _)| *known == key) {
            return Ok(variant.clone());
        }
        variants.push((key, variant.clone()));
        Ok(variant)
    }

    /// Compiles the vertex stage for the CPU, once: what it stores does not depend on the variant.
    #[cfg(feature = "compute")]
    fn make_relay(&self) -> Result<(), Error> {
        if self.relay.get().is_none() {
            let kernel = RelayKernel::new(&self.programs.relay()?, &self.state.attributes)?;
            if tells_slow() {
                let words = kernel.words;
                slow(format_args!(
                    "the CPU shades the vertices of pipeline{}, too: {words} varyings are too many for the GPU",
                    self.name
                ));
            }
            self.relay.get_or_init(|| kernel);
        }
        Ok(())
    }

    /// Words that a vertex which the CPU shades has in memory.
    #[cfg(feature = "compute")]
    pub fn relayed_words(&self) -> usize {
        self.relay.get().map_or(0, |relay| relay.words as usize)
    }

    /// Words that a vertex which the CPU shades has in memory.
    #[cfg(not(feature = "compute"))]
    pub fn relayed_words(&self) -> usize {
        0
    }

    #[cfg(not(feature = "compute"))]
    fn make_relay(&self) -> Result<(), Error> {
        let why = "the fragment stage reads more varyings than the hardware interpolates, and this driver was built without \
                   `compute`, which would fetch the rest; pack them or read fewer";
        Err(Error::ShaderDoesNotFit(why.into()))
    }

    /// The vertex stage on the CPU, for variants that are relayed.
    #[cfg(feature = "compute")]
    pub fn relay(&self) -> Option<&RelayKernel> {
        self.relay.get()
    }

    fn loaded(&self, program: &Program, name: &str) -> Result<ProgramBo, Error> {
        if flags().contains(Debug::QPU) {
            eprintln!("{name} program:\n{}", disassemble(&program.code));
        }
        let refused =
            |why: String| Error::Shader(format!("{name} program: {why}\n{}", disassemble(&program.code)));
        let info = match is_strict() {
            false => None,
            true => {
                let info = validate::shader::validate(&program.code, Mode::Strict);
                Some(Arc::new(info.map_err(|violation| refused(violation.to_string()))?))
            }
        };
        let bo = Bo::shader(&self.gpu, &program.code).map_err(|error| match error {
            GpuError::Refused(why) => refused(why),
            error => Error::Gpu(error),
        })?;
        let program = ProgramBo { bo: Arc::new(bo), info };
        self.label(&program, name);
        Ok(program)
    }

    /// Tells the kernel whose program it is.
    fn label(&self, program: &ProgramBo, stage: &str) {
        if let Some(name) = self.name.get() {
            program.bo.label(&format!("{name}, {stage}"));
        }
    }

    /// Tells the kernel whose programs those are that are there already.
    fn label_all(&self) {
        for (_, variant) in self.variants().iter() {
            let Some(ProgramBos { vertex, coordinate, fragment }) = variant.bos.get() else { continue };
            let stages = [(vertex, "vertex"), (coordinate, "coordinate"), (fragment, "fragment")];
            stages.into_iter().for_each(|(program, stage)| self.label(program, stage));
        }
    }
}

/// Descriptors that lookups read or whose numbers programs ask for; buffers are among them.
fn images(programs: &program::Pipeline) -> BTreeSet<Descriptor> {
    let programs = [&programs.vertex, &programs.coordinate, &programs.fragment];
    let read = |sample: &SampleBo| match *sample {
        SampleBo::Texture(descriptor) | SampleBo::Ubo(descriptor) => descriptor,
    };
    let asked = |slot: &UniformSlot| slot.texture().map(|texture| texture.image);
    let samples = programs.iter().flat_map(|program| program.samples.iter().map(read));
    samples.chain(programs.iter().flat_map(|program| program.words().filter_map(asked))).collect()
}

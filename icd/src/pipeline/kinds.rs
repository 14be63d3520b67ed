//! State that programs and packets are made from, where commands set it: a pipeline for each kind of it that draws have. The
//! draws themselves know nothing of that.

use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

use super::cache::PipelineCache;
use super::info::GraphicsInfo;
use crate::foundation::debug::{slow, tells_slow};
use crate::foundation::error::Error;
use crate::foundation::limits::MAX_ATTRIBUTES;
use crate::objects::device::Device;

/// State that pipelines fix unless commands set it.
#[derive(Clone, Copy, Debug)]
pub struct Switches {
    /// Faces that are dropped.
    pub cull: vk::CullModeFlags,
    /// Winding of front faces.
    pub front_face: vk::FrontFace,
    /// How vertices are assembled.
    pub topology: vk::PrimitiveTopology,
    /// The largest index restarts.
    pub restart: bool,
    /// Nothing is drawn.
    pub discard: bool,
    /// Depths are moved …
    pub depth_bias: bool,
    /// … by their slope, and no further than a clamp.
    pub clamps_bias: bool,
    /// Depths are compared …
    pub depth_test: bool,
    /// … in this way …
    pub depth_compare: vk::CompareOp,
    /// … and written.
    pub depth_write: bool,
    /// Stencil is tested …
    pub stencil_test: bool,
    /// … in these ways, of front and back faces. Their masks and references are no matter of this.
    pub stencil: [vk::StencilOpState; 2],
    /// Bytes from vertex to vertex, by binding.
    pub strides: [u32; MAX_ATTRIBUTES as usize],
}

impl Default for Switches {
    fn default() -> Self {
        let face = vk::StencilOpState { compare_op: vk::CompareOp::ALWAYS, ..Default::default() };
        Switches {
            cull: vk::CullModeFlags::NONE,
            front_face: vk::FrontFace::COUNTER_CLOCKWISE,
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            restart: false,
            discard: false,
            depth_bias: false,
            clamps_bias: false,
            depth_test: false,
            depth_compare: vk::CompareOp::ALWAYS,
            depth_write: false,
            stencil_test: false,
            stencil: [face; 2],
            strides: [0; MAX_ATTRIBUTES as usize],
        }
    }
}

/// The operations of a face.
fn operations(face: &vk::StencilOpState) -> [i32; 4] {
    let operations = [face.fail_op, face.pass_op, face.depth_fail_op].map(vk::StencilOp::as_raw);
    [operations[0], operations[1], operations[2], face.compare_op.as_raw()]
}

/// The face with the operations of another.
pub fn with_operations(face: vk::StencilOpState, of: &vk::StencilOpState) -> vk::StencilOpState {
    let vk::StencilOpState { fail_op, pass_op, depth_fail_op, compare_op, .. } = *of;
    vk::StencilOpState { fail_op, pass_op, depth_fail_op, compare_op, ..face }
}

impl PartialEq for Switches {
    fn eq(&self, other: &Switches) -> bool {
        let words = |state: &Switches| {
            let flags = [
                state.restart,
                state.discard,
                state.depth_bias,
                state.clamps_bias,
                state.depth_test,
                state.depth_write,
                state.stencil_test,
            ];
            let modes = [state.front_face.as_raw(), state.topology.as_raw(), state.depth_compare.as_raw()];
            (state.cull, flags, modes, state.stencil.each_ref().map(operations), state.strides)
        };
        words(self) == words(other)
    }
}

/// Which of the switches commands set.
const STATES: [vk::DynamicState; 12] = [
    vk::DynamicState::CULL_MODE,
    vk::DynamicState::FRONT_FACE,
    vk::DynamicState::PRIMITIVE_TOPOLOGY,
    vk::DynamicState::PRIMITIVE_RESTART_ENABLE,
    vk::DynamicState::RASTERIZER_DISCARD_ENABLE,
    vk::DynamicState::DEPTH_BIAS_ENABLE,
    vk::DynamicState::DEPTH_TEST_ENABLE,
    vk::DynamicState::DEPTH_COMPARE_OP,
    vk::DynamicState::DEPTH_WRITE_ENABLE,
    vk::DynamicState::STENCIL_TEST_ENABLE,
    vk::DynamicState::STENCIL_OP,
    vk::DynamicState::VERTEX_INPUT_BINDING_STRIDE,
];

/// Whether commands set any of the switches. A bias without a clamp is none.
pub fn has_kinds(dynamic: &[vk::DynamicState], clamps_bias: bool) -> bool {
    STATES.iter().any(|state| dynamic.contains(state))
        || clamps_bias && dynamic.contains(&vk::DynamicState::DEPTH_BIAS)
}

/// Whether a depth bias depends on the slope and has a clamp, too: constant factor, clamp and slope factor.
pub fn clamps_bias([_, clamp, slope]: [f32; 3]) -> bool {
    clamp != 0.0 && slope != 0.0
}

/// What a pipeline `P` is made again from.
pub struct Kinds<P> {
    device: Arc<Device>,
    cache: Arc<PipelineCache>,
    /// Everything, with the switches among the states that commands set.
    info: GraphicsInfo,
    /// What it fixes itself; where commands set a switch, what stands for it before they do.
    fixed: Switches,
    /// Factors of the depth bias, on or off.
    bias: [f32; 3],
    known: Mutex<Vec<(Switches, Arc<P>)>>,
}

/// Makes a pipeline, with the cache that all kinds share.
pub type Make<P> = fn(&Arc<Device>, GraphicsInfo, Option<&Arc<PipelineCache>>) -> Result<P, Error>;

impl<P> Kinds<P> {
    /// For a pipeline that fixes some switches. All kinds share a cache: most have the same programs.
    pub fn new(
        device: &Arc<Device>,
        cache: Option<&Arc<PipelineCache>>,
        info: GraphicsInfo,
        (fixed, bias): (Switches, [f32; 3]),
    ) -> Kinds<P> {
        let cache = cache.cloned().unwrap_or_else(|| Arc::new(PipelineCache::new(device, &[])));
        Kinds { device: device.clone(), cache, info, fixed, bias, known: Mutex::default() }
    }

    /// The pipeline before commands set anything.
    pub fn first(&self, make: Make<P>) -> Result<P, Error> {
        make(&self.device, apply(&self.info, &self.fixed, self.bias), Some(&self.cache))
    }

    /// The pipeline for draws whose commands set those switches.
    pub fn find(&self, set: &Switches, make: Make<P>) -> Result<Arc<P>, Error> {
        let switches = self.resolve(set);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, pipeline)) = known.iter().find(|(of, _)| *of == switches) {
            return Ok(pipeline.clone());
        }
        if tells_slow() {
            let name = &self.info.name;
            slow(format_args!("pipeline{name} is made again for draws of another kind: {switches:?}"));
        }
        // A draw cannot go without, whatever was said when the pipeline was made.
        let info = GraphicsInfo { may_compile: true, ..apply(&self.info, &switches, self.bias) };
        let pipeline = Arc::new(make(&self.device, info, Some(&self.cache))?);
        known.push((switches, pipeline.clone()));
        Ok(pipeline)
    }

    /// The switches as commands set them, where the pipeline does not fix them.
    fn resolve(&self, set: &Switches) -> Switches {
        use vk::DynamicState as State;
        let (mut all, info) = (self.fixed, &self.info);
        macro_rules! take {
            ($($state:ident $field:ident)*) => {
                $(if info.is_dynamic(State::$state) {
                    all.$field = set.$field;
                })*
            };
        }
        take! {
            CULL_MODE cull
            FRONT_FACE front_face
            PRIMITIVE_TOPOLOGY topology
            PRIMITIVE_RESTART_ENABLE restart
            RASTERIZER_DISCARD_ENABLE discard
            DEPTH_BIAS_ENABLE depth_bias
            DEPTH_BIAS clamps_bias
            DEPTH_TEST_ENABLE depth_test
            DEPTH_COMPARE_OP depth_compare
            DEPTH_WRITE_ENABLE depth_write
            STENCIL_TEST_ENABLE stencil_test
            VERTEX_INPUT_BINDING_STRIDE strides
        }
        if info.is_dynamic(State::STENCIL_OP) {
            for (face, set) in all.stencil.iter_mut().zip(&set.stencil) {
                *face = with_operations(*face, set);
            }
        }
        all.clamps_bias &= all.depth_bias;
        // Strides of bindings that there are not make no kinds.
        for (binding, stride) in (0..).zip(&mut all.strides) {
            if !info.vertex.bindings.iter().any(|known| known.binding == binding) {
                *stride = 0;
            }
        }
        all
    }
}

/// What a pipeline is made from, with all switches fixed.
fn apply(info: &GraphicsInfo, switches: &Switches, bias: [f32; 3]) -> GraphicsInfo {
    let mut info = info.clone();
    let strided = info.is_dynamic(vk::DynamicState::VERTEX_INPUT_BINDING_STRIDE);
    info.dynamic.retain(|state| !STATES.contains(state));
    info.topology = switches.topology;
    info.restart = switches.restart;
    info.raster.cull = switches.cull;
    info.raster.front_face = switches.front_face;
    info.raster.discard = switches.discard;
    info.raster.depth_bias = switches.depth_bias.then_some(bias);
    info.raster.clamps_bias = switches.clamps_bias;
    if let Some(state) = &mut info.depth_stencil {
        state.depth_test = switches.depth_test.then_some(switches.depth_compare);
        state.depth_write = switches.depth_test && switches.depth_write;
        state.stencil = switches.stencil_test.then_some(switches.stencil);
    }
    for binding in info.vertex.bindings.iter_mut().filter(|_| strided) {
        binding.stride = switches.strides.get(binding.binding as usize).copied().unwrap_or(0);
    }
    info
}

//! Shader modules, pipeline layouts, caches and pipelines.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Instant;

use ash::vk;

use super::guard::entry_points;
use super::read::{bytes, destroy, extension, give, objects, slice, text};
use crate::execution::open_device::OpenDevice;
use crate::foundation::error::Error;
use crate::foundation::format;
use crate::foundation::handle::{get, opt};
use crate::objects::device::Device;
use crate::objects::render_pass::{Formats, RenderPass};
#[cfg(feature = "compute")]
use crate::pipeline::ComputePipeline;
use crate::pipeline::info::{
    ColorBlend, DepthStencil, GraphicsInfo, Multisample, Raster, Stage, VertexInput,
};
use crate::pipeline::kinds::{Kinds, Switches, clamps_bias, has_kinds, with_operations};
use crate::pipeline::layout::PipelineLayout;
use crate::pipeline::module::ShaderModule;
use crate::pipeline::{Pipeline, PipelineCache, PipelineObject};

unsafe fn read_stage(
    info: &vk::PipelineShaderStageCreateInfo<'_>,
    layout: &PipelineLayout,
) -> Result<Stage, Error> {
    // SAFETY: the caller passes a valid structure with live handles.
    unsafe {
        let constants = match info.p_specialization_info.as_ref() {
            None => Vec::new(),
            Some(special) => read_constants(special)?,
        };
        Ok(Stage {
            stage: info.stage,
            module: get::<ShaderModule>(info.module).clone(),
            entry: text(info.p_name),
            constants,
            conversions: layout.conversions.clone(),
        })
    }
}

unsafe fn read_constants(special: &vk::SpecializationInfo<'_>) -> Result<Vec<(u32, Vec<u8>)>, Error> {
    // SAFETY: the caller passes a valid structure.
    let (entries, data) = unsafe {
        let data = bytes(special.p_data, special.data_size);
        (slice(special.p_map_entries, special.map_entry_count), data)
    };
    let read = |entry: &vk::SpecializationMapEntry| {
        let start = entry.offset as usize;
        let bytes = start.checked_add(entry.size).and_then(|end| data.get(start..end));
        let outside = || Error::InvalidUse(format!("constant {} lies outside its data", entry.constant_id));
        bytes.map(|bytes| (entry.constant_id, bytes.to_vec())).ok_or_else(outside)
    };
    entries.iter().map(read).collect()
}

unsafe fn read_vertex_input(info: *const vk::PipelineVertexInputStateCreateInfo<'_>) -> VertexInput {
    // SAFETY: the caller passes null or a valid structure.
    unsafe {
        let Some(info) = info.as_ref() else { return VertexInput::default() };
        let bindings = slice(info.p_vertex_binding_descriptions, info.vertex_binding_description_count);
        let attributes = slice(info.p_vertex_attribute_descriptions, info.vertex_attribute_description_count);
        let chained = extension::<vk::PipelineVertexInputDivisorStateCreateInfoKHR<'_>>(info.p_next);
        let divisors = chained
            .map_or(&[][..], |of| slice(of.p_vertex_binding_divisors, of.vertex_binding_divisor_count));
        VertexInput {
            bindings: bindings.to_vec(),
            attributes: attributes.to_vec(),
            divisors: divisors.iter().map(|of| (of.binding, of.divisor)).collect(),
        }
    }
}

unsafe fn read_raster(info: &vk::PipelineRasterizationStateCreateInfo<'_>) -> Raster {
    let bias = [info.depth_bias_constant_factor, info.depth_bias_clamp, info.depth_bias_slope_factor];
    // SAFETY: the caller passes a valid structure.
    let (lines, provoking, clip) = unsafe {
        let lines = extension::<vk::PipelineRasterizationLineStateCreateInfoKHR<'_>>(info.p_next);
        let provoking =
            extension::<vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT<'_>>(info.p_next);
        let clip = extension::<vk::PipelineRasterizationDepthClipStateCreateInfoEXT<'_>>(info.p_next);
        (lines.copied().unwrap_or_default(), provoking.copied().unwrap_or_default(), clip)
    };
    Raster {
        depth_clamp: info.depth_clamp_enable != vk::FALSE,
        depth_clip: clip.map(|clip| clip.depth_clip_enable != vk::FALSE),
        discard: info.rasterizer_discard_enable != vk::FALSE,
        polygon_mode: info.polygon_mode,
        cull: info.cull_mode,
        front_face: info.front_face,
        depth_bias: (info.depth_bias_enable != vk::FALSE).then_some(bias),
        clamps_bias: clamps_bias(bias),
        line_width: info.line_width,
        lines: lines.line_rasterization_mode,
        stippled: lines.stippled_line_enable != vk::FALSE,
        last_provokes: provoking.provoking_vertex_mode == vk::ProvokingVertexModeEXT::LAST_VERTEX,
    }
}

unsafe fn read_multisample(info: &vk::PipelineMultisampleStateCreateInfo<'_>) -> Multisample {
    Multisample {
        samples: info.rasterization_samples,
        sample_shading: (info.sample_shading_enable != vk::FALSE).then_some(info.min_sample_shading),
        // SAFETY: the caller passes a mask of at least one word, or none.
        mask: unsafe { info.p_sample_mask.as_ref() }.copied().unwrap_or(!0),
        alpha_to_coverage: info.alpha_to_coverage_enable != vk::FALSE,
        alpha_to_one: info.alpha_to_one_enable != vk::FALSE,
    }
}

fn read_depth_stencil(info: &vk::PipelineDepthStencilStateCreateInfo<'_>) -> DepthStencil {
    let depth = info.depth_test_enable != vk::FALSE;
    DepthStencil {
        depth_test: depth.then_some(info.depth_compare_op),
        depth_write: depth && info.depth_write_enable != vk::FALSE,
        bounds: (info.depth_bounds_test_enable != vk::FALSE)
            .then_some([info.min_depth_bounds, info.max_depth_bounds]),
        stencil: (info.stencil_test_enable != vk::FALSE).then_some([info.front, info.back]),
    }
}

unsafe fn read_blend(info: &vk::PipelineColorBlendStateCreateInfo<'_>) -> ColorBlend {
    ColorBlend {
        logic_op: (info.logic_op_enable != vk::FALSE).then_some(info.logic_op),
        // SAFETY: the caller passes a valid structure.
        attachments: unsafe { slice(info.p_attachments, info.attachment_count) }.to_vec(),
        constants: info.blend_constants,
    }
}

/// Viewports or scissors, unless command buffers set them (then the pointer may be anything).
unsafe fn read_static<T: Copy>(dynamic: bool, first: *const T, count: u32) -> Vec<T> {
    match dynamic {
        true => Vec::new(),
        // SAFETY: the caller passes a valid array.
        false => unsafe { slice(first, count) }.to_vec(),
    }
}

/// A state of the pipeline if it means anything; else the pointer may lead anywhere.
unsafe fn state<'a, T>(wanted: bool, state: *const T) -> Option<&'a T> {
    match wanted {
        // SAFETY: the caller passes null or a valid structure.
        true => unsafe { state.as_ref() },
        false => None,
    }
}

/// What a pipeline without a render pass draws to.
unsafe fn read_formats(info: Option<&vk::PipelineRenderingCreateInfo<'_>>) -> Result<Formats, Error> {
    let Some(info) = info else { return Ok(Formats::default()) };
    let row = |format: vk::Format| {
        let unknown = || Error::FormatNotSupported(format!("{format:?} attachments are not offered"));
        format::row(format).ok_or_else(unknown)
    };
    let is_there = |format: &vk::Format| *format != vk::Format::UNDEFINED;
    // SAFETY: the caller passes a valid structure.
    let colors = unsafe { slice(info.p_color_attachment_formats, info.color_attachment_count) };
    let colors = (0..).zip(colors).filter(|(_, format)| is_there(format));
    let colors = colors.map(|(location, format)| Ok((location, row(*format)?)));
    let mut formats = Formats { colors: colors.collect::<Result<_, Error>>()?, ..Formats::default() };
    for (format, aspect) in [
        (info.depth_attachment_format, vk::ImageAspectFlags::DEPTH),
        (info.stencil_attachment_format, vk::ImageAspectFlags::STENCIL),
    ] {
        if is_there(&format) {
            formats.depth_stencil |= row(format)?.aspects() & aspect;
        }
    }
    Ok(formats)
}

/// The state without a number of viewports or scissors, which is one.
fn plain_state(state: &vk::DynamicState) -> vk::DynamicState {
    match *state {
        vk::DynamicState::VIEWPORT_WITH_COUNT => vk::DynamicState::VIEWPORT,
        vk::DynamicState::SCISSOR_WITH_COUNT => vk::DynamicState::SCISSOR,
        other => other,
    }
}

/// Reads one pipeline. Pointers to states that rasterisation or the subpass make meaningless may lead
/// anywhere and are not followed (Vulkan 1.0 §9.2).
unsafe fn read_graphics(info: &vk::GraphicsPipelineCreateInfo<'_>) -> Result<GraphicsInfo, Error> {
    // SAFETY: the caller passes a valid structure with live handles.
    unsafe {
        let formats = match opt::<RenderPass>(info.render_pass) {
            Some(pass) => pass.formats(info.subpass)?,
            None => read_formats(extension(info.p_next))?,
        };
        let missing = || Error::InvalidUse("a pipeline without rasterisation state".into());
        let mut raster = read_raster(info.p_rasterization_state.as_ref().ok_or_else(missing)?);
        let dynamic: Vec<_> = match info.p_dynamic_state.as_ref() {
            None => Vec::new(),
            Some(state) => {
                slice(state.p_dynamic_states, state.dynamic_state_count).iter().map(plain_state).collect()
            }
        };
        raster.clamps_bias &= !dynamic.contains(&vk::DynamicState::DEPTH_BIAS);
        let may_draw = !raster.discard || dynamic.contains(&vk::DynamicState::RASTERIZER_DISCARD_ENABLE);
        let visible = |wanted: bool| wanted && may_draw;
        let (mut viewports, mut scissors) = (Vec::new(), Vec::new());
        if let Some(state) = state(visible(true), info.p_viewport_state) {
            let is = |state| dynamic.contains(&state);
            viewports = read_static(is(vk::DynamicState::VIEWPORT), state.p_viewports, state.viewport_count);
            scissors = read_static(is(vk::DynamicState::SCISSOR), state.p_scissors, state.scissor_count);
        }
        let multisample = state(visible(true), info.p_multisample_state);
        let depth_stencil = state(visible(!formats.depth_stencil.is_empty()), info.p_depth_stencil_state);
        let blend = state(visible(!formats.colors.is_empty()), info.p_color_blend_state);
        let assembly = info.p_input_assembly_state.as_ref();
        let layout = get::<PipelineLayout>(info.layout);
        let stages = slice(info.p_stages, info.stage_count).iter().map(|stage| read_stage(stage, layout));
        Ok(GraphicsInfo {
            stages: stages.collect::<Result<_, _>>()?,
            vertex: read_vertex_input(info.p_vertex_input_state),
            topology: assembly.map_or(vk::PrimitiveTopology::TRIANGLE_LIST, |state| state.topology),
            restart: assembly.is_some_and(|state| state.primitive_restart_enable != vk::FALSE),
            viewports,
            scissors,
            raster,
            multisample: multisample.map(|state| read_multisample(state)),
            depth_stencil: depth_stencil.map(read_depth_stencil),
            blend: blend.map(|state| read_blend(state)),
            dynamic,
            layout: layout.clone(),
            formats,
            may_compile: may_compile(info.flags),
            name: Arc::default(),
        })
    }
}

/// What a pipeline fixes of what commands may set; and the factors of its depth bias.
unsafe fn read_switches(
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    graphics: &GraphicsInfo,
) -> (Switches, [f32; 3]) {
    use vk::DynamicState as State;
    let fixed = |state, value, default| if graphics.is_dynamic(state) { default } else { value };
    let unset = Switches::default();
    let Raster { cull, front_face, discard, depth_bias, clamps_bias, .. } = graphics.raster;
    let mut switches = Switches {
        // Commands choose among those of its class.
        topology: graphics.topology,
        cull: if graphics.is_dynamic(State::CULL_MODE) { unset.cull } else { cull },
        front_face: if graphics.is_dynamic(State::FRONT_FACE) { unset.front_face } else { front_face },
        restart: fixed(State::PRIMITIVE_RESTART_ENABLE, graphics.restart, false),
        discard: fixed(State::RASTERIZER_DISCARD_ENABLE, discard, false),
        depth_bias: fixed(State::DEPTH_BIAS_ENABLE, depth_bias.is_some(), false),
        clamps_bias: fixed(State::DEPTH_BIAS, clamps_bias, false),
        ..unset
    };
    // SAFETY: the caller passes a valid structure; the state is read where it means something.
    let (raster, depth_stencil) = unsafe {
        let depth_stencil = state(graphics.depth_stencil.is_some(), info.p_depth_stencil_state);
        (info.p_rasterization_state.as_ref(), depth_stencil)
    };
    if let Some(state) = depth_stencil {
        let is = |enable| enable != vk::FALSE;
        switches.depth_test = fixed(State::DEPTH_TEST_ENABLE, is(state.depth_test_enable), false);
        switches.depth_write = fixed(State::DEPTH_WRITE_ENABLE, is(state.depth_write_enable), false);
        switches.stencil_test = fixed(State::STENCIL_TEST_ENABLE, is(state.stencil_test_enable), false);
        if !graphics.is_dynamic(State::DEPTH_COMPARE_OP) {
            switches.depth_compare = state.depth_compare_op;
        }
        for (to, from) in switches.stencil.iter_mut().zip([state.front, state.back]) {
            *to = if graphics.is_dynamic(State::STENCIL_OP) { with_operations(from, to) } else { from };
        }
    }
    let bias = raster.map_or([0.0; 3], |info| {
        [info.depth_bias_constant_factor, info.depth_bias_clamp, info.depth_bias_slope_factor]
    });
    (switches, bias)
}

unsafe fn graphics_pipeline(
    device: &Arc<Device>,
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    cache: Option<&Arc<PipelineCache>>,
) -> Result<Pipeline, Error> {
    // SAFETY: the caller passes a valid structure with live handles.
    let graphics = unsafe { read_graphics(info)? };
    match has_kinds(&graphics.dynamic, device.features().depth_bias_clamp == vk::TRUE) {
        true => {
            // SAFETY: as above.
            let switches = unsafe { read_switches(info, &graphics) };
            Pipeline::of_kinds(Kinds::new(device, cache, graphics, switches))
        }
        false => Pipeline::new(device, graphics, cache),
    }
}

/// Says how long it took to make a pipeline, where somebody asks. Of stages nothing is known: they are compiled together.
unsafe fn feed_back(next: *const c_void, begin: Instant) {
    // SAFETY: the caller passes a valid chain, whose structures lead to what may be written.
    unsafe {
        let Some(asked) = extension::<vk::PipelineCreationFeedbackCreateInfo<'_>>(next) else { return };
        let duration = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let flags = vk::PipelineCreationFeedbackFlags::VALID;
        asked.p_pipeline_creation_feedback.write(vk::PipelineCreationFeedback { flags, duration });
        for stage in 0..asked.pipeline_stage_creation_feedback_count as usize {
            asked.p_pipeline_stage_creation_feedbacks.add(stage).write(Default::default());
        }
    }
}

/// Whether programs may be compiled that no cache has.
fn may_compile(flags: vk::PipelineCreateFlags) -> bool {
    !flags.contains(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED)
}

/// Makes one pipeline after the other, by its create info and the place for its handle; `about`: flags and chain of an info.
/// Those that fail are the null handle, and so is what stands behind one that says that it is to be the last then.
///
/// # Safety
/// `out` has room for as many handles as there are infos, whose chains are valid.
unsafe fn make_each<I>(
    command: &str,
    infos: &[I],
    out: *mut vk::Pipeline,
    about: fn(&I) -> (vk::PipelineCreateFlags, *const c_void),
    mut make: impl FnMut(&I, *mut vk::Pipeline) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut result = Ok(());
    let mut ended = false;
    for (index, info) in infos.iter().enumerate() {
        // SAFETY: by the contract.
        let place = unsafe { out.add(index) };
        // SAFETY: as above.
        unsafe { place.write(vk::Pipeline::null()) };
        if ended {
            continue;
        }
        let begin = Instant::now();
        let made = make(info, place);
        let (flags, next) = about(info);
        // SAFETY: as above.
        unsafe { feed_back(next, begin) };
        ended = made.is_err() && flags.contains(vk::PipelineCreateFlags::EARLY_RETURN_ON_FAILURE);
        result = first_error(result, made, command);
    }
    result
}

/// The first error of several pipelines; those behind it are only reported.
fn first_error(result: Result<(), Error>, made: Result<(), Error>, command: &str) -> Result<(), Error> {
    match (result, made) {
        (Err(first), Err(error)) => {
            error.report(command);
            Err(first)
        }
        (result, made) => result.and(made),
    }
}

#[cfg(feature = "compute")]
fn compute_pipeline(
    device: &Arc<Device>,
    stage: &Stage,
    cache: Option<&Arc<PipelineCache>>,
    may_compile: bool,
) -> Result<PipelineObject, Error> {
    let pipeline = ComputePipeline::new(device, stage, cache, may_compile)?;
    Ok(PipelineObject::Compute(Arc::new(pipeline)))
}

#[cfg(not(feature = "compute"))]
fn compute_pipeline(
    _: &Arc<Device>,
    _: &Stage,
    _: Option<&Arc<PipelineCache>>,
    _: bool,
) -> Result<PipelineObject, Error> {
    Err(Error::unsupported("a compute pipeline", "use a driver built with the cargo feature `compute`"))
}

/// The module in `pCode`.
unsafe fn code_module(info: &vk::ShaderModuleCreateInfo<'_>) -> Result<ShaderModule, Error> {
    if info.code_size % 4 != 0 {
        return Err(Error::Shader(format!("{} bytes are no whole number of words", info.code_size)));
    }
    let words = match info.code_size {
        0 => &[][..],
        // SAFETY: the caller passes so many bytes.
        bytes => unsafe { std::slice::from_raw_parts(info.p_code, bytes / 4) },
    };
    // SAFETY: where a word is an address, the caller put it there.
    match unsafe { super::assembly::addressed(words)? } {
        Some(assembly) => Ok(ShaderModule::Assembly(assembly)),
        None => ShaderModule::new(words.to_vec()),
    }
}

entry_points! {
    fn vkCreateShaderModule(
        device: vk::Device,
        info: *const vk::ShaderModuleCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::ShaderModule,
    ) -> vk::Result {
        let info = &*info;
        let module = match super::assembly::chained(info)? {
            Some(assembly) => ShaderModule::Assembly(assembly),
            None => code_module(info)?,
        };
        give(get::<OpenDevice>(device).allocator(), callbacks, out, module)
    }

    fn vkDestroyShaderModule(
        _device: vk::Device,
        module: vk::ShaderModule,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<ShaderModule>(module, callbacks);
    }

    fn vkCreatePipelineLayout(
        device: vk::Device,
        info: *const vk::PipelineLayoutCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::PipelineLayout,
    ) -> vk::Result {
        let info = &*info;
        let ranges = slice(info.p_push_constant_ranges, info.push_constant_range_count);
        let layout = PipelineLayout::new(objects(info.p_set_layouts, info.set_layout_count), ranges)?;
        give(get::<OpenDevice>(device).allocator(), callbacks, out, layout)
    }

    fn vkDestroyPipelineLayout(
        _device: vk::Device,
        layout: vk::PipelineLayout,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<PipelineLayout>(layout, callbacks);
    }

    fn vkCreatePipelineCache(
        device: vk::Device,
        info: *const vk::PipelineCacheCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::PipelineCache,
    ) -> vk::Result {
        let device = get::<OpenDevice>(device);
        let data = bytes((*info).p_initial_data, (*info).initial_data_size);
        give(device.allocator(), callbacks, out, PipelineCache::new(device, data))
    }

    fn vkDestroyPipelineCache(
        _device: vk::Device,
        cache: vk::PipelineCache,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<PipelineCache>(cache, callbacks);
    }

    fn vkGetPipelineCacheData(
        _device: vk::Device,
        cache: vk::PipelineCache,
        size: *mut usize,
        out: *mut c_void,
    ) -> vk::Result {
        let cache = get::<PipelineCache>(cache);
        if out.is_null() {
            size.write(cache.size());
            return Ok(vk::Result::SUCCESS);
        }
        let (data, complete) = cache.data(size.read());
        std::ptr::copy_nonoverlapping(data.as_ptr(), out.cast::<u8>(), data.len());
        size.write(data.len());
        Ok(if complete { vk::Result::SUCCESS } else { vk::Result::INCOMPLETE })
    }

    fn vkMergePipelineCaches(
        _device: vk::Device,
        to: vk::PipelineCache,
        count: u32,
        from: *const vk::PipelineCache,
    ) -> vk::Result {
        let others = objects::<PipelineCache>(from, count);
        get::<PipelineCache>(to).merge(others.iter().map(|other| &**other));
        Ok(())
    }

    fn vkCreateGraphicsPipelines(
        device: vk::Device,
        cache: vk::PipelineCache,
        count: u32,
        infos: *const vk::GraphicsPipelineCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Pipeline,
    ) -> vk::Result {
        let device: &Arc<Device> = get::<OpenDevice>(device);
        let cache = opt::<PipelineCache>(cache);
        let about = |info: &vk::GraphicsPipelineCreateInfo<'_>| (info.flags, info.p_next);
        make_each("vkCreateGraphicsPipelines", slice(infos, count), out, about, |info, place| {
            graphics_pipeline(device, info, cache)
                .map(|pipeline| PipelineObject::Graphics(Arc::new(pipeline)))
                .and_then(|pipeline| give(device.allocator(), callbacks, place, pipeline))
        })
    }

    fn vkCreateComputePipelines(
        device: vk::Device,
        cache: vk::PipelineCache,
        count: u32,
        infos: *const vk::ComputePipelineCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Pipeline,
    ) -> vk::Result {
        let device = get::<OpenDevice>(device);
        let cache = opt::<PipelineCache>(cache);
        let about = |info: &vk::ComputePipelineCreateInfo<'_>| (info.flags, info.p_next);
        make_each("vkCreateComputePipelines", slice(infos, count), out, about, |info, place| {
            read_stage(&info.stage, get::<PipelineLayout>(info.layout))
                .and_then(|stage| compute_pipeline(device, &stage, cache, may_compile(info.flags)))
                .and_then(|pipeline| give(device.allocator(), callbacks, place, pipeline))
        })
    }

    fn vkDestroyPipeline(
        _device: vk::Device,
        pipeline: vk::Pipeline,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<PipelineObject>(pipeline, callbacks);
    }
}

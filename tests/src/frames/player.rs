//! Draws frames with Vulkan, as programs do: a command buffer per frame, pipelines and descriptors made before.

use std::collections::BTreeMap;
use std::path::Path;

use ash::vk;

use super::frame::{Attribute, Blend, Content, Depth, Draw, Frame, Image, Program, Stencil, Texels};
use super::language;
use crate::glsl;
use crate::picture::Picture;
use crate::scene::matrix::{IDENTITY, Matrix, mul};
use crate::vulkan::{
    Attachment, Error, Harness, Lab, Pipeline, Readback, Subpass, area, color, depth, first_level, flat,
};

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
/// Bytes of push constants that every device has; words beyond are a buffer's.
const PUSHED_BYTES: u32 = 128;
const STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::VERTEX.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw(),
);

/// Draws a frame `count` times, one after the other, and reads the picture, GL's first row first. Shaders are compiled in `directory`.
///
/// # Errors
/// What the driver or glslangValidator refuses.
pub fn draw(harness: &Harness, frame: &Frame, count: u32, directory: &Path) -> Result<Picture, Error> {
    let lab = Lab::new(harness);
    let images = frame.images.iter().map(|image| Shown::new(&lab, image)).collect::<Result<Vec<_>, _>>()?;
    let buffers = frame.buffers.iter().map(|bytes| {
        lab.buffer(bytes, vk::BufferUsageFlags::VERTEX_BUFFER | vk::BufferUsageFlags::INDEX_BUFFER)
    });
    let buffers = buffers.collect::<Result<Vec<_>, _>>()?;
    let programs = (0..).zip(&frame.programs).map(|(number, program)| {
        Compiled::new(&lab, program, &directory.join(format!("{}-{number}", frame.name)))
    });
    let programs = programs.collect::<Result<Vec<_>, _>>()?;
    let mut passes = Vec::new();
    for pass in &frame.passes {
        let samples = if pass.target == 0 { frame.samples } else { 1 };
        let place = Place::new(&lab, &images[pass.target], &frame.images[pass.target], samples, pass.clear)?;
        let mut pipelines = BTreeMap::new();
        let mut draws = Vec::new();
        for draw in &pass.draws {
            let program = &programs[draw.program];
            let state = key(draw);
            let pipeline = match pipelines.get(&state) {
                Some(&pipeline) => pipeline,
                None => {
                    let made = lab.dynamic_pipeline(place.pass, &program.state(draw, samples))?;
                    *pipelines.entry(state).or_insert(made)
                }
            };
            let textures: Vec<&Shown> = draw.textures.iter().map(|&image| &images[image]).collect();
            draws.push((draw, pipeline, program, program.bind(&lab, draw, &textures)?));
        }
        passes.push((place, draws));
    }
    for _ in 0..count {
        lab.run(|commands| {
            for (place, draws) in &passes {
                lab.begin(commands, place.pass, place.framebuffer, area(place.size), &place.clears);
                for (draw, pipeline, program, bound) in draws {
                    record(&lab, commands, draw, *pipeline, program, bound, (&buffers, place.size));
                }
                // SAFETY: the pass was begun.
                unsafe { lab.device.cmd_end_render_pass(commands) };
            }
        })?;
    }
    let readback = Readback::new(&lab, FORMAT, images[0].size)?;
    lab.run(|commands| readback.record(&lab, commands, images[0].image))?;
    readback.picture(&lab)
}

/// What tells pipelines apart.
fn key(draw: &Draw) -> (usize, [u32; 3], [bool; 4]) {
    let flags = [draw.points, draw.writes_depth, draw.writes_color, draw.culls];
    (draw.program, [draw.blend as u32, draw.depth as u32, draw.stencil as u32], flags)
}

/// GL's clip space as Vulkan's: depths begin at 0. Rows of both begin at y = -1.
fn clip(transform: &Matrix) -> Matrix {
    let mut halved = IDENTITY;
    (halved[2][2], halved[3][2]) = (0.5, 0.5);
    mul(&halved, transform)
}

/// An image on the device.
struct Shown {
    image: vk::Image,
    view: vk::ImageView,
    sampler: vk::Sampler,
    size: [u32; 2],
    /// In which shaders find it.
    layout: vk::ImageLayout,
}

impl Shown {
    fn new(lab: &Lab<'_>, image: &Image) -> Result<Shown, Error> {
        let read = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
        let sampler = lab.sampler(&sampler(image))?;
        let (size, sampled) = (image.size, vk::ImageUsageFlags::SAMPLED);
        let (layers, levels, format): (Vec<&[u8]>, Vec<&Vec<u8>>, _) = match &image.content {
            Content::Target { .. } => {
                let usage =
                    sampled | vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
                let made = lab.image(&flat(size, FORMAT, vk::SampleCountFlags::TYPE_1, usage))?;
                let view = lab.view(made, FORMAT, vk::ImageAspectFlags::COLOR)?;
                return Ok(Shown { image: made, view, sampler, size, layout: vk::ImageLayout::GENERAL });
            }
            Content::Texels(Texels::Rgba, levels) => (Vec::new(), levels.iter().collect(), FORMAT),
            Content::Texels(Texels::Luminance, levels) => {
                (Vec::new(), levels.iter().collect(), vk::Format::R8_UNORM)
            }
            Content::Cube(faces) => (faces.iter().map(Vec::as_slice).collect(), Vec::new(), FORMAT),
        };
        let cube = !layers.is_empty();
        let mut create =
            flat(size, format, vk::SampleCountFlags::TYPE_1, sampled | vk::ImageUsageFlags::TRANSFER_DST);
        create.mip_levels = levels.len().max(1) as u32;
        create.array_layers = layers.len().max(1) as u32;
        if cube {
            create = create.flags(vk::ImageCreateFlags::CUBE_COMPATIBLE);
        }
        let made = lab.image(&create)?;
        let (mut texels, mut regions) = (Vec::new(), Vec::new());
        let places = layers.iter().zip(0..).map(|(bytes, layer)| (*bytes, 0, layer));
        let places = places.chain(levels.iter().zip(0..).map(|(bytes, level)| (bytes.as_slice(), level, 0)));
        for (bytes, mip_level, base_array_layer) in places {
            regions.push(vk::BufferImageCopy {
                buffer_offset: texels.len() as u64,
                image_subresource: vk::ImageSubresourceLayers {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    mip_level,
                    base_array_layer,
                    layer_count: 1,
                },
                image_extent: vk::Extent3D {
                    width: (size[0] >> mip_level).max(1),
                    height: (size[1] >> mip_level).max(1),
                    depth: 1,
                },
                ..Default::default()
            });
            texels.extend(bytes);
            texels.resize(texels.len().next_multiple_of(4), 0);
        }
        let all = vk::ImageSubresourceRange {
            level_count: vk::REMAINING_MIP_LEVELS,
            layer_count: vk::REMAINING_ARRAY_LAYERS,
            ..first_level(vk::ImageAspectFlags::COLOR)
        };
        lab.upload(made, all, &texels, &regions, read)?;
        let view = vk::ImageViewCreateInfo::default()
            .image(made)
            .view_type(if cube { vk::ImageViewType::CUBE } else { vk::ImageViewType::TYPE_2D })
            .format(format)
            .subresource_range(all);
        Ok(Shown { image: made, view: lab.image_view(&view)?, sampler, size, layout: read })
    }
}

fn sampler(image: &Image) -> vk::SamplerCreateInfo<'static> {
    let filter = if image.smooth { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
    let wrap = match image.repeats {
        true => vk::SamplerAddressMode::REPEAT,
        false => vk::SamplerAddressMode::CLAMP_TO_EDGE,
    };
    let levels = matches!(&image.content, Content::Texels(_, levels) if levels.len() > 1);
    // Faces of cubes do not join in OpenGL ES 2.
    vk::SamplerCreateInfo::default()
        .flags(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT)
        .mag_filter(filter)
        .min_filter(filter)
        .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
        .address_mode_u(wrap)
        .address_mode_v(wrap)
        .address_mode_w(wrap)
        .max_lod(if levels { vk::LOD_CLAMP_NONE } else { 0.0 })
}

/// Where a pass draws.
struct Place {
    pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    size: [u32; 2],
    clears: Vec<vk::ClearValue>,
}

impl Place {
    fn new(
        lab: &Lab<'_>,
        target: &Shown,
        image: &Image,
        samples: u32,
        clear: Option<[f32; 4]>,
    ) -> Result<Place, Error> {
        let samples = vk::SampleCountFlags::from_raw(samples);
        let many = samples != vk::SampleCountFlags::TYPE_1;
        let (keep, forget) = (vk::AttachmentStoreOp::STORE, vk::AttachmentStoreOp::DONT_CARE);
        let begun = match clear {
            Some(_) => vk::AttachmentLoadOp::CLEAR,
            None => vk::AttachmentLoadOp::DONT_CARE,
        };
        let transient = vk::ImageUsageFlags::TRANSIENT_ATTACHMENT;
        let mut attachments = Vec::new();
        let mut views = Vec::new();
        let mut clears = Vec::new();
        let mut subpass = Subpass { color: Some(0), ..Subpass::default() };
        if many {
            let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | transient;
            let drawn = lab.image(&flat(target.size, FORMAT, samples, usage))?;
            views.push(lab.view(drawn, FORMAT, vk::ImageAspectFlags::COLOR)?);
            attachments.push(Attachment { format: FORMAT, samples, load: [begun; 2], store: [forget; 2] });
            clears.push(color(clear.unwrap_or_default()));
            subpass.resolve = Some(1);
        }
        views.push(target.view);
        let load = if many { vk::AttachmentLoadOp::DONT_CARE } else { begun };
        let one = vk::SampleCountFlags::TYPE_1;
        attachments.push(Attachment { format: FORMAT, samples: one, load: [load; 2], store: [keep; 2] });
        clears.push(color(clear.unwrap_or_default()));
        if matches!(image.content, Content::Target { depth: true }) {
            let format = lab.depth_stencil_format();
            let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | transient;
            let made = lab.image(&flat(target.size, format, samples, usage))?;
            let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
            subpass.depth = Some(views.len() as u32);
            views.push(lab.view(made, format, both)?);
            let load = [vk::AttachmentLoadOp::CLEAR; 2];
            attachments.push(Attachment { format, samples, load, store: [forget; 2] });
            clears.push(depth(1.0, 0));
        }
        let pass = lab.pass(&attachments, &[subpass])?;
        let framebuffer = lab.framebuffer_of(pass, &views, target.size)?;
        Ok(Place { pass, framebuffer, size: target.size, clears })
    }
}

/// A program, and the layout of what it reads.
struct Compiled {
    modules: [&'static [u8]; 2],
    attributes: Vec<vk::Format>,
    stride: u32,
    words: u32,
    pushed: bool,
    layout: vk::PipelineLayout,
    set_layout: Option<vk::DescriptorSetLayout>,
}

impl Compiled {
    fn new(lab: &Lab<'_>, program: &Program, path: &Path) -> Result<Compiled, Error> {
        let words = program.vertex_words + program.fragment_words;
        let pushed = words * 16 <= PUSHED_BYTES;
        let texts = language::vulkan(program, pushed);
        let compile = |stage: &str, text: &str| -> Result<&'static [u8], Error> {
            let (source, module) = (path.with_extension(stage), path.with_extension(format!("{stage}.spv")));
            std::fs::write(&source, text)?;
            glsl::compile(&source, &module)?;
            // As long as the process: modules of test programs are constants elsewhere.
            Ok(std::fs::read(&module)?.leak())
        };
        let modules = [compile("vert", &texts[0])?, compile("frag", &texts[1])?];
        let attributes = program.attributes.iter().map(|attribute| match attribute {
            Attribute::Floats(1) => vk::Format::R32_SFLOAT,
            Attribute::Floats(2) => vk::Format::R32G32_SFLOAT,
            Attribute::Floats(3) => vk::Format::R32G32B32_SFLOAT,
            Attribute::Floats(_) => vk::Format::R32G32B32A32_SFLOAT,
            Attribute::Bytes => vk::Format::R8G8B8A8_UNORM,
        });
        let binding = |number: u32, ty| {
            let binding = vk::DescriptorSetLayoutBinding::default().binding(number).descriptor_type(ty);
            binding.descriptor_count(1).stage_flags(STAGES)
        };
        let mut bindings = Vec::new();
        if !pushed {
            bindings.push(binding(0, vk::DescriptorType::UNIFORM_BUFFER));
        }
        let textures = (1..=program.samplers.len() as u32).map(|number| binding(number, COMBINED));
        bindings.extend(textures);
        let set_layout = (!bindings.is_empty()).then(|| lab.set_layout(&bindings)).transpose()?;
        let ranges = [vk::PushConstantRange { stage_flags: STAGES, offset: 0, size: words * 16 }];
        let set_layouts = Vec::from_iter(set_layout);
        let mut create = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
        if pushed && words > 0 {
            create = create.push_constant_ranges(&ranges);
        }
        let layout = lab.pipeline_layout(&create)?;
        let (attributes, stride) = (attributes.collect(), program.stride());
        Ok(Compiled { modules, attributes, stride, words, pushed, layout, set_layout })
    }

    /// The pipeline of a draw.
    fn state(&self, draw: &Draw, samples: u32) -> Pipeline {
        let mask = match draw.writes_color {
            true => vk::ColorComponentFlags::RGBA,
            false => vk::ColorComponentFlags::empty(),
        };
        let compare = match draw.depth {
            Depth::Off => None,
            Depth::Less => Some(vk::CompareOp::LESS),
            Depth::LessEqual => Some(vk::CompareOp::LESS_OR_EQUAL),
        };
        Pipeline {
            vertex: self.modules[0],
            fragment: self.modules[1],
            topology: match draw.points {
                true => vk::PrimitiveTopology::POINT_LIST,
                false => vk::PrimitiveTopology::TRIANGLE_LIST,
            },
            samples: vk::SampleCountFlags::from_raw(samples),
            depth: compare,
            depth_write: draw.writes_depth,
            stencil: stencil(draw.stencil),
            blend: blend(draw.blend).color_write_mask(mask),
            cull: if draw.culls { vk::CullModeFlags::BACK } else { vk::CullModeFlags::NONE },
            // Rows go down here, and up there.
            front: vk::FrontFace::CLOCKWISE,
            stride: self.stride,
            attributes: self.attributes.clone(),
            layout: Some(self.layout),
            ..Pipeline::default()
        }
    }

    /// What a draw reads.
    fn bind(&self, lab: &Lab<'_>, draw: &Draw, textures: &[&Shown]) -> Result<Bound, Error> {
        let words = draw.words(clip).into_iter().chain(draw.fragment_words.iter().copied());
        let words: Vec<u8> = words.flat_map(f32::to_le_bytes).collect();
        if words.len() as u32 != self.words * 16 {
            return Err("a draw with another number of words than its program".into());
        }
        let Some(layout) = self.set_layout else { return Ok(Bound { set: None, words }) };
        let sizes = [vk::DescriptorType::UNIFORM_BUFFER, COMBINED]
            .map(|ty| vk::DescriptorPoolSize { ty, descriptor_count: 4 });
        let set = lab.set(layout, &sizes)?;
        if !self.pushed {
            let buffer = lab.buffer(&words, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
            let info = [vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE }];
            let ty = vk::DescriptorType::UNIFORM_BUFFER;
            let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(ty).buffer_info(&info);
            // SAFETY: the handles live as long as the lab, and nothing runs that reads the set.
            unsafe { lab.device.update_descriptor_sets(&[write], &[]) };
        }
        for (number, shown) in (1..).zip(textures) {
            let info = [vk::DescriptorImageInfo {
                sampler: shown.sampler,
                image_view: shown.view,
                image_layout: shown.layout,
            }];
            let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(number);
            let write = write.descriptor_type(COMBINED).image_info(&info);
            // SAFETY: as above.
            unsafe { lab.device.update_descriptor_sets(&[write], &[]) };
        }
        Ok(Bound { set: Some(set), words })
    }
}

const COMBINED: vk::DescriptorType = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;

/// What a draw reads.
struct Bound {
    set: Option<vk::DescriptorSet>,
    words: Vec<u8>,
}

fn blend(blend: Blend) -> vk::PipelineColorBlendAttachmentState {
    use vk::BlendFactor as Factor;
    let (source, destination) = match blend {
        Blend::Off => return vk::PipelineColorBlendAttachmentState::default(),
        Blend::Alpha => (Factor::SRC_ALPHA, Factor::ONE_MINUS_SRC_ALPHA),
        Blend::Add => (Factor::SRC_ALPHA, Factor::ONE),
    };
    vk::PipelineColorBlendAttachmentState::default()
        .blend_enable(true)
        .src_color_blend_factor(source)
        .dst_color_blend_factor(destination)
        .src_alpha_blend_factor(source)
        .dst_alpha_blend_factor(destination)
}

fn stencil(stencil: Stencil) -> Option<[vk::StencilOpState; 2]> {
    let all = vk::StencilOpState {
        compare_op: vk::CompareOp::ALWAYS,
        compare_mask: 255,
        write_mask: 255,
        ..Default::default()
    };
    match stencil {
        Stencil::Off => None,
        Stencil::Volume => Some([
            vk::StencilOpState { depth_fail_op: vk::StencilOp::DECREMENT_AND_WRAP, ..all },
            vk::StencilOpState { depth_fail_op: vk::StencilOp::INCREMENT_AND_WRAP, ..all },
        ]),
        Stencil::Shadowed => {
            Some([vk::StencilOpState { compare_op: vk::CompareOp::NOT_EQUAL, write_mask: 0, ..all }; 2])
        }
    }
}

fn record(
    lab: &Lab<'_>,
    commands: vk::CommandBuffer,
    draw: &Draw,
    pipeline: vk::Pipeline,
    program: &Compiled,
    bound: &Bound,
    (buffers, size): (&[vk::Buffer], [u32; 2]),
) {
    let [width, height] = size.map(|edge| edge as f32);
    let viewport = [vk::Viewport { width, height, max_depth: 1.0, ..Default::default() }];
    let [x, y, w, h] = draw.scissor.unwrap_or([0, 0, size[0], size[1]]);
    let scissor = [vk::Rect2D {
        offset: vk::Offset2D { x: x as i32, y: y as i32 },
        extent: vk::Extent2D { width: w, height: h },
    }];
    let device = lab.device;
    // SAFETY: all handles live as long as the lab; the pass was begun.
    unsafe {
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
        device.cmd_set_viewport(commands, 0, &viewport);
        device.cmd_set_scissor(commands, 0, &scissor);
        if let Some(set) = bound.set {
            let point = vk::PipelineBindPoint::GRAPHICS;
            device.cmd_bind_descriptor_sets(commands, point, program.layout, 0, &[set], &[]);
        }
        if program.pushed && program.words > 0 {
            device.cmd_push_constants(commands, program.layout, STAGES, 0, &bound.words);
        }
        device.cmd_bind_vertex_buffers(commands, 0, &[buffers[draw.vertices]], &[0]);
        match draw.indices {
            Some(indices) => {
                device.cmd_bind_index_buffer(commands, buffers[indices], 0, vk::IndexType::UINT16);
                device.cmd_draw_indexed(commands, draw.count, 1, draw.first, 0, 0);
            }
            None => device.cmd_draw(commands, draw.count, 1, draw.first, 0),
        }
    }
}

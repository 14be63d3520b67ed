//! Arrays of descriptors, indexed by numbers that are not constant.

use ash::vk;

use super::case::{Case, exact};
use super::draws::{Canvas, SIZE};
use crate::hash::hash;
use crate::picture::Picture;
use crate::vulkan::{
    Attachment, CLEAR_STORE, Error, Lab, Pipeline, Subpass, Vertex, area, color, first_level, flat,
    rectangle, whole,
};

/// The programs.
pub const CASES: [Case; 3] = [
    exact("arrays-shared", |lab| draw(lab, false)),
    exact("arrays-flat", |lab| draw(lab, true)),
    exact("arrays-inputs", inputs),
];

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
const READ: vk::ImageLayout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;

/// Elements of the arrays of textures, uniform buffers and storage buffers, as `arrays.frag` has them.
const TYPES: [(vk::DescriptorType, u32); 3] = [
    (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, 5),
    (vk::DescriptorType::UNIFORM_BUFFER, 5),
    (vk::DescriptorType::STORAGE_BUFFER, 3),
];

/// Texels of a texture's first level and its levels: pixels are well inside of one of them.
const EDGE: u32 = 128;
const LEVELS: u32 = 5;

macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $name, ".frag.spv"))
    };
}

/// Where the shaders have their index.
const PUSH: vk::PushConstantRange =
    vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::FRAGMENT, offset: 16, size: 4 };

fn everywhere() -> Vec<Vertex> {
    rectangle([-1.0, -1.0, 1.0, 1.0], 0.5, [1.0, 0.5, 0.25, 1.0])
}

/// A texture with a colour for each level.
fn texture(lab: &Lab<'_>, number: u32) -> Result<vk::ImageView, Error> {
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let create = flat([EDGE; 2], FORMAT, vk::SampleCountFlags::TYPE_1, usage).mip_levels(LEVELS);
    let image = lab.image(&create)?;
    let all = vk::ImageSubresourceRange { level_count: LEVELS, ..first_level(vk::ImageAspectFlags::COLOR) };
    let (mut texels, mut regions) = (Vec::new(), Vec::new());
    for level in 0..LEVELS {
        let edge = EDGE >> level;
        let mut region = whole([edge; 2]).buffer_offset(texels.len() as u64);
        region.image_subresource.mip_level = level;
        regions.push(region);
        texels.extend(hash(&[number, level]).to_le_bytes().repeat((edge * edge) as usize));
    }
    lab.upload(image, all, &texels, &regions, READ)?;
    let view = vk::ImageViewCreateInfo::default().image(image).view_type(vk::ImageViewType::TYPE_2D);
    lab.image_view(&view.format(FORMAT).subresource_range(all))
}

/// A block of vectors between 0 and 0.5.
fn block(lab: &Lab<'_>, number: u32, usage: vk::BufferUsageFlags) -> Result<vk::Buffer, Error> {
    let words = (0..16).map(|n| (hash(&[number, n]) & 0xff) as f32 / 512.0);
    lab.buffer(&words.flat_map(f32::to_le_bytes).collect::<Vec<u8>>(), usage)
}

/// A set with all arrays, and the layout of pipelines that read it.
fn arrays(lab: &Lab<'_>) -> Result<(vk::PipelineLayout, vk::DescriptorSet), Error> {
    let bindings = [0, 1, 2].map(|number: u32| {
        let (ty, count) = TYPES[number as usize];
        let binding = vk::DescriptorSetLayoutBinding::default().binding(number).descriptor_type(ty);
        binding.descriptor_count(count).stage_flags(vk::ShaderStageFlags::FRAGMENT)
    });
    let set_layouts = [lab.set_layout(&bindings)?];
    let push = [PUSH];
    let create =
        vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts).push_constant_ranges(&push);
    let layout = lab.pipeline_layout(&create)?;
    let sizes = TYPES.map(|(ty, descriptor_count)| vk::DescriptorPoolSize { ty, descriptor_count });
    let set = lab.set(set_layouts[0], &sizes)?;
    let sampler = lab.sampler(&vk::SamplerCreateInfo::default().max_lod(LEVELS as f32))?;
    let images = (0..TYPES[0].1)
        .map(|n| Ok(vk::DescriptorImageInfo { sampler, image_view: texture(lab, n)?, image_layout: READ }))
        .collect::<Result<Vec<_>, Error>>()?;
    let buffers = |count: u32, usage: vk::BufferUsageFlags| {
        (0..count)
            .map(|n| {
                let buffer = block(lab, n + 10 * usage.as_raw(), usage)?;
                Ok(vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE })
            })
            .collect::<Result<Vec<_>, Error>>()
    };
    let uniform = buffers(TYPES[1].1, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
    let storage = buffers(TYPES[2].1, vk::BufferUsageFlags::STORAGE_BUFFER)?;
    let write = |number: u32| {
        let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(number);
        write.descriptor_type(TYPES[number as usize].0)
    };
    let writes =
        [write(0).image_info(&images), write(1).buffer_info(&uniform), write(2).buffer_info(&storage)];
    // SAFETY: the handles live as long as the lab, the set is not in use.
    unsafe { lab.device.update_descriptor_sets(&writes, &[]) };
    Ok((layout, set))
}

/// Binds a set and tells the shader its index.
fn bind(
    lab: &Lab<'_>,
    commands: vk::CommandBuffer,
    (layout, set): (vk::PipelineLayout, vk::DescriptorSet),
    index: u32,
) {
    let point = vk::PipelineBindPoint::GRAPHICS;
    // SAFETY: the handles live as long as the lab.
    unsafe {
        lab.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
        let bytes = index.to_le_bytes();
        lab.device.cmd_push_constants(commands, layout, PUSH.stage_flags, PUSH.offset, &bytes);
    }
}

/// The shaders' constant that lets them branch where a device cannot index.
fn branches(lab: &Lab<'_>) -> (u32, u32) {
    (1, u32::from(!lab.harness.indexes_descriptors))
}

/// The left half with one element, the right half with another; or the elements side by side, in one draw.
fn draw(lab: &Lab<'_>, by_place: bool) -> Result<Picture, Error> {
    let bound = arrays(lab)?;
    let canvas = Canvas::new(lab, false)?;
    let state = Pipeline {
        fragment: shader!("arrays"),
        specialization: vec![(0, u32::from(by_place)), branches(lab)],
        layout: Some(bound.0),
        ..Pipeline::default()
    };
    let pipeline = lab.pipeline(canvas.pass, SIZE, &state)?;
    let all = lab.vertices(&everywhere())?;
    let right = lab.vertices(&rectangle([0.0, -1.0, 1.0, 1.0], 0.5, [1.0; 4]))?;
    canvas.draw(lab, |commands| {
        bind(lab, commands, bound, 3);
        lab.draw(commands, pipeline, all, 6);
        if !by_place {
            bind(lab, commands, bound, 4);
            lab.draw(commands, pipeline, right, 6);
        }
    })
}

/// Two input attachments, of which halves of the picture read one each.
fn inputs(lab: &Lab<'_>) -> Result<Picture, Error> {
    let one = vk::SampleCountFlags::TYPE_1;
    let targets =
        [lab.input(SIZE, FORMAT, one)?, lab.input(SIZE, FORMAT, one)?, lab.target(SIZE, FORMAT, one)?];
    let attachment = Attachment { format: FORMAT, ..CLEAR_STORE };
    let subpasses = [
        Subpass { color: Some(0), ..Subpass::default() },
        Subpass { color: Some(1), preserve: vec![0], ..Subpass::default() },
        Subpass { color: Some(2), inputs: vec![0, 1], ..Subpass::default() },
    ];
    let pass = lab.pass(&[attachment; 3], &subpasses)?;
    let framebuffer = lab.framebuffer(pass, &targets, SIZE)?;
    let ty = vk::DescriptorType::INPUT_ATTACHMENT;
    let binding = vk::DescriptorSetLayoutBinding::default().descriptor_type(ty).descriptor_count(2);
    let set_layouts = [lab.set_layout(&[binding.stage_flags(vk::ShaderStageFlags::FRAGMENT)])?];
    let push = [PUSH];
    let create =
        vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts).push_constant_ranges(&push);
    let layout = lab.pipeline_layout(&create)?;
    let set = lab.set(set_layouts[0], &[vk::DescriptorPoolSize { ty, descriptor_count: 2 }])?;
    let of = |at: usize| vk::DescriptorImageInfo {
        image_view: targets[at].view,
        image_layout: READ,
        ..Default::default()
    };
    let images = [of(0), of(1)];
    let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(ty).image_info(&images);
    // SAFETY: the handles live as long as the lab, the set is not in use.
    unsafe { lab.device.update_descriptor_sets(&[write], &[]) };
    let writers =
        [0, 1].map(|subpass| lab.pipeline(pass, SIZE, &Pipeline { subpass, ..Pipeline::default() }));
    let reader = Pipeline {
        fragment: shader!("arrays_input"),
        specialization: vec![branches(lab)],
        layout: Some(layout),
        subpass: 2,
        ..Pipeline::default()
    };
    let reader = lab.pipeline(pass, SIZE, &reader)?;
    let all = lab.vertices(&everywhere())?;
    let middle = lab.vertices(&rectangle([-0.5, -0.5, 0.5, 0.5], 0.5, [0.0, 1.0, 0.0, 1.0]))?;
    let right = lab.vertices(&rectangle([0.0, -1.0, 1.0, 1.0], 0.5, [1.0; 4]))?;
    let [first, second] = writers;
    let (first, second) = (first?, second?);
    lab.run(|commands| {
        let clears = [color([0.25, 0.5, 0.75, 1.0]), color([1.0, 0.0, 0.5, 1.0]), color([0.0; 4])];
        lab.begin(commands, pass, framebuffer, area(SIZE), &clears);
        lab.draw(commands, first, middle, 6);
        // SAFETY: the handles live as long as the lab.
        unsafe { lab.device.cmd_next_subpass(commands, vk::SubpassContents::INLINE) };
        lab.draw(commands, second, right, 6);
        // SAFETY: see above.
        unsafe { lab.device.cmd_next_subpass(commands, vk::SubpassContents::INLINE) };
        bind(lab, commands, (layout, set), 0);
        lab.draw(commands, reader, all, 6);
        bind(lab, commands, (layout, set), 1);
        lab.draw(commands, reader, right, 6);
        // SAFETY: see above.
        unsafe { lab.device.cmd_end_render_pass(commands) };
    })?;
    lab.picture(&targets[2])
}

//! Textures, uniform buffers and the layout that shows them to shaders.
#![allow(dead_code, unused_macros, unused_imports, reason = "not every suite draws with assembly")]

use ash::vk;

use super::{COLOR, Image, RGBA, Vk, extent};

/// A square texture of RGBA words.
pub fn texture(vk: &Vk, size: u32, texel: impl Fn(u32, u32) -> u32) -> Image {
    let image = vk.image(RGBA, size, size, vk::ImageUsageFlags::SAMPLED);
    let words = (0..size * size).flat_map(|i| texel(i % size, i / size).to_le_bytes());
    let buffer = vk.buffer_with(&words.collect::<Vec<u8>>());
    let region = vk::BufferImageCopy {
        image_subresource: COLOR,
        image_extent: extent(size, size),
        ..Default::default()
    };
    // SAFETY: valid usage.
    vk.run(|device, commands| unsafe {
        let layout = vk::ImageLayout::GENERAL;
        device.cmd_copy_buffer_to_image(commands, buffer.handle, image.handle, layout, &[region]);
    });
    image
}

/// A layout with a texture at binding 0, a uniform buffer at binding 1 and push constants, and a set of it.
pub struct Resources {
    pub layout: vk::PipelineLayout,
    pub set: vk::DescriptorSet,
}

pub const PUSH_BYTES: u32 = 16;

impl Resources {
    pub fn new(vk: &Vk, image: &Image, uniforms: &[u8]) -> Resources {
        let buffer = vk.buffer_with(uniforms);
        let binding = |binding, descriptor_type| {
            let stages = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT;
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(descriptor_type)
                .descriptor_count(1)
                .stage_flags(stages)
        };
        let (texture, block) =
            (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::DescriptorType::UNIFORM_BUFFER);
        let bindings = [binding(0, texture), binding(1, block)];
        let push = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT,
            offset: 0,
            size: PUSH_BYTES,
        }];
        // SAFETY: valid usage.
        unsafe {
            let device = &vk.device;
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layouts = [device.create_descriptor_set_layout(&info, None).unwrap()];
            let info =
                vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&push);
            let layout = device.create_pipeline_layout(&info, None).unwrap();
            let size = |ty| vk::DescriptorPoolSize { ty, descriptor_count: 1 };
            let sizes = [size(texture), size(block)];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None).unwrap();
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let set = device.allocate_descriptor_sets(&info).unwrap()[0];
            let info = vk::SamplerCreateInfo::default()
                .mag_filter(vk::Filter::LINEAR)
                .min_filter(vk::Filter::LINEAR)
                .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
                .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE);
            let sampler = device.create_sampler(&info, None).unwrap();
            let image_layout = vk::ImageLayout::GENERAL;
            let image = [vk::DescriptorImageInfo { sampler, image_view: image.view, image_layout }];
            let block_info =
                [vk::DescriptorBufferInfo { buffer: buffer.handle, offset: 0, range: vk::WHOLE_SIZE }];
            let write = |binding, ty| {
                vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).descriptor_type(ty)
            };
            let writes = [write(0, texture).image_info(&image), write(1, block).buffer_info(&block_info)];
            device.update_descriptor_sets(&writes, &[]);
            Resources { layout, set }
        }
    }

    pub fn bind(&self, device: &ash::Device, commands: vk::CommandBuffer, push: &[u8]) {
        let stages = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT;
        // SAFETY: valid usage.
        unsafe {
            let graphics = vk::PipelineBindPoint::GRAPHICS;
            device.cmd_bind_descriptor_sets(commands, graphics, self.layout, 0, &[self.set], &[]);
            device.cmd_push_constants(commands, self.layout, stages, 0, push);
        }
    }
}

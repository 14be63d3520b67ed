//! Images with levels and layers, samplers, texel and storage buffers for scenes.

use ash::vk;

use super::{Buffer, Error, Harness, Image, Named};
use crate::scenes::resources::{ImageSource, Resource};

/// What a descriptor points to.
#[derive(Default)]
pub(super) struct Made {
    pub image: Option<Image>,
    pub sampler: Option<vk::Sampler>,
    pub buffer: Option<Buffer>,
    pub view: Option<vk::BufferView>,
}

/// Type of the descriptors of a resource.
pub(super) fn descriptor_type(resource: &Resource) -> vk::DescriptorType {
    match resource {
        Resource::Combined(..) => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        Resource::Image(_) => vk::DescriptorType::SAMPLED_IMAGE,
        Resource::StorageImage(_) => vk::DescriptorType::STORAGE_IMAGE,
        Resource::Sampler(_) => vk::DescriptorType::SAMPLER,
        Resource::Texels(..) => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
        Resource::Storage(_) => vk::DescriptorType::STORAGE_BUFFER,
    }
}

/// Usage of the image of a descriptor.
fn usage(ty: vk::DescriptorType) -> vk::ImageUsageFlags {
    match ty {
        vk::DescriptorType::STORAGE_IMAGE => vk::ImageUsageFlags::STORAGE,
        _ => vk::ImageUsageFlags::SAMPLED,
    }
}

/// Layout in which shaders find it.
fn layout(ty: vk::DescriptorType) -> vk::ImageLayout {
    match ty {
        vk::DescriptorType::STORAGE_IMAGE => vk::ImageLayout::GENERAL,
        _ => vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
    }
}

// SAFETY (for every block of this file): as in the parent module.
impl Harness {
    pub(super) fn resource(&self, resource: &Resource) -> Result<Made, Error> {
        let sampler = |info: &vk::SamplerCreateInfo<'_>| {
            // SAFETY: see above.
            unsafe { self.device.create_sampler(info, None).named("vkCreateSampler") }
        };
        let image = |source: &ImageSource| {
            let ty = descriptor_type(resource);
            self.filled_image(source, usage(ty), layout(ty)).map(Some)
        };
        Ok(match resource {
            Resource::Combined(source, info) => {
                Made { image: image(source)?, sampler: Some(sampler(info)?), ..Made::default() }
            }
            Resource::Image(source) | Resource::StorageImage(source) => {
                Made { image: image(source)?, ..Made::default() }
            }
            Resource::Sampler(info) => Made { sampler: Some(sampler(info)?), ..Made::default() },
            Resource::Texels(format, bytes) => {
                let buffer = self.buffer(bytes, vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER)?;
                let create = vk::BufferViewCreateInfo::default()
                    .buffer(buffer.buffer)
                    .format(*format)
                    .range(vk::WHOLE_SIZE);
                // SAFETY: see above.
                let view =
                    unsafe { self.device.create_buffer_view(&create, None).named("vkCreateBufferView")? };
                Made { buffer: Some(buffer), view: Some(view), ..Made::default() }
            }
            Resource::Storage(bytes) => Made {
                buffer: Some(self.buffer(bytes, vk::BufferUsageFlags::STORAGE_BUFFER)?),
                ..Made::default()
            },
        })
    }

    /// Writes the descriptors of an arrayed binding.
    pub(super) fn write_resources(
        &self,
        set: vk::DescriptorSet,
        binding: u32,
        ty: vk::DescriptorType,
        made: &[Made],
    ) {
        for (element, made) in (0..).zip(made) {
            let image = [vk::DescriptorImageInfo {
                sampler: made.sampler.unwrap_or_default(),
                image_view: made.image.as_ref().map_or(vk::ImageView::null(), |image| image.view),
                image_layout: layout(ty),
            }];
            let buffer = [vk::DescriptorBufferInfo {
                buffer: made.buffer.as_ref().map_or(vk::Buffer::null(), |buffer| buffer.buffer),
                offset: 0,
                range: vk::WHOLE_SIZE,
            }];
            let view = [made.view.unwrap_or_default()];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(binding)
                .dst_array_element(element)
                .descriptor_type(ty);
            let write = match ty {
                vk::DescriptorType::UNIFORM_TEXEL_BUFFER => write.texel_buffer_view(&view),
                vk::DescriptorType::STORAGE_BUFFER => write.buffer_info(&buffer),
                _ => write.image_info(&image),
            };
            // SAFETY: see above.
            unsafe { self.device.update_descriptor_sets(&[write], &[]) };
        }
    }

    pub(super) fn release_resource(&self, made: Made) {
        // SAFETY: see above; the queue is idle.
        unsafe {
            made.sampler.into_iter().for_each(|sampler| self.device.destroy_sampler(sampler, None));
            made.view.into_iter().for_each(|view| self.device.destroy_buffer_view(view, None));
        }
        made.image.into_iter().for_each(|image| self.destroy_image(image));
        made.buffer.into_iter().for_each(|buffer| self.destroy_buffer(buffer));
    }

    /// An image with all its levels and layers copied from a buffer.
    fn filled_image(
        &self,
        source: &ImageSource,
        usage: vk::ImageUsageFlags,
        read: vk::ImageLayout,
    ) -> Result<Image, Error> {
        let [width, height, depth] = source.size;
        let flags = match source.view {
            vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY => vk::ImageCreateFlags::CUBE_COMPATIBLE,
            _ if source.cube_compatible => vk::ImageCreateFlags::CUBE_COMPATIBLE,
            _ => vk::ImageCreateFlags::empty(),
        };
        let create = vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(match source.view {
                vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_1D_ARRAY => vk::ImageType::TYPE_1D,
                vk::ImageViewType::TYPE_3D => vk::ImageType::TYPE_3D,
                _ => vk::ImageType::TYPE_2D,
            })
            .format(source.format)
            .extent(vk::Extent3D { width, height, depth })
            .mip_levels(source.levels)
            .array_layers(source.layers)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage | vk::ImageUsageFlags::TRANSFER_DST);
        let aspect = source.aspect();
        let all = vk::ImageSubresourceRange {
            aspect_mask: aspect,
            base_mip_level: 0,
            level_count: source.levels,
            base_array_layer: 0,
            layer_count: source.layers,
        };
        // SAFETY: see above.
        let image = unsafe {
            let image = self.device.create_image(&create, None).named("vkCreateImage")?;
            let needs = self.device.get_image_memory_requirements(image);
            let memory = self.memory(needs, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
            self.device.bind_image_memory(image, memory, 0).named("vkBindImageMemory")?;
            let create = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(source.view)
                .format(source.format)
                .subresource_range(vk::ImageSubresourceRange {
                    base_mip_level: source.base_level,
                    level_count: vk::REMAINING_MIP_LEVELS,
                    ..all
                });
            let view = self.device.create_image_view(&create, None).named("vkCreateImageView")?;
            Image { image, memory, view }
        };
        let (bytes, regions) = source.content();
        let staging = self.buffer(&bytes, vk::BufferUsageFlags::TRANSFER_SRC)?;
        let barrier = |old, new, src, dst| {
            vk::ImageMemoryBarrier::default()
                .old_layout(old)
                .new_layout(new)
                .src_access_mask(src)
                .dst_access_mask(dst)
                .image(image.image)
                .subresource_range(all)
        };
        let write = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        let none = vk::AccessFlags::empty();
        let before = [barrier(vk::ImageLayout::UNDEFINED, write, none, vk::AccessFlags::TRANSFER_WRITE)];
        let after = [barrier(write, read, vk::AccessFlags::TRANSFER_WRITE, vk::AccessFlags::SHADER_READ)];
        let (transfer, top) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::TOP_OF_PIPE);
        let shader = vk::PipelineStageFlags::VERTEX_SHADER | vk::PipelineStageFlags::FRAGMENT_SHADER;
        self.submit(|commands| {
            let flags = vk::DependencyFlags::empty();
            // SAFETY: see above.
            unsafe {
                self.device.cmd_pipeline_barrier(commands, top, transfer, flags, &[], &[], &before);
                self.device.cmd_copy_buffer_to_image(commands, staging.buffer, image.image, write, &regions);
                self.device.cmd_pipeline_barrier(commands, transfer, shader, flags, &[], &[], &after);
            }
        })?;
        self.destroy_buffer(staging);
        Ok(image)
    }
}

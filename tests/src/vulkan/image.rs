//! Images with memory, their views and what is copied into them.

use ash::vk;

use super::error::{Error, Named};
use super::lab::{Lab, Object};
use crate::format::aspects;

/// An image and a view of all of it.
#[derive(Clone, Copy)]
pub struct Target {
    /// The image.
    pub image: vk::Image,
    /// Its view.
    pub view: vk::ImageView,
    /// Its format.
    pub format: vk::Format,
    /// Samples.
    pub samples: vk::SampleCountFlags,
    /// Pixels.
    pub size: [u32; 2],
}

/// The first level and layer of an image.
pub fn first_level(aspect_mask: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask,
        base_mip_level: 0,
        level_count: 1,
        base_array_layer: 0,
        layer_count: 1,
    }
}

/// A 2D image with one level and one layer.
pub(crate) fn flat(
    [width, height]: [u32; 2],
    format: vk::Format,
    samples: vk::SampleCountFlags,
    usage: vk::ImageUsageFlags,
) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width, height, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(samples)
        .tiling(vk::ImageTiling::OPTIMAL)
        .usage(usage)
}

/// All of the first level of a colour image, copied from or to a buffer.
pub(crate) fn whole([width, height]: [u32; 2]) -> vk::BufferImageCopy {
    vk::BufferImageCopy::default()
        .image_subresource(vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: 1,
        })
        .image_extent(vk::Extent3D { width, height, depth: 1 })
}

// SAFETY (for every block of this file): handles come from this device and live until the lab is dropped, when the
// queue is idle; create infos point to locals that outlive the call; one thread uses the lab.
impl Lab<'_> {
    /// A depth and stencil format of the device.
    pub fn depth_stencil_format(&self) -> vk::Format {
        let formats = [vk::Format::D24_UNORM_S8_UINT, vk::Format::D32_SFLOAT_S8_UINT];
        let wanted = vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT;
        let usable = |format: &vk::Format| self.harness.optimal_features(*format).contains(wanted);
        formats.into_iter().find(usable).unwrap_or(formats[0])
    }

    /// An image with memory of its own.
    pub(crate) fn image(&self, create: &vk::ImageCreateInfo<'_>) -> Result<vk::Image, Error> {
        // SAFETY: see above.
        unsafe {
            let image = self.device.create_image(create, None).named("vkCreateImage")?;
            self.keep(Object::Image(image));
            let needs = self.device.get_image_memory_requirements(image);
            let memory = self.harness.memory(needs, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
            self.keep(Object::Memory(memory));
            self.device.bind_image_memory(image, memory, 0).named("vkBindImageMemory")?;
            Ok(image)
        }
    }

    /// A view of any kind.
    pub(crate) fn image_view(&self, create: &vk::ImageViewCreateInfo<'_>) -> Result<vk::ImageView, Error> {
        // SAFETY: see above.
        let view = unsafe { self.device.create_image_view(create, None).named("vkCreateImageView")? };
        self.keep(Object::View(view));
        Ok(view)
    }

    /// A view of some aspects of an image.
    pub fn view(
        &self,
        image: vk::Image,
        format: vk::Format,
        aspects: vk::ImageAspectFlags,
    ) -> Result<vk::ImageView, Error> {
        let create = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(first_level(aspects));
        self.image_view(&create)
    }

    /// An image with memory, to be drawn to and copied.
    pub fn target(
        &self,
        size: [u32; 2],
        format: vk::Format,
        samples: vk::SampleCountFlags,
    ) -> Result<Target, Error> {
        self.attachment(size, format, samples, vk::ImageUsageFlags::empty())
    }

    /// As [`Lab::target`], to be an input attachment too.
    pub fn input(
        &self,
        size: [u32; 2],
        format: vk::Format,
        samples: vk::SampleCountFlags,
    ) -> Result<Target, Error> {
        self.attachment(size, format, samples, vk::ImageUsageFlags::INPUT_ATTACHMENT)
    }

    fn attachment(
        &self,
        size: [u32; 2],
        format: vk::Format,
        samples: vk::SampleCountFlags,
        more: vk::ImageUsageFlags,
    ) -> Result<Target, Error> {
        let aspects = aspects(format);
        let usage = match aspects {
            vk::ImageAspectFlags::COLOR => vk::ImageUsageFlags::COLOR_ATTACHMENT,
            _ => vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        };
        let usage = usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST | more;
        let image = self.image(&flat(size, format, samples, usage))?;
        Ok(Target { image, view: self.view(image, format, aspects)?, format, samples, size })
    }

    /// Copies texels into an image that shaders find in the layout `read` from then on.
    pub(crate) fn upload(
        &self,
        image: vk::Image,
        all: vk::ImageSubresourceRange,
        texels: &[u8],
        regions: &[vk::BufferImageCopy],
        read: vk::ImageLayout,
    ) -> Result<(), Error> {
        let staging = self.buffer(texels, vk::BufferUsageFlags::TRANSFER_SRC)?;
        let barrier = |old, new, src, dst| {
            vk::ImageMemoryBarrier::default()
                .old_layout(old)
                .new_layout(new)
                .src_access_mask(src)
                .dst_access_mask(dst)
                .image(image)
                .subresource_range(all)
        };
        let write = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        let none = vk::AccessFlags::empty();
        let before = [barrier(vk::ImageLayout::UNDEFINED, write, none, vk::AccessFlags::TRANSFER_WRITE)];
        let after = [barrier(write, read, vk::AccessFlags::TRANSFER_WRITE, vk::AccessFlags::SHADER_READ)];
        let (transfer, top) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::TOP_OF_PIPE);
        let shader = vk::PipelineStageFlags::VERTEX_SHADER
            | vk::PipelineStageFlags::FRAGMENT_SHADER
            | vk::PipelineStageFlags::COMPUTE_SHADER;
        self.run(|commands| {
            let flags = vk::DependencyFlags::empty();
            // SAFETY: see above.
            unsafe {
                self.device.cmd_pipeline_barrier(commands, top, transfer, flags, &[], &[], &before);
                self.device.cmd_copy_buffer_to_image(commands, staging, image, write, regions);
                self.device.cmd_pipeline_barrier(commands, transfer, shader, flags, &[], &[], &after);
            }
        })
    }
}

//! What the draws of a scene read: resources become images, samplers and buffers, and these a descriptor set.

use std::collections::BTreeMap;

use ash::vk;

use crate::format::aspects;
use crate::scene::{Draw, ImageSource, Resource, Texture};
use crate::vulkan::{Error, Lab, first_level, flat, whole};

/// Format of textures.
const TEXTURE_FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// Both stages see one push-constant range.
pub(super) const PUSH_STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::VERTEX.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw(),
);

/// A set of everything that a draw reads, and the layout of the pipelines that read it.
pub(super) struct Bindings {
    pub layout: vk::PipelineLayout,
    pub set: vk::DescriptorSet,
}

/// A binding with its elements.
struct Binding {
    number: u32,
    ty: vk::DescriptorType,
    elements: Vec<Element>,
    /// Whether its samplers belong to the layout.
    immutable_samplers: bool,
}

/// What a descriptor points to.
#[derive(Default)]
struct Element {
    image: vk::ImageView,
    sampler: vk::Sampler,
    buffer: vk::Buffer,
    texels: vk::BufferView,
}

/// Type of the descriptors of a resource.
fn descriptor_type(resource: &Resource) -> vk::DescriptorType {
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

impl Bindings {
    /// Makes all that a draw reads.
    pub(super) fn new(lab: &Lab<'_>, draw: &Draw) -> Result<Bindings, Error> {
        let bindings = bindings(lab, draw)?;
        let samplers: Vec<Vec<vk::Sampler>> = bindings.iter().map(Binding::immutable).collect();
        let stages = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT;
        let described: Vec<_> = bindings
            .iter()
            .zip(&samplers)
            .map(|(binding, samplers)| {
                let described = vk::DescriptorSetLayoutBinding::default()
                    .binding(binding.number)
                    .descriptor_type(binding.ty)
                    .descriptor_count(binding.elements.len() as u32)
                    .stage_flags(stages);
                if samplers.is_empty() { described } else { described.immutable_samplers(samplers) }
            })
            .collect();
        let set_layout = lab.set_layout(&described)?;
        let set_layouts = [set_layout];
        let push =
            [vk::PushConstantRange { stage_flags: PUSH_STAGES, offset: 0, size: draw.push.len() as u32 }];
        let mut create = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
        if !draw.push.is_empty() {
            create = create.push_constant_ranges(&push);
        }
        let layout = lab.pipeline_layout(&create)?;
        let sizes = [
            vk::DescriptorType::UNIFORM_BUFFER,
            vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            vk::DescriptorType::SAMPLED_IMAGE,
            vk::DescriptorType::STORAGE_IMAGE,
            vk::DescriptorType::SAMPLER,
            vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
            vk::DescriptorType::STORAGE_BUFFER,
        ]
        .map(|ty| vk::DescriptorPoolSize { ty, descriptor_count: 8 });
        let set = lab.set(set_layout, &sizes)?;
        bindings.iter().for_each(|binding| binding.write(lab, set));
        Ok(Bindings { layout, set })
    }
}

impl Binding {
    /// The samplers that belong to the layout.
    fn immutable(&self) -> Vec<vk::Sampler> {
        let samplers = self.elements.iter().map(|element| element.sampler);
        samplers.filter(|&sampler| self.immutable_samplers && sampler != vk::Sampler::null()).collect()
    }

    /// Writes the descriptors.
    fn write(&self, lab: &Lab<'_>, set: vk::DescriptorSet) {
        if self.immutable_samplers && self.ty == vk::DescriptorType::SAMPLER {
            return;
        }
        for (index, element) in (0..).zip(&self.elements) {
            let image = [vk::DescriptorImageInfo {
                sampler: element.sampler,
                image_view: element.image,
                image_layout: layout(self.ty),
            }];
            let buffer =
                [vk::DescriptorBufferInfo { buffer: element.buffer, offset: 0, range: vk::WHOLE_SIZE }];
            let texels = [element.texels];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(self.number)
                .dst_array_element(index)
                .descriptor_type(self.ty);
            let write = match self.ty {
                vk::DescriptorType::UNIFORM_TEXEL_BUFFER => write.texel_buffer_view(&texels),
                vk::DescriptorType::UNIFORM_BUFFER | vk::DescriptorType::STORAGE_BUFFER => {
                    write.buffer_info(&buffer)
                }
                _ => write.image_info(&image),
            };
            // SAFETY: all handles live as long as the lab, and nothing runs that reads the set.
            unsafe { lab.device.update_descriptor_sets(&[write], &[]) };
        }
    }
}

/// Everything that a draw reads, by binding.
fn bindings(lab: &Lab<'_>, draw: &Draw) -> Result<Vec<Binding>, Error> {
    let mut blocks: BTreeMap<u32, Vec<Element>> = BTreeMap::new();
    for (number, content) in &draw.uniforms {
        let buffer = lab.buffer(content, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
        blocks.entry(*number).or_default().push(Element { buffer, ..Element::default() });
    }
    let ty = vk::DescriptorType::UNIFORM_BUFFER;
    let mut bindings: Vec<Binding> = blocks
        .into_iter()
        .map(|(number, elements)| Binding { number, ty, elements, immutable_samplers: false })
        .collect();
    for (number, content, filter) in &draw.textures {
        let element = Element {
            image: texture(lab, content)?,
            sampler: lab.sampler(&repeated(*filter))?,
            ..Element::default()
        };
        let ty = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
        bindings.push(Binding { number: *number, ty, elements: vec![element], immutable_samplers: false });
    }
    for (number, resources) in &draw.resources {
        let ty = resources.first().map(descriptor_type).ok_or("a binding without elements")?;
        let elements =
            resources.iter().map(|resource| element(lab, resource)).collect::<Result<Vec<_>, _>>()?;
        let immutable_samplers = draw.immutable_samplers;
        bindings.push(Binding { number: *number, ty, elements, immutable_samplers });
    }
    Ok(bindings)
}

fn element(lab: &Lab<'_>, resource: &Resource) -> Result<Element, Error> {
    let image = |source: &ImageSource| {
        let ty = descriptor_type(resource);
        filled_image(lab, source, usage(ty), layout(ty))
    };
    Ok(match resource {
        Resource::Combined(source, info) => {
            Element { image: image(source)?, sampler: lab.sampler(info)?, ..Element::default() }
        }
        Resource::Image(source) | Resource::StorageImage(source) => {
            Element { image: image(source)?, ..Element::default() }
        }
        Resource::Sampler(info) => Element { sampler: lab.sampler(info)?, ..Element::default() },
        Resource::Texels(format, bytes) => {
            let buffer = lab.buffer(bytes, vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER)?;
            Element { buffer, texels: lab.buffer_view(buffer, *format)?, ..Element::default() }
        }
        Resource::Storage(bytes) => {
            Element { buffer: lab.buffer(bytes, vk::BufferUsageFlags::STORAGE_BUFFER)?, ..Element::default() }
        }
    })
}

/// A sampler of a texture.
fn repeated(filter: vk::Filter) -> vk::SamplerCreateInfo<'static> {
    vk::SamplerCreateInfo::default()
        .mag_filter(filter)
        .min_filter(filter)
        .address_mode_u(vk::SamplerAddressMode::REPEAT)
        .address_mode_v(vk::SamplerAddressMode::REPEAT)
        .address_mode_w(vk::SamplerAddressMode::REPEAT)
}

fn texture(lab: &Lab<'_>, texture: &Texture) -> Result<vk::ImageView, Error> {
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let (size, all) = ([texture.size; 2], first_level(vk::ImageAspectFlags::COLOR));
    let image = lab.image(&flat(size, TEXTURE_FORMAT, vk::SampleCountFlags::TYPE_1, usage))?;
    let read = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
    lab.upload(image, all, &texture.rgba, &[whole(size)], read)?;
    lab.view(image, TEXTURE_FORMAT, vk::ImageAspectFlags::COLOR)
}

/// An image with all its levels and layers, in the layout `read`.
fn filled_image(
    lab: &Lab<'_>,
    source: &ImageSource,
    usage: vk::ImageUsageFlags,
    read: vk::ImageLayout,
) -> Result<vk::ImageView, Error> {
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
    let image = lab.image(&create)?;
    let all = vk::ImageSubresourceRange {
        aspect_mask: aspects(source.format),
        base_mip_level: 0,
        level_count: source.levels,
        base_array_layer: 0,
        layer_count: source.layers,
    };
    let (texels, regions) = source.content();
    lab.upload(image, all, &texels, &regions, read)?;
    let create = vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(source.view)
        .format(source.format)
        .subresource_range(vk::ImageSubresourceRange {
            base_mip_level: source.base_level,
            level_count: vk::REMAINING_MIP_LEVELS,
            ..all
        });
    lab.image_view(&create)
}

//! What kernels are bound to: binding n of set 0 is resource n.

use ash::vk;

use crate::format::{aspects, texel_info};
use crate::hash::hash;
use crate::vulkan::{Buffer, Error, Lab};

/// An image's shape.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Of its view.
    pub ty: vk::ImageViewType,
    /// Texels, and layers behind them.
    pub size: [u32; 3],
    /// Layers.
    pub layers: u32,
    /// Levels.
    pub levels: u32,
}

impl Shape {
    /// A two-dimensional one.
    pub fn flat(width: u32, height: u32) -> Shape {
        Shape { ty: vk::ImageViewType::TYPE_2D, size: [width, height, 1], layers: 1, levels: 1 }
    }

    fn image_type(&self) -> vk::ImageType {
        match self.ty {
            vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_1D_ARRAY => vk::ImageType::TYPE_1D,
            vk::ImageViewType::TYPE_3D => vk::ImageType::TYPE_3D,
            _ => vk::ImageType::TYPE_2D,
        }
    }

    fn level(&self, level: u32) -> [u32; 3] {
        self.size.map(|edge| (edge >> level).max(1))
    }

    fn texels(&self, level: u32) -> u32 {
        self.level(level).iter().product::<u32>() * self.layers
    }
}

/// How a sampler looks at an image.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub filter: vk::Filter,
    pub mip: vk::SamplerMipmapMode,
    pub wrap: vk::SamplerAddressMode,
    pub border: vk::BorderColor,
    pub compare: Option<vk::CompareOp>,
    pub unnormalized: bool,
    pub bias: f32,
    pub lods: [f32; 2],
    /// Faces of cubes end at their edges.
    pub seams: bool,
    /// Samples along what a footprint is longer than wide; 1 is none.
    pub anisotropy: f32,
}

impl Default for Look {
    fn default() -> Look {
        Look {
            filter: vk::Filter::NEAREST,
            mip: vk::SamplerMipmapMode::NEAREST,
            wrap: vk::SamplerAddressMode::CLAMP_TO_EDGE,
            border: vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
            compare: None,
            unnormalized: false,
            bias: 0.0,
            lods: [0.0, 16.0],
            seams: false,
            anisotropy: 1.0,
        }
    }
}

/// Something that is bound.
#[derive(Clone, Debug)]
pub enum Resource {
    /// A buffer: its descriptor type, content, and the bytes that are bound.
    Buffer(vk::DescriptorType, Vec<u8>, Option<[u64; 2]>),
    /// A texel buffer: whether it is written, format and content.
    Texels(bool, vk::Format, Vec<u8>),
    /// An image that kernels write.
    Storage(vk::Format, Shape),
    /// An image with a sampler.
    Sampled(vk::Format, Shape, Look, vk::ComponentMapping),
    /// An image of its own, looked at through [`Resource::Sampler`].
    Image(vk::Format, Shape),
    /// A sampler.
    Sampler(Look),
    /// A descriptor of this type that is never written.
    Unwritten(vk::DescriptorType),
    /// An array of things of a kind.
    Array(Vec<Resource>),
}

impl Resource {
    /// A storage buffer.
    pub fn words(words: &[u32]) -> Resource {
        let content = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Resource::Buffer(vk::DescriptorType::STORAGE_BUFFER, content, None)
    }

    /// A storage buffer of so many zeros.
    pub fn zeros(words: usize) -> Resource {
        Resource::words(&vec![0; words])
    }

    /// An image that is looked at as it is.
    pub fn sampled(format: vk::Format, shape: Shape, look: Look) -> Resource {
        Resource::Sampled(format, shape, look, vk::ComponentMapping::default())
    }

    /// Bytes of plain buffers.
    pub fn buffer_bytes(&self) -> usize {
        match self {
            Resource::Buffer(_, content, _) => content.len(),
            Resource::Array(elements) => elements.iter().map(Resource::buffer_bytes).sum(),
            _ => 0,
        }
    }

    /// What is bound, one behind the other.
    fn elements(&self) -> &[Resource] {
        match self {
            Resource::Array(elements) => elements,
            one => std::slice::from_ref(one),
        }
    }

    fn ty(&self) -> vk::DescriptorType {
        match self {
            Resource::Buffer(ty, ..) | Resource::Unwritten(ty) => *ty,
            Resource::Texels(true, ..) => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
            Resource::Texels(false, ..) => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
            Resource::Storage(..) => vk::DescriptorType::STORAGE_IMAGE,
            Resource::Sampled(..) => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            Resource::Image(..) => vk::DescriptorType::SAMPLED_IMAGE,
            Resource::Sampler(_) => vk::DescriptorType::SAMPLER,
            Resource::Array(elements) => elements[0].ty(),
        }
    }
}

/// Texels that a format can hold without rounding, without numbers that are none.
pub fn texels(format: vk::Format, count: u32, seed: u32) -> Vec<u8> {
    let number = |n: u32, component: u32| hash(&[seed, n, component]);
    let Some(info) = texel_info(format) else {
        // Depths: fractions of what 16 bits can hold, exact in all of them but for the last rounding.
        return (0..count)
            .flat_map(|n| match format {
                vk::Format::D16_UNORM => (number(n, 0) as u16).to_le_bytes().to_vec(),
                _ => ((number(n, 0) & 0xffff) as f32 / 65535.0).to_le_bytes().to_vec(),
            })
            .collect();
    };
    let texel = |n: u32| {
        let color = [0, 1, 2, 3].map(|component| match info.is_integer() {
            true => number(n, component),
            false => (((number(n, component) & 0xffff) as f32 / 65535.0 - 0.25) * 1.5).to_bits(),
        });
        info.encode(color).to_le_bytes()[..info.bytes as usize].to_vec()
    };
    (0..count).flat_map(texel).collect()
}

/// An image in memory.
struct BoundImage {
    image: vk::Image,
    format: vk::Format,
    shape: Shape,
    written: bool,
}

/// What is bound, and what is read of it afterwards.
pub(super) struct Bound {
    pub layout: vk::PipelineLayout,
    pub set: vk::DescriptorSet,
    buffers: Vec<(u32, Buffer, usize)>,
    /// Those of `buffers` that have no format.
    plain: Vec<u32>,
    images: Vec<BoundImage>,
}

impl Bound {
    /// Makes resources and their set.
    pub fn new(lab: &Lab<'_>, resources: &[Resource], push_bytes: u32) -> Result<Bound, Error> {
        let bindings: Vec<_> = (0..)
            .zip(resources)
            .map(|(number, resource)| {
                let binding = vk::DescriptorSetLayoutBinding::default().binding(number);
                let binding = binding.descriptor_count(resource.elements().len() as u32);
                binding.descriptor_type(resource.ty()).stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let set_layout = lab.set_layout(&bindings)?;
        let sizes: Vec<_> = resources
            .iter()
            .map(|resource| vk::DescriptorPoolSize {
                ty: resource.ty(),
                descriptor_count: resource.elements().len() as u32,
            })
            .collect();
        let set = lab.set(set_layout, &sizes)?;
        let (layouts, push) = (
            [set_layout],
            [vk::PushConstantRange {
                stage_flags: vk::ShaderStageFlags::COMPUTE,
                offset: 0,
                size: push_bytes,
            }],
        );
        let mut create = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
        if push_bytes > 0 {
            create = create.push_constant_ranges(&push);
        }
        let layout = lab.pipeline_layout(&create)?;
        let mut bound = Bound { layout, set, buffers: Vec::new(), plain: Vec::new(), images: Vec::new() };
        for (number, resource) in (0..).zip(resources) {
            for (element, resource) in (0..).zip(resource.elements()) {
                bound.bind(lab, (number, element), resource)?;
            }
        }
        Ok(bound)
    }

    fn bind(
        &mut self,
        lab: &Lab<'_>,
        (number, element): (u32, u32),
        resource: &Resource,
    ) -> Result<(), Error> {
        let mut image = vk::DescriptorImageInfo::default().image_layout(vk::ImageLayout::GENERAL);
        let (mut buffer, mut view) = (vk::DescriptorBufferInfo::default(), vk::BufferView::null());
        match resource {
            Resource::Unwritten(_) | Resource::Array(_) => return Ok(()),
            Resource::Buffer(_, content, range) => {
                let made = self.buffer_of(lab, number, content)?;
                self.plain.push(number);
                let [offset, range] = range.unwrap_or([0, vk::WHOLE_SIZE]);
                buffer = vk::DescriptorBufferInfo { buffer: made, offset, range };
            }
            Resource::Texels(_, format, content) => {
                view = lab.buffer_view(self.buffer_of(lab, number, content)?, *format)?;
            }
            Resource::Storage(format, shape) => {
                image.image_view = self.image_of(lab, *format, *shape, true, Default::default())?;
            }
            Resource::Sampled(format, shape, look, mapping) => {
                image.image_view = self.image_of(lab, *format, *shape, false, *mapping)?;
                image.sampler = sampler(lab, look)?;
            }
            Resource::Image(format, shape) => {
                image.image_view = self.image_of(lab, *format, *shape, false, Default::default())?;
            }
            Resource::Sampler(look) => image.sampler = sampler(lab, look)?,
        }
        let (images, buffers, views) = ([image], [buffer], [view]);
        let write = vk::WriteDescriptorSet::default()
            .dst_set(self.set)
            .dst_binding(number)
            .dst_array_element(element)
            .descriptor_type(resource.ty());
        let write = match resource {
            Resource::Buffer(..) => write.buffer_info(&buffers),
            Resource::Texels(..) => write.texel_buffer_view(&views),
            _ => write.image_info(&images),
        };
        // SAFETY: the handles come from the lab and live as long as it; nothing uses the set yet.
        unsafe { lab.device.update_descriptor_sets(&[write], &[]) };
        Ok(())
    }

    fn buffer_of(&mut self, lab: &Lab<'_>, number: u32, content: &[u8]) -> Result<vk::Buffer, Error> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::UNIFORM_BUFFER
            | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER
            | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER
            | vk::BufferUsageFlags::INDIRECT_BUFFER;
        let buffer = lab.mapped(content, usage)?;
        self.buffers.push((number, buffer, content.len()));
        Ok(buffer.buffer)
    }

    fn image_of(
        &mut self,
        lab: &Lab<'_>,
        format: vk::Format,
        shape: Shape,
        written: bool,
        components: vk::ComponentMapping,
    ) -> Result<vk::ImageView, Error> {
        let [width, height, depth] = shape.size;
        // Only what is written is read back.
        let usage = match written {
            true => vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC,
            false => vk::ImageUsageFlags::SAMPLED,
        };
        let cube = matches!(shape.ty, vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY);
        let flags = if cube { vk::ImageCreateFlags::CUBE_COMPATIBLE } else { vk::ImageCreateFlags::empty() };
        let create = vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(shape.image_type())
            .format(format)
            .extent(vk::Extent3D { width, height, depth })
            .mip_levels(shape.levels)
            .array_layers(shape.layers)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage | vk::ImageUsageFlags::TRANSFER_DST);
        let image = lab.image(&create)?;
        let number = self.images.len() as u32;
        let content: Vec<u8> = (0..shape.levels)
            .flat_map(|level| texels(format, shape.texels(level), 16 * number + level))
            .collect();
        let regions = regions(format, shape);
        lab.upload(image, all(format, shape), &content, &regions, vk::ImageLayout::GENERAL)?;
        self.images.push(BoundImage { image, format, shape, written });
        let create = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(shape.ty)
            .format(format)
            .components(components)
            .subresource_range(all(format, shape));
        lab.image_view(&create)
    }

    /// The buffer of a binding.
    pub fn buffer(&self, number: u32) -> vk::Buffer {
        let found = self.buffers.iter().find(|(known, ..)| *known == number);
        found.map_or(vk::Buffer::null(), |(_, buffer, _)| buffer.buffer)
    }

    /// The bytes of all buffers, plain ones first, and of the images that may have been written.
    pub fn results(&self, lab: &Lab<'_>) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let is_plain = |plain: bool| {
            self.buffers.iter().filter(move |(number, ..)| self.plain.contains(number) == plain)
        };
        for (_, buffer, length) in is_plain(true).chain(is_plain(false)) {
            bytes.extend(lab.contents(buffer, *length)?);
        }
        for image in self.images.iter().filter(|image| image.written) {
            bytes.extend(image.contents(lab)?);
        }
        Ok(bytes)
    }
}

impl BoundImage {
    fn contents(&self, lab: &Lab<'_>) -> Result<Vec<u8>, Error> {
        let length: usize =
            (0..self.shape.levels).map(|level| bytes(self.format, self.shape.texels(level))).sum();
        let buffer = lab.mapped(&vec![0; length], vk::BufferUsageFlags::TRANSFER_DST)?;
        let regions = regions(self.format, self.shape);
        lab.run(|commands| {
            // SAFETY: image and buffer live as long as the lab, and the regions fit both.
            unsafe {
                let layout = vk::ImageLayout::GENERAL;
                lab.barrier(commands);
                lab.device.cmd_copy_image_to_buffer(commands, self.image, layout, buffer.buffer, &regions);
                lab.barrier(commands);
            }
        })?;
        lab.contents(&buffer, length)
    }
}

fn bytes(format: vk::Format, texels: u32) -> usize {
    let texel =
        texel_info(format).map_or(if format == vk::Format::D16_UNORM { 2 } else { 4 }, |info| info.bytes);
    (texel * texels) as usize
}

fn all(format: vk::Format, shape: Shape) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: aspects(format),
        base_mip_level: 0,
        level_count: shape.levels,
        base_array_layer: 0,
        layer_count: shape.layers,
    }
}

/// A region for each level, one behind the other.
fn regions(format: vk::Format, shape: Shape) -> Vec<vk::BufferImageCopy> {
    let mut offset = 0;
    (0..shape.levels)
        .map(|level| {
            let [width, height, depth] = shape.level(level);
            let region = vk::BufferImageCopy::default()
                .buffer_offset(offset)
                .image_subresource(vk::ImageSubresourceLayers {
                    aspect_mask: aspects(format),
                    mip_level: level,
                    base_array_layer: 0,
                    layer_count: shape.layers,
                })
                .image_extent(vk::Extent3D { width, height, depth });
            offset += bytes(format, shape.texels(level)) as u64;
            region
        })
        .collect()
}

fn sampler(lab: &Lab<'_>, look: &Look) -> Result<vk::Sampler, Error> {
    let flags = match look.seams {
        true => vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT,
        false => vk::SamplerCreateFlags::empty(),
    };
    let create = vk::SamplerCreateInfo::default()
        .flags(flags)
        .mag_filter(look.filter)
        .min_filter(look.filter)
        .mipmap_mode(look.mip)
        .address_mode_u(look.wrap)
        .address_mode_v(look.wrap)
        .address_mode_w(look.wrap)
        .border_color(look.border)
        .compare_enable(look.compare.is_some())
        .compare_op(look.compare.unwrap_or_default())
        .unnormalized_coordinates(look.unnormalized)
        .mip_lod_bias(look.bias)
        .anisotropy_enable(look.anisotropy > 1.0)
        .max_anisotropy(look.anisotropy)
        .min_lod(look.lods[0])
        .max_lod(look.lods[1]);
    lab.sampler(&create)
}

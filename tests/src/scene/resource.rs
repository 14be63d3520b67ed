//! Resources that scenes bind, as data: images with levels and layers and what is in them, samplers, buffers.

use ash::vk;

use crate::format::aspects;

/// What an element of a binding is.
#[derive(Clone)]
pub enum Resource {
    /// An image with its sampler.
    Combined(ImageSource, vk::SamplerCreateInfo<'static>),
    /// An image alone.
    Image(ImageSource),
    /// An image without sampler that shaders read as a storage image.
    StorageImage(ImageSource),
    /// A sampler alone.
    Sampler(vk::SamplerCreateInfo<'static>),
    /// A texel buffer.
    Texels(vk::Format, Vec<u8>),
    /// A storage buffer.
    Storage(Vec<u8>),
}

/// An image: a smooth pattern that tells position, layer and level.
#[derive(Clone, Copy)]
pub struct ImageSource {
    /// Type of the view, which that of the image follows from.
    pub view: vk::ImageViewType,
    /// Format.
    pub format: vk::Format,
    /// Texels of level 0.
    pub size: [u32; 3],
    /// Layers.
    pub layers: u32,
    /// Levels.
    pub levels: u32,
    /// First level of the view, which has all from there on.
    pub base_level: u32,
    /// Whether cubes can be seen in it, whatever its own view shows.
    pub cube_compatible: bool,
}

impl ImageSource {
    /// A 2D image.
    pub const fn flat(format: vk::Format, width: u32, height: u32, levels: u32) -> ImageSource {
        let (view, size) = (vk::ImageViewType::TYPE_2D, [width, height, 1]);
        ImageSource { view, format, size, layers: 1, levels, base_level: 0, cube_compatible: false }
    }

    /// Texels of a level along each axis.
    fn level_size(&self, level: u32) -> [u32; 3] {
        self.size.map(|edge| (edge >> level).max(1))
    }

    /// All texels, and the copies that bring them into the image.
    pub fn content(&self) -> (Vec<u8>, Vec<vk::BufferImageCopy>) {
        let (mut bytes, mut regions) = (Vec::new(), Vec::new());
        for level in 0..self.levels {
            let [width, height, depth] = self.level_size(level);
            regions.push(vk::BufferImageCopy {
                buffer_offset: bytes.len() as u64,
                image_subresource: vk::ImageSubresourceLayers {
                    aspect_mask: aspects(self.format),
                    mip_level: level,
                    base_array_layer: 0,
                    layer_count: self.layers,
                },
                image_extent: vk::Extent3D { width, height, depth },
                ..Default::default()
            });
            for layer in 0..self.layers * depth {
                for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
                    let place = [x as f32 / width as f32, y as f32 / height as f32];
                    bytes.extend(encoded(self.format, color(place, layer, level)));
                }
            }
            // Copies begin at multiples of a texel and of four bytes.
            bytes.resize(bytes.len().next_multiple_of(16), 0);
        }
        (bytes, regions)
    }
}

/// A colour that changes slowly with the place and much with layer and level.
fn color([x, y]: [f32; 2], layer: u32, level: u32) -> [f32; 4] {
    let wave = |v: f32| 0.5 + 0.4 * (v * std::f32::consts::TAU).sin();
    let step = |n: u32| (n * 5 % 8) as f32 / 8.0;
    [wave(x + step(layer)), wave(y + step(level)), wave(x + y + step(layer + level)), 1.0 - 0.5 * x]
}

fn encoded(format: vk::Format, color: [f32; 4]) -> Vec<u8> {
    let scaled = |count: usize, most: f32| color.into_iter().take(count).map(move |c| c * most);
    let bytes = |count: usize| scaled(count, 255.0).map(|c| c.round() as u8).collect();
    let signed = |count: usize| {
        scaled(count, 1.0).map(|c| ((c * 2.0 - 1.0) * 127.0).round() as i8 as u8).collect::<Vec<u8>>()
    };
    let halves = |count: usize| {
        let half = |c: f32| vc4::qpu::pack::f32_to_f16_nearest(c.to_bits()) as u16;
        scaled(count, 1.0).flat_map(|c| half(c).to_le_bytes()).collect()
    };
    match format {
        vk::Format::R8_UNORM | vk::Format::R8_UINT => bytes(1),
        vk::Format::R8G8_UNORM => bytes(2),
        vk::Format::R8G8B8A8_SNORM | vk::Format::R8G8B8A8_SINT => signed(4),
        vk::Format::R16_SFLOAT => halves(1),
        vk::Format::R16G16_SFLOAT => halves(2),
        vk::Format::R16G16B16A16_SFLOAT => halves(4),
        vk::Format::R32_SFLOAT => scaled(1, 1.0).flat_map(f32::to_le_bytes).collect(),
        vk::Format::R32G32B32A32_SFLOAT => scaled(4, 1.0).flat_map(f32::to_le_bytes).collect(),
        vk::Format::R32_UINT => scaled(1, 255.0).flat_map(|c| (c as u32).to_le_bytes()).collect(),
        vk::Format::D16_UNORM => scaled(1, 65535.0).flat_map(|c| (c as u16).to_le_bytes()).collect(),
        vk::Format::X8_D24_UNORM_PACK32 => {
            scaled(1, 16_777_215.0).flat_map(|c| (c as u32).to_le_bytes()).collect()
        }
        _ => bytes(4),
    }
}

/// A sampler with one filter, nearest levels and one way to wrap.
pub fn sampler(filter: vk::Filter, wrap: vk::SamplerAddressMode) -> vk::SamplerCreateInfo<'static> {
    vk::SamplerCreateInfo::default()
        .mag_filter(filter)
        .min_filter(filter)
        .mipmap_mode(vk::SamplerMipmapMode::NEAREST)
        .address_mode_u(wrap)
        .address_mode_v(wrap)
        .address_mode_w(wrap)
        .border_color(vk::BorderColor::FLOAT_OPAQUE_WHITE)
        .max_lod(vk::LOD_CLAMP_NONE)
}

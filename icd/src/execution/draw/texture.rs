//! What a view and a sampler make together for a draw: the words of lookups, the numbers that programs ask for, and the
//! pipeline's key (textures.md §2, T-TEX-KEY).

use std::sync::Arc;

use vc4::cl::words::{TextureCube, TextureExtra, Wrap};
use vc4::image::format::{Component, Decode};
use vc4::image::layout::{MSAA_TILE_BYTES, level_rows};
use vc4::image::texel::{Color, to_srgb};
use vc4::state::texture::{self, MipMode, TextureError, TextureView};
use vc4_shaders::compile::{TextureAccess, TextureClass, TextureDecode, TextureFilter, TextureKey};
use vc4_shaders::program::{Lookup, TextureValue};

use crate::foundation::error::Error;
use crate::foundation::facts::facts;
use crate::foundation::format;
use crate::objects::buffer::BufferView;
use crate::objects::fold::Fold;
use crate::objects::image::Image;
use crate::objects::image_view::ImageView;
use crate::objects::memory::Binding;
use crate::objects::sampler::{self, Sampler};

/// Bytes of a page, the unit of layers' distances.
const PAGE: u64 = 4096;
/// LOD that clamps nothing.
const NO_LIMIT: f32 = 1000.0;

/// The words of one kind of lookup.
#[derive(Clone, Copy, Debug)]
struct Words {
    /// Words p0 and p1; p0's base is the byte offset in the BO.
    parameters: [u32; 2],
    /// Word p2 with the automatic level, and p2 with an explicit one.
    extra: [u32; 2],
}

/// What a sampled image contributes to a draw.
#[derive(Clone, Debug)]
pub struct Texture {
    /// The image's memory; `None` for texel buffers, which are read by direct lookups alone.
    binding: Option<Binding>,
    /// How it is looked at: the pipeline's draw-time key.
    pub key: TextureKey,
    /// For lookups that the texture unit filters, and for those of single texels.
    words: [Option<Words>; 2],
    /// Texels of the first level; layers or slices.
    extent: [u32; 3],
    base_level: u32,
    levels: u32,
    samples: u32,
    last_level: u32,
    lod: Lod,
    anisotropy: f32,
    mip: MipMode,
    border: Border,
    stride: u32,
    level_rows: u32,
    layer_pages: u32,
    /// The view's first layer, if layers are faces to the texture unit.
    base_layer: u32,
    plane_bytes: u32,
    panel_pages: u32,
    fold: Option<Fold>,
}

/// What a sampler adds to levels of detail.
#[derive(Clone, Copy, Debug)]
struct Lod {
    bias: f32,
    min: f32,
    max: f32,
}

/// A border colour as lookups return it, and its components.
#[derive(Clone, Copy, Debug, Default)]
struct Border {
    word: u32,
    color: Color,
}

/// A sampler as far as a view of so many levels can tell.
#[derive(Clone, Copy, Debug)]
struct Sampling {
    mag_linear: bool,
    min_linear: bool,
    mip: MipMode,
    lod: Lod,
    wrap: [Wrap; 3],
    mirror_once: [bool; 3],
}

impl Sampling {
    /// Fetches.
    const TEXELS: Sampling = Sampling {
        mag_linear: false,
        min_linear: false,
        mip: MipMode::None,
        lod: Lod { bias: 0.0, min: 0.0, max: NO_LIMIT },
        wrap: [Wrap::Clamp; 3],
        mirror_once: [false; 3],
    };

    fn new(sampler: &Sampler, view: &ImageView) -> Sampling {
        let unit = sampler.unit;
        let mut sampling = Sampling {
            mag_linear: unit.mag_linear,
            min_linear: unit.min_linear,
            mip: if view.levels == 1 { MipMode::None } else { unit.mip },
            lod: Lod { bias: sampler.lod_bias, min: sampler.min_lod, max: sampler.max_lod },
            wrap: match (view.is_cube(), sampler.seams) {
                (false, _) => sampler.wrap,
                // Behind the edge of a face there is another one.
                (true, false) => [Wrap::Clamp; 3],
                (true, true) => sampler.wrap.map(face_wrap),
            },
            mirror_once: std::array::from_fn(|axis| {
                sampler.mirror_once[axis] && axis < view.axes() && !view.is_cube()
            }),
        };
        if sampler.max_lod <= 0.0 {
            // Everything is magnified.
            sampling.min_linear = sampling.mag_linear;
            sampling.mip = MipMode::None;
        }
        if sampler.min_lod > 0.0 {
            sampling.mag_linear = sampling.min_linear;
        }
        if sampling.mip == MipMode::None && sampling.mag_linear == sampling.min_linear {
            sampling.lod = Sampling::TEXELS.lod;
        }
        sampling
    }

    fn is_linear(&self) -> bool {
        self.mag_linear || self.min_linear || self.mip == MipMode::Linear
    }

    /// The last level that the texture unit must know of for its own clamp to be the sampler's; `None` if it needs the
    /// program's help.
    fn last_level(&self, levels: u32) -> Option<u32> {
        let Lod { bias, min, max } = self.lod;
        let last = levels - 1;
        if bias != 0.0 || min > 0.0 {
            None
        } else if max >= last as f32 {
            Some(last)
        } else {
            // A whole maxLod is the unit's clamp to the last level, a fraction is not.
            (max.fract() == 0.0).then_some(max as u32)
        }
    }

    fn unit(&self) -> texture::Sampler {
        let [wrap_s, wrap_t, _] = self.wrap;
        let (mag_linear, min_linear, mip) = (self.mag_linear, self.min_linear, self.mip);
        texture::Sampler { mag_linear, min_linear, mip, wrap_s, wrap_t }
    }
}

impl Texture {
    /// What `view` is for programs, through `sampler` if there is one.
    pub fn new(view: &ImageView, sampler: Option<&Sampler>) -> Result<Texture, Error> {
        let image = &view.image;
        let binding = image.binding()?;
        let layout = image.layout();
        let sampling = sampler.map_or(Sampling::TEXELS, |sampler| Sampling::new(sampler, view));
        let blocks = image.sample_layout();
        let direct = layout.shape.raster && blocks.is_none();
        let panel_stride = match blocks {
            Some(blocks) => blocks.panel_stride(),
            // Later levels of a wide image may fit in one panel.
            None => layout.levels.get(view.base_level as usize).map_or(0, |level| level.panel_stride),
        };
        let decode =
            format::texture_decode(view.row, view.stored.texel, &view.components, view.aspects, direct);
        let decode =
            decode.ok_or_else(|| Error::FormatNotSupported(format!("sampling {:?}", view.row.format)))?;
        let mut texture = Texture {
            binding: Some(binding.clone()),
            key: TextureKey {
                decode,
                planes: view.stored.planes(),
                panels: panel_stride != 0,
                mirror_once: sampling.mirror_once,
                ..TextureKey::default()
            },
            words: [None; 2],
            extent: [view.extent().0, view.extent().1, view.depth_or_layers()],
            base_level: view.base_level,
            levels: view.levels,
            samples: view.samples(),
            last_level: if sampling.mip == MipMode::None { 0 } else { view.levels - 1 },
            lod: sampling.lod,
            anisotropy: sampler.map_or(1.0, |sampler| sampler.anisotropy),
            mip: sampling.mip,
            border: Border::default(),
            stride: layout.levels[0].stride,
            level_rows: level_rows(layout.shape.height),
            layer_pages: (image.layer_stride() / PAGE) as u32,
            base_layer: view.face(),
            // Fits: a BO has less than 4 GiB.
            plane_bytes: image.plane_stride() as u32,
            panel_pages: panel_stride / PAGE as u32,
            fold: view.fold,
        };
        if let Some(sampler) = sampler {
            texture.key.compare = sampler.compare;
            texture.key.seams = sampler.seams && view.is_cube();
            // Integers have no averages.
            texture.key.anisotropic = sampler.is_anisotropic() && !decode.class.is_integer();
            let axes = view.axes();
            if sampling.wrap[..axes].contains(&Wrap::Border) {
                texture.border = border(sampler.border, decode.class, view);
                texture.key.border = !(direct || texture.key.seams);
            }
        }
        if let Some(blocks) = blocks {
            texture.key.access = TextureAccess::Samples;
            texture.stride = blocks.tiles_x * MSAA_TILE_BYTES;
            return Ok(texture);
        }
        if direct {
            texture.key.access = TextureAccess::Direct { bytes: layout.shape.cpp as u8, wrap: sampling.wrap };
            texture.key.filter = program_filter(&sampling, sampler);
            return Ok(texture);
        }
        if view.layers > 1 && !view.is_cube() {
            texture.key.access = TextureAccess::Faces { wrap: sampling.wrap };
            texture.key.border = false;
            texture.key.filter = program_filter(&sampling, sampler);
            let faces = TextureView { base_level: 0, levels: image.levels(), face: 0, cube: true };
            texture.words[1] = Some(words(view, &faces, &texels(&sampling)).map_err(refused)?);
            return Ok(texture);
        }
        texture.look(view, sampler, &sampling)?;
        Ok(texture)
    }

    /// Finds out who filters, and the words of lookups.
    fn look(
        &mut self,
        view: &ImageView,
        sampler: Option<&Sampler>,
        sampling: &Sampling,
    ) -> Result<(), Error> {
        let whole = TextureView {
            base_level: 0,
            levels: view.image.levels(),
            face: view.face(),
            cube: view.is_cube(),
        };
        if let Some(fold) = view.fold {
            self.key.access = TextureAccess::Folded { axis: fold.axis as u8, wrap: sampling.wrap };
            self.key.border = false;
        }
        let beyond = if view.fold.is_some() { [Wrap::Clamp; 3] } else { sampling.wrap };
        let texels = texels(&Sampling { wrap: beyond, ..*sampling });
        self.words[1] = Some(words(view, &whole, &texels).map_err(refused)?);
        let Some(sampler) = sampler else { return Ok(()) };
        if self.key.seams {
            self.key.access = TextureAccess::Faces { wrap: sampling.wrap };
        }
        // From strip to strip the unit clamps, and takes the difference of two coordinates for a footprint.
        let clamps = sampling.wrap[..2] == [Wrap::Clamp; 2] && sampling.mirror_once == [false; 3];
        let leaves = view.fold.is_some() && !(clamps && sampling.mag_linear == sampling.min_linear);
        let filters = self.key.decode.class == TextureClass::Unorm8 || !sampling.is_linear();
        let two_filters = sampling.mag_linear != sampling.min_linear;
        let exact = texture::filters_exactly(facts(), &sampling.unit());
        // The unit filters a face of a cube by itself and clamps to it, while the neighbours of its edges lie on other faces
        // (T-SEAMLESS), or wrap.
        let clamps = self.key.seams && sampling.wrap[..2] == [Wrap::Clamp; 2];
        let edges = view.is_cube() && !clamps && (sampling.mag_linear || sampling.min_linear);
        if !filters || edges || leaves || !exact || sampler.compare.is_some() || sampler.unnormalized {
            self.key.filter = program_filter(sampling, Some(sampler));
            return Ok(());
        }
        // Quads on an edge of a cube have their coordinates on two faces, and those where an image is mirrored on one
        // side of it: the unit's own level does not survive that.
        let torn = view.is_cube() || sampling.mirror_once.contains(&true);
        // To the unit a coordinate's difference is one width (height) at most, which in the shorter direction of an image
        // ends before the last level.
        let (width, height) = view.extent();
        let uneven = view.axes() > 1 && width != height && sampling.mip != MipMode::None;
        let own_level = !(torn || uneven) || sampling.mip == MipMode::None && !two_filters;
        if let Some(last) = sampling.last_level(view.levels).filter(|_| own_level) {
            let part = TextureView { base_level: view.base_level, levels: last + 1, ..whole };
            if let Ok(words) = words(view, &part, &sampling.unit()) {
                self.words[0] = Some(words);
                return Ok(());
            }
        }
        if two_filters && (view.base_level > 0 || sampling.mip == MipMode::None) {
            // The unit would take the view's first level for a minified one, or a clamped level for a magnified one.
            self.key.filter = program_filter(sampling, Some(sampler));
            return Ok(());
        }
        let mip = if sampling.mip == MipMode::Linear { MipMode::Linear } else { MipMode::Nearest };
        let unit = texture::Sampler { mip, ..sampling.unit() };
        self.words[0] = Some(words(view, &whole, &unit).map_err(refused)?);
        self.key.filter = TextureFilter::Level;
        // The unit clamps to the image's levels, the program to the view's.
        let last = self.last_level as f32;
        self.lod.max = self.lod.max.min(last);
        self.lod.min = self.lod.min.min(last);
        if view.base_level > 0 {
            self.lod.min = self.lod.min.max(0.0);
        }
        Ok(())
    }

    /// What a texel buffer is for programs.
    pub fn of_buffer(view: &BufferView) -> Texture {
        let decode = TextureDecode { class: TextureClass::Fields(view.fields), ..TextureDecode::default() };
        let bytes = view.fields.bytes();
        Texture {
            binding: None,
            key: TextureKey {
                decode,
                access: TextureAccess::Direct { bytes: bytes as u8, wrap: [Wrap::Clamp; 3] },
                ..TextureKey::default()
            },
            words: [None; 2],
            extent: [(view.range / u64::from(bytes)) as u32, 1, 1],
            base_level: 0,
            levels: 1,
            samples: 1,
            last_level: 0,
            lod: Sampling::TEXELS.lod,
            anisotropy: 1.0,
            mip: MipMode::None,
            border: Border::default(),
            stride: 0,
            level_rows: 0,
            layer_pages: 0,
            base_layer: 0,
            plane_bytes: 0,
            panel_pages: 0,
            fold: None,
        }
    }

    /// The BO that lookups read.
    pub fn bo(&self) -> Option<&Arc<crate::foundation::bo::Bo>> {
        self.binding.as_ref().map(|binding| &binding.bo)
    }

    fn lookup(&self, lookup: Lookup) -> Words {
        // A program that asks for words which its key does not have gets a texture that the kernel refuses.
        self.words[usize::from(lookup.texels)].unwrap_or(Words { parameters: [0; 2], extra: [0; 2] })
    }

    /// Word p0 or p1 of a lookup.
    pub fn parameter(&self, lookup: Lookup, number: usize) -> u32 {
        self.lookup(lookup).parameters[number]
    }

    /// Word p2 of a lookup.
    pub fn extra(&self, lookup: Lookup, explicit_lod: bool) -> u32 {
        self.lookup(lookup).extra[usize::from(explicit_lod)]
    }

    /// A number that programs ask for.
    pub fn value(&self, value: TextureValue) -> u32 {
        let float = |number: u32| (number as f32).to_bits();
        let share = |number: u32| (1.0 / number as f32).to_bits();
        let linear = self.mip == MipMode::Linear;
        match value {
            TextureValue::Size(axis) => float(self.extent[usize::from(axis.min(1))]),
            TextureValue::Extent(axis) => self.extent[usize::from(axis.min(2))],
            TextureValue::Levels => self.levels,
            TextureValue::Samples => self.samples,
            TextureValue::BaseLevel => float(self.base_level),
            TextureValue::LastLevel => float(self.last_level),
            TextureValue::LodBias => self.lod.bias.to_bits(),
            TextureValue::LodMin => self.lod.min.to_bits(),
            TextureValue::LodMax => self.lod.max.to_bits(),
            TextureValue::Anisotropy => self.anisotropy.to_bits(),
            TextureValue::MipRounding => (if linear { 0.0f32 } else { 0.5 }).to_bits(),
            TextureValue::MipBlend => (if linear { 1.0f32 } else { 0.0 }).to_bits(),
            TextureValue::Border => self.border.word,
            TextureValue::BorderColor(n) => self.border.color[usize::from(n & 3)],
            TextureValue::Stride => self.stride,
            TextureValue::LevelRows => self.level_rows,
            TextureValue::LayerPages => self.layer_pages,
            TextureValue::BaseLayer => float(self.base_layer),
            TextureValue::PlaneBytes => self.plane_bytes,
            TextureValue::PanelPages => self.panel_pages,
            TextureValue::FoldStep => float(self.fold.map_or(0, |fold| fold.step)),
            TextureValue::FoldStrips => share(self.fold.map_or(1, |fold| fold.step)),
            TextureValue::FoldTexel(axis) => {
                share(self.fold.map_or(1, |fold| fold.texture()[usize::from(axis.min(1))]))
            }
        }
    }
}

/// Wrapping on the face of a cube, where all coordinates are 0..1: to a neighbour behind the edge all mirrors are clamps.
fn face_wrap(wrap: Wrap) -> Wrap {
    match wrap {
        Wrap::Mirror => Wrap::Clamp,
        other => other,
    }
}

fn refused(error: TextureError) -> Error {
    Error::unsupported(error.to_string(), "see the limits")
}

/// Lookups of single texels, whatever the sampler filters.
fn texels(sampling: &Sampling) -> texture::Sampler {
    texture::Sampler { mag_linear: false, min_linear: false, mip: MipMode::Nearest, ..sampling.unit() }
}

fn program_filter(sampling: &Sampling, sampler: Option<&Sampler>) -> TextureFilter {
    TextureFilter::Program {
        mag_linear: sampling.mag_linear,
        min_linear: sampling.min_linear,
        mip: sampling.mip,
        unnormalized: sampler.is_some_and(|sampler| sampler.unnormalized),
    }
}

fn words(view: &ImageView, part: &TextureView, unit: &texture::Sampler) -> Result<Words, TextureError> {
    let image: &Image = &view.image;
    let offset = image.binding().map_or(0, |binding| binding.offset);
    let offset = offset + u64::from(view.unit_layer()) * image.layer_stride();
    let words =
        texture::texture_parameters(view.stored.texel.info(), image.layout(), offset as u32, part, unit)?;
    let extra = |explicit_lod| match words.cube {
        Some(cube) => TextureExtra::Cube(TextureCube { explicit_lod, ..cube }).bits(),
        None if explicit_lod => TextureExtra::Cube(TextureCube { explicit_lod, ..Default::default() }).bits(),
        None => TextureExtra::Unused.bits(),
    };
    Ok(Words { parameters: words.words.bits(), extra: [extra(false), extra(true)] })
}

/// A border colour for the texels of a view, which reach so far only. The view's swizzle sees it like a texel.
fn border(color: sampler::Border, class: TextureClass, view: &ImageView) -> Border {
    let color = color.color(if class.is_integer() { 1 } else { 1f32.to_bits() });
    let texel = view.stored.texel.info();
    let fractions = color.map(|bits| f32::from_bits(bits).clamp(0.0, 1.0));
    let encoded = |split: fn(u32) -> u32| {
        view.row.info.map_or(Border::default(), |info| Border {
            word: split(info.encode(color) as u32),
            color: info.clamp(color),
        })
    };
    match class {
        TextureClass::Unorm8 | TextureClass::Srgb8 => {
            let mut bytes = [0; 4];
            let Decode::Unorm8(components) = texel.decode else { return Border::default() };
            for (component, value) in components.into_iter().zip(fractions) {
                if let Component::Byte(byte) = component {
                    bytes[usize::from(byte)] = value.to_bits();
                }
            }
            let [red, green, blue, alpha] = fractions;
            let stored = match class {
                TextureClass::Srgb8 => [to_srgb(red), to_srgb(green), to_srgb(blue), alpha],
                _ => fractions,
            };
            Border { word: texture::border_word(texel, stored), color: bytes }
        }
        TextureClass::Depth24 => {
            Border { word: texture::border_word(texel, fractions), color: fractions.map(f32::to_bits) }
        }
        TextureClass::Stencil8 => Border { word: color[0] & 0xff, color: color.map(|value| value & 0xff) },
        TextureClass::Word32 => Border { word: color[0], color },
        TextureClass::Fields(_) => encoded(|texel| texel),
        TextureClass::SplitFields(_) => encoded(|texel| texel & 0xff | (texel & 0xff00) << 16),
    }
}

#[cfg(test)]
mod tests {
    use ash::vk;

    use super::*;
    use crate::foundation::limits::MAX_ANISOTROPY;
    use crate::objects::image::Image;
    use crate::objects::memory::{DeviceMemory, Origin};
    use crate::objects::memory_type::MemoryType;
    use crate::testing::device;
    use std::sync::Arc;

    fn info() -> vk::SamplerCreateInfo<'static> {
        vk::SamplerCreateInfo {
            mag_filter: vk::Filter::LINEAR,
            min_filter: vk::Filter::LINEAR,
            mipmap_mode: vk::SamplerMipmapMode::LINEAR,
            address_mode_u: vk::SamplerAddressMode::CLAMP_TO_EDGE,
            address_mode_v: vk::SamplerAddressMode::MIRRORED_REPEAT,
            max_lod: vk::LOD_CLAMP_NONE,
            ..Default::default()
        }
    }

    fn image_info() -> vk::ImageCreateInfo<'static> {
        vk::ImageCreateInfo {
            image_type: vk::ImageType::TYPE_2D,
            format: vk::Format::R8G8B8A8_UNORM,
            extent: vk::Extent3D { width: 100, height: 60, depth: 1 },
            mip_levels: 7,
            array_layers: 1,
            samples: vk::SampleCountFlags::TYPE_1,
            usage: vk::ImageUsageFlags::SAMPLED,
            ..Default::default()
        }
    }

    #[test]
    fn rows_of_texels_are_read_as_the_application_wrote_them() {
        let formats = [
            (vk::Format::A1R5G5B5_UNORM_PACK16, 2),
            (vk::Format::R5G6B5_UNORM_PACK16, 2),
            (vk::Format::B8G8R8A8_UNORM, 4),
        ];
        for (format, bytes) in formats {
            // Not all may be sampled, but blits look at all.
            let (tiling, usage) = (vk::ImageTiling::LINEAR, vk::ImageUsageFlags::TRANSFER_SRC);
            let info = vk::ImageCreateInfo { format, tiling, usage, mip_levels: 1, ..image_info() };
            let sampler = Sampler::new(&device(), &super::tests::info()).unwrap();
            let key = view_of(&info, vk::ImageViewType::TYPE_2D, 0, 1, &sampler, 0).key;
            assert!(matches!(key.access, TextureAccess::Direct { bytes: b, .. } if b == bytes), "{format:?}");
            let is_fields =
                matches!(key.decode.class, TextureClass::Fields(fields) if fields.bytes() == bytes.into());
            assert_eq!(is_fields, bytes == 2, "{format:?}: {:?}", key.decode);
        }
    }

    fn texture(sampler: &Sampler, offset: u64) -> Texture {
        view_of(&image_info(), vk::ImageViewType::TYPE_2D, 0, 1, sampler, offset)
    }

    /// An image of one layer, as wide as high.
    fn square(info: &vk::SamplerCreateInfo<'_>) -> Texture {
        let extent = vk::Extent3D { width: 64, height: 64, depth: 1 };
        let image = vk::ImageCreateInfo { extent, ..image_info() };
        view_of(&image, vk::ImageViewType::TYPE_2D, 0, 1, &Sampler::new(&device(), info).unwrap(), 0)
    }

    /// Some of the layers of an image of six faces of 64 texels.
    fn faces(view: vk::ImageViewType, base_layer: u32, layers: u32, sampler: &Sampler) -> Texture {
        let info = vk::ImageCreateInfo {
            flags: vk::ImageCreateFlags::CUBE_COMPATIBLE,
            extent: vk::Extent3D { width: 64, height: 64, depth: 1 },
            array_layers: 6,
            ..image_info()
        };
        view_of(&info, view, base_layer, layers, sampler, 0)
    }

    fn view_of(
        info: &vk::ImageCreateInfo<'_>,
        view_type: vk::ImageViewType,
        base_array_layer: u32,
        layer_count: u32,
        sampler: &Sampler,
        offset: u64,
    ) -> Texture {
        let device = device();
        let image = Arc::new(Image::new(&device, info).unwrap());
        image
            .bind(&DeviceMemory::new(&device, 1 << 20, MemoryType::Device, Origin::Alone).unwrap(), offset)
            .unwrap();
        let subresource_range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: vk::REMAINING_MIP_LEVELS,
            base_array_layer,
            layer_count,
            ..Default::default()
        };
        let info = vk::ImageViewCreateInfo {
            view_type,
            format: info.format,
            subresource_range,
            ..Default::default()
        };
        Texture::new(&ImageView::new(&image, &info).unwrap(), Some(sampler)).unwrap()
    }

    fn parameters(texture: &Texture) -> [u32; 2] {
        texture.words[0].unwrap().parameters
    }

    /// The fields of textures.md §2, put together by hand.
    #[test]
    fn words_hold_place_size_and_filters() {
        let sampler = Sampler::new(&device(), &info()).unwrap();
        let texture = texture(&sampler, 8192);
        assert_eq!(parameters(&texture), [(8192 + 12288) | 6, 60 << 20 | 100 << 8 | 5 << 4 | 2 << 2 | 1]);
        assert_eq!(texture.words[0].unwrap().extra, [0, 0x4000_0001]);
        // Single texels: nearest filters and levels.
        assert_eq!(
            texture.words[1].unwrap().parameters[1],
            60 << 20 | 100 << 8 | 1 << 7 | 2 << 4 | 2 << 2 | 1
        );
    }

    #[test]
    fn a_whole_max_lod_limits_the_levels() {
        let levels = |max_lod| {
            let texture = square(&vk::SamplerCreateInfo { max_lod, ..info() });
            (texture.key.filter == TextureFilter::Unit).then(|| parameters(&texture)[0] & 15)
        };
        assert_eq!([0.0, 0.25, 1.0, 1.5, 100.0].map(levels), [Some(0), None, Some(1), None, Some(6)]);
    }

    #[test]
    fn programs_see_past_the_edges_of_faces() {
        let key = |info: vk::SamplerCreateInfo<'static>, view, layers| {
            faces(view, 0, layers, &Sampler::new(&device(), &info).unwrap()).key
        };
        let (cube, array) = (vk::ImageViewType::CUBE, vk::ImageViewType::TYPE_2D_ARRAY);
        let near = vk::SamplerCreateInfo {
            mag_filter: vk::Filter::NEAREST,
            min_filter: vk::Filter::NEAREST,
            mipmap_mode: vk::SamplerMipmapMode::NEAREST,
            ..info()
        };
        assert!(matches!(key(info(), cube, 6).filter, TextureFilter::Program { mag_linear: true, .. }));
        assert_eq!(key(near, cube, 6).filter, TextureFilter::Level);
        let whole = vk::SamplerCreateInfo { max_lod: 0.0, ..near };
        assert_eq!(key(whole, cube, 6).filter, TextureFilter::Unit);
        // With seams the unit's own filter is what is asked for, as long as it may clamp to faces.
        let seams = |address_mode_u, max_lod| vk::SamplerCreateInfo {
            flags: vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT,
            address_mode_u,
            address_mode_v: vk::SamplerAddressMode::MIRRORED_REPEAT,
            max_lod,
            ..info()
        };
        let (clamp, repeat) = (vk::SamplerAddressMode::CLAMP_TO_EDGE, vk::SamplerAddressMode::REPEAT);
        assert_eq!(key(seams(clamp, 0.0), cube, 6).filter, TextureFilter::Unit);
        assert_eq!(key(seams(clamp, 9.0), cube, 6).filter, TextureFilter::Level);
        assert!(matches!(key(seams(repeat, 0.0), cube, 6).filter, TextureFilter::Program { .. }));
        assert_eq!(key(seams(repeat, 0.0), array, 1).filter, TextureFilter::Unit);
        // Several faces as layers, and one as a plain image.
        assert!(matches!(key(near, array, 6).access, TextureAccess::Faces { .. }));
        assert_eq!(key(near, array, 1).access, TextureAccess::Unit);
        let later = faces(array, 2, 3, &Sampler::new(&device(), &near).unwrap());
        assert_eq!(later.value(TextureValue::BaseLayer), 2f32.to_bits());
        // The first face, with the cube bit.
        assert_eq!(later.words[1].unwrap().parameters[0], 8192 | 1 << 9 | 6);
    }

    #[test]
    fn samples_are_found_by_the_program() {
        let info = vk::ImageCreateInfo {
            samples: vk::SampleCountFlags::TYPE_4,
            mip_levels: 1,
            usage: vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::COLOR_ATTACHMENT,
            ..image_info()
        };
        let sampler = Sampler::new(&device(), &self::info()).unwrap();
        let texture = view_of(&info, vk::ImageViewType::TYPE_2D, 0, 1, &sampler, 0);
        assert_eq!(texture.key.access, TextureAccess::Samples);
        // Four tiles of 32 pixels across 100.
        assert_eq!(texture.value(TextureValue::Stride), 4 * 16384);
        assert_eq!(texture.value(TextureValue::Samples), 4);
    }

    #[test]
    fn mirroring_once_is_the_program_s() {
        let address_mode_u = vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE;
        let once = vk::SamplerCreateInfo { address_mode_u, ..info() };
        let key = |max_lod| {
            let info = vk::SamplerCreateInfo { max_lod, ..once };
            texture(&Sampler::new(&device(), &info).unwrap(), 0).key
        };
        assert_eq!(key(vk::LOD_CLAMP_NONE).mirror_once, [true, false, false]);
        assert_eq!(
            [key(vk::LOD_CLAMP_NONE).filter, key(0.0).filter],
            [TextureFilter::Level, TextureFilter::Unit]
        );
    }

    #[test]
    fn the_unit_filters_where_its_levels_are_vulkan_s() {
        let nearest = vk::Filter::NEAREST;
        let filter = |info: &vk::SamplerCreateInfo<'static>| square(info).key.filter;
        assert_eq!(filter(&info()), TextureFilter::Unit);
        let mag = vk::SamplerCreateInfo { mag_filter: nearest, ..info() };
        assert_eq!(filter(&mag), TextureFilter::Unit);
        // It would go on magnifying up to a level of detail of a half.
        let late = vk::SamplerCreateInfo { min_filter: nearest, ..info() };
        assert!(matches!(filter(&late), TextureFilter::Program { mag_linear: true, min_linear: false, .. }));
        assert_eq!(filter(&vk::SamplerCreateInfo { max_lod: 0.0, ..late }), TextureFilter::Unit);
        // Not square: the unit's own level ends too early, unless there is but one.
        let of = |info: &vk::SamplerCreateInfo<'static>| {
            texture(&Sampler::new(&device(), info).unwrap(), 0).key.filter
        };
        assert_eq!(of(&info()), TextureFilter::Level);
        assert_eq!(of(&vk::SamplerCreateInfo { max_lod: 0.0, ..info() }), TextureFilter::Unit);
    }

    #[test]
    fn programs_do_what_the_unit_cannot() {
        let key = |info: vk::SamplerCreateInfo<'static>| square(&info).key;
        let min_lod = key(vk::SamplerCreateInfo { min_lod: 1.0, ..info() });
        let bias = key(vk::SamplerCreateInfo { mip_lod_bias: 1.0, ..info() });
        assert_eq!([min_lod.filter, bias.filter], [TextureFilter::Level; 2]);
        let pixels = key(vk::SamplerCreateInfo { unnormalized_coordinates: vk::TRUE, ..info() });
        assert!(matches!(pixels.filter, TextureFilter::Program { unnormalized: true, .. }));
        let compare = key(vk::SamplerCreateInfo { compare_enable: vk::TRUE, ..info() });
        assert_eq!(compare.compare, Some(vc4::cl::packets::CompareFunc::Never));
        let address_mode_u = vk::SamplerAddressMode::CLAMP_TO_BORDER;
        let border_color = vk::BorderColor::FLOAT_OPAQUE_WHITE;
        let border = texture(
            &Sampler::new(&device(), &vk::SamplerCreateInfo { address_mode_u, border_color, ..info() })
                .unwrap(),
            0,
        );
        assert!(border.key.border && border.value(TextureValue::Border) == u32::MAX);
        let anisotropic = |max_anisotropy| {
            let info = vk::SamplerCreateInfo { anisotropy_enable: vk::TRUE, max_anisotropy, ..info() };
            let texture = square(&info);
            (texture.key.anisotropic, f32::from_bits(texture.value(TextureValue::Anisotropy)))
        };
        assert_eq!([1.0, 4.0, 1e9].map(anisotropic), [(false, 1.0), (true, 4.0), (true, MAX_ANISOTROPY)]);
        assert_eq!([f32::NAN, 0.0, -3.0].map(anisotropic), [(false, 1.0); 3]);
    }
}

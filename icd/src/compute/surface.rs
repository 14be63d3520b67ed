//! The texels of an image view or a texel buffer, resolved for lookups: where they lie and what they mean.

use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;
use vc4::image::TileFormat;
use vc4::image::layout::MsaaLayout;
use vc4::image::surface::texel_of_tile_word;
use vc4::image::texel::Color;
use vc4::image::tiling::AddressMap;
use vc4_kernel_abi::Mapping;
use vc4_shaders::ir::{Atomic, eval};
use vc4_shaders_cpu::{RowTexel, Rows};

use super::texel::{Codec, Raw};
use crate::foundation::error::Error;
use crate::objects::buffer::BufferView;
use crate::objects::fold::Fold;
use crate::objects::image_view::ImageView;
use crate::objects::placement::Placement;

/// How texels lie.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// As a layout says.
    Map(AddressMap),
    /// In a texture that the image is folded into.
    Folded(AddressMap, Fold),
    /// Four samples a pixel; the first byte, and whether words are those of 16-bit texels in tiles.
    Samples(MsaaLayout, usize, bool),
    /// One behind the other, from this byte of the BO on.
    Line(usize),
}

/// One level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    /// Columns, rows, and slices or layers.
    pub size: [u32; 3],
    place: Place,
}

/// Where a component that a program sees comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pick {
    Component(usize),
    Zero,
    One,
}

/// The texels of a view.
pub(super) struct Surface {
    mapping: Mapping,
    levels: Vec<Level>,
    /// Bytes of a texel in a plane: a word if there are several.
    bytes: usize,
    planes: usize,
    first_slice: usize,
    slice_stride: usize,
    plane_stride: usize,
    samples: u32,
    /// What is three-dimensional or made of cubes.
    is_volume: bool,
    is_cube: bool,
    /// What texels mean.
    pub codec: Codec,
    picks: Option<[Pick; 4]>,
}

impl Surface {
    /// Of an image.
    pub fn of_image(view: &ImageView) -> Result<Surface, Error> {
        let image = &view.image;
        let is_volume = view.ty == vk::ImageViewType::TYPE_3D;
        let texel = view.stored.texel.info();
        let level = |number: u32| {
            let place = match image.placement(number, 0, 0)? {
                Placement::Level(level) => match view.fold {
                    Some(fold) => Place::Folded(level.address_map(), fold),
                    None => Place::Map(level.address_map()),
                },
                Placement::Blocks { layout, offset, .. } => {
                    Place::Samples(layout, offset as usize, texel.tile == Some(TileFormat::Bgr565))
                }
            };
            let (width, height) = match view.fold {
                Some(Fold { extent: [width, height], .. }) => (width, height),
                None => image.level_extent(number),
            };
            let depth = if is_volume { image.slices(number) } else { view.layers };
            Ok(Level { size: [width, height, depth], place })
        };
        let levels = view.base_level..view.base_level + view.levels;
        let codec = Codec::of_image(view.row, view.stored, view.aspects);
        Ok(Surface {
            mapping: image.binding()?.bo.map_for_kernels()?,
            levels: levels.map(level).collect::<Result<_, Error>>()?,
            bytes: if view.samples() > 1 { 4 } else { texel.cpp as usize },
            planes: view.stored.planes().into(),
            first_slice: if is_volume { 0 } else { view.base_layer as usize },
            slice_stride: image.layer_stride() as usize,
            plane_stride: image.plane_stride() as usize,
            samples: view.samples(),
            is_volume,
            is_cube: view.is_cube(),
            codec,
            picks: picks(&view.components),
        })
    }

    /// Of a texel buffer.
    pub fn of_buffer(view: &BufferView) -> Result<Surface, Error> {
        let bytes = view.texel.bytes;
        let range = view.buffer.clamp(view.offset, view.range);
        let (mapping, start) = view.buffer.place(view.offset, range)?;
        // Fits: a BO has less than 4 GiB.
        let elements = (range / u64::from(bytes)) as u32;
        Ok(Surface {
            mapping,
            levels: vec![Level { size: [elements, 1, 1], place: Place::Line(start) }],
            bytes: bytes as usize,
            planes: 1,
            first_slice: 0,
            slice_stride: 0,
            plane_stride: 0,
            samples: 1,
            is_volume: false,
            is_cube: false,
            codec: Codec::of_color(view.texel),
            picks: None,
        })
    }

    /// The levels of the view.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Samples of a pixel.
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// Whether the third coordinate is a place and no layer's number.
    pub fn is_volume(&self) -> bool {
        self.is_volume
    }

    /// Layers, of which six make a cube.
    pub fn layers(&self) -> u32 {
        self.levels.first().map_or(0, |level| if self.is_volume { 1 } else { level.size[2] })
    }

    /// Whether layers are faces of cubes.
    pub fn is_cube(&self) -> bool {
        self.is_cube
    }

    /// The byte of a texel's first plane, which has to be inside of the level.
    #[inline]
    fn offset(&self, level: &Level, [x, y, z]: [u32; 3], sample: u32) -> usize {
        let slice = (self.first_slice + z as usize) * self.slice_stride;
        slice
            + match &level.place {
                Place::Map(map) => map.offset_of(x, y) as usize,
                Place::Folded(map, fold) => {
                    let [x, y] = fold.place_of([x, y]);
                    map.offset_of(x, y) as usize
                }
                Place::Samples(layout, start, _) => start + layout.offset_of(x, y, sample & 3) as usize,
                Place::Line(start) => start + x as usize * self.bytes,
            }
    }

    /// The first level's first layer, if its texels are words in rows.
    pub fn rows(&self) -> Option<Rows> {
        let level = self.levels.first()?;
        let [width, height, _] = level.size;
        let stride = match &level.place {
            Place::Map(map) => map.raster_stride()?,
            Place::Line(_) => 0,
            Place::Samples(..) | Place::Folded(..) => return None,
        };
        let texel = match self.codec {
            Codec::Words(1, one) => RowTexel::Word(one),
            Codec::Bytes([0, 8, 16, 24]) => RowTexel::Bytes,
            _ => return None,
        };
        if (self.bytes, self.planes, self.samples) != (4, 1, 1) {
            return None;
        }
        let address = self.mapping.as_ptr().wrapping_add(self.offset(level, [0; 3], 0));
        Some(Rows { address, width, height, stride, texel })
    }

    /// A texel's words, which has to be inside of the level.
    #[inline]
    fn raw(&self, level: &Level, at: [u32; 3], sample: u32) -> Raw {
        let offset = self.offset(level, at, sample);
        if (self.bytes, self.planes) == (4, 1) {
            let word = u32::from_le(self.word(offset).load(Ordering::Relaxed));
            return match level.place {
                Place::Samples(_, _, true) => [texel_of_tile_word(TileFormat::Bgr565, word), 0, 0, 0],
                _ => [word, 0, 0, 0],
            };
        }
        let mut raw = [0u8; 16];
        if self.planes > 1 {
            for (plane, word) in raw.chunks_exact_mut(4).enumerate().take(self.planes) {
                self.mapping.read(offset + plane * self.plane_stride, word);
            }
        } else {
            self.mapping.read(offset, &mut raw[..self.bytes.min(16)]);
        }
        bytemuck::cast::<[u8; 16], Raw>(raw).map(u32::from_le)
    }

    /// A texel as it is stored, without the view's mapping of components.
    #[inline]
    pub fn stored(&self, level: &Level, at: [u32; 3], sample: u32) -> Color {
        self.codec.decode(self.raw(level, at, sample))
    }

    /// Replaces a texel, which has to be inside of the level.
    #[inline]
    pub fn store(&self, level: &Level, at: [u32; 3], color: Color) {
        let (offset, raw) = (self.offset(level, at, 0), self.codec.encode(color));
        if (self.bytes, self.planes) == (4, 1) {
            return self.word(offset).store(raw[0].to_le(), Ordering::Relaxed);
        }
        let bytes = bytemuck::cast::<Raw, [u8; 16]>(raw.map(u32::to_le));
        if self.planes > 1 {
            for (plane, word) in bytes.chunks_exact(4).enumerate().take(self.planes) {
                self.mapping.write(offset + plane * self.plane_stride, word);
            }
        } else {
            self.mapping.write(offset, &bytes[..self.bytes.min(16)]);
        }
    }

    /// A texel of one word: invocations of other threads may change it while it is read.
    fn word(&self, offset: usize) -> &AtomicU32 {
        self.mapping.atomic_u32(offset)
    }

    /// Changes a texel of one word; what it was.
    pub fn change(&self, level: &Level, at: [u32; 3], action: Atomic, [a, b]: [u32; 2]) -> u32 {
        if (self.bytes, self.planes) != (4, 1) {
            return 0;
        }
        let word = self.word(self.offset(level, at, 0));
        // The word is the host's: every machine with this GPU is little-endian.
        match action {
            Atomic::Add => word.fetch_add(a, Ordering::Relaxed),
            Atomic::Exchange => word.swap(a, Ordering::Relaxed),
            _ => {
                let new = |old| Some(eval::atomic(action, old, a, b));
                word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, new).unwrap_or(0)
            }
        }
    }

    /// What the view's mapping of components makes of a colour.
    #[inline]
    pub fn mapped(&self, color: Color) -> Color {
        let Some(picks) = self.picks else { return color };
        picks.map(|pick| match pick {
            Pick::Component(n) => color[n],
            Pick::Zero => 0,
            Pick::One => self.codec.one(),
        })
    }
}

/// A mapping of components; `None` if each stays what it is.
fn picks(mapping: &vk::ComponentMapping) -> Option<[Pick; 4]> {
    let pick = |swizzle, own| match swizzle {
        vk::ComponentSwizzle::ZERO => Pick::Zero,
        vk::ComponentSwizzle::ONE => Pick::One,
        vk::ComponentSwizzle::R => Pick::Component(0),
        vk::ComponentSwizzle::G => Pick::Component(1),
        vk::ComponentSwizzle::B => Pick::Component(2),
        vk::ComponentSwizzle::A => Pick::Component(3),
        _ => Pick::Component(own),
    };
    let picks = [pick(mapping.r, 0), pick(mapping.g, 1), pick(mapping.b, 2), pick(mapping.a, 3)];
    (picks != [0, 1, 2, 3].map(Pick::Component)).then_some(picks)
}

//! VkImage: a layout and the memory it lies in.

mod folded;
mod planes;
mod shared;

use std::sync::Arc;

use ash::vk;
use vc4::hw::TEXTURE_MAX_PX;
use vc4::image::Tiling;
use vc4::image::etc2::BLOCK_PX;
use vc4::image::format::Uses;
use vc4::image::layout::{ImageLayout, ImageShape, LayoutError, MSAA_SAMPLES, MsaaLayout};
use vc4::image::tiling::{Level, utile};
use vc4_kernel_abi::uapi::MODIFIER_T_TILED;

use crate::foundation::error::Error;
use crate::foundation::facts::target_px;
use crate::foundation::format::{FormatRow, ImageQuery, Storage, Stored, plane_of};
use crate::foundation::handle::Object;
use crate::foundation::name::Name;
use crate::objects::device::Device;
use crate::objects::fold::Fold;
use crate::objects::memory::{Binding, DeviceMemory, Home};
use crate::objects::memory_type::MemoryType;
use crate::objects::placement::Placement;

/// Texture bases have no bits below a page (textures.md §2).
const ALIGNMENT: u64 = 4096;
/// Layers of a cube.
pub(super) const CUBE_FACES: u32 = 6;

/// An image.
///
/// In memory: every layer (of 3D images, every slice) with its mip chain, each at a page; then, of
/// block formats, the blocks of every layer, or of wide attachments, the same again for every other plane. Slices of
/// small levels stay empty at the end of their chains.
///
/// An image of several planes has an image of its own for each, which copies and views take; how it lies itself means nothing.
/// The same is true of an image that is folded into another one.
pub struct Image {
    row: &'static FormatRow,
    stored: Stored,
    query: ImageQuery,
    extent: vk::Extent3D,
    layers: u32,
    /// One layer, or the six faces of a cube.
    layout: ImageLayout,
    /// The blocks of a layer, if pixels have four samples; then `layout` is a shape only.
    samples: Option<MsaaLayout>,
    layer_stride: u64,
    plane_stride: u64,
    /// One layer of blocks, in rows.
    blocks: Option<ImageLayout>,
    /// The planes, if there are several, and where they begin.
    planes: Vec<(u64, Arc<Image>)>,
    /// The texture that it is folded into, if it is.
    folded: Option<(Fold, Arc<Image>)>,
    /// Bytes of the memory that it is bound to in front of it.
    skipped: u64,
    home: Home,
}

impl Object for Image {
    type Handle = vk::Image;
}

impl Image {
    /// An image without memory.
    pub fn new(device: &Device, info: &vk::ImageCreateInfo<'_>) -> Result<Image, Error> {
        Image::planned(device, info)?.that_fits(device)
    }

    /// As [`Image::new`], however small the heap is: what its memory would have to be.
    pub fn planned(device: &Device, info: &vk::ImageCreateInfo<'_>) -> Result<Image, Error> {
        let image = Image::in_order(device, info, info.tiling == vk::ImageTiling::LINEAR, None)?;
        match image.row.is_planar() {
            true => image.with_planes(device, info, None, None),
            false => image.folded_if_long(device, info),
        }
    }

    /// An image of a swapchain, without memory. Unless it is to be `tiled`, what is only drawn to and presented lies in raster
    /// order whatever its tiling is called, so that whoever copies it copies rows; the texture unit cannot read that
    /// (textures.md §7).
    pub fn presentable(device: &Device, info: &vk::ImageCreateInfo<'_>, tiled: bool) -> Result<Image, Error> {
        Image::planned_presentable(device, info, tiled)?.that_fits(device)
    }

    /// As [`Image::presentable`], however small the heap is.
    pub fn planned_presentable(
        device: &Device,
        info: &vk::ImageCreateInfo<'_>,
        tiled: bool,
    ) -> Result<Image, Error> {
        Image::in_order(device, info, !tiled && !is_read(info.usage), None)
    }

    fn that_fits(self, device: &Device) -> Result<Image, Error> {
        let (bytes, available) = (self.size(), device.physical().heap_size());
        match bytes > available {
            true => Err(Error::OutOfDeviceMemory { what: "an image", bytes, available }),
            false => Ok(self),
        }
    }

    fn in_order(
        device: &Device,
        info: &vk::ImageCreateInfo<'_>,
        raster: bool,
        modifier: Option<u64>,
    ) -> Result<Image, Error> {
        let query = ImageQuery {
            format: info.format,
            ty: info.image_type,
            tiling: info.tiling,
            modifier,
            usage: info.usage,
            flags: info.flags,
        };
        let (row, most) = query.answer(device.physical().heap_size())?;
        check_info(info, &most)?;
        // Samples lie as tiles store them, whatever looks at them.
        let stored =
            if info.samples == vk::SampleCountFlags::TYPE_1 { query.stored(row) } else { row.target };
        let stored = stored
            .ok_or_else(|| Error::FormatNotSupported(format!("{:?} images: not offered", info.format)))?;
        // Parts of larger targets begin inside of rows.
        let raster = raster || info.extent.width.max(info.extent.height) > target_px();
        // Texels without utiles have rows.
        let raster = raster || utile(stored.texel.info().cpp).is_none();
        // Copies read wide texels by programs, too.
        let is_wide = stored.planes() > 1 || stored.texel.info().cpp > 4;
        let is_read =
            is_read(info.usage) || (is_wide && info.usage.contains(vk::ImageUsageFlags::TRANSFER_SRC));
        let raster = raster || (is_read && !unit_reads(info, &stored));
        // What kernels write and nobody filters or draws to lies as the CPU likes it.
        let raster = raster || is_for_kernels(info.usage);
        if raster && modifier == Some(MODIFIER_T_TILED) {
            return Err(Error::FormatNotSupported(format!(
                "{:?} images in tiles for this usage",
                info.format
            )));
        }
        let (stored, cpp) = match info.tiling {
            // The application reads rows of texels.
            vk::ImageTiling::LINEAR => (stored.unconverted(), row.bytes),
            _ => (stored, stored.texel.info().cpp),
        };
        let available = device.physical().heap_size();
        let refused = |error: LayoutError| match error {
            LayoutError::Bytes(bytes) => Error::OutOfDeviceMemory { what: "an image", bytes, available },
            other => Error::FormatNotSupported(other.to_string()),
        };
        let layout = ImageLayout::new(shape(info, cpp, raster)).map_err(refused)?;
        let blocks = match stored.storage {
            Storage::Blocks(format) => {
                let shape = ImageShape { block: BLOCK_PX, faces: 1, ..shape(info, format.bytes(), true) };
                Some(ImageLayout::new(shape).map_err(refused)?)
            }
            _ => None,
        };
        let samples = match info.samples {
            vk::SampleCountFlags::TYPE_4 => {
                Some(MsaaLayout::new(info.extent.width, info.extent.height, target_px()))
            }
            _ => None,
        };
        let samples = samples.transpose().map_err(refused)?;
        let layer = samples.map_or(u64::from(layout.face_bytes()), |samples| u64::from(samples.size));
        let mut image = Image {
            row,
            stored,
            query,
            extent: info.extent,
            layers: info.array_layers,
            layer_stride: layer.next_multiple_of(ALIGNMENT),
            plane_stride: 0,
            layout,
            samples,
            blocks,
            planes: Vec::new(),
            folded: None,
            skipped: 0,
            home: Home::default(),
        };
        image.plane_stride = image.plane_size().next_multiple_of(ALIGNMENT);
        Ok(image)
    }

    /// A level of another image as an image of its own: texels of `row`, which lie as `level` says from the start of
    /// `binding` on.
    pub fn of_level(row: &'static FormatRow, stored: Stored, level: Level, binding: Binding) -> Image {
        let (format, ty, tiling) = (row.format, vk::ImageType::TYPE_2D, vk::ImageTiling::OPTIMAL);
        let (usage, flags) = (vk::ImageUsageFlags::COLOR_ATTACHMENT, vk::ImageCreateFlags::empty());
        let Level { width, height, cpp, tiling: order, size, .. } = level;
        let raster = order == Tiling::Raster;
        let shape = ImageShape { raster, window: target_px(), ..ImageShape::plain(cpp, width, height) };
        Image {
            row,
            stored,
            query: ImageQuery { format, ty, tiling, modifier: None, usage, flags },
            extent: vk::Extent3D { width, height, depth: 1 },
            layers: 1,
            layout: ImageLayout { shape, levels: vec![Level { offset: 0, ..level }], face_stride: 0, size },
            samples: None,
            layer_stride: u64::from(size),
            plane_stride: u64::from(size),
            blocks: None,
            planes: Vec::new(),
            folded: None,
            skipped: 0,
            home: Home::of(binding),
        }
    }

    /// The format's row.
    pub fn row(&self) -> &'static FormatRow {
        self.row
    }

    /// How it holds texels.
    pub fn stored(&self) -> Stored {
        self.stored
    }

    /// Format, type, tiling, usage and flags.
    pub fn query(&self) -> &ImageQuery {
        &self.query
    }

    /// Pixels of level 0.
    pub fn extent(&self) -> vk::Extent3D {
        self.extent
    }

    /// Pixels of a level, as the API counts them.
    pub fn level_extent(&self, level: u32) -> (u32, u32) {
        self.layout.shape.level_px(level)
    }

    /// Mip levels.
    pub fn levels(&self) -> u32 {
        self.layout.levels.len() as u32
    }

    /// Array layers.
    pub fn layers(&self) -> u32 {
        self.layers
    }

    /// The layout of one layer, or of the six faces of a cube. Offsets count from the image's start.
    pub fn layout(&self) -> &ImageLayout {
        &self.layout
    }

    /// Bytes from one layer to the next.
    pub fn layer_stride(&self) -> u64 {
        self.layer_stride
    }

    /// Whether it is a 3D image.
    pub fn is_volume(&self) -> bool {
        self.query.ty == vk::ImageType::TYPE_3D
    }

    /// Slices of a level of a 3D image; layers of any other.
    pub fn slices(&self, level: u32) -> u32 {
        match self.is_volume() {
            true => self.extent.depth.checked_shr(level).unwrap_or(0).max(1),
            false => self.layers,
        }
    }

    /// Bytes from one of the planes that hold texels together to the next.
    pub fn plane_stride(&self) -> u64 {
        self.plane_stride
    }

    /// Bytes in all.
    pub fn size(&self) -> u64 {
        let others = self.planes.iter().map(|(start, plane)| start + plane.size()).max();
        match others.or_else(|| self.folded.as_ref().map(|(_, texture)| texture.size())) {
            Some(end) => end,
            None => u64::from(self.stored.planes() - 1) * self.plane_stride + self.plane_size(),
        }
    }

    fn plane_size(&self) -> u64 {
        match &self.blocks {
            Some(blocks) => self.block_start() + u64::from(blocks.face_bytes()) * u64::from(self.layers),
            None if self.samples.is_some() => self.layer_stride * u64::from(self.layers),
            None => self.layer_stride * u64::from(self.slices(0) - 1) + u64::from(self.layout.face_bytes()),
        }
    }

    /// First byte behind the decoded texels.
    fn block_start(&self) -> u64 {
        self.layer_stride * u64::from(self.layers)
    }

    /// The blocks of a layer, if pixels have four samples.
    pub fn sample_layout(&self) -> Option<MsaaLayout> {
        self.samples
    }

    /// Samples of a pixel: 1 or 4.
    pub fn samples(&self) -> u32 {
        if self.samples.is_some() { MSAA_SAMPLES } else { 1 }
    }

    /// How a plane of a level of a layer (of 3D images, a slice) lies in the BO, whatever its number of samples; errors
    /// as for [`Image::level`].
    pub fn placement(&self, level: u32, slice: u32, plane: u8) -> Result<Placement, Error> {
        let place = self.place(&self.layout, level, slice)?;
        let start = u64::from(slice) * self.layer_stride + u64::from(plane) * self.plane_stride;
        let Some(layout) = self.samples else { return self.placed(place, start).map(Placement::Level) };
        let start = self.binding()?.offset + start;
        // Fits: a BO has less than 4 GiB and the binding was checked.
        let (offset, Level { width, height, .. }) = (start as u32, place);
        Ok(Placement::Blocks { layout, offset, width, height })
    }

    /// Where a level of a layer (of 3D images, a slice) lies, its offset counted from the start of the BO; an error
    /// without memory or outside the image.
    pub fn level(&self, level: u32, slice: u32) -> Result<Level, Error> {
        if self.samples.is_some() {
            return Err(Error::InvalidUse(
                "a multisampled image where pixels of one sample are needed".into(),
            ));
        }
        let place = self.place(&self.layout, level, slice)?;
        self.placed(place, u64::from(slice) * self.layer_stride)
    }

    /// As [`Image::placement`] of the first layer, but offsets mean nothing: the image may have no memory yet.
    pub fn shape(&self, level: u32) -> Option<Placement> {
        let level = self.layout.level(level, 0)?;
        Some(match self.samples {
            Some(layout) => Placement::Blocks { layout, offset: 0, width: level.width, height: level.height },
            None => Placement::Level(level),
        })
    }

    /// Where the blocks of a level of a layer lie; `None` for formats without.
    pub fn block_level(&self, level: u32, layer: u32) -> Result<Option<Level>, Error> {
        let Some(blocks) = &self.blocks else { return Ok(None) };
        let place = self.place(blocks, level, layer)?;
        self.placed(place, self.block_start() + u64::from(layer) * u64::from(blocks.face_bytes())).map(Some)
    }

    fn place(&self, layout: &ImageLayout, level: u32, slice: u32) -> Result<Level, Error> {
        let outside = || Error::InvalidUse(format!("an image without level {level} of layer {slice}"));
        layout.level(level, 0).filter(|_| slice < self.slices(level)).ok_or_else(outside)
    }

    fn placed(&self, place: Level, start: u64) -> Result<Level, Error> {
        let start = self.binding()?.offset + start;
        // Fits: a BO has less than 4 GiB and the binding was checked.
        Ok(Level { offset: start as u32 + place.offset, ..place })
    }

    /// vkGetImageMemoryRequirements.
    pub fn requirements(&self) -> vk::MemoryRequirements {
        vk::MemoryRequirements {
            size: (self.skipped + self.size()).next_multiple_of(ALIGNMENT),
            alignment: ALIGNMENT,
            memory_type_bits: MemoryType::OF_IMAGES,
        }
    }

    /// vkBindImageMemory.
    pub fn bind(&self, memory: &DeviceMemory, offset: u64) -> Result<(), Error> {
        let whole = Binding::new(memory, offset, &self.requirements(), self.skipped + self.size())?;
        self.bind_to(whole.from(self.skipped))
    }

    /// Binds to memory that is not the application's (swapchain images). The BO has
    /// `requirements().size` bytes at the binding's offset.
    pub fn bind_to(&self, binding: Binding) -> Result<(), Error> {
        for (start, plane) in &self.planes {
            plane.bind_to(binding.from(*start).part(plane.size())?)?;
        }
        if let Some((_, texture)) = &self.folded {
            texture.bind_to(binding.clone())?;
        }
        self.home.bind(binding).map_err(|_| Error::InvalidUse("the image has memory already".into()))
    }

    /// Gives it a name.
    pub fn set_name(&self, name: &str) {
        self.home.set_name(name);
        self.planes.iter().for_each(|(_, plane)| plane.set_name(name));
        self.folded.iter().for_each(|(_, texture)| texture.set_name(name));
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        self.home.name()
    }

    /// Where it lies.
    pub fn binding(&self) -> Result<&Binding, Error> {
        self.home.binding().ok_or_else(|| Error::InvalidUse("an image without memory".into()))
    }

    /// vkGetImageSubresourceLayout; zero outside the image. Means something for linear images only.
    pub fn subresource_layout(&self, subresource: &vk::ImageSubresource) -> vk::SubresourceLayout {
        let vk::ImageSubresource { aspect_mask, mip_level, array_layer } = *subresource;
        match plane_of(aspect_mask).filter(|_| self.row.is_planar()) {
            Some(number) => self.plane_layout(number),
            None => self.layout_of(mip_level, array_layer),
        }
    }

    fn layout_of(&self, level: u32, layer: u32) -> vk::SubresourceLayout {
        let Some(place) = self.layout.level(level, 0).filter(|_| layer < self.layers) else {
            return vk::SubresourceLayout::default();
        };
        vk::SubresourceLayout {
            offset: self.skipped + u64::from(place.offset) + u64::from(layer) * self.layer_stride,
            size: u64::from(self.slices(level) - 1) * self.layer_stride * u64::from(self.is_volume())
                + u64::from(place.size),
            row_pitch: u64::from(place.stride),
            array_pitch: self.layer_stride,
            depth_pitch: self.layer_stride,
        }
    }
}

/// Refuses what exceeds the answer to the image's query.
fn check_info(info: &vk::ImageCreateInfo<'_>, most: &vk::ImageFormatProperties) -> Result<(), Error> {
    let (extent, max) = (info.extent, most.max_extent);
    let size_fits = extent.width <= max.width && extent.height <= max.height && extent.depth <= max.depth;
    let counts_fit = info.mip_levels <= most.max_mip_levels && info.array_layers <= most.max_array_layers;
    if info.samples != vk::SampleCountFlags::TYPE_1 && info.mip_levels > 1 {
        return Err(Error::InvalidUse("a multisampled image with mip levels".into()));
    }
    if extent.width == 0 || extent.height == 0 || extent.depth == 0 || info.array_layers == 0 {
        return Err(Error::InvalidUse(format!("an image of {extent:?} with {} layers", info.array_layers)));
    }
    if !size_fits || !counts_fit || !most.sample_counts.contains(info.samples) {
        return Err(Error::FormatNotSupported(format!(
            "{:?} image of {}x{}x{}, {} levels, {} layers, {:?}: with this usage at most {}x{}x{}, {} levels, {} layers",
            info.format,
            extent.width,
            extent.height,
            extent.depth,
            info.mip_levels,
            info.array_layers,
            info.samples,
            max.width,
            max.height,
            max.depth,
            most.max_mip_levels,
            most.max_array_layers
        )));
    }
    Ok(())
}

/// Whether programs look at such images.
fn is_read(usage: vk::ImageUsageFlags) -> bool {
    usage.intersects(
        vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::INPUT_ATTACHMENT,
    )
}

/// Whether kernels are the only programs that touch the texels, but for reads of single ones.
fn is_for_kernels(usage: vk::ImageUsageFlags) -> bool {
    let unit_or_tiles = vk::ImageUsageFlags::SAMPLED
        | vk::ImageUsageFlags::INPUT_ATTACHMENT
        | vk::ImageUsageFlags::COLOR_ATTACHMENT;
    usage.contains(vk::ImageUsageFlags::STORAGE) && !usage.intersects(unit_or_tiles)
}

/// Whether the texture unit finds the texels of such an image. Programs read others by direct lookups, for which rows in
/// raster order are best (T-ARRAY d, T-BIG).
fn unit_reads(info: &vk::ImageCreateInfo<'_>, stored: &Stored) -> bool {
    let texel = stored.texel.info();
    let edge = info.extent.width.max(info.extent.height);
    let flat = info.image_type != vk::ImageType::TYPE_3D;
    // Shaders read storage images of cubes like layers.
    let cube = is_cube(info) && !info.usage.contains(vk::ImageUsageFlags::STORAGE);
    flat && (info.array_layers == 1 || cube)
        && texel.uses.contains(Uses::SAMPLED)
        && texel.cpp <= 4
        && stored.planes() == 1
        && edge <= TEXTURE_MAX_PX
}

fn is_cube(info: &vk::ImageCreateInfo<'_>) -> bool {
    info.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE) && info.array_layers == CUBE_FACES
}

fn shape(info: &vk::ImageCreateInfo<'_>, cpp: u32, raster: bool) -> ImageShape {
    ImageShape {
        raster,
        cpp,
        block: 1,
        width: info.extent.width,
        height: info.extent.height,
        depth: info.extent.depth,
        levels: info.mip_levels,
        // Other layers are laid out like faces: whole chains at pages (textures.md §4.4).
        faces: if is_cube(info) { CUBE_FACES } else { 1 },
        window: target_px(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::image_view::ImageView;
    use crate::objects::memory::Origin;
    use crate::testing::device;
    use std::sync::Arc;

    fn info(width: u32, height: u32, levels: u32) -> vk::ImageCreateInfo<'static> {
        vk::ImageCreateInfo {
            image_type: vk::ImageType::TYPE_2D,
            format: vk::Format::R8G8B8A8_UNORM,
            extent: vk::Extent3D { width, height, depth: 1 },
            mip_levels: levels,
            array_layers: 1,
            samples: vk::SampleCountFlags::TYPE_1,
            tiling: vk::ImageTiling::OPTIMAL,
            usage: vk::ImageUsageFlags::SAMPLED,
            ..Default::default()
        }
    }

    /// The worked example of textures.md §4.5, behind an offset.
    #[test]
    fn levels_lie_where_the_texture_unit_looks() {
        let device = device();
        let image = Image::new(&device, &info(100, 60, 7)).unwrap();
        assert_eq!(image.requirements().size, 45056);
        let memory = DeviceMemory::new(&device, 65536, MemoryType::Device, Origin::Alone).unwrap();
        assert!(image.level(0, 0).is_err());
        image.bind(&memory, 8192).unwrap();
        assert_eq!(image.level(0, 0).unwrap().offset, 8192 + 12288);
        assert_eq!(image.level(6, 0).unwrap().offset, 8192 + 1280);
        assert!(image.level(7, 0).is_err() && image.level(0, 1).is_err());
    }

    #[test]
    fn sizes_outside_the_answer_are_refused() {
        let device = device();
        let result =
            |info: &vk::ImageCreateInfo<'_>| Image::new(&device, info).err().map(|error| error.result());
        assert_eq!(result(&info(8193, 1, 1)), Some(vk::Result::ERROR_FORMAT_NOT_SUPPORTED));
        assert_eq!(result(&info(0, 1, 1)), Some(vk::Result::ERROR_VALIDATION_FAILED_EXT));
        assert_eq!(result(&info(4, 4, 4)), Some(vk::Result::ERROR_FORMAT_NOT_SUPPORTED));
        assert_eq!(result(&info(2048, 2048, 12)), None);
    }

    #[test]
    fn what_the_texture_unit_cannot_read_has_rows() {
        let raster =
            |info: &vk::ImageCreateInfo<'_>| Image::new(&device(), info).unwrap().layout().shape.raster;
        let layers = |array_layers, flags| vk::ImageCreateInfo { array_layers, flags, ..info(16, 16, 5) };
        let cube = vk::ImageCreateFlags::CUBE_COMPATIBLE;
        assert!(!raster(&info(2048, 16, 5)) && raster(&info(2049, 16, 5)));
        assert!(raster(&layers(2, vk::ImageCreateFlags::empty())));
        assert!(!raster(&layers(6, cube)) && raster(&layers(12, cube)));
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
        assert!(!raster(&vk::ImageCreateInfo { usage, ..layers(2, vk::ImageCreateFlags::empty()) }));
    }

    #[test]
    fn linear_images_have_rows() {
        let linear = vk::ImageCreateInfo {
            tiling: vk::ImageTiling::LINEAR,
            usage: vk::ImageUsageFlags::TRANSFER_SRC,
            ..info(30, 20, 1)
        };
        let layout = Image::new(&device(), &linear).unwrap().subresource_layout(&Default::default());
        assert_eq!((layout.offset, layout.row_pitch, layout.size), (0, 128, 2560));
    }

    #[test]
    fn a_view_stays_inside_its_image() {
        let image = Arc::new(Image::new(&device(), &info(16, 16, 5)).unwrap());
        let view = |base_mip_level, level_count, view_type| {
            let subresource_range = vk::ImageSubresourceRange {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                base_mip_level,
                level_count,
                base_array_layer: 0,
                layer_count: vk::REMAINING_ARRAY_LAYERS,
            };
            let format = vk::Format::B8G8R8A8_UNORM;
            let info = vk::ImageViewCreateInfo { view_type, format, subresource_range, ..Default::default() };
            ImageView::new(&image, &info)
        };
        assert_eq!(view(2, vk::REMAINING_MIP_LEVELS, vk::ImageViewType::TYPE_2D).unwrap().levels, 3);
        assert_eq!(view(2, 1, vk::ImageViewType::TYPE_2D).unwrap().extent(), (4, 4));
        assert!(view(5, 1, vk::ImageViewType::TYPE_2D).is_err());
        assert!(view(0, 6, vk::ImageViewType::TYPE_2D).is_err());
        assert!(view(0, 1, vk::ImageViewType::CUBE).is_err());
        assert!(view(0, 1, vk::ImageViewType::TYPE_3D).is_err());
    }

    #[test]
    fn slices_of_volumes_shrink_with_their_level() {
        let usage = vk::ImageUsageFlags::TRANSFER_DST;
        let volume = |width, height, depth| vk::ImageCreateInfo {
            image_type: vk::ImageType::TYPE_3D,
            extent: vk::Extent3D { width, height, depth },
            usage,
            ..info(1, 1, 3)
        };
        let device = device();
        let image = Image::new(&device, &volume(20, 12, 6)).unwrap();
        assert_eq!([0, 1, 2].map(|level| image.slices(level)), [6, 3, 1]);
        image
            .bind(
                &DeviceMemory::new(&device, image.requirements().size, MemoryType::Device, Origin::Alone)
                    .unwrap(),
                0,
            )
            .unwrap();
        assert!(image.level(0, 5).is_ok() && image.level(0, 6).is_err() && image.level(1, 3).is_err());
        let end = image.level(0, 5).unwrap();
        assert_eq!(u64::from(end.offset + end.size), image.size());
    }

    #[test]
    fn volumes_end_where_targets_do() {
        let device = device();
        let refusal = |width, height, depth| {
            let info = vk::ImageCreateInfo {
                image_type: vk::ImageType::TYPE_3D,
                extent: vk::Extent3D { width, height, depth },
                ..info(1, 1, 1)
            };
            Image::new(&device, &info).err().map(|error| error.result())
        };
        let edge = vc4::hw::TARGET_MAX_PX;
        for [width, height, depth] in [[edge, 1, 1], [1, edge, 1], [1, 1, edge]] {
            assert_eq!(refusal(width, height, depth), None);
            let (wider, higher, deeper) = (2 * width - 1, 2 * height - 1, 2 * depth - 1);
            assert_eq!(refusal(wider, higher, deeper), Some(vk::Result::ERROR_FORMAT_NOT_SUPPORTED));
        }
        // 32 GiB are no question of the format.
        assert_eq!(refusal(edge, edge, edge), Some(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
    }

    #[test]
    fn formats_share_texels_that_lie_alike() {
        let view = |from: vk::Format, to: vk::Format, usage| {
            let info = vk::ImageCreateInfo { format: from, usage, ..info(16, 16, 1) };
            let image = Arc::new(Image::new(&device(), &info).unwrap());
            let aspect_mask = image.row().aspects();
            let subresource_range = vk::ImageSubresourceRange {
                aspect_mask,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            };
            let view_type = vk::ImageViewType::TYPE_2D;
            let info =
                vk::ImageViewCreateInfo { view_type, format: to, subresource_range, ..Default::default() };
            ImageView::new(&image, &info).ok().map(|view| view.stored.storage)
        };
        let (copied, target) = (vk::ImageUsageFlags::TRANSFER_DST, vk::ImageUsageFlags::COLOR_ATTACHMENT);
        let (bytes, words) = (vk::Format::R8_UNORM, vk::Format::R32_SFLOAT);
        assert_eq!(view(bytes, vk::Format::R8_SINT, copied), Some(Storage::Plain));
        assert_eq!(view(bytes, vk::Format::R8_SINT, target), Some(Storage::Widened));
        assert_eq!(view(bytes, vk::Format::R8_SNORM, target), Some(Storage::Widened));
        assert_eq!(view(words, vk::Format::B8G8R8A8_SRGB, target), Some(Storage::Plain));
        assert_eq!(view(words, bytes, target), None);
        assert_eq!(view(vk::Format::D32_SFLOAT, words, copied), None);
        assert_eq!(view(vk::Format::R16_UINT, vk::Format::R5G6B5_UNORM_PACK16, target), None);
        let (unorm, srgb) = (vk::Format::ETC2_R8G8B8_UNORM_BLOCK, vk::Format::ETC2_R8G8B8_SRGB_BLOCK);
        assert!(view(unorm, srgb, copied).is_some());
        assert_eq!(view(unorm, vk::Format::EAC_R11_UNORM_BLOCK, copied), None);
    }
}

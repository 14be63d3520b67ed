//! VkImageView: a format and a range of an image.

use std::sync::Arc;

use ash::vk;

use super::device::Device;
use super::fold::Fold;
use super::image::{CUBE_FACES, Image};
use super::memory::Binding;
use super::placement::Placement;
use crate::foundation::error::Error;
use crate::foundation::format::{self, FormatRow, Stored};
use crate::foundation::handle::Object;

/// The format of words.
pub const WORDS: vk::Format = vk::Format::R32_UINT;

/// A view of an image.
pub struct ImageView {
    /// The image, or the texture that it is folded into.
    pub image: Arc<Image>,
    /// How it is folded into that.
    pub fold: Option<Fold>,
    /// 1D, 2D, cube …
    pub ty: vk::ImageViewType,
    /// The view's format.
    pub row: &'static FormatRow,
    /// How the image holds texels, as the view sees them.
    pub stored: Stored,
    /// Component mapping.
    pub components: vk::ComponentMapping,
    /// Aspects.
    pub aspects: vk::ImageAspectFlags,
    /// First level.
    pub base_level: u32,
    /// Number of levels.
    pub levels: u32,
    /// First layer.
    pub base_layer: u32,
    /// Number of layers.
    pub layers: u32,
    /// The planes behind the first one, of views of a whole image that has several. The view itself is the first plane's then.
    pub planes: Vec<Arc<ImageView>>,
}

impl Object for ImageView {
    type Handle = vk::ImageView;
}

impl ImageView {
    /// A view of `image`.
    pub fn new(image: &Arc<Image>, info: &vk::ImageViewCreateInfo<'_>) -> Result<ImageView, Error> {
        let range = &info.subresource_range;
        // Seen whole, an image of several planes is its first one with the others beside it.
        let all = image;
        let is_whole = all.row().is_planar() && range.aspect_mask == vk::ImageAspectFlags::COLOR;
        let aspect = if is_whole { vk::ImageAspectFlags::PLANE_0 } else { range.aspect_mask };
        let (image, fold) = all.aspect(aspect)?.unfolded();
        let unknown = || Error::FormatNotSupported(format!("{:?} views are not offered", info.format));
        let row = format::row(info.format).ok_or_else(unknown)?;
        let stored = match is_whole {
            true => (row.format == all.row().format).then(|| image.stored()),
            false => stored_as(image, row),
        };
        let stored = stored.ok_or_else(|| {
            let image = all.query().format;
            Error::FormatNotSupported(format!("a {:?} view of a {image:?} image", info.format))
        })?;
        let levels = count(range.base_mip_level, range.level_count, image.levels(), "levels")?;
        // Layers of a flat view of a volume are its slices.
        let sliced = image.is_volume() && info.view_type != vk::ImageViewType::TYPE_3D;
        let have = if sliced { image.slices(range.base_mip_level) } else { image.layers() };
        let layers = count(range.base_array_layer, range.layer_count, have, "layers")?;
        check_view_type(info.view_type, layers)?;
        let flags = image.query().flags;
        let fits = match info.view_type {
            vk::ImageViewType::TYPE_3D => image.is_volume(),
            vk::ImageViewType::TYPE_2D | vk::ImageViewType::TYPE_2D_ARRAY => {
                !sliced || flags.contains(vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE)
            }
            _ => !sliced,
        };
        if !fits {
            let (ty, view) = (image.query().ty, info.view_type);
            return Err(Error::InvalidUse(format!(
                "a view of type {view:?} of an image of {ty:?}, {flags:?}"
            )));
        }
        Ok(ImageView {
            image: image.clone(),
            fold,
            ty: info.view_type,
            row,
            stored,
            components: info.components,
            aspects: if all.row().is_planar() { row.aspects() } else { range.aspect_mask },
            base_level: range.base_mip_level,
            levels,
            base_layer: range.base_array_layer,
            layers,
            planes: match is_whole {
                true => all.planes().skip(1).map(|plane| Arc::new(ImageView::of_plane(plane))).collect(),
                false => Vec::new(),
            },
        })
    }

    /// Words of a buffer as a picture in raster order, to draw to.
    ///
    /// # Errors
    /// The picture is larger than images are, or than the memory from the binding's start on.
    pub fn of_words(
        device: &Device,
        binding: &Binding,
        [width, height]: [u32; 2],
    ) -> Result<Arc<ImageView>, Error> {
        let info = vk::ImageCreateInfo {
            image_type: vk::ImageType::TYPE_2D,
            format: WORDS,
            extent: vk::Extent3D { width, height, depth: 1 },
            mip_levels: 1,
            array_layers: 1,
            samples: vk::SampleCountFlags::TYPE_1,
            usage: vk::ImageUsageFlags::COLOR_ATTACHMENT,
            ..Default::default()
        };
        let image = Image::presentable(device, &info, false)?;
        image.bind_to(binding.part(image.size())?)?;
        let (row, stored) = (image.row(), image.stored());
        Ok(Arc::new(ImageView::flat(Arc::new(image), row, stored, 0, 0)))
    }

    /// A layer or slice of a level, whatever the image's type.
    pub fn flat(
        image: Arc<Image>,
        row: &'static FormatRow,
        stored: Stored,
        base_level: u32,
        base_layer: u32,
    ) -> ImageView {
        ImageView {
            image,
            fold: None,
            ty: vk::ImageViewType::TYPE_2D,
            row,
            stored,
            components: vk::ComponentMapping::default(),
            aspects: row.aspects(),
            base_level,
            levels: 1,
            base_layer,
            layers: 1,
            planes: Vec::new(),
        }
    }

    /// A plane as it is.
    fn of_plane(plane: &Arc<Image>) -> ImageView {
        ImageView::flat(plane.clone(), plane.row(), plane.stored(), 0, 0)
    }

    /// One of its layers, seen flat.
    pub fn layer(&self, layer: u32) -> Result<ImageView, Error> {
        if layer >= self.layers {
            return Err(Error::InvalidUse(format!("layer {layer} of a view of {}", self.layers)));
        }
        Ok(ImageView {
            image: self.image.clone(),
            ty: vk::ImageViewType::TYPE_2D,
            base_layer: self.base_layer + layer,
            layers: 1,
            planes: Vec::new(),
            ..*self
        })
    }

    /// Pixels of the view's first level.
    pub fn extent(&self) -> (u32, u32) {
        match self.fold {
            Some(Fold { extent: [width, height], .. }) => (width, height),
            None => self.image.level_extent(self.base_level),
        }
    }

    /// Whether lookups take a direction.
    pub fn is_cube(&self) -> bool {
        matches!(self.ty, vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY)
    }

    /// Axes that coordinates have.
    pub fn axes(&self) -> usize {
        match self.ty {
            vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_1D_ARRAY => 1,
            vk::ImageViewType::TYPE_3D => 3,
            _ => 2,
        }
    }

    /// Slices of the first level, or layers, of which six make a cube.
    pub fn depth_or_layers(&self) -> u32 {
        match self.ty {
            vk::ImageViewType::TYPE_3D => self.image.slices(self.base_level),
            _ if self.is_cube() => self.layers / CUBE_FACES,
            _ => self.layers,
        }
    }

    /// The first face that the texture unit sees, of an image that is laid out as a cube.
    pub fn face(&self) -> u32 {
        if self.image.layout().shape.faces == 1 { 0 } else { self.base_layer }
    }

    /// Layers in front of what the texture unit sees. Faces of a cube are known to its layout, other layers are layouts
    /// of their own.
    pub fn unit_layer(&self) -> u32 {
        self.base_layer - self.face()
    }

    /// Samples of a pixel.
    pub fn samples(&self) -> u32 {
        self.image.samples()
    }

    /// What an attachment draws to: a plane of the view's first level of its first layer.
    pub fn placement(&self, plane: u8) -> Result<Placement, Error> {
        self.image.placement(self.base_level, self.base_layer, plane)
    }

    /// As [`ImageView::placement`], but offsets mean nothing: the image may have no memory yet.
    pub fn shape(&self) -> Option<Placement> {
        self.image.shape(self.base_level)
    }
}

/// How an image holds texels that are seen in another format of the same size; `None` if it holds them in a form that
/// the format does not have.
pub fn stored_as(image: &Image, row: &FormatRow) -> Option<Stored> {
    if row.format == image.row().format {
        return Some(image.stored());
    }
    let colors = !row.is_planar() && !image.row().is_planar();
    let colors =
        colors && row.aspects() == image.row().aspects() && row.aspects() == vk::ImageAspectFlags::COLOR;
    let candidates = [row.texture, row.target, row.target.is_none().then_some(format::WIDENED)];
    let shape = |stored: &Stored| (stored.storage, stored.texel.info().cpp);
    let mut fitting = candidates.into_iter().flatten();
    fitting.find(|stored| colors && row.bytes == image.row().bytes && shape(stored) == shape(&image.stored()))
}

/// Resolves VK_REMAINING_…, and checks a range.
fn count(base: u32, count: u32, have: u32, what: &str) -> Result<u32, Error> {
    let rest = have.saturating_sub(base);
    let resolved = if count == vk::REMAINING_MIP_LEVELS { rest } else { count };
    match resolved > 0 && resolved <= rest {
        true => Ok(resolved),
        false => {
            Err(Error::InvalidUse(format!("a view of {count} {what} from {base} of an image with {have}")))
        }
    }
}

fn check_view_type(ty: vk::ImageViewType, layers: u32) -> Result<(), Error> {
    let fits = match ty {
        vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_2D => layers == 1,
        vk::ImageViewType::CUBE => layers == CUBE_FACES,
        vk::ImageViewType::CUBE_ARRAY => layers % CUBE_FACES == 0,
        vk::ImageViewType::TYPE_1D_ARRAY | vk::ImageViewType::TYPE_2D_ARRAY => true,
        vk::ImageViewType::TYPE_3D => layers == 1,
        _ => return Err(Error::FormatNotSupported(format!("views of type {ty:?} are not offered"))),
    };
    if fits { Ok(()) } else { Err(Error::InvalidUse(format!("a view of type {ty:?} with {layers} layers"))) }
}

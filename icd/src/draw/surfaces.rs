//! The surfaces of a job: where tiles are loaded from and stored to (kernel-abi.md §5.2, §5.6).

use std::sync::Arc;

use vc4::hw::TILE_PX;
use vc4::image::surface::{color_write_bits, load_bits, zs_write_bits};
use vc4::image::tiling::Level;
use vc4::image::{TileFormat, Tiling};
use vc4_kernel_abi::{Submit, SubmitFlags, Surface};

use super::job::JobBuilder;
use crate::device::Device;
use crate::error::Error;
use crate::image::ImageView;
use crate::segment::{DepthStencilWord, Start, Target};

/// An attachment's place in memory.
struct Place {
    bo_index: u32,
    level: Level,
    format: TileFormat,
}

impl Place {
    fn new(job: &mut JobBuilder, view: &Arc<ImageView>) -> Result<Place, Error> {
        let no_target = || Error::InvalidUse(format!("{:?} is no format of attachments", view.row.format));
        let format = view.stored.texel.info().tile.ok_or_else(no_target)?;
        Ok(Place { bo_index: job.bo(&view.image.binding()?.bo), level: view.level()?, format })
    }

    fn surface(&self, bits: u16) -> Surface {
        Surface { bo_index: self.bo_index, offset: self.level.offset, bits, flags: 0 }
    }

    fn load(&self) -> Surface {
        self.surface(load_bits(self.format, self.level.tiling))
    }
}

/// Describes the target in `submit` and adds its BOs to the job.
pub(super) fn describe(
    submit: &mut Submit,
    device: &Device,
    target: &Target,
    job: &mut JobBuilder,
) -> Result<(), Error> {
    let color = target.color.as_ref().map(|view| Place::new(job, view)).transpose()?;
    let zs = target.depth_stencil.as_ref().map(|view| Place::new(job, view)).transpose()?;
    let color = match (color, &zs) {
        (None, None) => Some(nowhere(device, target, job)?),
        (color, _) => color,
    };
    size(submit, target, color.iter().chain(&zs))?;
    if let Some(place) = &color {
        submit.color_read = target.color_start.loads().then(|| place.load());
        // A job stores something (RCL-15).
        let needed = zs.is_none() || !target.depth_stencil_store;
        let bits = color_write_bits(Some(place.format), place.level.tiling, false);
        submit.color_write = (target.color_store || needed).then(|| place.surface(bits));
    }
    if let Some(place) = &zs {
        submit.zs_read = target.depth_stencil_start.loads().then(|| place.load());
        let bits = zs_write_bits(place.level.tiling);
        submit.zs_write = (target.depth_stencil_store || color.is_none()).then(|| place.surface(bits));
    }
    clear(submit, target);
    Ok(())
}

/// A surface for jobs without attachments, which nobody looks at.
fn nowhere(device: &Device, target: &Target, job: &mut JobBuilder) -> Result<Place, Error> {
    let (width, height) = target.size;
    let level = Level::new(Tiling::T, 4, width, height);
    let level = level.map_err(|error| Error::InvalidUse(error.to_string()))?;
    let bo = device.create_bo("a render pass without attachments", u64::from(level.size))?;
    Ok(Place { bo_index: job.bo(&bo), level, format: TileFormat::Rgba8888 })
}

/// Clear values. Without a load and without these, tiles would begin with what an earlier job left behind, of whatever
/// process (v3d.md §10.4).
fn clear(submit: &mut Submit, target: &Target) {
    let color = if let Start::Clear(texel) = target.color_start { texel } else { 0 };
    let stored = target.color.as_ref().and_then(|view| view.stored.texel.info().tile);
    let color = if stored == Some(TileFormat::Bgr565) { expanded_565(color) } else { color };
    let zs = match target.depth_stencil_start {
        Start::Clear(zs) => zs,
        _ => DepthStencilWord::default(),
    };
    submit.clear_color = [color, color];
    submit.clear_z = zs.depth;
    submit.clear_s = zs.stencil;
    submit.flags |= SubmitFlags::USE_CLEAR_COLOR;
}

/// The tile's word of an RGB565 texel: the high bits of each channel repeated below them, so that the store gives the
/// texel again however it rounds.
fn expanded_565(texel: u32) -> u32 {
    let five = |v: u32| v << 3 | v >> 2;
    let (high, middle, low) = (texel >> 11 & 31, texel >> 5 & 63, texel & 31);
    u32::from_le_bytes([five(high), middle << 2 | middle >> 4, five(low), 255].map(|byte| byte as u8))
}

/// Size and tiles of the job. All surfaces get their row pitch from one width (v3d.md §10.6).
fn size<'a>(
    submit: &mut Submit,
    target: &Target,
    places: impl Iterator<Item = &'a Place> + Clone,
) -> Result<(), Error> {
    let levels: Vec<&Level> = places.map(|place| &place.level).collect();
    let widths = levels.iter().map(|level| level.width);
    let padded = levels.iter().map(|level| level.padded_width);
    let fits = |width: &u32| levels.iter().all(|level| pitch(level, *width) == Some(level.padded_width));
    let width = widths.chain(padded).find(fits).ok_or_else(|| {
        let widths: Vec<u32> = levels.iter().map(|level| level.padded_width).collect();
        Error::unsupported(
            format!("attachments whose rows have {widths:?} pixels in memory"),
            "use attachments of equal size",
        )
    })?;
    let height = levels.iter().map(|level| level.height).min().unwrap_or(1);
    submit.width = width as u16;
    submit.height = height as u16;
    let tile = |px: i32| (px as u32 / TILE_PX) as u8;
    let area = target.area;
    submit.tiles = [tile(area.left), tile(area.top), tile(area.right - 1), tile(area.bottom - 1)];
    Ok(())
}

/// Pixels per row in memory of a surface like `level` in a job of that width.
fn pitch(level: &Level, width: u32) -> Option<u32> {
    Level::new(level.tiling, level.cpp, width, level.height).ok().map(|level| level.padded_width)
}

//! The surfaces of a job: where tiles are loaded from and stored to (kernel-abi.md §5.2, §5.6).

use std::sync::Arc;

use vc4::image::layout::MsaaLayout;
use vc4::image::surface::{color_write_bits, load_bits, tile_word, zs_write_bits};
use vc4::image::tiling::{Level, MAX_SURFACE};
use vc4::image::{TileFormat, Tiling};
use vc4_kernel_abi::{Submit, SubmitFlags, Surface};

use super::job::{Job, JobBuilder};
use super::site::Site;
use crate::foundation::bo::Bo;
use crate::foundation::error::Error;
use crate::foundation::facts::target_px;
use crate::objects::image_view::ImageView;
use crate::objects::placement::{Placement, common_width};
use crate::segments::{ColorTarget, DepthStencilWord, Start, Target};

/// A surface flag: the load is one of all samples (kernel-abi.md §5.1).
const FULL_RES: u16 = 1;

/// An attachment's place in memory.
struct Place {
    bo_index: u32,
    memory: Placement,
    format: TileFormat,
    /// First byte of the surface in its BO.
    offset: u32,
    /// Rows from there on.
    rows: u32,
}

impl Place {
    /// The surface whose first pixel is `origin`.
    fn new(job: &mut JobBuilder, view: &Arc<ImageView>, plane: u8, origin: [u32; 2]) -> Result<Place, Error> {
        let no_target = || Error::InvalidUse(format!("{:?} is no format of attachments", view.row.format));
        let format = view.stored.texel.info().tile.ok_or_else(no_target)?;
        Place::at(job.bo(&view.image.binding()?.bo)?, view.placement(plane)?, format, origin)
    }

    fn at(bo_index: u32, memory: Placement, format: TileFormat, origin: [u32; 2]) -> Result<Place, Error> {
        let in_parts = || {
            let what = format!("attachments of {}x{} that are not in rows", memory.width(), memory.height());
            Error::unsupported(what, "draw to at most 2048x2048 pixels of them")
        };
        let offset = memory.offset_from(origin).ok_or_else(in_parts)?;
        let rows = memory.height().saturating_sub(origin[1]).min(MAX_SURFACE);
        Ok(Place { bo_index, memory, format, offset, rows })
    }

    /// The same in a BO of its own.
    fn moved(&self, job: &mut JobBuilder, bo: &Arc<Bo>, origin: [u32; 2]) -> Result<Place, Error> {
        Place::at(job.bo(bo)?, self.memory.at_start(), self.format, origin)
    }

    fn surface(&self, bits: u16, flags: u16) -> Surface {
        Surface { bo_index: self.bo_index, offset: self.offset, bits, flags }
    }

    fn load(&self) -> Surface {
        match &self.memory {
            Placement::Level(level) => self.surface(load_bits(self.format, level.tiling), 0),
            Placement::Blocks { .. } => self.surface(0, FULL_RES),
        }
    }
}

/// Memory for what a pass draws while the attachment has to stay as it was ([`Target::is_aside`]).
pub(super) fn aside(site: Site<'_>, target: &Target, pass: usize) -> Result<Option<Arc<Bo>>, Error> {
    let Some(color) = target.colors.get(pass).filter(|_| target.is_aside(pass)) else { return Ok(None) };
    let bytes = color.view.placement(color.plane)?.surface_size();
    site.create_bo("a colour that its own subpass reads", bytes.into()).map(Some)
}

/// The job that brings what a pass has drawn aside to its attachment.
pub(super) fn bring_back(
    site: Site<'_>,
    target: &Target,
    pass: usize,
    aside: &Arc<Bo>,
) -> Result<Job, Error> {
    let mut target = Target { depth_stencil: None, depth_stencil_store: false, ..target.pass(pass) };
    target.load();
    target.keep();
    let mut job = JobBuilder::default();
    let mut submit = describe(site, &target, None, &mut job)?;
    if let Some(color) = target.colors.first() {
        let place = Place::new(&mut job, &color.view, color.plane, target.origin())?;
        submit.color_read = Some(place.moved(&mut job, aside, target.origin())?.load());
    }
    Ok(job.finish(submit, &target).uncounted())
}

/// A submission on the target of a pass, still without lists; adds the target's BOs to the job. Colours are stored to
/// `aside` instead, if it is there.
pub(super) fn describe(
    site: Site<'_>,
    target: &Target,
    aside: Option<&Arc<Bo>>,
    job: &mut JobBuilder,
) -> Result<Submit, Error> {
    let mut submit = Submit::default();
    let multisample = target.is_multisampled();
    let drawn = target.colors.first();
    let origin = target.origin();
    let mut place = |view: Option<&Arc<ImageView>>, plane| {
        view.map(|view| Place::new(job, view, plane, origin)).transpose()
    };
    let color = place(drawn.map(|color| &color.view), drawn.map_or(0, |color| color.plane))?;
    let resolve = place(drawn.and_then(|color| color.resolve.as_ref()), 0)?;
    let zs = place(target.depth_stencil.as_ref(), 0)?;
    let color = match (color, &zs) {
        (None, None) => Some(nowhere(site, target, job)?),
        (color, _) => color,
    };
    size(&mut submit, target, &color.iter().chain(&resolve).chain(&zs).collect::<Vec<_>>())?;
    // The mode of multisampled jobs stands here even if they store no colour.
    submit.color_write_bits_if_absent =
        if multisample { color_write_bits(None, Tiling::Raster, true) } else { 0 };
    let write = |place: &Place| match &place.memory {
        Placement::Level(level) => {
            (Some(place.surface(color_write_bits(Some(place.format), level.tiling, multisample), 0)), None)
        }
        Placement::Blocks { .. } => (None, Some(place.surface(0, 0))),
    };
    if let Some(place) = &color {
        submit.color_read = drawn.is_some_and(|color| color.start.loads()).then(|| place.load());
        // A job stores something (RCL-15).
        let needed = resolve.is_none() && (zs.is_none() || !target.depth_stencil_store);
        if let Some(aside) = aside {
            (submit.color_write, submit.msaa_color_write) = write(&place.moved(job, aside, origin)?);
        } else if drawn.is_some_and(|color| color.store) || needed {
            (submit.color_write, submit.msaa_color_write) = write(place);
        }
    }
    if let Some(place) = &resolve {
        submit.color_write = write(place).0;
    }
    if let Some(place) = &zs {
        submit.zs_read = target.depth_stencil_start.loads().then(|| place.load());
        if target.depth_stencil_store || color.is_none() {
            match &place.memory {
                Placement::Level(level) => {
                    submit.zs_write = Some(place.surface(zs_write_bits(level.tiling), 0))
                }
                Placement::Blocks { .. } => submit.msaa_zs_write = Some(place.surface(0, 0)),
            }
        }
    }
    clear(&mut submit, target);
    Ok(submit)
}

/// A surface for jobs without attachments, which nobody looks at.
fn nowhere(site: Site<'_>, target: &Target, job: &mut JobBuilder) -> Result<Place, Error> {
    // As much of the framebuffer as jobs reach.
    let area = target.job_area();
    let (width, height) = (area.right.max(1) as u32, area.bottom.max(1) as u32);
    let wrong = |error: vc4::image::LayoutError| Error::InvalidUse(error.to_string());
    let (memory, bytes) = if target.is_multisampled() {
        let layout = MsaaLayout::new(width, height, target_px()).map_err(wrong)?;
        (Placement::Blocks { layout, offset: 0, width, height }, layout.size)
    } else {
        let level = Level::new(Tiling::T, 4, width, height).map_err(wrong)?;
        (Placement::Level(level), level.size)
    };
    let bo = site.create_bo("a render pass without attachments", u64::from(bytes))?;
    Place::at(job.bo(&bo)?, memory, TileFormat::Rgba8888, [0; 2])
}

/// Clear values. Without a load and without these, tiles would begin with what an earlier job left behind, of whatever
/// process (v3d.md §10.4).
fn clear(submit: &mut Submit, target: &Target) {
    let color = match target.colors.first() {
        Some(ColorTarget { view, start: Start::Clear(texel), .. }) => {
            view.stored.texel.info().tile.map_or(*texel, |format| tile_word(format, *texel))
        }
        _ => 0,
    };
    let zs = match target.depth_stencil_start {
        Start::Clear(zs) => zs,
        _ => DepthStencilWord::default(),
    };
    submit.clear_color = [color, color];
    submit.clear_z = zs.depth;
    submit.clear_s = zs.stencil;
    submit.flags |= SubmitFlags::USE_CLEAR_COLOR;
}

/// Size and tiles of the job.
fn size(submit: &mut Submit, target: &Target, places: &[&Place]) -> Result<(), Error> {
    let memories: Vec<Placement> = places.iter().map(|place| place.memory).collect();
    let width = common_width(&memories).ok_or_else(|| {
        let widths: Vec<u32> = memories.iter().map(Placement::padded_width).collect();
        Error::unsupported(
            format!("attachments whose rows have {widths:?} pixels in memory"),
            "use attachments of equal size",
        )
    })?;
    submit.width = width as u16;
    submit.height = places.iter().map(|place| place.rows).min().unwrap_or(1) as u16;
    let tile = |px: i32| (px as u32 / target.tile_px()) as u8;
    let area = target.job_area();
    submit.tiles = [tile(area.left), tile(area.top), tile(area.right - 1), tile(area.bottom - 1)];
    Ok(())
}

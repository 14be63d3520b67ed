//! Copies from images to buffers that the QPUs draw: the buffer's words are the picture, and a program fetches the texels
//! whose bits they are.

use std::sync::Arc;

use ash::vk;
use vc4::hw::TILE_PX;
use vc4::image::format::Uses;

use super::beside;
use super::blocks::BlockWords;
use super::conversion::Conversion;
use super::drawn::{Work, set};
use super::form::Form;
use super::pieces::Piece;
use super::programs::{
    self, COLUMN_AT, FILLED_AT, LEFT_AT, Order, PART_AT, ROW_AT, TEXEL_WORDS, TEXELS_AT, WIDTH_AT, texels,
};
use super::strips::{self, Strip, WORD};
use super::worth::pays;
use crate::foundation::format;
use crate::objects::buffer::Buffer;
use crate::objects::descriptor::{Descriptor, DescriptorSet};
use crate::objects::image::Image;
use crate::objects::image_view::{ImageView, stored_as};
use crate::pipeline::Rectangles;
use crate::segments::{Rectangle, RenderSegment};

/// The jobs that fill the bytes of a piece with what the image has there, and what they leave; or why there are none.
pub(super) fn download(
    piece: &Piece,
    buffer: &Arc<Buffer>,
    image: &Arc<Image>,
    rectangles: &mut Rectangles,
) -> Result<Work<Piece>, String> {
    let rect = piece.part.rect;
    pays(piece.row as u64 * u64::from(rect.height))?;
    if rect.width == 0 || rect.height == 0 {
        return Err("it is empty".into());
    }
    if image.row().block() > 1 {
        let blocks = BlockWords::new(piece, image)?;
        let work = download(&blocks.piece, buffer, &blocks.image, rectangles)?;
        let rest = work.rest.into_iter().map(|part| blocks.in_blocks(part, piece)).collect();
        return Ok(Work { jobs: work.jobs, rest });
    }
    let bytes = piece.row as u32 / rect.width;
    if piece.offset % u64::from(bytes) != 0 {
        return Err("texels begin inside of words".into());
    }
    let form = Conversion::new(image.row(), image.stored().storage, piece.aspect).into();
    let source = Source { set: source(image, piece, form)?, bytes, form };
    if piece.pitch % u64::from(bytes) != 0 || piece.pitch < piece.row as u64 {
        return Err(format!("its rows are {} bytes apart", piece.pitch));
    }
    in_rows(piece, buffer, &source, rectangles).or_else(|_| in_line(piece, buffer, &source, rectangles))
}

/// What is read.
struct Source {
    set: Arc<DescriptorSet>,
    /// Bytes of a texel.
    bytes: u32,
    /// In what form the image holds them.
    form: Form,
}

fn no_bits(image: &Image) -> String {
    format!("texels of {:?} are not moved as they are", image.row().format)
}

/// The image as integers of its texels' size; depth and stencil, as the words that both lie in.
fn source(image: &Arc<Image>, piece: &Piece, form: Form) -> Result<Arc<DescriptorSet>, String> {
    if image.samples() != 1 {
        return Err("it has several samples".into());
    }
    let bytes = if form == Form::Bits { image.row().bytes } else { WORD as u32 };
    let integers = match bytes {
        1 => vk::Format::R8_UINT,
        2 => vk::Format::R16_UINT,
        4 => vk::Format::R32_UINT,
        8 => vk::Format::R32G32_UINT,
        16 => vk::Format::R32G32B32A32_UINT,
        _ => return Err(no_bits(image)),
    };
    let row = format::row(integers).ok_or_else(|| no_bits(image))?;
    // Words of another form are in no other format's images.
    let stored = match form {
        Form::Bits if piece.aspect == vk::ImageAspectFlags::COLOR => stored_as(image, row),
        _ => row.texture.filter(|stored| stored.texel.info().cpp == image.stored().texel.info().cpp),
    };
    let stored = stored.ok_or_else(|| no_bits(image))?;
    // Programs find texels in rows themselves, in tiles the unit does.
    let unit_reads = stored.texel.info().uses.contains(Uses::SAMPLED) && stored.planes() == 1;
    if !image.layout().shape.raster && !unit_reads {
        return Err(format!("no program reads texels of {:?} in tiles", image.row().format));
    }
    let view = ImageView::flat(image.clone(), row, stored, piece.part.level, piece.part.slice);
    let descriptor = Descriptor::Image { view: Some(Arc::new(view)), sampler: None };
    set(programs::IMAGE, vk::DescriptorType::SAMPLED_IMAGE, descriptor)
}

impl Source {
    /// The job that fills columns of a strip, in part or where its tiles have something else if it `keeps` that.
    fn fill(
        &self,
        strip: &Strip,
        (columns, keeps): (u32, bool),
        order: Order,
        push: &[u32],
        rectangles: &mut Rectangles,
    ) -> Result<RenderSegment, String> {
        let task = match order {
            Order::Rows => "rows of texels",
            Order::Line => "a line of texels",
            Order::Gaps => "a line of texels with gaps",
        };
        let number = self.bytes | (self.form as u32) << 8;
        let pipeline = rectangles
            .pipeline((task, number), strip.view.row.format, || texels(order, self.bytes, self.form))?;
        let rectangle = Rectangle { view: strip.view.clone(), area: strip.columns(columns), keeps };
        Ok(rectangle.segment(&pipeline, |number| (number == 0).then_some((&self.set, &[][..])), push))
    }
}

/// Rows of words that are rows of texels.
fn in_rows(
    piece: &Piece,
    buffer: &Buffer,
    source: &Source,
    rectangles: &mut Rectangles,
) -> Result<Work<Piece>, String> {
    let (rect, row) = (piece.part.rect, piece.row as u64);
    let device = rectangles.device().clone();
    let strips = strips::rows(&device, buffer, piece.offset, piece.pitch, rect.height)?;
    if row % WORD != 0 || strips.is_empty() {
        return Err("its rows end inside of words".into());
    }
    // What is in the gap behind a row is loaded with its tiles, unless it may be changed meanwhile.
    let tile = WORD * u64::from(TILE_PX);
    let has_part = row % tile != 0 && row != piece.pitch;
    let drawn = match beside::of_buffer(buffer) {
        Err(why) if has_part && row < tile => return Err(why),
        Err(_) if has_part => row / tile * tile,
        _ => row,
    };
    let columns = ((drawn / WORD) as u32, has_part && drawn == row);
    let (mut jobs, mut rows) = (Vec::new(), 0);
    for strip in &strips {
        let mut push = [0; TEXEL_WORDS];
        push[(COLUMN_AT / 4) as usize] = rect.x;
        push[(ROW_AT / 4) as usize] = rect.y + rows;
        jobs.push(source.fill(strip, columns, Order::Rows, &push, rectangles)?);
        rows += strip.height;
    }
    let columns = (drawn / u64::from(source.bytes)) as u32;
    let rest = [piece.rows(0..rows).columns(columns..rect.width), piece.rows(rows..rect.height)];
    Ok(Work { jobs, rest: rest.into_iter().filter(|piece| !piece.is_empty()).collect() })
}

/// Rows that follow each other, wherever they begin.
fn in_line(
    piece: &Piece,
    buffer: &Buffer,
    source: &Source,
    rectangles: &mut Rectangles,
) -> Result<Work<Piece>, String> {
    let rect = piece.part.rect;
    let device = rectangles.device().clone();
    let before = piece.pitch.saturating_mul(u64::from(rect.height - 1));
    let end = piece.offset.saturating_add(before).saturating_add(piece.row as u64);
    let strips = strips::strips(&device, buffer, piece.offset..end)?;
    let bytes = u64::from(source.bytes);
    let pitch = piece.pitch / bytes;
    let has_gaps = pitch != u64::from(rect.width);
    if has_gaps {
        beside::of_buffer(buffer)?;
    }
    let order = if has_gaps { Order::Gaps } else { Order::Line };
    let mut jobs = Vec::new();
    for strip in &strips {
        let first = (strip.start - piece.offset) / bytes;
        let mut push = [0; TEXEL_WORDS];
        let mut put = |at: u32, word: u32| push[(at / 4) as usize] = word;
        put(COLUMN_AT, (first % pitch) as u32);
        put(ROW_AT, rect.y + (first / pitch) as u32);
        put(LEFT_AT, rect.x);
        put(WIDTH_AT, pitch as u32);
        put(PART_AT, (1.0 / pitch as f32).to_bits());
        put(TEXELS_AT, (WORD * u64::from(strip.width) / bytes) as u32);
        put(FILLED_AT, rect.width);
        jobs.push(source.fill(strip, (strip.width, has_gaps), order, &push, rectangles)?);
    }
    // What is beside the strips, with the rest of its rows: they get the same twice.
    let complete = |byte: u64| ((byte - piece.offset + piece.pitch - piece.row as u64) / piece.pitch) as u32;
    let drawn = strips.first().map_or(end, |strip| strip.start)..strips.last().map_or(end, Strip::end);
    let above = (drawn.start - piece.offset).div_ceil(piece.pitch) as u32;
    let rest = [piece.rows(0..above.min(rect.height)), piece.rows(complete(drawn.end)..rect.height)];
    Ok(Work { jobs, rest: rest.into_iter().filter(|piece| !piece.is_empty()).collect() })
}

#[cfg(test)]
mod tests {
    use vc4::image::Rect;

    use super::*;
    use crate::objects::memory::{DeviceMemory, Origin};
    use crate::objects::memory_type::MemoryType;
    use crate::testing::device;
    use crate::transfers::texels::Part;

    /// The host may write behind a row as long as it maps the memory: only tiles that end in front of that are drawn.
    #[test]
    fn gaps_are_the_hosts_while_it_maps_them() {
        let device = device();
        let info = vk::ImageCreateInfo {
            image_type: vk::ImageType::TYPE_2D,
            format: vk::Format::R8G8B8A8_UNORM,
            extent: vk::Extent3D { width: 300, height: 100, depth: 1 },
            mip_levels: 1,
            array_layers: 1,
            samples: vk::SampleCountFlags::TYPE_1,
            usage: vk::ImageUsageFlags::TRANSFER_SRC,
            ..Default::default()
        };
        let image = Image::new(&device, &info).unwrap();
        let memory = |size| DeviceMemory::new(&device, size, MemoryType::Device, Origin::Alone).unwrap();
        image.bind(&memory(image.requirements().size), 0).unwrap();
        let image = Arc::new(image);
        let pitch = 4 * 384;
        let size = 100 * pitch;
        let buffer = Buffer::new(&device, &vk::BufferCreateInfo { size, ..Default::default() }).unwrap();
        let held = memory(size);
        buffer.bind(&held, 0).unwrap();
        let buffer = Arc::new(buffer);
        let mut rectangles = Rectangles::new(device.clone());
        let part = Part::whole(&image, 0, 0);
        let piece = Piece { part, offset: 0, pitch, row: 1200, aspect: vk::ImageAspectFlags::COLOR };
        let mut rest = |piece: &Piece| {
            let work = download(piece, &buffer, &image, &mut rectangles);
            work.map(|work| work.rest.iter().map(|piece| piece.part.rect).collect::<Vec<_>>())
        };
        assert_eq!(rest(&piece), Ok(vec![]));
        let shifted = Piece { offset: 16, pitch: pitch - 4, ..piece.columns(0..250) };
        assert!(rest(&shifted).is_ok());
        held.map(0, 1).unwrap();
        assert_eq!(rest(&piece), Ok(vec![Rect { x: 256, y: 0, width: 44, height: 100 }]));
        assert!(rest(&piece.columns(0..40)).is_err());
        assert!(rest(&shifted).is_err());
        held.unmap();
        assert_eq!(rest(&piece), Ok(vec![]));
    }
}

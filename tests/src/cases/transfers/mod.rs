//! Copies, blits and clears on whatever driver the loader finds: each case ends in bytes, which two drivers' runs
//! can be compared by.

mod buffers;
mod case;
pub mod chain;
mod formats;
mod image;
mod parts;
mod samples;

use ash::vk;

pub use case::Case;
use case::Work;
use formats::{BLOCKS, COLORS, DEPTHS, info, kind};
use image::{Rows, Shape};

/// Every case.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: String, format, work| cases.push(Case { name, format, work });
    for format in COLORS.into_iter().chain(DEPTHS).chain(BLOCKS) {
        add(format!("copy {format:?}"), format, Work::Copy(Shape::Flat));
    }
    for rows in [Rows::Tight, Rows::Padded] {
        for format in COLORS.into_iter().chain(DEPTHS).chain(BLOCKS) {
            add(format!("copy {format:?} to rows, {rows:?}"), format, Work::Down(Shape::Flat, rows));
        }
        for format in DEPTHS {
            add(format!("copy drawn {format:?} to rows, {rows:?}"), format, Work::Depth(rows));
        }
        let format = vk::Format::D24_UNORM_S8_UINT;
        add(format!("copy both aspects of {format:?} to rows, {rows:?}"), format, Work::Stencil(rows));
    }
    for format in [
        vk::Format::R8G8B8A8_UNORM,
        vk::Format::R5G6B5_UNORM_PACK16,
        vk::Format::R16G16B16A16_SFLOAT,
        vk::Format::R8G8B8A8_UINT,
    ] {
        let float = |on: [u8; 4]| on.map(|on| f32::from(on).to_bits());
        let words = match kind(format) {
            0 => [float([1, 0, 1, 1]), float([0, 1, 0, 0])],
            _ => [[1, 20, 3, 40], [5, 6, 70, 8]],
        };
        add(format!("copy samples of {format:?}"), format, Work::Samples(words));
    }
    add("copy and fill buffers".into(), vk::Format::R8_UINT, Work::Bytes);
    for format in COLORS.into_iter().chain(DEPTHS).chain(BLOCKS) {
        add(format!("copy parts of {format:?}"), format, Work::Parts(Shape::Flat));
    }
    for format in COLORS {
        add(format!("copy parts of volumes of {format:?}"), format, Work::Parts(Shape::Volume));
        add(format!("copy parts of linear {format:?}"), format, Work::Parts(Shape::Linear));
        add(format!("copy volumes of {format:?}"), format, Work::Copy(Shape::Volume));
        let words = clear_words(format);
        add(format!("clear {format:?}"), format, Work::Clear(words, Shape::Flat));
        add(format!("clear a volume of {format:?}"), format, Work::Clear(words, Shape::Volume));
    }
    for format in DEPTHS {
        let words = [0.3f32.to_bits(), 0xa5, 0, 0];
        add(format!("clear {format:?}"), format, Work::Clear(words, Shape::Flat));
    }
    for (index, to) in COLORS.into_iter().enumerate() {
        for from in COLORS.into_iter().chain(BLOCKS).skip(index % 3).step_by(3) {
            for linear in [false, true] {
                let integer = |format| info(format).is_some_and(|info| info.is_integer());
                if kind(from) != kind(to) || linear && integer(to) {
                    continue;
                }
                let volume = index % 4 == 3 && !BLOCKS.contains(&from);
                // Enlarged, mirrored, moved and reduced: distances in the source are odd where they change, which
                // leaves no tie between texels.
                let (src, dst) = match index % 3 {
                    _ if volume => ([0, 99], [11, 2]),
                    0 => ([3, 40], [60, 5]),
                    1 => ([5, 50], [0, 45]),
                    _ => ([0, 53], [7, 24]),
                };
                let filter = if linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
                let shape = if volume { Shape::Volume } else { Shape::Flat };
                let work = Work::Blit { from, shape, src, dst, filter };
                add(format!("blit {from:?} to {to:?}, {filter:?}, {src:?} to {dst:?}"), to, work);
            }
        }
    }
    broad(&mut cases);
    odd(&mut cases);
    cases
}

/// What is no move of words from one flat image to another of its format.
fn odd(cases: &mut Vec<Case>) {
    let mut add = |name: String, format, work| cases.push(Case { name, format, work });
    for (from, to) in [
        (vk::Format::R8_UNORM, vk::Format::R8_UINT),
        (vk::Format::R8G8_SINT, vk::Format::R5G6B5_UNORM_PACK16),
        (vk::Format::A1R5G5B5_UNORM_PACK16, vk::Format::R16_UINT),
        (vk::Format::R5G6B5_UNORM_PACK16, vk::Format::A1R5G5B5_UNORM_PACK16),
        (vk::Format::R32_SFLOAT, vk::Format::B8G8R8A8_SRGB),
        (vk::Format::R16G16B16A16_UINT, vk::Format::R32G32_SFLOAT),
        (vk::Format::ETC2_R8G8B8_UNORM_BLOCK, vk::Format::R16G16B16A16_UINT),
        (vk::Format::R32G32_UINT, vk::Format::ETC2_R8G8B8A1_SRGB_BLOCK),
        (vk::Format::ETC2_R8G8B8A8_UNORM_BLOCK, vk::Format::R32G32B32A32_SINT),
        (vk::Format::ETC2_R8G8B8A8_UNORM_BLOCK, vk::Format::EAC_R11G11_SNORM_BLOCK),
    ] {
        add(format!("copy {from:?} to {to:?}"), to, Work::CopyFrom(from));
    }
    for format in COLORS.into_iter().chain(DEPTHS).chain(BLOCKS).step_by(3) {
        add(format!("copy within an image of {format:?}"), format, Work::CopyWithin);
        add(format!("copy tall images of {format:?}"), format, Work::Copy(Shape::Tall));
    }
    let format = vk::Format::D24_UNORM_S8_UINT;
    for aspect in [vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL] {
        add(format!("copy {aspect:?} of {format:?}"), format, Work::CopyAspect(aspect));
    }
    for (format, filter) in [
        (vk::Format::R8G8B8A8_UNORM, vk::Filter::LINEAR),
        (vk::Format::R16G16_SFLOAT, vk::Filter::NEAREST),
        (vk::Format::R8_UNORM, vk::Filter::NEAREST),
    ] {
        let work = Work::Blit { from: format, shape: Shape::Tall, src: [3, 60], dst: [0, 45], filter };
        add(format!("blit tall images of {format:?}, {filter:?}"), format, work);
        let work = Work::Clear(clear_words(format), Shape::Tall);
        add(format!("clear a tall image of {format:?}"), format, work);
    }
}

/// Some of it with images whose columns lie in panels.
fn broad(cases: &mut Vec<Case>) {
    let mut add =
        |name: &str, format, work| cases.push(Case { name: format!("{name} {format:?}"), format, work });
    let formats = [
        vk::Format::R8_UNORM,
        vk::Format::B8G8R8A8_UNORM,
        vk::Format::R16G16B16A16_SFLOAT,
        vk::Format::D16_UNORM,
        vk::Format::ETC2_R8G8B8_UNORM_BLOCK,
    ];
    for format in [vk::Format::R16G16B16A16_SFLOAT, vk::Format::R32G32B32A32_SINT, vk::Format::R8_UINT] {
        add("copy parts of wide images of", format, Work::Parts(Shape::Wide));
    }
    for format in formats {
        add("copy broad images of", format, Work::Copy(Shape::Broad));
        add("copy to rows, tight, broad images of", format, Work::Down(Shape::Broad, Rows::Tight));
    }
    for format in &formats[1..3] {
        add("clear a broad image of", *format, Work::Clear(clear_words(*format), Shape::Broad));
        for filter in [vk::Filter::NEAREST, vk::Filter::LINEAR] {
            let (src, dst) = ([3951, 4210], [4001, 4229]);
            let work = Work::Blit { from: vk::Format::R8G8B8A8_UNORM, shape: Shape::Broad, src, dst, filter };
            add(&format!("blit within broad images, {filter:?}, to"), *format, work);
        }
    }
}

fn clear_words(format: vk::Format) -> [u32; 4] {
    match kind(format) {
        0 => [0.1f32, 0.7, 0.4, 0.8].map(f32::to_bits),
        _ => [1, 2, 3, 1],
    }
}

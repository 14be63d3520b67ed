//! Experiments with the tile buffer and with what is loaded and stored.

use vc4::cl::Packet;
use vc4::cl::packets::*;
use vc4::image::layout::MSAA_TILE_BYTES;
use vc4::image::surface::{color_write_bits, load_bits};
use vc4::image::{Level, TileFormat};
use vc4_kernel_abi::{BoHandle, Submit, SubmitFlags, Surface};

use super::common::{CLEAR, EDGE, all, at_places, cells, draw, run};
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::{Draw, Target, level};
use crate::jobs::programs::{DONE, END, NOP, fragment, words};

/// v3d.md §9.6.
pub fn ms_flags(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let body = format!("sig_none ; r0 = or.always(a, a, ms_flags) ; nop = nop() ;\n{NOP}");
    cells(bench, vec![Draw { fragment: fragment(&body), uniforms: vec![], ..draw(all(0.5)) }])
}

/// Writes a pixel's samples one by one.
fn four_samples() -> Vec<u64> {
    let one = "sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n\
        sig_none ; tlb_color_ms = or.always(r0, r0) ; nop = nop() ;\n";
    let z = "sig_none ; tlb_z = or.always(b, b, nop, rb15) ; nop = nop() ;\n";
    words(&format!("{NOP}{z}{}{END}{NOP}{DONE}", one.repeat(4)))
}

/// A pixel whose samples are these words, stored as the bits of the frame say.
fn stored(bench: &Bench<'_>, samples: [u32; 4], decimate: Decimate) -> Result<Vec<u32>, Failure> {
    let target = Target::new(bench, Tiling::Raster, 32, 32)?.multisampled();
    let one = Draw { fragment: four_samples(), uniforms: samples.to_vec(), ..draw(all(0.5)) };
    let config = ConfigurationBits { oversample: Oversample::X4, ..one.config };
    let mut job = target.draw(CLEAR, &[Draw { config, ..one }])?;
    let frame = TileRenderingModeConfig {
        format: FrameFormat::Rgba8888,
        multisample: true,
        decimate,
        ..TileRenderingModeConfig::default()
    };
    // The words behind the address, width and height of packet 113.
    job.color_write =
        Some(Surface { bo_index: 0, offset: 0, bits: (frame.payload() >> 64) as u16, flags: 0 });
    run(bench, &target, &job)?;
    Ok(at_places(&target.picture()?, &[(9, 9)]))
}

/// Sums of one, two and three in three channels: quarters.
pub fn resolve_rounding(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    stored(bench, [0x01_0101, 0x01_0100, 0x01_0000, 0], Decimate::X4)
}

/// Four words, and which of them is stored.
pub fn unresolved_sample(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    stored(bench, [1, 2, 3, 4], Decimate::X1)
}

/// Grey that grows by four per column.
fn ramp() -> Draw {
    let body = "sig_none ; r0 = or.always(a, a, x_pix) ; nop = nop() ;\n\
        sig_small_imm ; r0 = shl.always(r0, b, nop, 2) ; nop = nop() ;\n\
        sig_small_imm ; r1 = shl.always(r0, b, nop, 8) ; nop = nop() ;\n\
        sig_none ; r0 = or.always(r0, r1) ; nop = nop() ;\n\
        sig_small_imm ; r1 = shl.always(r1, b, nop, 8) ; nop = nop() ;\n\
        sig_none ; r0 = or.always(r0, r1) ; nop = nop() ;\n";
    Draw { fragment: fragment(body), uniforms: vec![], ..draw(all(0.5)) }
}

/// Rows of a 16-bit target with a ramp, two pixels per word.
fn stored_565(bench: &Bench<'_>, format: FrameFormat, rows: u32) -> Result<Vec<u32>, Failure> {
    let target = Target::new(bench, Tiling::Raster, EDGE, EDGE)?;
    let mut job = target.draw(CLEAR, &[ramp()])?;
    let frame = TileRenderingModeConfig { format, ..TileRenderingModeConfig::default() };
    job.color_write =
        Some(Surface { bo_index: 0, offset: 0, bits: (frame.payload() >> 64) as u16, flags: 0 });
    run(bench, &target, &job)?;
    let map = bench.map(target.color)?;
    let stride =
        Level::new(Tiling::Raster, 2, EDGE, EDGE).map_err(|error| Failure::Wrong(error.to_string()))?.stride;
    let places = (0..rows).flat_map(|y| (0..EDGE / 2).map(move |x| (y * stride + 4 * x) as usize));
    Ok(places.map(|at| map.read_u32(at)).collect())
}

pub fn store_565(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    stored_565(bench, FrameFormat::Bgr565, 1)
}

pub fn dither_565(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    stored_565(bench, FrameFormat::Bgr565Dithered, 4)
}

/// A job that loads and stores, and draws nothing.
fn copied(target: &Target<'_>, from: BoHandle, bits: u16) -> Submit {
    let job = target.clear(CLEAR);
    let color_read = Some(Surface { bo_index: 1, offset: 0, bits, flags: 0 });
    Submit { bos: vec![target.color, from], flags: SubmitFlags::empty(), color_read, ..job }
}

/// All values of five bits in all channels, loaded as 16 and stored as 32 bits.
pub fn load_565(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let target = Target::new(bench, Tiling::Raster, EDGE, EDGE)?;
    let pixels = (0..EDGE as u16 * EDGE as u16).map(|i| (i & 31) << 11 | (i & 63) << 5 | (i & 31));
    let from = bench.filled(&pixels.flat_map(u16::to_le_bytes).collect::<Vec<_>>())?;
    run(bench, &target, &copied(&target, from, load_bits(TileFormat::Bgr565, Tiling::Raster)))?;
    Ok(at_places(&target.picture()?, &(0..EDGE).map(|x| (x, 0)).collect::<Vec<_>>()))
}

/// Sizes that end inside of a utile, and what stands beside and below.
pub fn store_extent(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    const PATTERN: u32 = 0x5a5a_5a5a;
    const COLOR: u32 = 0x1122_3344;
    let mut words = Vec::new();
    for tiling in [Tiling::Raster, Tiling::Lt, Tiling::T] {
        let target = Target::new(bench, tiling, 17, 5)?;
        let image = level(tiling, 17, 5)?;
        let map = bench.map(target.color)?;
        (0..image.size as usize / 4).for_each(|at| map.write(4 * at, &PATTERN.to_le_bytes()));
        let clear = Submit {
            color_write: Some(Surface {
                bo_index: 0,
                offset: 0,
                bits: color_write_bits(Some(TileFormat::Rgba8888), tiling, false),
                flags: 0,
            }),
            ..target.clear(COLOR)
        };
        run(bench, &target, &clear)?;
        let places = if tiling == Tiling::Raster {
            vec![(17, 0), (18, 4), (19, 0)]
        } else {
            vec![(17, 0), (19, 3), (3, 7)]
        };
        words.extend(
            places.into_iter().map(|(x, y)| u32::from(map.read_u32(image.offset_of(x, y) as usize) == COLOR)),
        );
    }
    Ok(words)
}

/// A store of all samples where each pixel has one.
pub fn full_resolution(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let target = Target::new(bench, Tiling::Raster, EDGE, EDGE)?;
    let body = "sig_none ; r0 = or.always(a, a, x_pix) ; nop = nop() ;\n\
        sig_none ; r1 = or.always(b, b, nop, y_pix) ; nop = nop() ;\n\
        sig_small_imm ; r1 = shl.always(r1, b, nop, 8) ; nop = nop() ;\n\
        sig_none ; r0 = or.always(r0, r1) ; nop = nop() ;\n";
    let mut job =
        target.draw(CLEAR, &[Draw { fragment: fragment(body), uniforms: vec![], ..draw(all(0.5)) }])?;
    // As many blocks as the kernel counts, which takes tiles of 32 pixels.
    let bo = bench.bo(4 * MSAA_TILE_BYTES)?;
    job.msaa_color_write = Some(Surface { bo_index: job.bos.len() as u32, offset: 0, bits: 0, flags: 0 });
    job.bos.push(bo);
    run(bench, &target, &job)?;
    let map = bench.map(bo)?;
    Ok([4, 8, 16, 64, 256, 512, 1024].map(|at| map.read_u32(at)).into())
}

//! Experiments with depth, which programs see in rb15.

use vc4::cl::F187;
use vc4::cl::packets::*;
use vc4::image::layout::{MSAA_TILE_BYTES, msaa_block_offset};
use vc4_kernel_abi::Surface;

use super::common::{CLEAR, all, cells, draw, run};
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::{Draw, Target, Vertex, at};
use crate::jobs::programs::fragment;

/// The colour is the depth.
pub fn show_z() -> Vec<u64> {
    fragment("sig_none ; r0 = or.always(b, b, nop, rb15) ; nop = nop() ;\n")
}

fn shown(vertices: Vec<Vertex>) -> Draw {
    Draw { fragment: show_z(), uniforms: vec![], ..draw(vertices) }
}

/// Depths whose 24-bit forms differ by what they are multiplied with and how they are rounded.
pub fn rounding(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    cells(bench, [0.25, 0.5, 0.75].map(|z| shown(all(z))).into())
}

/// Depths beyond both ends, coarsely.
pub fn outside(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let words = cells(bench, [1.375, -0.375].map(|z| shown(all(z))).into())?;
    Ok(words.into_iter().map(|z| z >> 20).collect())
}

/// What an offset adds to the depth, in these steps.
fn added(
    bench: &Bench<'_>,
    vertices: Vec<Vertex>,
    offset: DepthOffset,
    steps: u32,
) -> Result<Vec<u32>, Failure> {
    let plain = shown(vertices.clone());
    let config = ConfigurationBits { depth_offset: true, ..plain.config };
    // Both at the same pixel, for depth may lean.
    let with = Draw { config, state: vec![offset.into()], ..shown(vertices) };
    let (before, behind) = (cells(bench, vec![plain])?[0], cells(bench, vec![with])?[0]);
    Ok(vec![behind.wrapping_sub(before).wrapping_add(steps / 2) / steps])
}

/// v3d.md §9.7.
pub fn unit(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let offset = DepthOffset { units: F187::truncate(64.0), ..DepthOffset::default() };
    added(bench, all(0.25), offset, 16)
}

/// Depths between two steps, with offsets that are no whole steps.
pub fn bias_order(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let with = |n: u32| {
        // Small depths have floats between the steps.
        let z = (1000.0 + f64::from(n % 8) / 8.0) / 16_777_215.0;
        let units = F187::truncate(0.2 + (n / 8) as f32 * 0.21);
        let draw = shown(all(z as f32));
        let config = ConfigurationBits { depth_offset: true, ..draw.config };
        Draw { config, state: vec![DepthOffset { units, ..DepthOffset::default() }.into()], ..draw }
    };
    cells(bench, (0..64).map(with).collect())
}

/// Depth that leans by 768 steps per column and 1024 per row.
fn leaning() -> Vec<Vertex> {
    let at = |x: f32, y: f32| at(x, y, 0.25 + (x * 768.0 + y * 1024.0) / 16_777_216.0);
    vec![at(0.0, 0.0), at(128.0, 0.0), at(0.0, 128.0)]
}

/// v3d.md §9.7.
pub fn slope(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let offset = DepthOffset { factor: F187::truncate(1.0), units: F187::truncate(0.0) };
    added(bench, leaning(), offset, 64)
}

/// v3d.md §10.5: whether the samples of a pixel have different depths.
pub fn of_shader(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let target = Target::new(bench, Tiling::Raster, 32, 32)?.multisampled();
    let one = draw(leaning());
    let config = ConfigurationBits { oversample: Oversample::X4, depth_write: true, ..one.config };
    let mut job = target.draw(CLEAR, &[Draw { config, ..one }])?;
    let bo = bench.bo(MSAA_TILE_BYTES)?;
    job.msaa_zs_write = Some(Surface { bo_index: job.bos.len() as u32, offset: 0, bits: 0, flags: 0 });
    job.bos.push(bo);
    run(bench, &target, &job)?;
    let map = bench.map(bo)?;
    let depth = |sample| map.read_u32(msaa_block_offset(9, 9, sample) as usize) >> 8;
    Ok(vec![u32::from([1, 2, 3].into_iter().any(|sample| depth(sample) != depth(0)))])
}

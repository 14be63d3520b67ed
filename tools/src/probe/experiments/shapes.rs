//! Experiments with what primitives cover, and with their vertices.

use vc4::cl::packets::*;
use vc4::image::layout::{MSAA_SAMPLES, MSAA_TILE_BYTES, msaa_block_offset};
use vc4_kernel_abi::Surface;

use super::common::{CLEAR, EDGE, WHITE, all, at_places, cells, draw, drawn, picture, run, window};
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::{Draw, Indices, Target, at};
use crate::jobs::programs::fragment;

/// Edges through the centres of pixels, one of each kind.
pub fn shared_edges(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let upper_left = vec![at(8.5, 8.5, 0.5), at(24.5, 8.5, 0.5), at(8.5, 24.5, 0.5)];
    let lower_right = vec![at(56.5, 56.5, 0.5), at(40.5, 56.5, 0.5), at(56.5, 40.5, 0.5)];
    let seen = picture(bench, &[draw(upper_left), draw(lower_right)])?;
    Ok(drawn(&seen, &[(8, 12), (12, 8), (56, 52), (52, 56)]))
}

/// An edge that leans by a sixteenth of a pixel per row (`across`), or per column: a sample is covered in as many rows as it is
/// sixteenths from the pixel's border.
fn leaning(across: bool) -> Draw {
    let vertices = [(7.0, -16.0), (11.0, 48.0), (60.0, 16.0)];
    draw(vertices.map(|(x, y)| if across { at(x, y, 0.5) } else { at(y, x, 0.5) }).to_vec())
}

/// Samples of a tile with this draw, as rows of whether each is covered.
fn samples(bench: &Bench<'_>, one: Draw, oversample: Oversample) -> Result<Vec<[bool; 4]>, Failure> {
    let config = ConfigurationBits { oversample, ..one.config };
    let target = Target::new(bench, Tiling::Raster, 32, 32)?.multisampled();
    let mut job = target.draw(CLEAR, &[Draw { config, ..one }])?;
    let bo = bench.bo(MSAA_TILE_BYTES)?;
    job.msaa_color_write = Some(Surface { bo_index: job.bos.len() as u32, offset: 0, bits: 0, flags: 0 });
    job.bos.push(bo);
    run(bench, &target, &job)?;
    let map = bench.map(bo)?;
    let is_covered = |x, y, sample| map.read_u32(msaa_block_offset(x, y, sample) as usize) == WHITE;
    let pixel = |(x, y)| [0, 1, 2, 3].map(|sample| is_covered(x, y, sample));
    Ok((0..32).flat_map(|y| (0..32).map(move |x| (x, y))).map(pixel).collect())
}

/// v3d.md §9.2.
pub fn sample_positions(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let mut counts = Vec::new();
    for across in [true, false] {
        let seen = samples(bench, leaning(across), Oversample::X4)?;
        let pixel = |n: usize| if across { n * 32 + 8 } else { 8 * 32 + n };
        let covered = |sample: usize| (0..16).filter(|n| seen[pixel(*n)][sample]).count() as u32;
        counts.extend((0..MSAA_SAMPLES as usize).map(covered));
    }
    Ok(counts)
}

/// v3d.md §10.5: whether samples of a pixel go different ways.
pub fn oversample_none(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let seen = samples(bench, leaning(true), Oversample::X1)?;
    let differs = |n: usize| seen[n * 32 + 8] != [seen[n * 32 + 8][0]; 4];
    Ok(vec![u32::from((0..16).any(differs))])
}

/// Columns of a row in which something was drawn, as bits.
fn columns(bench: &Bench<'_>, draws: Vec<Draw>, row: u32) -> Result<Vec<u32>, Failure> {
    let seen = picture(bench, &draws)?;
    let half = |from: u32| (0..32).map(|x| drawn(&seen, &[(from + x, row)])[0] << x).sum();
    Ok(vec![half(0), half(32)])
}

/// Points whose edges lie at odd sixteenths, where no pixel has its centre.
pub fn point_size(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let places = [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0];
    let of = |size: f32, y: f32| Draw {
        mode: PrimitiveMode::Points,
        state: vec![PointSize { size }.into()],
        ..draw(
            places.iter().enumerate().map(|(n, odd)| at(8.0 * n as f32 + 4.0 + odd / 16.0, y, 0.5)).collect(),
        )
    };
    let mut words = columns(bench, vec![of(1.5, 8.5)], 8)?;
    words.extend(columns(bench, vec![of(2.25, 8.5)], 8)?);
    Ok(words)
}

/// A point larger than the target: where it ends.
pub fn max_point(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let target = Target::new(bench, Tiling::Raster, 2048, 64)?;
    let point = Draw {
        mode: PrimitiveMode::Points,
        state: vec![PointSize { size: 2000.0 }.into()],
        ..draw(vec![at(1024.0, 32.0, 0.5)])
    };
    run(bench, &target, &target.draw(CLEAR, &[point])?)?;
    Ok(drawn(&target.picture()?, &[100, 200, 400, 700].map(|beside| (1024 + beside, 32))))
}

/// A wide diagonal line: how far it reaches up and down.
pub fn line_corners(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let line = Draw {
        mode: PrimitiveMode::Lines,
        state: vec![LineWidth { width: 16.0 }.into()],
        ..draw(vec![at(8.0, 8.0, 0.5), at(56.0, 56.0, 0.5)])
    };
    let seen = picture(bench, &[line])?;
    Ok(drawn(&seen, &[(32, 36), (32, 42), (32, 46)]))
}

/// A wide line with both ends left of the viewport.
pub fn lines_beside(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let line = Draw {
        mode: PrimitiveMode::Lines,
        clipping: true,
        state: vec![LineWidth { width: 16.0 }.into()],
        ..draw(vec![at(-2.0, 16.0, 0.625), at(-2.0, 48.0, 0.625)])
    };
    let seen = picture(bench, &[line])?;
    Ok(drawn(&seen, &[(3, 32), (20, 32)]))
}

/// Reads so many varyings and shows the constant part of the last, which of a flat one is all of it.
fn last_constant(count: u8) -> Vec<u64> {
    let one = "sig_none ; r1 = or.always(a, a, vary) ; nop = nop() ;\n\
        sig_none ; r0 = or.always(r5, r5) ; nop = nop() ;\n";
    fragment(&one.repeat(usize::from(count)))
}

/// v3d.md §9.6.
pub fn provoking_vertex(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let mut vertices = all(0.5);
    vertices.iter_mut().zip(1..).for_each(|(vertex, n)| vertex.varyings[0] = n);
    let fan = Draw {
        fragment: last_constant(1),
        varyings: 1,
        uniforms: vec![],
        state: vec![FlatShadeFlags { flags: 1 }.into()],
        ..draw(vertices)
    };
    cells(bench, vec![fan])
}

/// Which vertex's value the constant part of a varying is.
pub fn varying_origin(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let mut vertices = all(0.5);
    vertices
        .iter_mut()
        .zip([10.0, 20.0, 30.0])
        .for_each(|(vertex, value)| *vertex = vertex.varyings([value]));
    let constant = Draw { fragment: last_constant(1), varyings: 1, uniforms: vec![], ..draw(vertices) };
    cells(bench, vec![constant])
}

/// The changing part of varyings whose coefficients no float holds.
pub fn varying_precision(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let code = fragment("sig_none ; r0 = or.always(a, a, vary) ; nop = nop() ;\n");
    let leaning = |n: u32| {
        let values = [0.1, 0.7, 0.3].map(|value| value + n as f32 / 7.0);
        let places = [(-3.3125, -7.0625), (171.4375, -5.8125), (-6.125, 163.6875)];
        let vertices =
            places.iter().zip(values).map(|(&(x, y), value)| at(x, y, 0.5).varyings([value])).collect();
        Draw { fragment: code.clone(), varyings: 1, uniforms: vec![], ..draw(vertices) }
    };
    cells(bench, (0..16).map(leaning).collect())
}

/// A window without pixels.
pub fn empty_window(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let nothing = Draw { state: vec![window(8, 8, 0, 0)], ..draw(all(0.5)) };
    let seen = picture(bench, &[nothing])?;
    Ok(vec![u32::from(seen.words.contains(&WHITE))])
}

/// Index 3 of a draw that says 2 is the largest; its vertex is there.
pub fn index_above(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let [a, b, c] = [0, 1, 2].map(|n| all(0.5)[n]);
    let indices = Indices { ty: IndexType::U8, bytes: vec![0, 1, 3, 0], offset: 0, count: 3, max: 2 };
    let above = Draw { indices: Some(indices), ..draw(vec![a, b, at(0.0, 1.0, 0.5), c]) };
    let seen = picture(bench, &[above])?;
    Ok(drawn(&seen, &[(20, 20)]))
}

/// Indices 0, 1, 2 from byte 1 on; from byte 0 on they are 3, 256, 512, three times the same place.
pub fn odd_indices(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let mut vertices = all(0.5);
    vertices.resize(601, at(0.0, 0.0, 0.5));
    let bytes = vec![3, 0, 0, 1, 0, 2, 0, 0];
    let indices = Indices { ty: IndexType::U16, bytes, offset: 1, count: 3, max: 600 };
    let seen = picture(bench, &[Draw { indices: Some(indices), ..draw(vertices) }])?;
    Ok(drawn(&seen, &[(20, 20)]))
}

/// Two words of which the array's description has five bytes.
pub fn attribute_tail(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let mut vertices = all(0.5);
    vertices.iter_mut().for_each(|vertex| vertex.varyings = [0x1122_3344, 0x5566_7788, 0, 0]);
    let cut = Draw {
        fragment: last_constant(2),
        varyings: 2,
        cut: 3,
        uniforms: vec![],
        state: vec![FlatShadeFlags { flags: 3 }.into(), window(0, 0, EDGE as u16, EDGE as u16)],
        ..draw(vertices)
    };
    let seen = picture(bench, &[cut])?;
    Ok(at_places(&seen, &[(20, 20)]))
}

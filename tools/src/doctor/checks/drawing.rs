//! Pictures whose every pixel is known.

use vc4::cl::Count;
use vc4::cl::packets::Tiling;
use vc4::cl::words::{MagFilter, MinFilter, TextureP0, TextureP1, TextureType, TextureWords};

use super::outcome::Outcome;
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::{Draw, Target, Vertex, at, level, rectangle};
use crate::jobs::programs;

const BLACK: u32 = 0xff00_0000;
const RED: u32 = 0xff00_00ff;
const GREEN: u32 = 0xff00_ff00;
/// Four channels that cannot be taken for each other.
const MIXED: u32 = 0x4030_8011;
const TILINGS: [Tiling; 3] = [Tiling::Raster, Tiling::T, Tiling::Lt];

/// The tile buffer is cleared and stored in every layout.
pub fn clears(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    let sizes = [(1, 1), (17, 33), (64, 64), (100, 70), (333, 129)];
    for tiling in TILINGS {
        for (width, height) in sizes {
            let target = Target::new(bench, tiling, width, height)?;
            target.expect(&target.clear(MIXED), 0, |_, _| MIXED)?;
        }
    }
    Ok(Outcome::said(format!("{} sizes in {} layouts", sizes.len(), TILINGS.len())))
}

/// Vertices, binning and fragments: edges fall where they must.
pub fn shapes(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    let target = Target::new(bench, Tiling::T, 100, 70)?;
    let rectangle = Draw::color(rectangle([40.0, 93.0], [5.0, 66.0], 0.5), GREEN);
    // No pixel's centre is on an edge.
    let triangle = Draw::color(vec![at(0.0, 0.0, 0.5), at(39.5, 0.0, 0.5), at(0.0, 39.5, 0.5)], RED);
    let job = target.draw(BLACK, &[rectangle, triangle])?;
    let picture = target.expect(&job, 0, |x, y| match (x, y) {
        (40..93, 5..66) => GREEN,
        _ if x + y + 1 < 40 => RED,
        _ => BLACK,
    })?;
    Ok(Outcome::picture(picture))
}

/// Values of vertices are interpolated, within a step of 255.
pub fn interpolation(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    let target = Target::new(bench, Tiling::T, 128, 128)?;
    let draw = Draw {
        fragment: programs::varying_color(),
        varyings: 2,
        uniforms: vec![0xff40_0000],
        ..Draw::color(whole(128.0), 0)
    };
    let channel = |v: u32| ((v as f64 + 0.5) / 128.0 * 255.0).round() as u32;
    let job = target.draw(BLACK, &[draw])?;
    let picture = target.expect(&job, 1, |x, y| channel(x) | channel(y) << 8 | 0xff40_0000)?;
    Ok(Outcome::picture(picture))
}

/// All of a square target, with its place as varyings.
fn whole(edge: f32) -> Vec<Vertex> {
    let vertices = rectangle([0.0, edge], [0.0, edge], 0.5).into_iter();
    vertices.map(|vertex| vertex.varyings([vertex.x / edge, vertex.y / edge])).collect()
}

/// The texture unit finds each texel in both layouts.
pub fn textures(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    let mut last = None;
    let texel = |x: u32, y: u32| (x * 4) | (y * 4) << 8 | ((x ^ y) * 4) << 16 | 0xff00_0000;
    // The unit takes small levels in LT layout, and finds out itself which are small (textures.md §4).
    for edge in [8u32, 64] {
        let tiling = if edge <= 16 { Tiling::Lt } else { Tiling::T };
        let image = level(tiling, edge, edge)?;
        let mut bytes = vec![0; image.size as usize];
        for (x, y) in (0..edge * edge).map(|at| (at % edge, at / edge)) {
            let offset = image.offset_of(x, y) as usize;
            bytes[offset..offset + 4].copy_from_slice(&texel(x, y).to_le_bytes());
        }
        let texture = bench.filled(&bytes)?;
        let size = Count::new(edge).unwrap_or(Count::ONE);
        let words = TextureWords {
            ty: TextureType::Rgba8888,
            p0: TextureP0::default(),
            p1: TextureP1 {
                width: size,
                height: size,
                mag: MagFilter::Nearest,
                min: MinFilter::Nearest,
                ..TextureP1::default()
            },
        };
        let target = Target::new(bench, Tiling::T, 128, 128)?;
        let draw = Draw {
            fragment: programs::textured(),
            varyings: 2,
            textures: vec![texture],
            uniforms: words.bits().to_vec(),
            ..Draw::color(whole(128.0), 0)
        };
        let job = target.draw(BLACK, &[draw])?;
        let step = 128 / edge;
        last = Some(target.expect(&job, 0, |x, y| texel(x / step, y / step))?);
    }
    Ok(Outcome { picture: last, ..Outcome::default() })
}

/// The nearer wins, whatever is drawn first.
pub fn depth(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    let target = Target::new(bench, Tiling::T, 64, 64)?;
    let flat = || Draw::color(rectangle([0.0, 64.0], [0.0, 64.0], 0.25), GREEN);
    // It reaches the depth of the other in the middle.
    let slope = || {
        let mut vertices = rectangle([0.0, 64.0], [0.0, 64.0], 0.0);
        vertices.iter_mut().for_each(|vertex| vertex.z = vertex.x / 128.0);
        Draw::color(vertices, RED)
    };
    let expected = |x: u32, _| if x < 32 { RED } else { GREEN };
    target.expect(&target.draw(BLACK, &[flat(), slope()])?, 0, expected)?;
    let picture = target.expect(&target.draw(BLACK, &[slope(), flat()])?, 0, expected)?;
    Ok(Outcome::picture(picture))
}

/// Integers, floats and shifts of the QPUs.
pub fn arithmetic(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    const NUMBER: u32 = 0x1234_5678;
    let target = Target::new(bench, Tiling::T, 256, 128)?;
    let vertices = rectangle([0.0, 256.0], [0.0, 128.0], 0.5);
    let draw = Draw { fragment: programs::arithmetic(), ..Draw::color(vertices, NUMBER) };
    let job = target.draw(BLACK, &[draw])?;
    let picture = target.expect(&job, 0, |x, y| programs::arithmetic_of(x, y, NUMBER))?;
    Ok(Outcome::picture(picture))
}

/// Jobs run in order and see what those before them stored; programs read the tile.
pub fn order(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    const JOBS: u32 = 12;
    let target = Target::new(bench, Tiling::T, 100, 70)?;
    bench.run(&target.clear(BLACK))?;
    let add = || {
        let vertices = rectangle([10.0, 90.0], [10.0, 60.0], 0.5);
        Draw { fragment: programs::adding(), ..Draw::color(vertices, 0x00_050a14) }
    };
    let job = target.draw_over(&[add()])?;
    for _ in 1..JOBS {
        bench.gpu.submit(&job)?;
    }
    let sum = |part: u32| (part * JOBS).min(255);
    let color = BLACK | sum(5) << 16 | sum(10) << 8 | sum(20);
    let inside = |x, y| (10..90).contains(&x) && (10..60).contains(&y);
    let picture = target.expect(&job, 0, |x, y| if inside(x, y) { color } else { BLACK })?;
    Ok(Outcome::picture(picture))
}

/// Hundreds of triangles across all tiles of a larger target.
pub fn many(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    const CELL: u32 = 20;
    let (width, height) = (640, 480);
    let target = Target::new(bench, Tiling::T, width, height)?;
    let is_red = |x: u32, y: u32| (x + y) % 2 == 0;
    let cells = |red: bool| -> Vec<Vertex> {
        let all = (0..height / CELL).flat_map(|y| (0..width / CELL).map(move |x| (x, y)));
        let wanted = all.filter(|(x, y)| is_red(*x, *y) == red);
        let edge = |v: u32| [(v * CELL) as f32, ((v + 1) * CELL) as f32];
        wanted.flat_map(|(x, y)| rectangle(edge(x), edge(y), 0.5)).collect()
    };
    let job = target.draw(BLACK, &[Draw::color(cells(true), RED), Draw::color(cells(false), GREEN)])?;
    let picture = target.expect(&job, 0, |x, y| if is_red(x / CELL, y / CELL) { RED } else { GREEN })?;
    Ok(Outcome::picture(picture))
}

/// One tile, cleared.
pub fn smallest(bench: &Bench<'_>) -> Result<(), Failure> {
    let target = Target::new(bench, Tiling::T, 64, 64)?;
    target.expect(&target.clear(MIXED), 0, |_, _| MIXED).map(drop)
}

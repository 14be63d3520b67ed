//! Experiments: a job or two for each question whose result tells its hypotheses apart.
//!
//! An experiment only says what to do and which words of the result count; what they should be is nowhere written down. A
//! simulator of each hypothesis does the same ([`ask`](super::ask)). The words must not depend on other questions, or on those
//! named in `after` alone, which are asked first.

mod clipper;
mod depth;
mod qpu;
mod shapes;
mod textures;
mod tiles;

use vc4::cl::AnyPacket;
use vc4::cl::packets::*;
use vc4_kernel_abi::Submit;

use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::{Draw, Target, Vertex, at};
use crate::jobs::picture::Picture;

/// A question and how it is asked.
pub struct Experiment {
    /// The row of facts.
    pub name: &'static str,
    /// Rows on whose answers the result depends as well.
    pub after: &'static [&'static str],
    /// Does it; the words that count.
    pub run: fn(&Bench<'_>) -> Result<Vec<u32>, Failure>,
}

const fn ask(name: &'static str, run: fn(&Bench<'_>) -> Result<Vec<u32>, Failure>) -> Experiment {
    Experiment { name, after: &[], run }
}

/// All of them, in the order in which they are asked.
pub const EXPERIMENTS: &[Experiment] = &[
    ask("fmul-rounding", qpu::fmul_rounding),
    ask("mul24-carry", qpu::mul24_carry),
    ask("infinite-sums", qpu::infinite_sums),
    ask("ftoi-range", qpu::ftoi_range),
    ask("f16-rounding", qpu::f16_rounding),
    ask("unorm8-halves", qpu::unorm8_halves),
    ask("exp2-nan", qpu::exp2_nan),
    ask("mul-flags", qpu::mul_flags),
    ask("pack-a", qpu::pack_a),
    ask("unmapped-reads", qpu::unmapped_reads),
    ask("rev-flag", qpu::rev_flag),
    ask("ms-flags", tiles::ms_flags),
    ask("shared-edges", shapes::shared_edges),
    ask("sample-positions", shapes::sample_positions),
    ask("oversample-none", shapes::oversample_none),
    ask("point-size", shapes::point_size),
    ask("max-point", shapes::max_point),
    ask("line-corners", shapes::line_corners),
    ask("lines-beside", shapes::lines_beside),
    ask("provoking-vertex", shapes::provoking_vertex),
    ask("empty-window", shapes::empty_window),
    ask("index-above", shapes::index_above),
    ask("odd-indices", shapes::odd_indices),
    ask("attribute-tail", shapes::attribute_tail),
    ask("guard-band", clipper::guard_band),
    ask("near-plane", clipper::near_plane),
    ask("depth-rounding", depth::rounding),
    ask("depth-outside", depth::outside),
    ask("depth-unit", depth::unit),
    ask("depth-slope", depth::slope),
    Experiment { after: &["near-plane"], ..ask("packet-106", clipper::packet_106) },
    Experiment { after: &["shared-edges"], ..ask("clipped-grid", clipper::grid) },
    ask("shader-depth", depth::of_shader),
    ask("resolve-rounding", tiles::resolve_rounding),
    ask("unresolved-sample", tiles::unresolved_sample),
    ask("store-565", tiles::store_565),
    ask("load-565", tiles::load_565),
    Experiment { after: &["store-565"], ..ask("dither-565", tiles::dither_565) },
    ask("store-extent", tiles::store_extent),
    ask("full-resolution", tiles::full_resolution),
    ask("nearest-texel", textures::nearest_texel),
    ask("channel-bits", textures::channel_bits),
    ask("single-channel", textures::single_channel),
    ask("cube-tie", textures::cube_tie),
    ask("weight-bits", textures::weight_bits),
    ask("magnified-until", textures::magnified_until),
    ask("lod-formula", textures::lod_formula),
    ask("lod-limit", textures::lod_limit),
    ask("level-rounding", textures::level_rounding),
];

/// Edge of the usual target.
const EDGE: u32 = 64;
/// What stands where nothing was drawn.
const CLEAR: u32 = 0x0040_2010;
/// What stands in a target before its job.
const UNTOUCHED: u32 = 0xdddd_dddd;
const WHITE: u32 = 0xffff_ffff;

/// Triangles that no test drops and the clipper does not see, in one colour.
fn draw(vertices: Vec<Vertex>) -> Draw {
    let config = ConfigurationBits { depth_func: CompareFunc::Always, ..ConfigurationBits::default() };
    Draw { config, clipping: false, ..Draw::color(vertices, WHITE) }
}

/// A triangle that covers a target of these edges, its diagonal outside.
fn everywhere(width: u32, height: u32, z: f32) -> Vec<Vertex> {
    vec![at(0.0, 0.0, z), at(2.0 * width as f32, 0.0, z), at(0.0, 2.0 * height as f32, z)]
}

/// The usual target, all of it.
fn all(z: f32) -> Vec<Vertex> {
    everywhere(EDGE, EDGE, z)
}

fn window(left: u16, bottom: u16, width: u16, height: u16) -> AnyPacket {
    ClipWindow { left, bottom, width, height }.into()
}

/// Runs a job that stores all of a target, and sees to it that it did: the kernel calls jobs done that it had to end.
fn run(bench: &Bench<'_>, target: &Target<'_>, job: &Submit) -> Result<(), Failure> {
    let map = bench.map(target.color)?;
    map.write(0, &UNTOUCHED.to_le_bytes());
    bench.run(job)?;
    match map.read_u32(0) {
        UNTOUCHED => Err(Failure::Wrong("the job stored nothing: it was dropped, or the GPU hung".into())),
        _ => Ok(()),
    }
}

/// What is drawn on the usual target.
fn picture(bench: &Bench<'_>, draws: &[Draw]) -> Result<Picture, Failure> {
    let target = Target::new(bench, Tiling::Raster, EDGE, EDGE)?;
    run(bench, &target, &target.draw(CLEAR, draws)?)?;
    Ok(target.picture()?)
}

/// Words of a picture at some places.
fn at_places(picture: &Picture, places: &[(u32, u32)]) -> Vec<u32> {
    places.iter().map(|(x, y)| picture.words[(y * picture.width + x) as usize]).collect()
}

/// Whether something was drawn at some places.
fn drawn(picture: &Picture, places: &[(u32, u32)]) -> Vec<u32> {
    at_places(picture, places).into_iter().map(|word| u32::from(word != CLEAR)).collect()
}

/// Edge of the part of the target that a draw of [`cells`] has.
const CELL: u16 = 8;

/// The draws, each with a part of the usual target for itself, of which one word counts.
fn cells(bench: &Bench<'_>, draws: Vec<Draw>) -> Result<Vec<u32>, Failure> {
    let per_row = EDGE as u16 / CELL;
    let origin = |n: usize| (n as u16 % per_row * CELL, n as u16 / per_row * CELL);
    let count = draws.len();
    let draws = draws.into_iter().enumerate().map(|(n, mut draw)| {
        let (x, y) = origin(n);
        draw.state.push(window(x, y, CELL, CELL));
        draw
    });
    let picture = picture(bench, &draws.collect::<Vec<_>>())?;
    let places: Vec<_> =
        (0..count).map(|n| origin(n)).map(|(x, y)| (u32::from(x) + 3, u32::from(y) + 3)).collect();
    Ok(at_places(&picture, &places))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use vc4::facts::{Ask, ROWS};

    #[test]
    fn every_row_that_says_so_is_asked() {
        let asked: BTreeSet<_> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
        let said: BTreeSet<_> = ROWS.iter().filter(|row| row.ask == Ask::Probe).map(|row| row.name).collect();
        assert_eq!(asked, said);
        assert_eq!(asked.len(), EXPERIMENTS.len());
    }

    #[test]
    fn what_an_experiment_needs_is_an_experiment() {
        for experiment in EXPERIMENTS {
            for name in experiment.after {
                assert!(EXPERIMENTS.iter().any(|other| other.name == *name), "{name}");
            }
        }
    }
}

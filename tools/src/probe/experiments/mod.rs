//! Experiments: a job or two for each question whose result tells its hypotheses apart.
//!
//! An experiment only says what to do and which words of the result count; what they should be is nowhere written down. A
//! simulator of each hypothesis does the same. The words must not depend on other questions, or on those
//! named in `after` alone, which are asked first.

mod clipper;
pub(super) mod common;
mod depth;
mod passing;
mod qpu;
mod shapes;
pub(super) mod textures;
mod tiles;

use crate::jobs::bench::{Bench, Failure};

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
    ask("fadd-truncation", qpu::small_sums),
    ask("saturating-packs", qpu::saturating_packs),
    ask("ftoi-range", qpu::ftoi_range),
    ask("f16-rounding", qpu::f16_rounding),
    ask("unorm8-halves", qpu::unorm8_halves),
    ask("recip-one", qpu::recip_one),
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
    ask("varying-origin", shapes::varying_origin),
    Experiment { after: &["varying-origin"], ..ask("varying-precision", shapes::varying_precision) },
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
    Experiment { after: &["depth-unit", "depth-rounding"], ..ask("bias-order", depth::bias_order) },
    Experiment { after: &["near-plane"], ..ask("packet-106", clipper::packet_106) },
    Experiment { after: &["shared-edges"], ..ask("clipped-grid", clipper::grid) },
    ask("stencil-latch", passing::stencil_latch),
    ask("occlusion-events", passing::occlusion_events),
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
    ask("cube-neighbours", textures::cube_neighbours),
    ask("npot-levels", textures::npot_levels),
    Experiment { after: &["npot-levels"], ..ask("level-sizes", textures::level_sizes) },
    ask("weight-bits", textures::weight_bits),
    ask("magnified-until", textures::magnified_until),
    ask("lod-formula", textures::lod_formula),
    ask("lod-limit", textures::lod_limit),
    ask("level-rounding", textures::level_rounding),
    ask("lod-bits", textures::lod_bits),
];

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

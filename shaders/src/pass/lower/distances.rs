//! Clip distances: the machine clips by the view volume alone, so fragments of negative distances are dropped. Distances are
//! linear over a primitive, so what is left is what clipping leaves, sample by sample.
//!
//! Lines are clipped by the view volume before they get their width, which the machine does along their depth only: sideways
//! it goes on as far as coordinates reach (v3d.md §9.4). A fragment of a wide line knows the position of the line's middle,
//! as varyings are the same all across it, and is dropped where that lies outside.

use std::collections::BTreeSet;

use vc4::facts::SamplePositions;
use vc4::hw::sample_offsets_4x;

pub use super::corners::CLIPPED;
use super::corners::POSITION;
use crate::ir::{Builder, CLIP_DISTANCES, CULL_DISTANCES, Interpolation, Op, Shader, Value};
use crate::pass::analysis::outputs::{Name, user_outputs};
use crate::pass::rewrite::prepend;
use crate::state::PipelineState;

/// How much farther than the view volume a line's middle may lie. Lines along its edge are drawn, and what is interpolated there
/// is not exact: this is half a pixel of the largest target.
const EDGE: f32 = 1.0 + 1.0 / 2048.0;

/// The clip distances that a vertex stage stores.
pub fn clipping(vertex: &Shader) -> BTreeSet<Name> {
    stored(vertex, CLIP_DISTANCES)
}

/// The cull distances that it stores.
pub(super) fn culling(vertex: &Shader) -> BTreeSet<Name> {
    stored(vertex, CULL_DISTANCES)
}

fn stored(vertex: &Shader, first: u32) -> BTreeSet<Name> {
    let is_one = |&(location, _): &Name| location == first || location == first + 1;
    user_outputs(vertex).into_iter().filter(is_one).collect()
}

/// Makes a fragment stage compute what the distances of a vertex stage, and the width of lines, leave: a negative number for
/// nothing, or on targets of four samples a mask.
pub fn fragment(shader: &mut Shader, vertex: &Shader, state: &PipelineState) {
    let names = clipping(vertex);
    if names.is_empty() && !state.wide_lines {
        return;
    }
    prepend(shader, |b| {
        let mut distances: Vec<Value> = names.iter().map(|name| load(b, *name)).collect();
        if state.wide_lines {
            distances.push(inside(b));
        }
        let clipped = match state.multisample.four_samples {
            true => mask(b, &distances, state.machine.sample_positions),
            false => smallest(b, &distances),
        };
        b.store_output(CLIPPED, clipped);
    });
}

fn load(b: &mut Builder, (location, component): Name) -> Value {
    b.op(Op::LoadInput { location, component, interpolation: Interpolation::Smooth }, &[])
}

/// How far inside of the view volume's sides the middle of a line is.
fn inside(b: &mut Builder) -> Value {
    let [x, y, w] = [0, 1, 3].map(|component| load(b, (POSITION, component)));
    let [x, y] = [x, y].map(|axis| b.op(Op::FAbs, &[axis]));
    let (edge, outermost) = (b.float(EDGE), b.op(Op::FMax, &[x, y]));
    let edge = b.op(Op::FMul, &[w, edge]);
    b.op(Op::FSub, &[edge, outermost])
}

fn smallest(b: &mut Builder, distances: &[Value]) -> Value {
    let (first, rest) = distances.split_first().expect("a stage that clips has distances");
    rest.iter().fold(*first, |least, distance| b.op(Op::FMin, &[least, *distance]))
}

/// The samples where no distance is negative.
fn mask(b: &mut Builder, distances: &[Value], positions: SamplePositions) -> Value {
    let slopes: Vec<[Value; 2]> =
        distances.iter().map(|&distance| [Op::Ddx, Op::Ddy].map(|op| b.op(op, &[distance]))).collect();
    let (mut mask, zero) = (b.word(0), b.float(0.0));
    for (sample, offset) in sample_offsets_4x(positions).into_iter().enumerate() {
        let from_center = offset.map(|axis| b.float(axis));
        let mut there = Vec::new();
        for (&distance, slopes) in distances.iter().zip(&slopes) {
            let [x, y] = [0, 1].map(|axis| b.op(Op::FMul, &[slopes[axis], from_center[axis]]));
            let step = b.op(Op::FAdd, &[x, y]);
            there.push(b.op(Op::FAdd, &[distance, step]));
        }
        let least = smallest(b, &there);
        let is_outside = b.op(Op::FLt, &[least, zero]);
        let (none, bit) = (b.word(0), b.word(1 << sample));
        let bit = b.select(is_outside, none, bit);
        mask = b.op(Op::Or, &[mask, bit]);
    }
    mask
}

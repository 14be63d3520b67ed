//! Lookups in buffers: at places that differ by constants, which share what clamps them, in their buffer and, where buffers may be left,
//! outside of it; and beside filtered samples.

use vc4_shaders::compile::PipelineState;
use vc4_shaders::ir::{Builder, ImageDim, Lod, Op, Output, Sample, Stage, Value};
use vc4_shaders::program::Descriptor;
use vc4_tests::random::Random;

use crate::case::{Case, check_words_in, descriptor, input, position, shader, state};
use crate::world::UBO_WORDS;

/// Random vertex stages.
const STAGES: u64 = 100;
/// Lookups of each.
const LOOKUPS: usize = 12;
const BYTES: u32 = 4 * UBO_WORDS;
/// So many elements in front of a buffer may numbers be from which places are counted.
const BEHIND: u32 = 3;

/// The number of an element, near others that the same numbers lead to. The second number is in the buffer from [`BEHIND`] more on.
fn element(b: &mut Builder, random: &mut Random, [near, before]: [Value; 2]) -> Value {
    let distance = random.below(5) as u32;
    let (distance, more) = (b.word(distance), b.word(BEHIND + distance));
    match random.below(4) {
        0 => near,
        1 => b.iadd(near, distance),
        2 => b.isub(near, distance),
        _ => b.iadd(before, more),
    }
}

/// Where it begins.
fn place(b: &mut Builder, random: &mut Random, numbers: [Value; 2]) -> Value {
    let element = element(b, random, numbers);
    let (four, three) = (b.word(4), b.word(3));
    match random.below(5) {
        0 => b.shl(element, four),
        1 => {
            let row = b.imul(element, three);
            b.shl(row, four)
        }
        2 => {
            let (stride, other) = (b.word(20), self::element(b, random, numbers));
            let (first, second) = (b.imul(stride, element), b.shl(other, four));
            b.iadd(first, second)
        }
        _ => {
            let stride = b.word(random.pick(&[12, 32, 48]));
            b.imul(element, stride)
        }
    }
}

/// Four sums of lookups; of those at places that may be outside only the ones inside count.
fn sums(b: &mut Builder, random: &mut Random, numbers: [Value; 2], leaves: bool) -> [Value; 4] {
    let mut sums = [b.word(0); 4];
    for n in 0..LOOKUPS {
        let binding = random.below(2) as u32;
        let buffer = Descriptor { set: 0, binding, element: 0 };
        let place = place(b, random, numbers);
        let offset = 16 * random.below(4) as u32;
        let word = 4 * random.below(4) as u32;
        let (offset, last) = (offset + word, offset + random.pick(&[word, 12]).max(word));
        let mut found = b.op(Op::LoadUboDynamic { buffer, offset, last }, &[place]);
        if leaves {
            let (end, zero) = (b.word(BYTES - last), b.word(0));
            let is_inside = b.op(Op::ULt, &[place, end]);
            found = b.select(is_inside, found, zero);
        }
        let (factor, sum) = (b.word(37), sums[n % 4]);
        let sum = b.imul(sum, factor);
        sums[n % 4] = b.iadd(sum, found);
    }
    sums
}

/// Numbers of elements that are inside with all near them; or any of many more.
fn numbers(b: &mut Builder, inputs: [Value; 4], leaves: bool) -> [Value; 2] {
    let (mask, first) = if leaves { (127, [-30, -30]) } else { (31, [4, -(BEHIND as i32)]) };
    let mask = b.word(mask);
    [0, 1].map(|n| {
        let number = b.op(Op::And, &[inputs[n], mask]);
        let first = b.word(first[n] as u32);
        let number = b.iadd(number, first);
        // Places are counted from here, not from what it was masked of.
        b.op(Op::SMax, &[number, first])
    })
}

#[test]
fn places_in_buffers_share_clamps() {
    for leaves in [false, true] {
        for seed in 0..STAGES {
            let mut random = Random(seed);
            let name = format!("stage {seed}, {}", if leaves { "leaving buffers" } else { "in buffers" });
            check_words_in(&name, PipelineState { robust: leaves, ..state() }, |b, inputs| {
                let numbers = numbers(b, inputs, leaves);
                sums(b, &mut random, numbers, leaves)
            });
        }
    }
}

/// The kernel takes a filtered sample for a direct one if its TMU has done one of those (SHD-24): its validator looks at the program.
#[test]
fn samples_may_follow_lookups_in_buffers() {
    let vertex = shader(Stage::Vertex, position);
    let fragment = shader(Stage::Fragment, |b| {
        let (number, mask, four) = (input(b, 0, 0), b.word(7), b.word(4));
        let number = b.op(Op::FToS, &[number]);
        let number = b.op(Op::And, &[number, mask]);
        let place = b.shl(number, four);
        let buffer = descriptor(0);
        // Of two vectors: one TMU for each, if there were no samples.
        let coordinates =
            [0, 16].map(|offset| b.op(Op::LoadUboDynamic { buffer, offset, last: offset }, &[place]));
        let texel = b.emit(Op::Sample(Sample::plain(descriptor(10), ImageDim::D2, Lod::Auto)), &coordinates);
        for (component, &value) in (0..).zip(&texel) {
            b.store_output(Output::User { location: 0, component }, value);
        }
    });
    Case { name: "samples", vertex: &vertex, fragment: &fragment, state: state(), exact: false }.run();
}

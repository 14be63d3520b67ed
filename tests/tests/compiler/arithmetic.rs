//! Operations of the vertex stage, image and built-in operations of the fragment stage.

use vc4::qpu::Unpack;
use vc4_shaders::ir::interp;
use vc4_shaders::ir::{
    Builder, BuiltinInput, Fetch, ImageDim, Lod, Op, Output, Sample, Shader, Stage, Value,
};

use crate::case::*;
use crate::world::World;

#[test]
fn pass_through() {
    check_floats("pass_through", |_, words| words);
}

#[test]
fn integer_arithmetic() {
    check_words("products", |b, [x, y, z, w]| {
        let wide = b.op(Op::IMul, &[x, y]);
        let other = b.op(Op::IMul, &[z, w]);
        let constant = b.word(1_000_003);
        let scaled = b.op(Op::IMul, &[x, constant]);
        let mask = b.word(0xffff);
        let (low, lower) = (b.op(Op::And, &[x, mask]), b.op(Op::And, &[y, mask]));
        [wide, other, scaled, b.op(Op::IMul, &[low, lower])]
    });
    for factors in [[3, 5, 7, 9], [48, 20, 112, 0x1_0001], [0x8000_0001, 0x7fff_ffff, 0xffff_0000, 11]] {
        check_words(&format!("products with {factors:?}"), |b, words| {
            let mut words = words.into_iter();
            factors.map(|factor| {
                let (word, factor) = (words.next().expect("four words"), b.word(factor));
                b.op(Op::IMul, &[word, factor])
            })
        });
    }
    check_words("unsigned division", |b, [x, y, z, w]| {
        let one = b.word(1);
        let (y, w) = (b.op(Op::Or, &[y, one]), b.op(Op::Or, &[w, one]));
        [b.op(Op::UDiv, &[x, y]), b.op(Op::UMod, &[x, y]), b.op(Op::UDiv, &[z, w]), b.op(Op::UMod, &[w, y])]
    });
    check_words("signed division", |b, [x, y, z, w]| {
        let one = b.word(1);
        let (y, w) = (b.op(Op::Or, &[y, one]), b.op(Op::Or, &[w, one]));
        [b.op(Op::SDiv, &[x, y]), b.op(Op::SRem, &[x, y]), b.op(Op::SMod, &[z, w]), b.op(Op::SDiv, &[z, y])]
    });
    check_words("logic and shifts", |b, [x, y, z, w]| {
        let shifted = b.op(Op::Shl, &[x, y]);
        let asr = b.op(Op::Asr, &[z, w]);
        let mixed = b.op(Op::Xor, &[shifted, asr]);
        let clz = b.op(Op::Clz, &[mixed]);
        let not = b.op(Op::Not, &[mixed]);
        [mixed, clz, b.op(Op::Shr, &[not, clz]), b.op(Op::ISub, &[x, not])]
    });
}

#[test]
fn comparisons() {
    check_words("word comparisons", |b, [x, y, z, w]| {
        let ops = [Op::IEq, Op::INe, Op::SLt, Op::SLe, Op::ULt, Op::ULe];
        let mut sum = b.word(0);
        for (n, op) in (0..).zip(ops) {
            for (m, pair) in (0..).zip([[x, y], [z, w], [x, x], [w, x]]) {
                let truth = b.op(op, &pair);
                let (yes, no) = (b.word(1 << (4 * n + m)), b.word(0));
                let bit = b.select(truth, yes, no);
                sum = b.op(Op::Or, &[sum, bit]);
            }
        }
        let smaller = b.op(Op::UMin, &[x, y]);
        let larger = b.op(Op::UMax, &[z, w]);
        [sum, smaller, larger, b.op(Op::SMax, &[y, z])]
    });
    check_words("truth values", |b, [x, y, z, w]| {
        let less = b.op(Op::SLt, &[x, y]);
        let below = b.op(Op::ULt, &[z, w]);
        let both = b.op(Op::BAnd, &[less, below]);
        let either = b.op(Op::BOr, &[less, below]);
        let one_of = b.op(Op::BXor, &[both, below]);
        let neither = b.op(Op::BNot, &[either]);
        let choice = b.select(one_of, less, neither);
        [b.select(both, x, y), b.select(either, z, w), b.select(neither, x, w), b.select(choice, y, z)]
    });
}

/// Four comparisons as a number: each has a bit.
fn truths(b: &mut Builder, comparisons: [(Op, [Value; 2]); 4]) -> Value {
    let mut sum = b.float(0.0);
    for ((op, pair), bit) in comparisons.into_iter().zip([1.0, 2.0, 4.0, 8.0]) {
        let truth = b.op(op, &pair);
        let (weight, zero) = (b.float(bit), b.float(0.0));
        let term = b.select(truth, weight, zero);
        sum = b.op(Op::FAdd, &[sum, term]);
    }
    sum
}

#[test]
fn float_operations() {
    check_floats("division and roots", |b, [x, y, z, w]| {
        let two = b.float(2.5);
        let (away, square) = (b.op(Op::FAdd, &[y, two]), b.op(Op::FMul, &[z, z]));
        let quotient = b.op(Op::FDiv, &[x, away]);
        let root = b.op(Op::FSqrt, &[square]);
        let positive = b.op(Op::FAdd, &[square, two]);
        let rsqrt = b.op(Op::FRsqrt, &[positive]);
        [quotient, root, rsqrt, b.op(Op::FDiv, &[w, two])]
    });
    check_floats("exponentials", |b, [x, y, z, _]| {
        let three = b.float(3.0);
        let large = b.op(Op::FMul, &[x, three]);
        let exp = b.op(Op::FExp2, &[large]);
        let positive = b.op(Op::FAdd, &[y, three]);
        let log = b.op(Op::FLog2, &[positive]);
        let product = b.op(Op::FMul, &[log, z]);
        [exp, log, b.op(Op::FExp2, &[product]), b.op(Op::FLog2, &[exp])]
    });
    // Filters with negative lobes raise what they leave to a power: below zero it is zero, no bright speck.
    check_floats("powers of either sign", |b, words| {
        let (exponent, step) = (b.float(0.75), b.float(0.5));
        words.map(|x| {
            let moved = b.op(Op::FSub, &[x, step]);
            let log = b.op(Op::FLog2, &[moved]);
            let product = b.op(Op::FMul, &[log, exponent]);
            b.op(Op::FExp2, &[product])
        })
    });
    check_floats("rounding", |b, [x, y, z, w]| {
        let seven = b.float(7.5);
        let [x, y, z, w] = [x, y, z, w].map(|v| b.op(Op::FMul, &[v, seven]));
        [b.op(Op::FFloor, &[x]), b.op(Op::FCeil, &[y]), b.op(Op::FTrunc, &[z]), b.op(Op::FRoundEven, &[w])]
    });
    check_floats("signs", |b, [x, y, z, w]| {
        let magnitude = b.op(Op::FAbs, &[x]);
        let negative = b.op(Op::FNeg, &[y]);
        [b.op(Op::FSign, &[z]), magnitude, negative, b.op(Op::FMax, &[w, negative])]
    });
    check_floats("comparisons of magnitudes", |b, [x, y, z, w]| {
        let [half, zero, below] = [0.5, 0.0, -0.25].map(|constant| b.float(constant));
        // Each of another number, so that nothing else needs it.
        let mut numbers = 0;
        let mut magnitude = |b: &mut Builder, value: Value| {
            numbers += 1;
            let offset = b.float(numbers as f32 / 64.0);
            let moved = b.op(Op::FAdd, &[value, offset]);
            b.op(Op::FAbs, &[moved])
        };
        let pairs = [[x, y], [y, z], [z, w]].map(|pair| pair.map(|value| magnitude(b, value)));
        let [p, q] = [x, w].map(|value| magnitude(b, value));
        let both =
            truths(b, [(Op::FLt, pairs[0]), (Op::FLe, pairs[1]), (Op::FLt, [p, half]), (Op::FLe, [half, q])]);
        // Numbers that are no magnitudes.
        let [p, q, r, s] = [x, y, z, w].map(|value| magnitude(b, value));
        let one =
            truths(b, [(Op::FLt, [p, below]), (Op::FLe, [below, q]), (Op::FLt, [r, w]), (Op::FLe, [x, s])]);
        // Comparisons of another kind, and a magnitude that is needed besides.
        let [p, q] = [x, y].map(|value| {
            let twice = b.op(Op::FAdd, &[value, value]);
            let whole = b.op(Op::FTrunc, &[twice]);
            b.op(Op::FAbs, &[whole])
        });
        let r = magnitude(b, z);
        let unit = b.float(1.0);
        let other = truths(
            b,
            [(Op::FEq, [p, unit]), (Op::FNe, [q, unit]), (Op::FLe, [r, zero]), (Op::FLt, [r, half])],
        );
        // A condition of several selects.
        let larger = b.op(Op::FLt, &pairs[2]);
        let (chosen, again) = (b.select(larger, x, w), b.select(larger, z, y));
        [both, one, other, b.op(Op::FSub, &[chosen, again])]
    });
    check_floats("doubled bytes", |b, [x, y, z, w]| {
        let two = b.float(2.0);
        // One that is needed in front of that, too, and one that is not.
        let [byte, other] = [x, y].map(|word| b.op(Op::UnpackFloat(Unpack::Byte2), &[word]));
        let difference = b.op(Op::FSub, &[byte, z]);
        let square = b.op(Op::FMul, &[difference, difference]);
        let [twice, alone] = [byte, other].map(|byte| b.op(Op::FMul, &[two, byte]));
        let [p, q] = [(twice, z), (alone, w)].map(|(x, y)| b.op(Op::FSub, &[x, y]));
        [p, q, square, b.op(Op::FMul, &[z, two])]
    });
    check_floats("float comparisons", |b, [x, y, z, w]| {
        [Op::FLt, Op::FLe, Op::FEq, Op::FNe].map(|op| {
            let truth = b.op(op, &[x, y]);
            b.select(truth, z, w)
        })
    });
}

#[test]
fn trigonometry_is_within_the_allowed_error() {
    let vertex = shader(Stage::Vertex, |b| {
        position(b);
        let four = b.float(4.0);
        for (component, op) in [(0, Op::FSin), (1, Op::FCos)] {
            let angle = input(b, 1, component);
            let angle = b.op(Op::FMul, &[angle, four]);
            let value = b.op(op, &[angle]);
            b.store_output(Output::User { location: 0, component }, value);
        }
    });
    let fragment = plain_fragment();
    let case =
        Case { name: "trigonometry", vertex: &vertex, fragment: &fragment, state: state(), exact: false };
    let pipeline = case.compile();
    for seed in 0..16 {
        let world = World { seed, ..World::default() };
        let outcome = interp::run(&vertex, &mut world.clone()).expect("interpretable");
        let rows = world.run_vertex(&pipeline, false).expect("runs").rows;
        for component in 0..2 {
            let expected = outcome.floats(Output::User { location: 0, component });
            for lane in 0..LANES {
                let actual = f32::from_bits(rows[3 + usize::from(component)][lane]);
                // vulkan-on-vc4.md §9: 2^-11 in [-π, π].
                assert!((actual - expected[lane]).abs() < 1.0 / 2048.0, "{actual} for {}", expected[lane]);
            }
        }
    }
}

/// Positions pulled from a uniform buffer by vertex index, a textured, shaded fragment.
fn cube() -> (Shader, Shader) {
    let ubo = descriptor(0);
    let vertex = shader(Stage::Vertex, |b| {
        let index = b.op(Op::LoadBuiltin(BuiltinInput::VertexIndex), &[]);
        let four = b.word(4);
        let offset = b.op(Op::Shl, &[index, four]);
        let position: Vec<Value> = (0..4)
            .map(|n| b.op(Op::LoadUboDynamic { buffer: ubo, offset: 64 + 4 * n, last: 76 }, &[offset]))
            .collect();
        for row in 0..4u32 {
            let mut sum = b.float(if row == 3 { 5.0 } else { 0.0 });
            for (column, &p) in (0..).zip(&position) {
                let m = b.op(Op::LoadUbo { buffer: ubo, offset: 16 * column + 4 * row }, &[]);
                let product = b.op(Op::FMul, &[m, p]);
                sum = b.op(Op::FAdd, &[sum, product]);
            }
            b.store_output(Output::Position(row as u8), sum);
        }
        for (n, &p) in (0..).zip(&position) {
            b.store_output(Output::User { location: 0, component: n }, p);
        }
    });
    let fragment = shader(Stage::Fragment, |b| {
        let uv: Vec<Value> = (0..2).map(|c| input(b, 0, c)).collect();
        let (dx, dy) = (b.op(Op::Ddx, &[uv[0]]), b.op(Op::Ddy, &[uv[1]]));
        let difference = b.op(Op::FSub, &[dx, dy]);
        let sixteen = b.float(16.0);
        let shade = b.op(Op::FMul, &[difference, sixteen]);
        let texel = b.emit(Op::Sample(Sample::plain(descriptor(1), ImageDim::D2, Lod::Auto)), &uv);
        for (n, &c) in (0..).zip(&texel) {
            let c = if n < 3 { b.op(Op::FMul, &[c, shade]) } else { c };
            b.store_output(Output::User { location: 0, component: n }, c);
        }
    });
    (vertex, fragment)
}

#[test]
fn cube_shaders() {
    let (vertex, fragment) = cube();
    Case { name: "cube", vertex: &vertex, fragment: &fragment, state: state(), exact: false }.run();
}

#[test]
fn discard_and_builtins() {
    let vertex = shader(Stage::Vertex, position);
    let fragment = shader(Stage::Fragment, |b| {
        let value = input(b, 3, 1);
        let zero = b.float(0.0);
        let gone = b.op(Op::FLt, &[value, zero]);
        b.discard_if(gone);
        let front = b.op(Op::LoadBuiltin(BuiltinInput::FrontFacing), &[]);
        let x = b.op(Op::LoadBuiltin(BuiltinInput::FragCoord(0)), &[]);
        let scale = b.float(1.0 / 512.0);
        let x = b.op(Op::FMul, &[x, scale]);
        let y = b.op(Op::LoadBuiltin(BuiltinInput::FragCoord(1)), &[]);
        let y = b.op(Op::FMul, &[y, scale]);
        let z = b.op(Op::LoadBuiltin(BuiltinInput::FragCoord(2)), &[]);
        let w = b.op(Op::LoadBuiltin(BuiltinInput::FragCoord(3)), &[]);
        let quarter = b.float(0.25);
        let w = b.op(Op::FMul, &[w, quarter]);
        let red = b.select(front, x, y);
        for (component, value) in (0..).zip([red, z, w, value]) {
            b.store_output(Output::User { location: 0, component }, value);
        }
    });
    Case { name: "discard", vertex: &vertex, fragment: &fragment, state: state(), exact: false }.run();
}

#[test]
fn images() {
    let vertex = shader(Stage::Vertex, position);
    let fragment = shader(Stage::Fragment, |b| {
        let coordinates: Vec<Value> = (0..3).map(|c| input(b, 0, c)).collect();
        let mut sum: Vec<Value> = (0..4).map(|_| b.float(0.0)).collect();
        let weight = b.float(0.125);
        let lod = b.float(0.0);
        for n in 0..6 {
            let binding = if n % 3 == 2 { 101 + 2 * n } else { 10 + n };
            let dim = if n % 3 == 2 { ImageDim::Cube } else { ImageDim::D2 };
            let mode = [Lod::Auto, Lod::Bias, Lod::Explicit][n as usize % 3];
            let mut args = coordinates[..dim.coordinates()].to_vec();
            if mode != Lod::Auto {
                args.push(lod);
            }
            let texel = b.emit(Op::Sample(Sample::plain(descriptor(binding), dim, mode)), &args);
            for (sum, &c) in sum.iter_mut().zip(&texel) {
                let part = b.op(Op::FMul, &[c, weight]);
                *sum = b.op(Op::FAdd, &[*sum, part]);
            }
        }
        let (one, level) = (b.word(1), b.word(0));
        let texel = b.emit(Op::Fetch(Fetch::plain(descriptor(10), ImageDim::D2)), &[one, one, level]);
        for (n, (&sum, &c)) in (0..).zip(sum.iter().zip(&texel)) {
            let value = b.op(Op::FMax, &[sum, c]);
            b.store_output(Output::User { location: 0, component: n }, value);
        }
    });
    Case { name: "images", vertex: &vertex, fragment: &fragment, state: state(), exact: false }.run();
}

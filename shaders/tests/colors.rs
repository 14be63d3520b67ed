//! Colours of eight bits with estimates in them, where the compiler takes them, beside exact arithmetic: random shaders, each
//! estimate as wrong as it may be.

use std::collections::HashMap;

use vc4::qpu::{Unpack, sfu};
use vc4_shaders::ir::{Builder, Op, Shader, Stage, Value, eval};
use vc4_shaders::pass::analysis::range::Range;
use vc4_shaders::pass::opt::precision::{self, BUDGET, EXP2, LOG2, LOG2_NEAR_ONE, NEAR, RECIP, RSQRT, SINE};

/// What a colour may be off by, with a little for what the errors of errors are: below half a step.
const ALLOWED: f64 = BUDGET as f64 * 1.05;
const _: () = assert!(ALLOWED < 0.5 / 255.0);

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Operations of random shaders; those that have estimates more often.
const UNARY: [Op; 12] = [
    Op::FExp2,
    Op::FExp2,
    Op::FLog2,
    Op::FLog2,
    Op::FSqrt,
    Op::FSqrt,
    Op::FRsqrt,
    Op::FInverseLength,
    Op::FNeg,
    Op::FAbs,
    Op::FSin,
    Op::FCos,
];
const BINARY: [Op; 9] =
    [Op::FMul, Op::FMul, Op::FAdd, Op::FAdd, Op::FSub, Op::FSub, Op::FMin, Op::FMax, Op::FDiv];
const CONSTANTS: [f32; 12] = [0.0, 1.0, -1.0, 0.5, 2.0, -0.05, 0.4545, 2.2, 0.01, 10.0, -3.0, 100.0];

/// A shader of `steps` operations whose last values are the colour.
fn shader(random: &mut Random, steps: usize) -> Shader {
    let mut shader = Shader::new(Stage::Fragment);
    let entry = shader.entry().expect("a new shader has a block");
    let mut b = Builder::new(&mut shader, entry);
    let mut values: Vec<Value> = (0..3).map(|varying| b.emit(Op::Varying(varying), &[])[0]).collect();
    let texel = b.emit(Op::Varying(3), &[])[0];
    values.extend([Unpack::Byte0, Unpack::Byte1].map(|byte| b.op(Op::UnpackFloat(byte), &[texel])));
    for _ in 0..steps {
        // What has just been computed is what the next operation is about.
        let recent = values.len() - 1 - random.below(values.len().min(4));
        let other = random.below(values.len());
        let (x, y) = (values[recent], values[other]);
        let value = match random.below(12) {
            0..=2 => b.op(UNARY[random.below(UNARY.len())], &[x]),
            3..=5 => {
                let constant = b.float(CONSTANTS[random.below(CONSTANTS.len())]);
                let args = if random.below(3) == 0 { [constant, x] } else { [x, constant] };
                b.op(BINARY[random.below(BINARY.len())], &args)
            }
            6 => b.op(BINARY[random.below(BINARY.len())], &[x, y]),
            7 => curve(&mut b, x),
            // Of an exponent that may be anything.
            8 => {
                let log = b.flog2(x);
                let product = b.fmul(log, y);
                b.fexp2(product)
            }
            9 => mean(&mut b, x, y, values[random.below(values.len())]),
            // A decision about what is computed itself.
            10 => {
                let constant = b.float(CONSTANTS[random.below(CONSTANTS.len())]);
                let condition = if random.below(2) == 0 { b.flt(x, constant) } else { b.flt(constant, x) };
                let other = values[random.below(values.len())];
                b.select(condition, y, other)
            }
            _ => {
                let condition = b.flt(values[0], y);
                let other = values[random.below(values.len())];
                b.select(condition, x, other)
            }
        };
        values.push(value);
    }
    let last = values.len() - 4;
    let word = b.op(Op::PackUnorm8x4, &values[last..]);
    b.emit(Op::TlbColorWrite, &[word]);
    shader
}

/// The curve of sRGB: a line, and a power where that leaves off.
fn curve(b: &mut Builder<'_>, x: Value) -> Value {
    let [limit, slope, exponent, scale, offset] =
        [0.003_130_8, 12.92, 1.0 / 2.4, 1.055, 0.055].map(|x| b.float(x));
    let (line, log) = (b.fmul(x, slope), b.flog2(x));
    let product = b.fmul(log, exponent);
    let power = b.fexp2(product);
    let scaled = b.fmul(power, scale);
    let above = b.fsub(scaled, offset);
    let is_below = b.op(Op::FLe, &[x, limit]);
    b.select(is_below, line, above)
}

/// Of two numbers with weights above zero.
fn mean(b: &mut Builder<'_>, x: Value, y: Value, z: Value) -> Value {
    let (one, weight) = (b.float(1.0), b.fabs(z));
    let (scaled, weights) = (b.fmul(y, weight), b.fadd(weight, one));
    let sum = b.fadd(x, scaled);
    b.fdiv(sum, weights)
}

/// The colour for some inputs, each estimate off by its error in the direction of `sign`; `None` where a value is undefined or
/// beyond what floats hold.
fn color(shader: &Shader, inputs: &[f64; 5], sign: impl Fn(usize) -> f64) -> Option<[f64; 4]> {
    let mut values: HashMap<Value, f64> = HashMap::new();
    for (n, inst) in shader.insts_in_order().into_iter().enumerate() {
        let data = &shader.insts[inst];
        let arg = |n: usize| values[&data.args[n]];
        let exact = match data.op {
            Op::Const(word) => f64::from(f32::from_bits(word)),
            Op::Varying(n) => inputs[n as usize],
            Op::UnpackFloat(Unpack::Byte0) => inputs[3],
            Op::UnpackFloat(_) => inputs[4],
            Op::FExp2 => arg(0).exp2(),
            Op::FLog2 | Op::SfuLog2 => arg(0).log2(),
            Op::FSqrt => arg(0).sqrt(),
            Op::FRsqrt | Op::FInverseLength => 1.0 / arg(0).sqrt(),
            Op::FNeg => -arg(0),
            Op::FAbs => arg(0).abs(),
            Op::FSin => arg(0).sin(),
            Op::FCos => arg(0).cos(),
            Op::FMul => arg(0) * arg(1),
            Op::FAdd => arg(0) + arg(1),
            Op::FSub => arg(0) - arg(1),
            Op::FMin => arg(0).min(arg(1)),
            Op::FMax => arg(0).max(arg(1)),
            Op::FDiv => arg(0) / arg(1),
            Op::FLt => f64::from(u8::from(arg(0) < arg(1))),
            Op::FLe => f64::from(u8::from(arg(0) <= arg(1))),
            Op::Select if arg(0) != 0.0 => arg(1),
            Op::Select => arg(2),
            Op::PackUnorm8x4 => return Some(std::array::from_fn(|n| arg(n).clamp(0.0, 1.0))),
            op => panic!("{op:?} is in no random shader"),
        };
        if !exact.is_finite() || exact.abs() > 1e30 {
            return None;
        }
        let error = if data.relaxed || data.op.is(Op::SfuLog2) { sign(n) } else { 0.0 };
        let estimate = match data.op {
            Op::FDiv => exact * (1.0 + f64::from(RECIP) * error),
            Op::FSqrt | Op::FRsqrt | Op::FInverseLength => exact * (1.0 + f64::from(RSQRT) * error),
            Op::FExp2 => exact * (1.0 + f64::from(EXP2) * error),
            Op::FLog2 | Op::SfuLog2 => exact + f64::from(LOG2) * error,
            Op::FSin | Op::FCos => exact + f64::from(SINE) * error,
            _ => exact,
        };
        for &result in &data.results {
            values.insert(result, estimate);
        }
    }
    panic!("no colour");
}

/// The special functions' tables are no worse than what is assumed of them.
#[test]
fn estimates_are_as_good_as_that() {
    let estimate = |of: fn(u32) -> u32, x: f64| f64::from(f32::from_bits(of((x as f32).to_bits())));
    let mut worst = [0f64; 4];
    for n in 0..1 << 20 {
        // Two octaves, so that exponents are even and odd; powers and logarithms on both sides of 0.
        let x = f64::from((2f64.powf(f64::from(n) / f64::from(1 << 19))) as f32);
        let y = f64::from((f64::from(n) / 65_536.0 - 8.0) as f32);
        let z = f64::from(y.exp2() as f32);
        let errors = [
            estimate(sfu::recip, x) * x - 1.0,
            estimate(sfu::rsqrt, x) * x.sqrt() - 1.0,
            estimate(sfu::exp2, y) / y.exp2() - 1.0,
            estimate(sfu::log2, z) - z.log2(),
        ];
        worst.iter_mut().zip(errors).for_each(|(worst, error)| *worst = worst.max(error.abs()));
    }
    for (worst, assumed) in worst.into_iter().zip([RECIP, RSQRT, EXP2, LOG2].map(f64::from)) {
        assert!(worst <= assumed, "{worst} where {assumed} is assumed");
        assert!(worst > assumed / 2.0, "{assumed} is assumed for {worst}");
    }
}

/// Nor is what takes the logarithm's place, near 1 and elsewhere.
#[test]
fn logarithms_near_one_are_as_good_as_that() {
    let mut shader = Shader::new(Stage::Fragment);
    let entry = shader.entry().expect("a new shader has a block");
    let mut b = Builder::new(&mut shader, entry);
    let [x, exponent] = [0, 1].map(|varying| b.emit(Op::Varying(varying), &[])[0]);
    let log = b.flog2(x);
    let product = b.fmul(log, exponent);
    let power = b.fexp2(product);
    let word = b.op(Op::PackUnorm8x4, &[power; 4]);
    b.emit(Op::TlbColorWrite, &[word]);
    precision::run(&mut shader, &[]);
    let order = shader.insts_in_order();
    let chosen = order.iter().filter_map(|&inst| {
        let data = &shader.insts[inst];
        data.op.is(Op::FMul).then(|| data.args[0]).filter(|_| data.args[1] == exponent)
    });
    let [log] = chosen.collect::<Vec<_>>()[..] else { panic!("no power of the exponent\n{shader}") };
    let mut worst = 0f64;
    for n in 0..1u32 << 20 {
        // Where the product and the estimate take turns, more often.
        let spread = if n & 1 == 0 { 3.0 * NEAR } else { 0.9 };
        let x = 1.0 + spread * (n as f32 / (1 << 19) as f32 - 1.0);
        if x == 1.0 {
            continue;
        }
        let is = f64::from(f32::from_bits(machine(&shader, log, x)));
        worst = worst.max((is / f64::from(x).log2() - 1.0).abs());
    }
    let assumed = f64::from(LOG2_NEAR_ONE);
    assert!(worst <= assumed && worst > assumed / 2.0, "{worst} where {assumed} is assumed");
    assert_eq!(machine(&shader, log, 1.0), 0f32.to_bits());
}

/// A value as single precision and the SFU make it of the first input.
fn machine(shader: &Shader, wanted: Value, x: f32) -> u32 {
    let mut values: HashMap<Value, u32> = HashMap::new();
    for inst in shader.insts_in_order() {
        let data = &shader.insts[inst];
        let word = match data.op {
            Op::Varying(_) => x.to_bits(),
            op => {
                let args: Vec<u32> = data.args.iter().map(|arg| values[arg]).collect();
                match op {
                    Op::SfuLog2 => sfu::log2(args[0]),
                    _ => eval::eval(op, &args).expect("arithmetic"),
                }
            }
        };
        data.results.iter().for_each(|&result| _ = values.insert(result, word));
        if data.results.contains(&wanted) {
            return word;
        }
    }
    panic!("the value is not computed");
}

#[test]
fn estimates_are_not_seen() {
    const MAGNITUDES: [f64; 10] = [0.0, 1e-6, 0.003, 0.1, 0.7, 1.0, 3.0, 40.0, 900.0, 1e6];
    const BOUNDS: [Range; 5] = [
        Range::ALL,
        Range::ALL,
        Range::UNIT,
        Range { low: 0.0, ..Range::ALL },
        Range { low: -1.0, high: 1.0 },
    ];
    let mut random = Random(1);
    let (mut estimates, mut better, mut compared) = (0, 0, 0);
    for seed in 0..60_000 {
        let steps = 2 + random.below(14);
        let mut shader = shader(&mut random, steps);
        let original = shader.clone();
        // What is known of varyings, which their numbers keep to.
        let bounds: [Range; 3] = std::array::from_fn(|_| BOUNDS[random.below(BOUNDS.len())]);
        precision::run(&mut shader, &bounds);
        let data = shader.insts_in_order().into_iter().map(|inst| &shader.insts[inst]);
        let (relaxed, near_one) = data.fold((0, 0), |(relaxed, near_one), data| {
            (relaxed + usize::from(data.relaxed), near_one + usize::from(data.op.is(Op::SfuLog2)))
        });
        estimates += relaxed;
        better += near_one;
        for sample in 0..if relaxed + near_one > 0 { 12 } else { 0 } {
            let mut inputs = [0.0; 5];
            for (input, bounds) in inputs[..3].iter_mut().zip(bounds) {
                let magnitude =
                    MAGNITUDES[random.below(MAGNITUDES.len())] * (1.0 + random.below(100) as f64 / 100.0);
                let number = if random.below(3) == 0 { -magnitude } else { magnitude };
                *input = number.clamp(bounds.low.into(), bounds.high.into());
            }
            inputs[3..].iter_mut().for_each(|texel| *texel = random.below(256) as f64 / 255.0);
            let Some(exact) = color(&original, &inputs, |_| 0.0) else { continue };
            for pattern in 0..4 {
                let sign = |n: usize| match pattern {
                    0 => 1.0,
                    1 => -1.0,
                    _ => {
                        if (n * 7 + sample) >> pattern & 1 == 0 {
                            1.0
                        } else {
                            -1.0
                        }
                    }
                };
                let Some(estimated) = color(&shader, &inputs, sign) else { continue };
                compared += 1;
                let off = exact.iter().zip(&estimated).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(
                    off <= ALLOWED,
                    "shader {seed}: {off} for {inputs:?}: {exact:?}, {estimated:?}\n{shader}"
                );
            }
        }
    }
    assert!(
        estimates > 5_000 && better > 500 && compared > 50_000,
        "{estimates} estimates, {better} better ones, compared {compared} times"
    );
}

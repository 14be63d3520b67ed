//! Divisions of words as the machine makes them, run by the interpreter, against those of the host.

use proptest::prelude::*;
use vc4_shaders::ir::eval::eval;
use vc4_shaders::ir::interp::{Environment, run};
use vc4_shaders::ir::verify::verify;
use vc4_shaders::ir::{Builder, Interpolation, Op, Output, Shader, Stage, Value};
use vc4_shaders::pass;
use vc4_shaders::program::Descriptor;
use vc4_shaders::state::PipelineState;

const DIVISIONS: [Op; 5] = [Op::UDiv, Op::UMod, Op::SDiv, Op::SRem, Op::SMod];

const QUOTIENT: Output = Output::User { location: 0, component: 0 };

/// What is known of a number.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// Nothing.
    Word,
    /// All.
    Constant(u32),
    /// So many bits, and as much less.
    Bits(u32, u32),
    /// The same, negative.
    Negative(u32),
}

impl Known {
    /// A word of that kind.
    fn of(self, word: u32) -> u32 {
        match self {
            Known::Word => word,
            Known::Constant(constant) => constant,
            Known::Bits(bits, less) => (word & mask(bits)).wrapping_sub(less),
            Known::Negative(bits) => !(word & mask(bits)),
        }
    }

    /// The same in a shader.
    fn build(self, b: &mut Builder, word: Value) -> Value {
        match self {
            Known::Word => word,
            Known::Constant(constant) => b.word(constant),
            Known::Bits(bits, less) => {
                let (mask, less) = (b.word(mask(bits)), b.word(less));
                let word = b.op(Op::And, &[word, mask]);
                b.op(Op::ISub, &[word, less])
            }
            Known::Negative(bits) => {
                let (mask, ones) = (b.word(mask(bits)), b.word(!0));
                let word = b.op(Op::And, &[word, mask]);
                b.op(Op::ISub, &[ones, word])
            }
        }
    }
}

fn mask(bits: u32) -> u32 {
    !0 >> (32 - bits)
}

struct Words([[u32; 16]; 2]);

impl Environment for Words {
    fn input(&mut self, location: u32, _component: u8) -> [u32; 16] {
        self.0[location as usize]
    }
}

fn divided(op: Op, dividend: Known, divisor: Known) -> Shader {
    let mut shader = Shader::new(Stage::Fragment);
    let entry = shader.entry().expect("a new shader has a block");
    let mut b = Builder::new(&mut shader, entry);
    let [x, y] = [0, 1].map(|location| {
        let interpolation = Interpolation::Flat;
        b.op(Op::LoadInput { location, component: 0, interpolation }, &[])
    });
    let (x, y) = (dividend.build(&mut b, x), divisor.build(&mut b, y));
    let result = b.emit(op, &[x, y])[0];
    b.store_output(QUOTIENT, result);
    shader
}

fn known() -> impl Strategy<Value = Known> {
    let constants = prop_oneof![1..200u32, (any::<u32>(), 0..32u32).prop_map(|(word, by)| word >> by)];
    let negative = (1..200u32).prop_map(u32::wrapping_neg);
    prop_oneof![
        Just(Known::Word),
        constants.prop_map(Known::Constant),
        negative.prop_map(Known::Constant),
        (1..=32u32).prop_map(|bits| Known::Bits(bits, 0)),
        (1..=31u32).prop_map(|bits| Known::Bits(bits, 1 << (bits - 1))),
        (1..=31u32).prop_map(Known::Negative),
    ]
}

/// A word of any size.
fn word() -> impl Strategy<Value = u32> {
    (any::<u32>(), 0..32u32, any::<bool>())
        .prop_map(|(word, by, negative)| if negative { (word >> by).wrapping_neg() } else { word >> by })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// Most dividends lie near a multiple of the divisor.
    #[test]
    fn divisions_are_those_of_the_host(
        op in 0..DIVISIONS.len(),
        (dividend, divisor) in (known(), known()),
        lanes in prop::collection::vec((word(), word(), 0..4u32), 16),
    ) {
        let op = DIVISIONS[op];
        let mut words = [[0; 16]; 2];
        for (lane, (x, y, near)) in lanes.into_iter().enumerate() {
            let by = divisor.of(y);
            words[0][lane] = if near == 3 { x } else { x.wrapping_mul(by).wrapping_add(near).wrapping_sub(1) };
            words[1][lane] = y;
        }
        let mut shader = divided(op, dividend, divisor);
        pass::lower(&mut shader, &PipelineState { computes: false, ..PipelineState::default() }, &[]);
        prop_assert_eq!(verify(&shader), Ok(()));
        let outcome = run(&shader, &mut Words(words)).expect("no loop runs on");
        let results = outcome.output(QUOTIENT);
        for lane in 0..16 {
            let (x, y) = (dividend.of(words[0][lane]), divisor.of(words[1][lane]));
            // Of a division by zero any word is right, and of one that has no quotient.
            if y == 0 || (x == 1 << 31 && y == !0 && !matches!(op, Op::UDiv | Op::UMod)) {
                continue;
            }
            prop_assert_eq!(Some(results[lane]), eval(op, &[x, y]), "{:?} of {:#x} and {:#x}\n{}", op, x, y, &shader);
        }
    }
}

/// The operations of a shader that stores a word, constants left out.
fn operations(shader: &Shader) -> Vec<Op> {
    let insts = shader.insts_in_order().into_iter().map(|inst| shader.insts[inst].op);
    insts.filter(|op| !op.is_const() && !matches!(op, Op::StoreOutput(_))).collect()
}

fn storing(build: impl FnOnce(&mut Builder) -> Value) -> Shader {
    let mut shader = Shader::new(Stage::Fragment);
    let entry = shader.entry().expect("a new shader has a block");
    let mut b = Builder::new(&mut shader, entry);
    let word = build(&mut b);
    b.store_output(QUOTIENT, word);
    shader
}

#[test]
fn pixels_are_divided_by_products() {
    let mut shader = storing(|b| {
        let (x, three) = (b.op(Op::PixelX, &[]), b.word(3));
        b.op(Op::SMod, &[x, three])
    });
    pass::lower(&mut shader, &PipelineState::default(), &[]);
    let mul24 = Op::Mul(vc4::qpu::MulOp::Mul24);
    assert_eq!(operations(&shader), [Op::PixelX, Op::SToF, Op::FMul, Op::FToS, mul24, Op::ISub]);
}

/// What WGSL's compiler makes of a remainder by the width of a texture, which is never 0 nor -1.
fn guarded(b: &mut Builder, x: Value, width: Value) -> Value {
    let (zero, one, ones, least) = (b.word(0), b.word(1), b.word(!0), b.word(1 << 31));
    let none = b.op(Op::IEq, &[width, zero]);
    let is_least = b.op(Op::IEq, &[x, least]);
    let is_negative = b.op(Op::IEq, &[width, ones]);
    let overflows = b.op(Op::BAnd, &[is_least, is_negative]);
    let unfit = b.op(Op::BOr, &[none, overflows]);
    let divisor = b.select(unfit, one, width);
    let quotient = b.op(Op::SDiv, &[x, divisor]);
    let back = b.op(Op::IMul, &[quotient, divisor]);
    b.op(Op::ISub, &[x, back])
}

#[test]
fn guards_that_bounds_answer_are_gone() {
    let image = Descriptor { set: 0, binding: 0, element: 0 };
    let size = Op::ImageSize { image, axis: 0, halves: false };
    let input = Op::LoadInput { location: 0, component: 0, interpolation: Interpolation::Flat };
    let mut shader = storing(|b| {
        let (x, level) = (b.op(input, &[]), b.word(0));
        let width = b.emit(size, &[level])[0];
        let remainder = guarded(b, x, width);
        let sum = b.op(Op::IAdd, &[remainder, width]);
        guarded(b, sum, width)
    });
    pass::optimize(&mut shader);
    let expected = [input, size, Op::SRem, Op::IAdd, Op::SLt, Op::Select];
    assert_eq!(operations(&shader), expected, "{shader}");
}

//! Signs and common factors are moved to where they cost least, and nothing else changes.

#[allow(dead_code, reason = "shared by several test programs")]
mod support;

use proptest::prelude::*;
use support::user;
use vc4_shaders::ir::interp::{Environment, SampleRequest, run};
use vc4_shaders::ir::verify::verify;
use vc4_shaders::ir::{Builder, BuiltinInput, Interpolation, Op, Shader, Stage, Value};
use vc4_shaders::pass;
use vc4_shaders::program::Descriptor;

/// Inputs from here on are squares of powers of two, so that their inverse roots are exact.
const SQUARES: u32 = 8;

/// Small whole numbers: sums and products of a few of them are exact, in whatever order they are computed.
struct Whole;

impl Environment for Whole {
    fn input(&mut self, location: u32, component: u8) -> [u32; 16] {
        std::array::from_fn(|lane| {
            let mixed = (lane as u32 + 1) * (17 * location + 5 * u32::from(component) + 3);
            let value = if location < SQUARES {
                (mixed % 7) as f32 - 3.0
            } else {
                [1.0, 4.0, 16.0][mixed as usize % 3]
            };
            value.to_bits()
        })
    }

    fn builtin(&mut self, _: BuiltinInput) -> [u32; 16] {
        [0; 16]
    }

    fn ubo(&mut self, _: Descriptor, offset: u32) -> u32 {
        ((offset / 4 % 5) as f32 - 2.0).to_bits()
    }

    fn push(&mut self, _: u32) -> u32 {
        0
    }

    fn sample(&mut self, _: &SampleRequest) -> [[u32; 16]; 4] {
        [[0; 16]; 4]
    }
}

fn fragment(build: impl FnOnce(&mut Builder)) -> Shader {
    let mut shader = Shader::new(Stage::Fragment);
    let entry = shader.entry().expect("a new shader has a block");
    build(&mut Builder::new(&mut shader, entry));
    shader
}

fn input(b: &mut Builder, location: u32, component: u8) -> Value {
    b.op(Op::LoadInput { location, component, interpolation: Interpolation::Smooth }, &[])
}

/// The three components of an input.
fn vector(b: &mut Builder, location: u32) -> [Value; 3] {
    [0, 1, 2].map(|component| input(b, location, component))
}

fn dot(b: &mut Builder, x: [Value; 3], y: [Value; 3]) -> Value {
    let products = [0, 1, 2].map(|n| b.fmul(x[n], y[n]));
    let sum = b.fadd(products[0], products[1]);
    b.fadd(sum, products[2])
}

/// Optimised, factored and optimised again, as the compiler does it.
fn factored(before: &Shader) -> Shader {
    let mut after = before.clone();
    pass::optimize(&mut after);
    pass::factor(&mut after);
    pass::optimize(&mut after);
    assert_eq!(verify(&after), Ok(()), "{after}");
    after
}

fn count(shader: &Shader, op: Op) -> usize {
    shader.insts_in_order().iter().filter(|&&inst| shader.insts[inst].op == op).count()
}

/// The results are equal; the sign of zero is nobody's concern.
fn same(before: &Shader, after: &Shader) {
    let (one, other) = (run(before, &mut Whole).unwrap(), run(after, &mut Whole).unwrap());
    for (&output, words) in &one.outputs {
        let floats = |words: &[u32; 16]| words.map(f32::from_bits);
        assert_eq!(floats(words), floats(&other.output(output)), "{output:?}\n{before}\n{after}");
    }
}

/// `dot(normalize(v), w)` and `dot(normalize(v), u)`; the vector's length comes from elsewhere so that it is exact.
fn unit_vector(exact: bool) -> Shader {
    fragment(|b| {
        b.exact = exact;
        let (v, w, u) = (vector(b, 0), vector(b, 1), vector(b, 2));
        let square = input(b, SQUARES, 0);
        let scale = b.op(Op::FInverseLength, &[square]);
        let unit = v.map(|x| b.fmul(x, scale));
        for (n, other) in [w, u].into_iter().enumerate() {
            let product = dot(b, unit, other);
            b.store_output(user(0, n as u8), product);
        }
    })
}

#[test]
fn unit_vectors_are_scaled_behind_their_sums() {
    let before = unit_vector(false);
    let after = factored(&before);
    assert_eq!((count(&before, Op::FMul), count(&after, Op::FMul)), (9, 8), "{after}");
    same(&before, &after);
}

#[test]
fn unit_vectors_that_others_see_stay() {
    let before = fragment(|b| {
        let (v, w) = (vector(b, 0), vector(b, 1));
        let square = input(b, SQUARES, 0);
        let scale = b.op(Op::FInverseLength, &[square]);
        let unit = v.map(|x| b.fmul(x, scale));
        let product = dot(b, unit, w);
        b.store_output(user(0, 0), product);
        b.store_output(user(0, 1), unit[0]);
    });
    assert_eq!(count(&factored(&before), Op::FMul), 6);
}

/// A matrix of so many rows and columns, by row.
type Matrix = Vec<Vec<Value>>;

/// The matrix at a number of words in a uniform buffer.
fn matrix(b: &mut Builder, rows: usize, columns: usize, first: u32) -> Matrix {
    let buffer = Descriptor { set: 0, binding: 0, element: 0 };
    let mut word = |n: usize| b.op(Op::LoadUbo { buffer, offset: 4 * (first + n as u32) }, &[]);
    (0..rows).map(|row| (0..columns).map(|column| word(3 * row + 7 * column)).collect()).collect()
}

fn sum_of_products(b: &mut Builder, x: &[Value], y: impl Iterator<Item = Value>) -> Value {
    let products: Vec<Value> = x.iter().zip(y).map(|(&x, y)| b.fmul(x, y)).collect();
    products.into_iter().reduce(|sum, product| b.fadd(sum, product)).expect("a row has columns")
}

/// Matrices of `sizes[n]` rows and `sizes[n + 1]` columns, multiplied from the left, and then the vectors; the last component
/// of a vector is 1 where `ones` says so.
fn chain(sizes: &[usize], vectors: &[bool], exact: bool) -> Shader {
    fragment(|b| {
        b.exact = exact;
        let matrices: Vec<Matrix> =
            (0..).zip(sizes.windows(2)).map(|(n, size)| matrix(b, size[0], size[1], 41 * n)).collect();
        let product = matrices.into_iter().reduce(|x, y| {
            let column = |n: usize| y.iter().map(move |row| row[n]);
            let columns = y[0].len();
            x.iter().map(|row| (0..columns).map(|n| sum_of_products(b, row, column(n))).collect()).collect()
        });
        let columns = *sizes.last().expect("a matrix has columns");
        for (at, &one) in (0..).zip(vectors) {
            let mut vector: Vec<Value> = (0..columns as u8).map(|n| input(b, at, n)).collect();
            if one {
                vector[columns - 1] = b.float(1.0);
            }
            for (row, n) in product.iter().flatten().zip(0..) {
                let sum = sum_of_products(b, row, vector.iter().copied());
                b.store_output(user(at, n), sum);
            }
        }
    })
}

#[test]
fn vectors_come_before_products_of_matrices() {
    for one in [false, true] {
        let before = chain(&[4; 4], &[one], false);
        let after = factored(&before);
        assert_eq!(count(&before, Op::FMul), 2 * 64 + 16);
        let ones = if one { 4 } else { 0 };
        assert_eq!(count(&after, Op::FMul), 3 * 16 - ones, "{after}");
        same(&before, &after);
    }
    // Two vectors still take fewer operations than a product of matrices, four do not.
    let before = chain(&[4; 3], &[false; 2], false);
    assert_eq!(count(&factored(&before), Op::FMul), 2 * 32);
    same(&before, &factored(&before));
    let before = chain(&[4; 3], &[false; 4], false);
    assert_eq!(count(&factored(&before), Op::FMul), 64 + 4 * 16);
    // One row of a product costs the same either way.
    let before = chain(&[1, 4, 4], &[false], false);
    assert_eq!(count(&factored(&before), Op::FMul), 16 + 4);
}

/// A product of two matrices times a vector that is such a product itself.
#[test]
fn a_vector_may_come_from_another_product() {
    let before = fragment(|b| {
        let m: Vec<Matrix> = (0..4).map(|n| matrix(b, 3, 3, 41 * n)).collect();
        let mut v = vector(b, 0).to_vec();
        for pair in m.chunks(2) {
            let product: Matrix = pair[0]
                .iter()
                .map(|row| {
                    (0..3).map(|n| sum_of_products(b, row, pair[1].iter().map(|row| row[n]))).collect()
                })
                .collect();
            v = product.iter().map(|row| sum_of_products(b, row, v.iter().copied())).collect();
        }
        (0..).zip(v).for_each(|(n, value)| b.store_output(user(0, n), value));
    });
    let after = factored(&before);
    assert_eq!(count(&after, Op::FMul), 4 * 9, "{after}");
    same(&before, &after);
}

#[test]
fn products_of_matrices_that_others_see_stay() {
    let before = fragment(|b| {
        let (x, y) = (matrix(b, 3, 3, 0), matrix(b, 3, 3, 41));
        let v = vector(b, 0);
        for (row, number) in x.iter().zip(0..) {
            let product: Vec<Value> =
                (0..3).map(|n| sum_of_products(b, row, y.iter().map(|row| row[n]))).collect();
            let sum = sum_of_products(b, &product, v.into_iter());
            b.store_output(user(0, number), sum);
            b.store_output(user(1, number), product[0]);
        }
    });
    assert_eq!(count(&factored(&before), Op::FMul), 27 + 9);
}

fn two_factors(exact: bool) -> Shader {
    fragment(|b| {
        b.exact = exact;
        let color = vector(b, 0);
        let (light, shadow) = (input(b, 1, 0), input(b, 1, 1));
        for (n, component) in color.into_iter().enumerate() {
            let lit = b.fmul(component, light);
            let shadowed = b.fmul(lit, shadow);
            b.store_output(user(0, n as u8), shadowed);
        }
    })
}

#[test]
fn common_factors_are_multiplied_first() {
    let before = two_factors(false);
    let after = factored(&before);
    assert_eq!((count(&before, Op::FMul), count(&after, Op::FMul)), (6, 4), "{after}");
    same(&before, &after);
}

#[test]
fn exact_arithmetic_stays_as_written() {
    for shader in [unit_vector(true), two_factors(true), chain(&[4; 3], &[false], true)] {
        assert_eq!(count(&factored(&shader), Op::FMul), count(&shader, Op::FMul));
    }
}

#[test]
fn precise_and_invariant_shaders_stay_as_written() {
    let precise = factored(&support::shader("precise.frag", &[]));
    assert_eq!(count(&precise, Op::FMul), 6 + 4, "only one of the products may share its factors\n{precise}");
    let invariant = factored(&support::shader("invariant.vert", &[]));
    assert_eq!(count(&invariant, Op::FMul), 3 + 3 + 3, "square, scale and product\n{invariant}");
}

#[test]
fn a_reflection_needs_no_negation() {
    // reflect(-w, v) = -w - 2 dot(v, -w) v, beside dot(v, w).
    let before = fragment(|b| {
        let (v, w) = (vector(b, 0), vector(b, 1));
        let incident = w.map(|x| b.fneg(x));
        let (cosine, two) = (dot(b, v, incident), b.float(2.0));
        let twice = b.fmul(two, cosine);
        for n in 0..3 {
            let along = b.fmul(twice, v[n]);
            let reflected = b.fsub(incident[n], along);
            b.store_output(user(0, n as u8), reflected);
        }
        let product = dot(b, v, w);
        b.store_output(user(0, 3), product);
    });
    let after = factored(&before);
    assert_eq!(count(&after, Op::FNeg), 0, "{after}");
    assert_eq!(count(&after, Op::FMul), 3 + 1 + 3, "one product serves both\n{after}");
    same(&before, &after);
}

/// A value's magnitude, and the bits it may have behind the point.
#[derive(Clone, Copy)]
struct Bound {
    most: f64,
    fraction: u32,
}

impl Bound {
    /// Whether a float holds such values without rounding.
    fn is_exact(self) -> bool {
        self.most * f64::from(self.fraction).exp2() < f64::from(1 << 24)
    }
}

/// A shader of sums, products, negations and inverse lengths, all of them exact.
fn arithmetic(steps: &[(u8, usize, usize)]) -> Shader {
    fragment(|b| {
        let mut values: Vec<(Value, Bound)> = Vec::new();
        for location in 0..2 {
            let bound = Bound { most: 3.0, fraction: 0 };
            values.extend(vector(b, location).map(|value| (value, bound)));
        }
        for component in 0..2 {
            let square = input(b, SQUARES, component);
            let scale = b.op(Op::FInverseLength, &[square]);
            values.push((scale, Bound { most: 1.0, fraction: 2 }));
        }
        for &(op, x, y) in steps {
            let ((x, of_x), (y, of_y)) = (values[x % values.len()], values[y % values.len()]);
            let (op, bound) = match op % 5 {
                0 => (
                    Op::FAdd,
                    Bound { most: of_x.most + of_y.most, fraction: of_x.fraction.max(of_y.fraction) },
                ),
                1 => (
                    Op::FSub,
                    Bound { most: of_x.most + of_y.most, fraction: of_x.fraction.max(of_y.fraction) },
                ),
                2 => (Op::FNeg, of_x),
                _ => {
                    (Op::FMul, Bound { most: of_x.most * of_y.most, fraction: of_x.fraction + of_y.fraction })
                }
            };
            if bound.is_exact() {
                let args = if op == Op::FNeg { vec![x] } else { vec![x, y] };
                values.push((b.emit(op, &args)[0], bound));
            }
        }
        for (at, &(value, _)) in values.iter().rev().take(6).enumerate() {
            b.store_output(user(at as u32 / 4, (at % 4) as u8), value);
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_chains_keep_their_results(
        sizes in prop::collection::vec(1usize..5, 2..5),
        vectors in prop::collection::vec(any::<bool>(), 1..4),
    ) {
        let before = chain(&sizes, &vectors, false);
        let after = factored(&before);
        same(&before, &after);
        let operations = |shader: &Shader| count(shader, Op::FMul) + count(shader, Op::FAdd);
        let mut merged = before.clone();
        pass::optimize(&mut merged);
        prop_assert!(operations(&after) <= operations(&merged), "{merged}\n{after}");
    }

    #[test]
    fn random_arithmetic_keeps_its_results(
        steps in prop::collection::vec((any::<u8>(), 0usize..64, 0usize..64), 1..60)
    ) {
        let before = arithmetic(&steps);
        same(&before, &factored(&before));
    }
}

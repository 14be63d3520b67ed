//! Shaders that keep many values alive, and what becomes of texture fetches: batches between thread switches.

use vc4::qpu::{Access, Inst};
use vc4_shaders::ir::{ImageDim, Lod, Op, Output, Sample, Shader, Stage, Value};
use vc4_shaders::program::Program;

use crate::case::*;

fn vertex(varyings: u32) -> Shader {
    shader(Stage::Vertex, |b| {
        position(b);
        for location in 0..varyings {
            for component in 0..4 {
                let value = input(b, 1 + location % 4, component);
                b.store_output(Output::User { location, component }, value);
            }
        }
    })
}

/// A fragment shader of a function of its varyings, four at each location.
fn fragment(
    varyings: u32,
    build: impl FnOnce(&mut vc4_shaders::ir::Builder, &[[Value; 4]]) -> [Value; 4],
) -> Shader {
    shader(Stage::Fragment, |b| {
        let inputs: Vec<[Value; 4]> =
            (0..varyings).map(|location| [0, 1, 2, 3].map(|c| input(b, location, c))).collect();
        for (component, value) in (0..).zip(build(b, &inputs)) {
            b.store_output(Output::User { location: 0, component }, value);
        }
    })
}

fn sample(b: &mut vc4_shaders::ir::Builder, binding: u32, at: [Value; 2]) -> [Value; 4] {
    let op = Op::Sample(Sample::plain(descriptor(binding), ImageDim::D2, Lod::Auto));
    let results = b.emit(op, &at);
    [results[0], results[1], results[2], results[3]]
}

fn run(name: &str, varyings: u32, fragment: &Shader) -> Program {
    let vertex = vertex(varyings);
    Case { name, vertex: &vertex, fragment, state: state(), exact: false }.run().fragment
}

fn switches(program: &Program) -> usize {
    let inst = |&word: &u64| Inst::decode(word).expect("the program was validated");
    program.code.iter().map(inst).filter(|inst| Access::of(inst).is_switch()).count()
}

/// The sum of a list in the order that keeps everything alive: last made, first used.
fn sum_backwards(b: &mut vc4_shaders::ir::Builder, values: &[[Value; 4]]) -> [Value; 4] {
    let scale = b.float(1.0 / 16.0);
    let mut sum = [b.float(0.0); 4];
    for texel in values.iter().rev() {
        for (sum, &component) in sum.iter_mut().zip(texel) {
            let part = b.op(Op::FMul, &[component, scale]);
            *sum = b.op(Op::FAdd, &[*sum, part]);
        }
    }
    sum
}

#[test]
fn a_texture_read_lets_the_other_thread_run() {
    let shader = fragment(1, |b, inputs| sample(b, 2, [inputs[0][0], inputs[0][1]]));
    let program = run("one fetch", 1, &shader);
    assert!(program.threaded);
    assert_eq!(switches(&program), 1);
}

#[test]
fn independent_fetches_share_a_switch() {
    let shader = fragment(2, |b, inputs| {
        let texels: Vec<[Value; 4]> = (0..4)
            .map(|n| {
                sample(b, 2 + n, [inputs[n as usize / 2][0], inputs[n as usize / 2][1 + n as usize % 2]])
            })
            .collect();
        sum_backwards(b, &texels)
    });
    let program = run("four fetches", 2, &shader);
    assert!(program.threaded);
    // The result queue of a thread holds two (qpu.md §4.6).
    assert_eq!(switches(&program), 2);
}

#[test]
fn dependent_fetches_follow_one_another() {
    let shader = fragment(1, |b, inputs| {
        let mut at = [inputs[0][0], inputs[0][1]];
        let mut texel = [at[0]; 4];
        for n in 0..3 {
            texel = sample(b, 2 + n, at);
            at = [texel[1], texel[0]];
        }
        texel
    });
    let program = run("dependent fetches", 1, &shader);
    assert!(program.threaded);
    assert_eq!(switches(&program), 3);
}

#[test]
fn sixteen_texels_at_once() {
    let shader = fragment(8, |b, inputs| {
        let texels: Vec<[Value; 4]> = (0..16)
            .map(|n| {
                let at = inputs[n as usize / 2];
                sample(b, 2 + n, if n % 2 == 0 { [at[0], at[1]] } else { [at[2], at[3]] })
            })
            .collect();
        sum_backwards(b, &texels)
    });
    run("sixteen texels", 8, &shader);
}

#[test]
fn all_varyings_at_once() {
    let shader = fragment(8, |b, inputs| {
        // Every varying meets every other one, so none can go before all are there.
        let mut sums = inputs.to_vec();
        for distance in [1, 2, 4] {
            let before = sums.clone();
            for (n, sum) in sums.iter_mut().enumerate() {
                let other = before[(n + distance) % before.len()];
                for (sum, other) in sum.iter_mut().zip(other) {
                    let product = b.op(Op::FMul, &[*sum, other]);
                    *sum = b.op(Op::FSub, &[product, other]);
                }
            }
        }
        sum_backwards(b, &sums)
    });
    run("all varyings", 8, &shader);
}

#[test]
fn texels_beside_varyings_fall_back_to_one_thread() {
    let shader = fragment(8, |b, inputs| {
        let texel = sample(b, 2, [inputs[0][0], inputs[0][1]]);
        // All varyings are needed again behind the fetch, more than half of the files holds.
        let mut values = inputs.to_vec();
        for value in values.iter_mut().rev() {
            for (value, texel) in value.iter_mut().zip(texel) {
                *value = b.op(Op::FMul, &[*value, texel]);
            }
        }
        let mut mixed = values.clone();
        for (n, value) in mixed.iter_mut().enumerate() {
            let other = values[(n + 3) % values.len()];
            for (value, other) in value.iter_mut().zip(other) {
                *value = b.op(Op::FMul, &[*value, other]);
            }
        }
        sum_backwards(b, &mixed)
    });
    run("texel beside varyings", 8, &shader);
}

#[test]
fn matrices() {
    let shader = fragment(4, |b, inputs| {
        // A product of three 4x4 matrices, of uniforms and of varyings.
        let buffer = descriptor(1);
        let mut matrix: Vec<[Value; 4]> = inputs.to_vec();
        for m in 0..3u32 {
            let before = matrix.clone();
            for (column, out) in matrix.iter_mut().enumerate() {
                for (row, out) in out.iter_mut().enumerate() {
                    let mut sum = b.float(0.0);
                    for (k, &element) in before[column].iter().enumerate() {
                        let offset = 64 * m + 16 * k as u32 + 4 * row as u32;
                        let factor = b.op(Op::LoadUbo { buffer, offset }, &[]);
                        let product = b.op(Op::FMul, &[factor, element]);
                        sum = b.op(Op::FAdd, &[sum, product]);
                    }
                    *out = sum;
                }
            }
        }
        sum_backwards(b, &matrix)
    });
    run("matrices", 4, &shader);
}

/// More vectors than registers hold, each interpolated between three that are looked up at a place that differs from
/// element to element.
fn corners(b: &mut vc4_shaders::ir::Builder, inputs: &[[Value; 4]]) -> Vec<[Value; 4]> {
    let (few, wide, buffer) = (b.word(3), b.word(4), descriptor(1));
    let place = b.op(Op::And, &[inputs[0][0], few]);
    let place = b.op(Op::Shl, &[place, wide]);
    let weights = [inputs[0][1], inputs[0][2], inputs[0][3]];
    let interpolated = |b: &mut vc4_shaders::ir::Builder, n: u32, component: u32| {
        let mut sum = b.float(0.0);
        for (corner, weight) in (0..).zip(weights) {
            let offset = 16 * (n % 4) + 4 * component + 64 * corner;
            let step = b.word(4 * (n / 4));
            let place = b.op(Op::IAdd, &[place, step]);
            let word = b.op(Op::LoadUboDynamic { buffer, offset, last: offset }, &[place]);
            let part = b.op(Op::FMul, &[word, weight]);
            sum = b.op(Op::FAdd, &[sum, part]);
        }
        sum
    };
    (0..24).map(|n| [0, 1, 2, 3].map(|component| interpolated(b, n, component))).collect()
}

/// A sum of which no factor can be taken out, from the last vector to the first.
fn fading(b: &mut vc4_shaders::ir::Builder, vectors: &[[Value; 4]], first: [Value; 4]) -> [Value; 4] {
    let half = b.float(0.5);
    vectors.iter().rev().fold(first, |sum, vector| {
        [0, 1, 2, 3].map(|n| {
            let faded = b.op(Op::FMul, &[sum[n], half]);
            b.op(Op::FAdd, &[faded, vector[n]])
        })
    })
}

#[test]
fn interpolated_lookups_that_are_wanted_backwards() {
    let shader = fragment(1, |b, inputs| {
        let vectors = corners(b, inputs);
        let zero = [b.float(0.0); 4];
        fading(b, &vectors, zero)
    });
    let program = run("interpolated lookups", 1, &shader);
    assert!(program.threaded, "a lookup beside its use leaves registers for another thread");
}

#[test]
fn interpolated_lookups_that_two_sums_want() {
    let shader = fragment(1, |b, inputs| {
        let vectors = corners(b, inputs);
        let zero = [b.float(0.0); 4];
        let first = fading(b, &vectors, zero);
        // Nothing of the second sum can go before the first one is there.
        let [x, y, z, w] = first;
        fading(b, &vectors, [y, x, w, z])
    });
    run("interpolated lookups, twice", 1, &shader);
}

/// So many values, each of which takes the one before and too much work to be made twice.
fn chain(b: &mut vc4_shaders::ir::Builder, first: Value, count: usize) -> Vec<Value> {
    let (half, one) = (b.float(0.5), b.float(1.0));
    let step = |b: &mut vc4_shaders::ir::Builder, value: Value| {
        (0..16).fold(value, |value, _| {
            let square = b.op(Op::FMul, &[value, value]);
            let rest = b.op(Op::FSub, &[one, square]);
            let part = b.op(Op::FMul, &[rest, half]);
            b.op(Op::FAdd, &[part, half])
        })
    };
    std::iter::successors(Some(first), |&value| Some(step(b, value))).skip(1).take(count).collect()
}

/// They move to accumulators and back: no place is free for a whole life.
#[test]
fn more_values_than_the_files_hold() {
    for count in [66, 67] {
        let shader = fragment(1, |b, inputs| {
            let values = chain(b, inputs[0][0], count);
            let (zero, half) = (b.float(0.0), b.float(0.5));
            let sum = values.iter().rev().fold(zero, |sum, &value| {
                let faded = b.op(Op::FMul, &[sum, half]);
                b.op(Op::FAdd, &[faded, value])
            });
            [sum; 4]
        });
        run(&format!("{count} values"), 1, &shader);
    }
}

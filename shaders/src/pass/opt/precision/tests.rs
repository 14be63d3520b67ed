//! What may be an estimate; that random colours do not show it, `tests/colors.rs` tells.

use vc4::qpu::Unpack;

use super::*;
use crate::ir::{Builder, Node, Stage, Type, Value};

/// Whether the root of a varying, made into a colour by `color`, may be an estimate.
fn is_relaxed(op: Op, color: impl FnOnce(&mut Builder, Value) -> Value) -> bool {
    is_relaxed_in_word(op, |b, root| {
        let red = color(b, root);
        b.op(Op::PackUnorm8x4, &[red, red, red, red])
    })
}

/// Whether it may be in what `word` writes.
fn is_relaxed_in_word(op: Op, word: impl FnOnce(&mut Builder, Value) -> Value) -> bool {
    let mut shader = Shader::new(Stage::Fragment);
    let block = shader.entry().expect("a new shader has a block");
    let mut b = Builder::new(&mut shader, block);
    let x = b.emit(Op::Varying(0), &[])[0];
    let value = b.op(op, &[x]);
    let word = word(&mut b, value);
    b.emit(Op::TlbColorWrite, &[word]);
    run(&mut shader, &[]);
    let inst = shader.values[value].inst;
    shader.insts[inst].relaxed
}

#[test]
fn colours_take_estimates() {
    assert!(is_relaxed(Op::FSqrt, |_, root| root));
    assert!(is_relaxed(Op::FExp2, |b, power| b.fmul(power, power)));
    assert!(is_relaxed(Op::FRsqrt, |b, root| {
        let two = b.float(2.0);
        b.fadd(root, two)
    }));
}

#[test]
fn what_magnifies_errors_does_not() {
    // A difference.
    assert!(!is_relaxed(Op::FSqrt, |b, root| {
        let twenty = b.float(20.0);
        b.fsub(root, twenty)
    }));
    // A sum that may be one.
    assert!(!is_relaxed(Op::FSqrt, |b, root| {
        let other = b.emit(Op::Varying(1), &[])[0];
        b.fadd(root, other)
    }));
    // A decision.
    assert!(!is_relaxed(Op::FSqrt, |b, root| {
        let (half, one) = (b.float(0.5), b.float(1.0));
        let below = b.flt(root, half);
        b.select(below, root, one)
    }));
    // The argument of a power of two, and a logarithm that much is made of.
    assert!(!is_relaxed(Op::FSqrt, |b, root| {
        let (power, scale) = (b.op(Op::FExp2, &[root]), b.float(1e-6));
        b.fmul(power, scale)
    }));
    assert!(!is_relaxed(Op::FLog2, |b, log| {
        let hundred = b.float(100.0);
        b.fmul(log, hundred)
    }));
}

/// Colours of 32 bits are floats as they are.
#[test]
fn words_do_not() {
    assert!(!is_relaxed_in_word(Op::FSqrt, |_, root| root));
    assert!(!is_relaxed_in_word(Op::FSqrt, |b, root| b.fmul(root, root)));
    // What is written as a word and seen by a colour, too.
    assert!(!is_relaxed_in_word(Op::FSqrt, |b, root| {
        b.emit(Op::TlbColorWrite, &[root]);
        b.op(Op::PackUnorm8x4, &[root, root, root, root])
    }));
    let masked = |b: &mut Builder, word| {
        let (old, half) = (b.emit(Op::Varying(1), &[])[0], b.float(0.5));
        let below = b.flt(old, half);
        b.select(below, word, old)
    };
    assert!(!is_relaxed_in_word(Op::FSqrt, masked));
    assert!(is_relaxed_in_word(Op::FSqrt, |b, root| {
        let word = b.op(Op::PackUnorm8x4, &[root, root, root, root]);
        masked(b, word)
    }));
}

/// A curve that is a line near zero and a power elsewhere, with a constant taken from it.
#[test]
fn selects_and_offsets_are_seen_through() {
    let curve = |offset: f32, scale: f32| {
        let mut shader = Shader::new(Stage::Fragment);
        let block = shader.entry().expect("a new shader has a block");
        let mut b = Builder::new(&mut shader, block);
        let word = b.emit(Op::Varying(0), &[])[0];
        let x = b.op(Op::UnpackFloat(Unpack::Byte0), &[word]);
        let (log, exponent) = (b.op(Op::FLog2, &[x]), b.float(1.0 / 2.4));
        let product = b.fmul(log, exponent);
        let power = b.op(Op::FExp2, &[product]);
        let (scale, offset) = (b.float(scale), b.float(offset));
        let scaled = b.fmul(power, scale);
        let above = b.fsub(scaled, offset);
        let (limit, slope) = (b.float(0.003_130_8), b.float(12.92));
        let line = b.fmul(x, slope);
        let is_below = b.flt(x, limit);
        let color = b.select(is_below, line, above);
        let word = b.op(Op::PackUnorm8x4, &[color; 4]);
        b.emit(Op::TlbColorWrite, &[word]);
        run(&mut shader, &[]);
        [log, power].map(|value| shader.insts[shader.values[value].inst].relaxed)
    };
    assert_eq!(curve(0.055, 1.055), [true; 2]);
    // The same shape, made steep: a hundredth of an error is visible.
    assert_eq!(curve(99.0, 100.0), [false; 2]);
}

/// What falls off exponentially tolerates what its distance is made of.
#[test]
fn distances_of_fog_take_estimates() {
    assert!(is_relaxed(Op::FSqrt, |b, distance| {
        let (square, density) = (b.fmul(distance, distance), b.float(-0.05));
        let exponent = b.fmul(square, density);
        let (one, power) = (b.float(1.0), b.op(Op::FExp2, &[exponent]));
        b.fsub(one, power)
    }));
    // It may as well grow, as far as that is seen.
    let grows = |scale: f32| {
        is_relaxed(Op::FSqrt, |b, distance| {
            let exponent = b.fmul(distance, distance);
            let (scale, power) = (b.float(scale), b.op(Op::FExp2, &[exponent]));
            b.fmul(power, scale)
        })
    };
    assert!(grows(0.5) && !grows(0.001));
}

/// What exposure makes of a brightness that may be anything, by a power that may grow.
#[test]
fn what_is_not_seen_may_be_anything() {
    let exposed = |most: f32| {
        is_relaxed(Op::FExp2, |b, power| {
            let most = b.float(most);
            b.fsub(most, power)
        })
    };
    assert_eq!([1.0, 2.0, 100.0].map(exposed), [true, true, false]);
    // In front of the difference something else looks at it.
    assert!(!is_relaxed_in_word(Op::FExp2, |b, power| {
        let (one, two) = (b.float(1.0), b.float(2.0));
        let bright = b.flt(two, power);
        let color = b.fsub(one, power);
        let word = b.op(Op::PackUnorm8x4, &[color; 4]);
        let white = b.word(!0);
        b.select(bright, white, word)
    }));
    // What is black whatever it is may be looked at elsewhere.
    assert!(!is_relaxed_in_word(Op::FSqrt, |b, root| {
        let square = b.fmul(root, root);
        let black = b.fneg(square);
        let word = b.op(Op::PackUnorm8x4, &[root, black, root, root]);
        let entry = b.block;
        b.block = b.shader.blocks.push(Default::default());
        b.shader.body.push(Node::Block(b.block));
        let merged = b.phi(Type::Word, &[(entry, black)]);
        b.emit(Op::TlbColorWrite, &[merged]);
        word
    }));
    // The smaller and larger of two numbers, and the opposite of one, are seen as far.
    assert!(is_relaxed(Op::FExp2, |b, power| {
        let (one, less, more) = (b.float(1.0), b.float(-2.0), b.float(50.0));
        let power = b.fneg(power);
        let power = b.op(Op::FMax, &[power, less]);
        let power = b.op(Op::FMin, &[power, more]);
        b.fadd(power, one)
    }));
}

#[test]
fn powers_of_small_exponents_take_estimates() {
    let power = |exponent: f32| {
        is_relaxed(Op::FLog2, |b, log| {
            let exponent = b.float(exponent);
            let product = b.fmul(log, exponent);
            b.op(Op::FExp2, &[product])
        })
    };
    assert!(power(0.4545) && power(8.0) && !power(16.0));
}

/// Of exponents that may be anything, logarithms with a relative error are taken; a steep sum has none.
#[test]
fn powers_of_any_exponent_take_better_estimates() {
    let ops = |scale: f32| {
        let mut shader = Shader::new(Stage::Fragment);
        let block = shader.entry().expect("a new shader has a block");
        let mut b = Builder::new(&mut shader, block);
        let [x, exponent] = [0, 1].map(|varying| b.emit(Op::Varying(varying), &[])[0]);
        let log = b.flog2(x);
        let product = b.fmul(log, exponent);
        let (power, scale) = (b.fexp2(product), b.float(scale));
        let color = b.fmul(power, scale);
        let word = b.op(Op::PackUnorm8x4, &[color; 4]);
        b.emit(Op::TlbColorWrite, &[word]);
        run(&mut shader, &[]);
        let order = shader.insts_in_order();
        [Op::SfuLog2, Op::FLog2].map(|op| order.iter().any(|&inst| shader.insts[inst].op.is(op)))
    };
    assert_eq!(ops(1.0), [true, false]);
    assert_eq!(ops(100.0), [false, true]);
}

/// Errors add up until they could be seen.
#[test]
fn the_budget_is_kept() {
    let product = |count: usize| {
        is_relaxed(Op::FSqrt, |b, root| (0..count).fold(root, |product, _| b.fmul(product, root)))
    };
    assert!(product(2) && !product(40));
}

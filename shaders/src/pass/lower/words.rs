//! Products and conversions of words that the QPU has not.

use vc4::qpu::MulOp;
use vc4::qpu::alu::MUL24_BITS;

use crate::ir::{Builder, Op, Value};
use crate::pass::analysis::bounds;

/// The low word of a product.
pub(super) fn multiply(b: &mut Builder, x: Value, y: Value) -> Value {
    let bits = [x, y].map(|factor| bounds::span(b.shader, factor).bits());
    let constant = |b: &Builder, factor: Value| match b.shader.op(factor) {
        Op::Const(word) => Some(word),
        _ => None,
    };
    // One multiplication is shorter.
    if bits.into_iter().any(|bits| bits > MUL24_BITS) {
        let [first, second] = [x, y].map(|factor| constant(b, factor));
        let shifted = second.and_then(|c| shifted(b, x, c)).or_else(|| shifted(b, y, first?));
        if let Some(product) = shifted {
            return product;
        }
    }
    multiply_of(b, [x, y], bits)
}

/// A product with 2^n + 1 or 2^n - 1, each shifted left.
fn shifted(b: &mut Builder, x: Value, constant: u32) -> Option<Value> {
    let by = constant.trailing_zeros();
    let odd = constant.checked_shr(by).filter(|&odd| odd > 1)?;
    let (op, n) = match (odd.wrapping_sub(1), odd.wrapping_add(1)) {
        (power, _) if power.is_power_of_two() => (Op::IAdd, power.trailing_zeros()),
        (_, power) if power.is_power_of_two() => (Op::ISub, power.trailing_zeros()),
        _ => return None,
    };
    let shift = |b: &mut Builder, value: Value, by: u32| match by {
        0 => value,
        _ => {
            let by = b.word(by);
            b.op(Op::Shl, &[value, by])
        }
    };
    let large = shift(b, x, n);
    let product = b.op(op, &[large, x]);
    Some(shift(b, product, by))
}

/// The low word of a product of factors with so many bits. With a = ah·2^24 + al: al·bl + ((ah·bl + al·bh) << 24).
pub(super) fn multiply_of(b: &mut Builder, [x, y]: [Value; 2], [x_bits, y_bits]: [u32; 2]) -> Value {
    let product = b.op(Op::Mul(MulOp::Mul24), &[x, y]);
    let shift = b.word(MUL24_BITS);
    let mut cross: Option<Value> = None;
    for (value, other, bits) in [(x, y, x_bits), (y, x, y_bits)] {
        if bits <= MUL24_BITS {
            continue;
        }
        let high = b.op(Op::Shr, &[value, shift]);
        let part = b.op(Op::Mul(MulOp::Mul24), &[high, other]);
        cross = Some(match cross {
            Some(sum) => b.op(Op::IAdd, &[sum, part]),
            None => part,
        });
    }
    match cross {
        Some(cross) => {
            let high = b.op(Op::Shl, &[cross, shift]);
            b.op(Op::IAdd, &[product, high])
        }
        None => product,
    }
}

/// `ftoi` is signed: from 2^31 on, 2^31 is taken off and put back as the top bit.
pub(super) fn float_to_unsigned(b: &mut Builder, x: Value) -> Value {
    let half_range = b.float(2_147_483_648.0);
    let top = b.word(0x8000_0000);
    let small = b.op(Op::FToS, &[x]);
    let low = b.op(Op::FSub, &[x, half_range]);
    let low = b.op(Op::FToS, &[low]);
    let large = b.op(Op::Xor, &[low, top]);
    let is_small = b.op(Op::FLt, &[x, half_range]);
    b.select(is_small, small, large)
}

/// `itof` is signed: words with the top bit are halved first, which only drops a bit that truncation drops.
pub(super) fn unsigned_to_float(b: &mut Builder, x: Value) -> Value {
    let plain = b.op(Op::SToF, &[x]);
    if bounds::span(b.shader, x).is_positive() {
        return plain;
    }
    let (zero, one) = (b.word(0), b.word(1));
    let half = b.op(Op::Shr, &[x, one]);
    let half = b.op(Op::SToF, &[half]);
    let doubled = b.op(Op::FAdd, &[half, half]);
    let large = b.op(Op::SLt, &[x, zero]);
    b.select(large, doubled, plain)
}

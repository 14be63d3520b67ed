//! The value of an operation on constants: what folding and the interpreter agree on.
//!
//! Generic operations are IEEE single precision, machine operations what the ALU does (`vc4::qpu::alu`).
//! Booleans are 0 and 1.

use vc4::qpu::{Unpack, alu, pack};

use super::memory::Atomic;
use super::op::Op;

/// From 2^23 on every float is an integer, and `ftoi` soon leaves its range (qpu.md §2.3).
pub const INTEGERS_FROM: f32 = 1.0 / f32::EPSILON;

/// The result of a pure operation with one result whose value depends on its operands only;
/// `None` for every other operation.
pub fn eval(op: Op, args: &[u32]) -> Option<u32> {
    Some(match (op, args) {
        (Op::Const(word), []) => word,
        (Op::ConstBool(truth), []) => u32::from(truth),
        (Op::Select, &[c, a, b]) => {
            if c != 0 {
                a
            } else {
                b
            }
        }
        (Op::Add(op), &[a]) => alu::add_value(op, a, a),
        (Op::Add(op), &[a, b]) => alu::add_value(op, a, b),
        (Op::Mul(op), &[a, b]) => alu::mul_value(op, a, b),
        (Op::PackUnorm8x4, &[r, g, b, a]) => u32::from_le_bytes([unorm8(r), unorm8(g), unorm8(b), unorm8(a)]),
        (op, &[a]) => return unary(op, a),
        (op, &[a, b]) => return binary(op, a, b),
        _ => return None,
    })
}

/// The word that an atomic operation leaves where `memory` was; `b` counts in [`Atomic::CompareExchange`].
pub fn atomic(action: Atomic, memory: u32, a: u32, b: u32) -> u32 {
    match action {
        Atomic::Add => memory.wrapping_add(a),
        Atomic::SMin => (memory as i32).min(a as i32) as u32,
        Atomic::UMin => memory.min(a),
        Atomic::SMax => (memory as i32).max(a as i32) as u32,
        Atomic::UMax => memory.max(a),
        Atomic::And => memory & a,
        Atomic::Or => memory | a,
        Atomic::Xor => memory ^ a,
        Atomic::Exchange => a,
        Atomic::CompareExchange if memory == b => a,
        Atomic::CompareExchange => memory,
    }
}

fn unary(op: Op, a: u32) -> Option<u32> {
    let x = f32::from_bits(a);
    let float = match op {
        Op::FNeg => return Some(a ^ 1 << 31),
        Op::FAbs => return Some(a & !(1 << 31)),
        Op::FSign if x.is_nan() => 0.0,
        Op::FSign => f32::from(i8::from(x > 0.0) - i8::from(x < 0.0)),
        Op::FFloor => x.floor(),
        Op::FCeil => x.ceil(),
        Op::FTrunc => x.trunc(),
        Op::FRoundEven => x.round_ties_even(),
        Op::FRsqrt | Op::FInverseLength | Op::SfuRsqrt => double(x, |d| 1.0 / d.sqrt()),
        Op::FSqrt => x.sqrt(),
        Op::FExp2 | Op::SfuExp2 => double(x, f64::exp2),
        // Undefined; as the QPU's, whatever sign a host gives to NaNs, which a QPU takes for infinities of that sign.
        Op::FLog2 | Op::SfuLog2 if x < 0.0 => f32::NEG_INFINITY,
        Op::FLog2 | Op::SfuLog2 => double(x, f64::log2),
        Op::FSin => double(x, f64::sin),
        Op::FCos => double(x, f64::cos),
        Op::SfuRecip => 1.0 / x,
        Op::SToF => a as i32 as f32,
        Op::UToF => a as f32,
        Op::FToS => return Some(x as i32 as u32),
        Op::FToU => return Some(x as u32),
        Op::Not => return Some(!a),
        Op::Clz => return Some(a.leading_zeros()),
        Op::BNot => return Some(u32::from(a == 0)),
        Op::BAny => return Some(u32::from(a != 0)),
        Op::UnpackInt(part) => return Some(unpack_int(part, a)),
        Op::UnpackFloat(part) => return Some(unpack_float(part, a)),
        _ => return None,
    };
    Some(float.to_bits())
}

/// A function in double precision, rounded once: the same word whatever the host's single-precision library does.
fn double(x: f32, f: impl Fn(f64) -> f64) -> f32 {
    f(f64::from(x)) as f32
}

fn binary(op: Op, a: u32, b: u32) -> Option<u32> {
    if let Some(truth) = compare(op, a, b) {
        return Some(u32::from(truth));
    }
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let (s, t) = (a as i32, b as i32);
    Some(match op {
        Op::FAdd => (x + y).to_bits(),
        Op::FSub => (x - y).to_bits(),
        Op::FMul => (x * y).to_bits(),
        Op::FDiv => (x / y).to_bits(),
        Op::FMin => x.min(y).to_bits(),
        Op::FMax => x.max(y).to_bits(),
        Op::IAdd => a.wrapping_add(b),
        Op::ISub => a.wrapping_sub(b),
        Op::IMul => a.wrapping_mul(b),
        // Division by zero is undefined in SPIR-V; any word will do.
        Op::UDiv => a.checked_div(b).unwrap_or(!0),
        Op::UMod => a.checked_rem(b).unwrap_or(a),
        Op::SDiv if t == 0 => !0,
        Op::SDiv => s.wrapping_div(t) as u32,
        Op::SRem | Op::SMod if t == 0 => a,
        Op::SRem => s.wrapping_rem(t) as u32,
        Op::SMod => floor_mod(s, t) as u32,
        Op::Shl => a << (b & 31),
        Op::Shr => a >> (b & 31),
        Op::Asr => (s >> (b & 31)) as u32,
        Op::And | Op::BAnd => a & b,
        Op::Or | Op::BOr => a | b,
        Op::Xor | Op::BXor => a ^ b,
        Op::SMin => s.min(t) as u32,
        Op::SMax => s.max(t) as u32,
        Op::UMin => a.min(b),
        Op::UMax => a.max(b),
        Op::PackHalves => a & 0xffff | b << 16,
        Op::PackHalfFloats => pack::f32_to_f16(a) | pack::f32_to_f16(b) << 16,
        _ => return None,
    })
}

fn compare(op: Op, a: u32, b: u32) -> Option<bool> {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    Some(match op {
        Op::FEq => x == y,
        Op::FNe => x != y,
        Op::FLt => x < y,
        Op::FLe => x <= y,
        Op::IEq => a == b,
        Op::INe => a != b,
        Op::SLt => (a as i32) < b as i32,
        Op::SLe => a as i32 <= b as i32,
        Op::ULt => a < b,
        Op::ULe => a <= b,
        _ => return None,
    })
}

fn floor_mod(a: i32, b: i32) -> i32 {
    let rest = a.wrapping_rem(b);
    if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
}

/// The mul unit's colour pack: clamped to [0, 1], times 255, to nearest (qpu.md §2.11).
fn unorm8(word: u32) -> u8 {
    (f32::from_bits(word).clamp(0.0, 1.0) * 255.0).round() as u8
}

fn unpack_int(part: Unpack, a: u32) -> u32 {
    let [b0, b1, b2, b3] = a.to_le_bytes();
    match part {
        Unpack::Nop => a,
        Unpack::Half0 => a as i16 as i32 as u32,
        Unpack::Half1 => (a >> 16) as i16 as i32 as u32,
        Unpack::Rep8d => u32::from(b3) * 0x0101_0101,
        Unpack::Byte0 => b0.into(),
        Unpack::Byte1 => b1.into(),
        Unpack::Byte2 => b2.into(),
        Unpack::Byte3 => b3.into(),
    }
}

fn unpack_float(part: Unpack, a: u32) -> u32 {
    match part {
        Unpack::Nop | Unpack::Rep8d => unpack_int(part, a),
        Unpack::Half0 => half_to_float(a as u16),
        Unpack::Half1 => half_to_float((a >> 16) as u16),
        _ => byte_fraction(unpack_int(part, a)),
    }
}

/// A float16 as the unpack unit delivers it: denormals keep their bits and become float denormals (qpu.md §2.11).
fn half_to_float(half: u16) -> u32 {
    let sign = u32::from(half & 0x8000) << 16;
    let (exponent, mantissa) = (u32::from(half >> 10 & 31), u32::from(half & 0x3ff));
    let rebased = match exponent {
        0 => 0,
        31 => 255,
        _ => exponent + 112,
    };
    sign | rebased << 23 | mantissa << 13
}

/// v/255, truncated (qpu.md §2.11). The double quotient is never within one float ulp of a float from below
/// unless exact, so cutting its mantissa truncates.
fn byte_fraction(byte: u32) -> u32 {
    let quotient = f64::from(byte) / 255.0;
    (f64::from_bits(quotient.to_bits() & !0x1fff_ffff) as f32).to_bits()
}

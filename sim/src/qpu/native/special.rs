//! The special function unit in the compiler's instructions: `vc4::qpu::sfu`, whose tables of sixteen segments are what
//! shuffles of bytes look up.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use vc4::qpu::sfu::{SfuOp, Table};

use super::known::{INF, Known, MANTISSA_BITS, SIGN};
use super::vector::{BYTES, FLOATS, HALVES, Vector, Word};

/// The fraction bits of a float.
const MANTISSA: u32 = (1 << MANTISSA_BITS) - 1;
/// Bits that the interpolator leaves out of a mantissa.
const BELOW: i64 = 8;

impl Vector<'_, '_> {
    /// What r4 receives.
    pub fn special(&mut self, function: SfuOp, operand: Word) -> Word {
        let x = self.settled(operand);
        let value = match function {
            SfuOp::Recip => self.recip(x),
            SfuOp::Rsqrt => self.rsqrt(x),
            SfuOp::Exp2 => self.exp2(x),
            SfuOp::Log2 => self.log2(x),
        };
        Word::of(value, Known::FLOAT)
    }

    /// See `vc4::qpu::sfu::recip`.
    fn recip(&mut self, x: Value) -> Value {
        let (sign, magnitude, exponent) =
            (self.and_with(x, SIGN), self.and_with(x, !SIGN), self.and_with(x, INF));
        let m = self.shifted_right(x, BELOW);
        let m = self.and_with(m, 0x7fff);
        let mantissa = self.interpolated(SfuOp::Recip.table(), m, false);
        let most = self.constant(253 << MANTISSA_BITS);
        let upper = self.build.ins().isub(most, exponent);
        let usual = self.build.ins().bor(upper, mantissa);
        let largest = self.constant((253 << MANTISSA_BITS) - 1);
        let over = self.compare(IntCC::SignedGreaterThan, exponent, largest);
        let usual = self.build.ins().band_not(usual, over);
        let one = self.constant(1f32.to_bits());
        let is_one = self.compare(IntCC::Equal, magnitude, one);
        let usual = self.select(is_one, one, usual);
        let usual = self.unless_tiny(exponent, INF, usual);
        self.build.ins().bor(sign, usual)
    }

    /// See `vc4::qpu::sfu::rsqrt`.
    fn rsqrt(&mut self, x: Value) -> Value {
        let exponent = self.and_with(x, INF);
        // Twice the exponent, in the byte that the unit has for it.
        let e = self.shifted_right(exponent, MANTISSA_BITS);
        let bias = self.constant(128);
        let twice = self.build.ins().isub(bias, e);
        let twice = self.and_with(twice, 255);
        let half = self.shifted_right(twice, 1);
        let top = self.and_with(half, 0x40);
        let top = self.shifted_left(top, 1);
        let half = self.build.ins().bor(half, top);
        let bias = self.constant(126);
        let upper = self.build.ins().iadd(half, bias);
        let upper = self.and_with(upper, 255);
        let upper = self.shifted_left(upper, MANTISSA_BITS);
        // The exponent's last bit chooses the half of the table, even ones the upper half.
        let m = self.shifted_right(x, BELOW + 1);
        let m = self.and_with(m, 0x7fff);
        let even = self.constant(0x4000);
        let m = self.build.ins().bxor(m, even);
        let mantissa = self.interpolated(SfuOp::Rsqrt.table(), m, false);
        let usual = self.build.ins().bor(upper, mantissa);
        let infinity = self.constant(INF);
        let infinite = self.compare(IntCC::Equal, exponent, infinity);
        let usual = self.build.ins().band_not(usual, infinite);
        self.unless_tiny(exponent, INF, usual)
    }

    /// See `vc4::qpu::sfu::log2`.
    fn log2(&mut self, x: Value) -> Value {
        let exponent = self.and_with(x, INF);
        let m = self.shifted_right(x, BELOW);
        let m = self.and_with(m, 0x7fff);
        let mantissa = self.interpolated(SfuOp::Log2.table(), m, false);
        let all = self.constant(MANTISSA);
        let fraction = self.build.ins().bxor(mantissa, all);
        // Fixed point; bit 16 weighs 1. The exponent's bias leaves when one is added and the top bit is cut off.
        let fraction = self.shifted_right(fraction, MANTISSA_BITS - 16);
        let step = self.constant(1 << MANTISSA_BITS);
        let whole = self.build.ins().iadd(exponent, step);
        let whole = self.and_with(whole, 127 << MANTISSA_BITS);
        let whole = self.shifted_right(whole, MANTISSA_BITS - 16);
        let fixed = self.build.ins().bor(whole, fraction);
        let fixed = self.and_with(fixed, !1);
        let one = self.constant(127 << MANTISSA_BITS);
        let below_one = self.compare(IntCC::SignedLessThan, exponent, one);
        let flipped = self.build.ins().bxor(fixed, all);
        let fixed = self.select(below_one, flipped, fixed);
        // At most 23 bits: the conversion is exact.
        let float = self.build.ins().fcvt_from_sint(FLOATS, fixed);
        let scale = self.constant((1.0f32 / 65_536.0).to_bits());
        let scale = self.float(scale);
        let float = self.build.ins().fmul(float, scale);
        let float = self.words(float);
        let zero = self.zero();
        let is_zero = self.compare(IntCC::Equal, fixed, zero);
        let sign = self.and_with(below_one, SIGN);
        let sign = self.build.ins().band_not(sign, is_zero);
        let usual = self.build.ins().bor(float, sign);
        let infinity = self.constant(INF);
        let infinite = self.compare(IntCC::Equal, exponent, infinity);
        let usual = self.select(infinite, infinity, usual);
        self.unless_tiny(exponent, SIGN | INF, usual)
    }

    /// See `vc4::qpu::sfu::exp2`.
    fn exp2(&mut self, x: Value) -> Value {
        const FRACTION_BITS: i64 = 15;
        let (magnitude, exponent) = (self.and_with(x, !SIGN), self.and_with(x, INF));
        let (zero, negative) = (self.zero(), self.build.ins().sshr_imm(x, 31));
        // Zeros and denormals of either sign are one operand.
        let tiny = self.compare(IntCC::Equal, exponent, zero);
        let negative = self.build.ins().band_not(negative, tiny);
        let largest = self.constant(128f32.to_bits() - 1);
        let overflow = self.compare(IntCC::SignedGreaterThan, magnitude, largest);
        let scale = self.constant(((1 << FRACTION_BITS) as f32).to_bits());
        let (float, scale) = (self.float(magnitude), self.float(scale));
        let scaled = self.build.ins().fmul(float, scale);
        // Where it does not fit, it has overflowed already.
        let fixed = self.truncated(scaled);
        let fixed = self.build.ins().bxor(fixed, negative);
        let fixed = self.and_with(fixed, 0x003f_ffff);
        let whole = self.shifted_right(fixed, FRACTION_BITS);
        // Of a negative one 128 is more than there is, as it was flipped.
        let bias = self.constant(127);
        let upper = self.build.ins().iadd(whole, bias);
        let twice = self.and_with(negative, 128);
        let upper = self.build.ins().isub(upper, twice);
        let upper = self.shifted_left(upper, MANTISSA_BITS);
        let m = self.and_with(fixed, 0x7fff);
        let mantissa = self.interpolated(SfuOp::Exp2.table(), m, true);
        let usual = self.build.ins().bor(upper, mantissa);
        let infinity = self.constant(INF);
        let usual = self.select(overflow, infinity, usual);
        let two = self.constant(2);
        let under = self.compare(IntCC::SignedLessThan, whole, two);
        let under = self.build.ins().bor(under, overflow);
        let under = self.build.ins().band(under, negative);
        self.build.ins().band_not(usual, under)
    }

    /// Another word where the exponent is that of zero.
    fn unless_tiny(&mut self, exponent: Value, word: u32, usual: Value) -> Value {
        let (zero, word) = (self.zero(), self.constant(word));
        let tiny = self.compare(IntCC::Equal, exponent, zero);
        self.select(tiny, word, usual)
    }

    /// The interpolator, and its result as the mantissa of a float; `m` has 15 bits.
    fn interpolated(&mut self, table: &Table, m: Value, rising: bool) -> Value {
        let segment = self.shifted_right(m, 11);
        // Bytes that point outside of the table find zero.
        let outside = self.constant(0x8080_8000);
        let low = self.build.ins().bor(segment, outside);
        let segment = self.shifted_left(segment, 8);
        let outside = self.constant(0x8080_0080);
        let high = self.build.ins().bor(segment, outside);
        let c0 = self.looked_up(&table.c0, [low, high]);
        let c1 = self.looked_up(&table.c1, [low, high]);
        let c2 = self.bytes_of(&table.c2, 0, low);

        let along = self.and_with(m, 0x7ff);
        let linear = self.build.ins().imul(c1, along);
        let linear = self.shifted_right(linear, 11);
        // The unit's table of it is this parabola, to nearest.
        let place = self.shifted_right(m, 5);
        let place = self.and_with(place, 63);
        let end = self.constant(64);
        let rest = self.build.ins().isub(end, place);
        let bow = self.small_product(place, rest);
        let half = self.constant(8);
        let bow = self.build.ins().iadd(bow, half);
        let bow = self.shifted_right(bow, 4);
        let most = self.constant(63);
        let bow = self.build.ins().smin(bow, most);
        let bow = self.small_product(c2, bow);
        let bow = self.shifted_right(bow, 5);
        let value = if rising {
            // All bits flipped are minus one and the number.
            let one = self.constant(1);
            let sum = self.build.ins().iadd(c0, linear);
            self.build.ins().iadd(sum, one)
        } else {
            self.build.ins().isub(c0, linear)
        };
        let value = self.build.ins().isub(value, bow);
        let value = self.and_with(value, 0x7fff);
        self.shifted_left(value, BELOW)
    }

    /// A product of numbers below 2^16 that is below 2^16.
    fn small_product(&mut self, a: Value, b: Value) -> Value {
        let (x, y) = (self.as_type(HALVES, a), self.as_type(HALVES, b));
        let product = self.build.ins().imul(x, y);
        self.words(product)
    }

    /// Words of 16 bits by their place in a table, which is in the lowest byte and, again, in the second one.
    fn looked_up(&mut self, table: &[u32; 16], [low, high]: [Value; 2]) -> Value {
        let (low, high) = (self.bytes_of(table, 0, low), self.bytes_of(table, 8, high));
        self.build.ins().bor(low, high)
    }

    fn bytes_of(&mut self, table: &[u32; 16], shift: u32, places: Value) -> Value {
        let byte = |i: usize| table[i] >> shift & 255;
        let words = std::array::from_fn(|i| (0..4).fold(0, |word, n| word | byte(4 * i + n) << (8 * n)));
        let bytes = self.constants(words);
        let (bytes, places) = (self.as_type(BYTES, bytes), self.as_type(BYTES, places));
        // All places outside have their top bits set.
        let found = match cfg!(target_arch = "x86_64") {
            true => self.build.ins().x86_pshufb(bytes, places),
            false => self.build.ins().swizzle(bytes, places),
        };
        self.words(found)
    }
}

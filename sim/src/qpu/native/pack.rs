//! The meaning of `vc4::qpu::pack` in the compiler's instructions.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value};
use vc4::qpu::{Pack, Unpack};

use super::known::{INF, Known, SIGN};
use super::vector::{FLOATS, Vector, Word};

impl Vector<'_, '_> {
    /// An operand through the unpacker.
    pub fn unpack(&mut self, code: Unpack, word: Word, float: bool) -> Word {
        if code == Unpack::Nop {
            return word;
        }
        let value = self.settled(word);
        let byte = |this: &mut Self, shift: i64| {
            let shifted = this.shifted_right(value, shift);
            let byte = if shift == 24 { shifted } else { this.and_with(shifted, 255) };
            if float { this.byte_to_float(byte) } else { byte.into() }
        };
        match code {
            Unpack::Nop => value.into(),
            Unpack::Half0 | Unpack::Half1 if float => {
                let half = if code == Unpack::Half0 {
                    self.and_with(value, 0xffff)
                } else {
                    self.shifted_right(value, 16)
                };
                self.half_to_float(half).into()
            }
            Unpack::Half0 => {
                let high = self.shifted_left(value, 16);
                self.build.ins().sshr_imm(high, 16).into()
            }
            Unpack::Half1 => self.build.ins().sshr_imm(value, 16).into(),
            Unpack::Rep8d => {
                let (byte, ones) = (self.shifted_right(value, 24), self.constant(0x0101_0101));
                self.build.ins().imul(byte, ones).into()
            }
            Unpack::Byte0 => byte(self, 0),
            Unpack::Byte1 => byte(self, 8),
            Unpack::Byte2 => byte(self, 16),
            Unpack::Byte3 => byte(self, 24),
        }
    }

    /// See `vc4::qpu::pack::byte_to_float`.
    fn byte_to_float(&mut self, byte: Value) -> Word {
        let (thrice, last) = (self.constant(0x01_0101), self.constant(255));
        let digits = self.build.ins().imul(byte, thrice);
        let is_last = self.compare(IntCC::Equal, byte, last);
        let digits = self.build.ins().isub(digits, is_last);
        let float = self.build.ins().fcvt_from_sint(FLOATS, digits);
        let scale = self.constant((1.0f32 / 16_777_216.0).to_bits());
        let scale = self.float(scale);
        let float = self.build.ins().fmul(float, scale);
        Word::of(self.words(float), Known::float_below(1))
    }

    /// See `vc4::qpu::pack::f16_to_f32`.
    fn half_to_float(&mut self, half: Value) -> Value {
        const REBIAS: u32 = (127 - 15) << 23;
        let sign = self.and_with(half, 0x8000);
        let sign = self.shifted_left(sign, 16);
        let rest = self.and_with(half, 0x7fff);
        let rest = self.shifted_left(rest, 13);
        let exponent = self.and_with(half, 0x7c00);
        let (zero, most) = (self.zero(), self.constant(0x7c00));
        let (denormal, infinite) =
            (self.compare(IntCC::Equal, exponent, zero), self.compare(IntCC::Equal, exponent, most));
        // From the largest exponent of halves to that of floats it is the same step again.
        let step = self.constant(REBIAS);
        let again = self.build.ins().band(infinite, step);
        let steps = self.build.ins().iadd(step, again);
        let steps = self.build.ins().band_not(steps, denormal);
        let magnitude = self.build.ins().iadd(rest, steps);
        self.build.ins().bor(magnitude, sign)
    }

    /// See `vc4::qpu::pack::f32_to_f16`.
    fn float_to_half(&mut self, value: Value) -> Value {
        const REBIAS: u32 = (127 - 15) << 23;
        let sign = self.shifted_right(value, 16);
        let sign = self.and_with(sign, 0x8000);
        let magnitude = self.and_with(value, !SIGN);
        let below_one = self.constant(0x1fff);
        let rounded = self.build.ins().iadd(magnitude, below_one);
        let rebias = self.constant(REBIAS);
        let half = self.build.ins().isub(rounded, rebias);
        let half = self.shifted_right(half, 13);
        // Magnitudes are below 2^31; rounding the largest makes them negative.
        let (infinity, largest) = (self.constant(INF - 1), self.constant(((127 + 16) << 23) - 1));
        let unbounded = self.compare(IntCC::SignedGreaterThan, magnitude, infinity);
        let over = self.compare(IntCC::SignedGreaterThan, rounded, largest);
        let over = self.build.ins().bor(unbounded, over);
        let most = self.constant(0x7c00);
        let half = self.select(over, most, half);
        let half = self.build.ins().bor(half, sign);
        let smallest = self.constant((127 - 14) << 23);
        let under = self.compare(IntCC::SignedLessThan, rounded, smallest);
        let under = self.build.ins().band_not(under, unbounded);
        self.build.ins().band_not(half, under)
    }

    /// See `vc4::qpu::pack::float_to_unorm8`. All differences and the first product are exact, and no sum changes its sign where it
    /// is truncated.
    fn float_to_unorm8(&mut self, word: Value) -> Value {
        const ROUNDER: f32 = 8_388_608.0;
        let number = |this: &mut Self, x: f32| {
            let words = this.constant(x.to_bits());
            this.float(words)
        };
        let magnitude = self.and_with(word, !SIGN);
        let one = self.constant(1f32.to_bits());
        let x = self.build.ins().smin(magnitude, one);
        let high = self.and_with(x, 0xffff_ff00);
        let (x, high) = (self.float(x), self.float(high));
        let low = self.build.ins().fsub(x, high);
        let (most, rounder, half) = (number(self, 255.0), number(self, ROUNDER), number(self, 0.5));
        let scaled = self.build.ins().fmul(high, most);
        let near = self.build.ins().fadd(scaled, rounder);
        let whole = self.build.ins().fsub(near, rounder);
        let fraction = self.build.ins().fsub(scaled, whole);
        let fraction = self.build.ins().fsub(fraction, half);
        let low = self.build.ins().fmul(low, most);
        let above_half = self.build.ins().fadd(fraction, low);
        let zero = number(self, 0.0);
        let up = self.build.ins().fcmp(FloatCC::GreaterThanOrEqual, above_half, zero);
        let near = self.words(near);
        let base = self.constant(ROUNDER.to_bits());
        let rounded = self.build.ins().isub(near, base);
        let rounded = self.build.ins().isub(rounded, up);
        let negative = self.build.ins().sshr_imm(word, 31);
        self.build.ins().band_not(rounded, negative)
    }

    /// Puts a byte where the code says.
    fn insert_byte(&mut self, code: Pack, byte: Value, old: Value) -> Value {
        let shift = match code {
            Pack::Byte0 | Pack::Byte0Sat => 0,
            Pack::Byte1 | Pack::Byte1Sat => 8,
            Pack::Byte2 | Pack::Byte2Sat => 16,
            Pack::Byte3 | Pack::Byte3Sat => 24,
            _ => {
                let ones = self.constant(0x0101_0101);
                return self.build.ins().imul(byte, ones);
            }
        };
        let kept = self.and_with(old, !(0xff << shift));
        let byte = self.shifted_left(byte, shift);
        self.build.ins().bor(kept, byte)
    }

    /// The register behind a mul result with a pack; `code` exists there.
    pub fn pack_mul(&mut self, code: Pack, word: Word, old: Word) -> Value {
        let (value, old) = (self.settled(word), self.settled(old));
        let byte = self.float_to_unorm8(value);
        self.insert_byte(code, byte, old)
    }

    fn clamped(&mut self, value: Value, low: i32, high: i32) -> Value {
        let (low, high) = (self.constant(low as u32), self.constant(high as u32));
        let value = self.build.ins().smax(value, low);
        self.build.ins().smin(value, high)
    }

    /// The register behind a result written through file A's pack; sums do not overflow.
    pub fn pack_a(&mut self, code: Pack, word: Word, old: Word, float: bool) -> Value {
        let (value, old) = (self.settled(word), self.settled(old));
        match code {
            Pack::Nop | Pack::Sat => value,
            Pack::Half0 | Pack::Half1 | Pack::Half0Sat | Pack::Half1Sat => {
                let saturates = matches!(code, Pack::Half0Sat | Pack::Half1Sat);
                let half = match (float, saturates) {
                    (true, _) => self.float_to_half(value),
                    (false, true) => {
                        let clamped = self.clamped(value, -0x8000, 0x7fff);
                        self.and_with(clamped, 0xffff)
                    }
                    (false, false) => self.and_with(value, 0xffff),
                };
                let upper = matches!(code, Pack::Half1 | Pack::Half1Sat);
                let kept = self.and_with(old, if upper { 0x0000_ffff } else { 0xffff_0000 });
                let half = self.shifted_left(half, if upper { 16 } else { 0 });
                self.build.ins().bor(kept, half)
            }
            Pack::Rep8 | Pack::Byte0 | Pack::Byte1 | Pack::Byte2 | Pack::Byte3 => {
                let byte = self.and_with(value, 255);
                self.insert_byte(code, byte, old)
            }
            Pack::Rep8Sat | Pack::Byte0Sat | Pack::Byte1Sat | Pack::Byte2Sat | Pack::Byte3Sat => {
                let byte = self.clamped(value, 0, 255);
                self.insert_byte(code, byte, old)
            }
        }
    }
}

//! Shifts. By amounts that differ by element they are products with powers of two: hosts of 128 bits have no others.

use cranelift_codegen::ir::{InstBuilder, Value};
use vc4::qpu::AddOp;

use super::known::MANTISSA_BITS;
use super::vector::{BYTES, Vector, WORDS, Word};

impl Vector<'_, '_> {
    /// Shifts by the five low bits of each element.
    pub(super) fn shift(&mut self, op: AddOp, a: Value, b: Word) -> Value {
        match b.known.word.map(|by| i64::from(by & 31)) {
            Some(0) => a,
            Some(by) => match op {
                AddOp::Shr => self.shifted_right(a, by),
                AddOp::Asr => self.build.ins().sshr_imm(a, by),
                AddOp::Shl => self.shifted_left(a, by),
                _ => {
                    let (right, left) = (self.shifted_right(a, by), self.shifted_left(a, 32 - by));
                    self.build.ins().bor(right, left)
                }
            },
            None => self.shift_by_element(op, a, b.value),
        }
    }

    fn shift_by_element(&mut self, op: AddOp, a: Value, by: Value) -> Value {
        match op {
            AddOp::Shl => {
                let power = self.power_of_two(by, false);
                self.build.ins().imul(a, power)
            }
            AddOp::Shr => {
                let products = self.raised(a, by);
                self.middle(products)
            }
            AddOp::Asr => {
                let sign = self.build.ins().sshr_imm(a, 31);
                let flipped = self.build.ins().bxor(a, sign);
                let products = self.raised(flipped, by);
                let shifted = self.middle(products);
                self.build.ins().bxor(shifted, sign)
            }
            _ => {
                let products = self.raised(a, by);
                let right = self.middle(products);
                let left = self.low_words(products);
                let left = self.shifted_left(left, 1);
                self.build.ins().bor(right, left)
            }
        }
    }

    /// 2^n, or 2^(31 - n), for n of five bits: the integer of a float with that exponent.
    fn power_of_two(&mut self, n: Value, from_top: bool) -> Value {
        let n = self.and_with(n, 31);
        let n = self.shifted_left(n, MANTISSA_BITS);
        let bias = self.constant((if from_top { 127 + 31 } else { 127 }) << MANTISSA_BITS);
        let float = if from_top { self.build.ins().isub(bias, n) } else { self.build.ins().iadd(bias, n) };
        let float = self.float(float);
        match cfg!(target_arch = "x86_64") {
            // What is too large for a signed word gives 2^31 there.
            true => self.truncated(float),
            false => self.build.ins().fcvt_to_uint_sat(WORDS, float),
        }
    }

    /// Words shifted left by 31 - n for n of five bits, in 64 bits: those of the first two elements and of the others.
    fn raised(&mut self, a: Value, n: Value) -> [Value; 2] {
        let power = self.power_of_two(n, true);
        let (x, y) = (self.build.ins().uwiden_low(a), self.build.ins().uwiden_low(power));
        let low = self.build.ins().imul(x, y);
        let (x, y) = (self.build.ins().uwiden_high(a), self.build.ins().uwiden_high(power));
        [low, self.build.ins().imul(x, y)]
    }

    /// Bits 31 to 62 of each.
    fn middle(&mut self, products: [Value; 2]) -> Value {
        let products = products.map(|product| self.build.ins().ushr_imm(product, 31));
        self.low_words(products)
    }

    /// The low word of each.
    fn low_words(&mut self, products: [Value; 2]) -> Value {
        let bytes: [u8; 16] = std::array::from_fn(|i| (i / 4 * 8 + i % 4) as u8);
        let mask = self.build.func.dfg.immediates.push(bytes.as_slice().into());
        let [low, high] = products.map(|product| self.as_type(BYTES, product));
        let words = self.build.ins().shuffle(low, high, mask);
        self.words(words)
    }
}

//! Floats of four elements at a time: the meaning of `vc4::qpu::alu` in the compiler's instructions.
//!
//! The code runs where floats are truncated, and numbers below the smallest normal one count as zero, operands and results
//! (`vc4_jit::truncating`): that is a QPU's arithmetic, but for the sign of zero, which a QPU does not have. It is dropped
//! where somebody looks at more than the number ([`Word::signs_zero`]).
//!
//! Most programs never see an infinity or a NaN, and code that need not expect them is shorter: [`Floats::Finite`]. It keeps an
//! upper bound of each value ([`Known::below`]), and looks only where too little is known for a finite result: at inputs above
//! all. Where one of those is too large, a result may be wrong: [`Memo::suspects`] collects what would show that,
//! and the interpreter does the work again. [`Floats::All`] computes with them. Even there most words are none: what they need is
//! done out of the way, where a result is as large as only such and those next to them are.

use std::mem;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};

use super::known::{CHECKED, FINITE, Floats, INF, INTEGER, Known, SIGN, ZERO};
use super::vector::{FLOATS, Vector, WORDS, Word};

impl Vector<'_, '_> {
    /// What is known of a word here.
    pub(super) fn known(&self, word: Word) -> Known {
        match self.memo.checked.get(&word.value) {
            Some(&checked) => Known {
                below: Some(word.known.below.map_or(checked, |below| below.min(checked))),
                ..word.known
            },
            None => word.known,
        }
    }

    /// If this is too large, what was computed does not count.
    fn check(&mut self, word: Word) {
        self.memo.checked.entry(word.value).or_insert(CHECKED);
        let magnitude = self.build.ins().iadd(word.value, word.value);
        self.suspect(magnitude);
    }

    /// If this is [`SUSPICIOUS`](super::known::SUSPICIOUS) or more, what was computed does not count.
    fn suspect(&mut self, word: Value) {
        self.memo.suspects = Some(match self.memo.suspects {
            Some(most) => self.build.ins().umax(most, word),
            None => word,
        });
    }

    /// Whether a float is below 2^31, or is taken to be and looked at.
    fn converts(&mut self, word: Word) -> bool {
        let below = self.known(word).below;
        if below.is_some_and(|below| below <= INTEGER) {
            return true;
        }
        if self.floats == Floats::All {
            return false;
        }
        self.memo.checked.insert(word.value, INTEGER);
        let magnitude = self.and_with(word.value, !SIGN);
        let most = self.constant(((127 + INTEGER as u32) << 23) - 1);
        // NaNs are above, too.
        let over = self.compare(IntCC::SignedGreaterThan, magnitude, most);
        self.suspect(over);
        true
    }

    /// Floats below 2^31 as integers; of others the results mean nothing.
    pub(super) fn truncated(&mut self, floats: Value) -> Value {
        match cfg!(target_arch = "x86_64") {
            true => self.build.ins().x86_cvtt2dq(WORDS, floats),
            false => self.build.ins().fcvt_to_sint_sat(WORDS, floats),
        }
    }

    /// The bound of a result that cannot leave the finite floats, by those of its operands. One operand is looked at for that
    /// where infinities need not be expected. `None`: it may leave them.
    fn bound(&mut self, a: Word, b: Word, of: fn(i32, i32) -> i32) -> Option<i32> {
        let (x, y) = (self.known(a).below, self.known(b).below);
        let bound = |x: Option<i32>, y: Option<i32>| {
            let (x, y) = x.zip(y)?;
            Some(of(x, y).max(ZERO)).filter(|&below| below <= FINITE)
        };
        let known = bound(x, y);
        if known.is_some() || self.floats == Floats::All {
            return known;
        }
        let checked = Some(CHECKED);
        let (word, known) = if a.value == b.value {
            (a, bound(checked, checked))
        } else if let known @ Some(_) = bound(checked, y) {
            (a, known)
        } else {
            (b, bound(x, checked))
        };
        if known.is_some() {
            self.check(word);
        }
        known
    }

    /// A result with such a bound. One without is looked at: it is an infinity or a NaN if an operand was.
    fn finite(&mut self, value: Value, below: Option<i32>) -> Word {
        let word = Word { value, known: Known { below, ..Known::FLOAT }, signs_zero: true };
        if below.is_none() {
            self.check(word);
        }
        Word { known: self.known(word), ..word }
    }

    /// Floats whose NaNs are the infinities that they count as.
    fn number(&mut self, word: Word) -> Value {
        if word.known.number {
            return word.value;
        }
        let (magnitude, infinity) = (self.and_with(word.value, !SIGN), self.constant(INF));
        let unclean = self.compare(IntCC::SignedGreaterThan, magnitude, infinity);
        let mantissa = self.and_with(unclean, !(SIGN | INF));
        self.build.ins().band_not(word.value, mantissa)
    }

    /// Half of a float.
    fn half(&mut self, x: Value) -> Value {
        let factor = self.constant(0.5f32.to_bits());
        let factor = self.float(factor);
        self.build.ins().fmul(x, factor)
    }

    /// Results that are infinities where half of them, which was not truncated to the largest float, is too large.
    fn overflowed(&mut self, result: Value, half: Value) -> Value {
        const LARGEST_HALF: u32 = INF - 1 - (1 << 23);
        let half = self.words(half);
        let (magnitude, largest) = (self.and_with(half, !SIGN), self.constant(LARGEST_HALF));
        let over = self.compare(IntCC::SignedGreaterThan, magnitude, largest);
        let (sign, infinity) = (self.and_with(result, SIGN), self.constant(INF));
        let infinity = self.build.ins().bor(sign, infinity);
        self.select(over, infinity, result)
    }

    /// Results of floats that may be infinities or NaNs, if arithmetic on finite ones would give `usual`. That is right unless an
    /// operand is none, or the result is beyond the largest float: to that it was truncated. Then they are computed `again`.
    fn unless_large(&mut self, usual: Value, again: impl FnOnce(&mut Self) -> Value) -> Value {
        const LARGEST: u32 = INF - 1;
        let (magnitude, below) = (self.and_with(usual, !SIGN), self.constant(LARGEST - 1));
        let large = self.compare(IntCC::SignedGreaterThan, magnitude, below);
        let any = self.build.ins().vhigh_bits(types::I32, large);
        let (aside, on) = (self.build.create_block(), self.build.create_block());
        self.build.set_cold_block(aside);
        self.build.ins().brif(any, aside, &[], on, &[BlockArg::Value(usual)]);

        self.build.switch_to_block(aside);
        // What is computed and loaded aside is not there behind it.
        let (memo, loaded) = (mem::take(self.memo), self.pool.loaded.clone());
        let value = again(self);
        (*self.memo, self.pool.loaded) = (memo, loaded);
        self.build.ins().jump(on, &[BlockArg::Value(value)]);

        self.build.switch_to_block(on);
        self.build.append_block_param(on, WORDS)
    }

    fn sum(&mut self, [x, y]: [Value; 2], minus: bool) -> Value {
        match minus {
            true => self.build.ins().fsub(x, y),
            false => self.build.ins().fadd(x, y),
        }
    }

    pub(super) fn fadd(&mut self, a: Word, b: Word, minus: bool) -> Word {
        let below = self.bound(a, b, |a, b| a.max(b) + 1);
        let operands = [a, b].map(|word| self.float(word.value));
        let sum = self.sum(operands, minus);
        let value = self.words(sum);
        if below.is_some() || self.floats == Floats::Finite {
            return self.finite(value, below);
        }
        let value = self.unless_large(value, |this| this.any_sum(a, b, minus));
        Word { value, known: Known::FLOAT, signs_zero: true }
    }

    fn any_sum(&mut self, a: Word, b: Word, minus: bool) -> Value {
        let numbers = [a, b].map(|word| self.number(word));
        let operands = numbers.map(|number| self.float(number));
        let whole = self.sum(operands, minus);
        let value = self.words(whole);
        let halves = operands.map(|operand| self.half(operand));
        let half = self.sum(halves, minus);
        let value = self.overflowed(value, half);
        if a.known.below.is_some() || b.known.below.is_some() {
            return value;
        }
        // Of two infinities the second one wins.
        let none = self.build.ins().fcmp(FloatCC::Unordered, whole, whole);
        let sign = self.constant(if minus { SIGN } else { 0 });
        let second = self.build.ins().bxor(numbers[1], sign);
        self.select(none, second, value)
    }

    pub(super) fn fmul(&mut self, a: Word, b: Word) -> Word {
        let below = self.bound(a, b, |a, b| a + b);
        let [x, y] = [a, b].map(|word| self.float(word.value));
        let product = self.build.ins().fmul(x, y);
        let value = self.words(product);
        if below.is_some() || self.floats == Floats::Finite {
            return self.finite(value, below);
        }
        let value = self.unless_large(value, |this| this.any_product(a, b));
        Word { value, known: Known::FLOAT, signs_zero: true }
    }

    fn any_product(&mut self, a: Word, b: Word) -> Value {
        let [x, y] = [a, b].map(|word| {
            let number = self.number(word);
            self.float(number)
        });
        let whole = self.build.ins().fmul(x, y);
        let value = self.words(whole);
        let half = self.half(x);
        let half = self.build.ins().fmul(half, y);
        let value = self.overflowed(value, half);
        if a.known.below.is_some() && b.known.below.is_some() {
            return value;
        }
        // Zero wins over an infinity.
        let none = self.build.ins().fcmp(FloatCC::Unordered, whole, whole);
        self.build.ins().band_not(value, none)
    }

    /// A key that orders floats as `vc4::qpu::alu` does.
    fn order(&mut self, word: Value) -> Value {
        if let Some(&order) = self.memo.orders.get(&word) {
            return order;
        }
        let (magnitude, sign) = (self.and_with(word, !SIGN), self.build.ins().sshr_imm(word, 31));
        let flipped = self.build.ins().bxor(magnitude, sign);
        let order = self.build.ins().isub(flipped, sign);
        self.memo.orders.insert(word, order);
        order
    }

    /// The smaller or the larger one, and the mask of a > b if it is asked for.
    pub(super) fn least_or_most(
        &mut self,
        a: Word,
        b: Word,
        least: bool,
        carries: bool,
    ) -> (Word, Option<Value>) {
        let (known_a, known_b) = (self.known(a), self.known(b));
        let known = known_a.or(known_b);
        if known.is_ordered() {
            // The host's own order, in the form that the code generator has one instruction for. Of zeros with different
            // signs either may be the result: where only one operand's signs are to be dropped, the other's must stay.
            let [a, b] = match a.zeros_mix_with(b) {
                true => [a, b],
                false => [a, b].map(|word| Word::of(self.settled(word), word.known)),
            };
            let (x, y) = (self.float(a.value), self.float(b.value));
            let (first, second) = if least { (y, x) } else { (x, y) };
            let less = self.build.ins().fcmp(FloatCC::LessThan, y, x);
            let mask = self.as_type(FLOATS, less);
            let value = self.build.ins().bitselect(mask, first, second);
            let value = self.words(value);
            return (
                Word { value, known, signs_zero: a.signs_zero || b.signs_zero },
                carries.then_some(less),
            );
        }
        let (x, y) = (self.settled(a), self.settled(b));
        let (x_order, y_order) = (self.order(x), self.order(y));
        let greater = self.compare(IntCC::SignedGreaterThan, x_order, y_order);
        let value = if least { self.select(greater, y, x) } else { self.select(greater, x, y) };
        (Word::of(value, known), Some(greater))
    }

    pub(super) fn itof(&mut self, a: Value) -> Word {
        let float = self.build.ins().fcvt_from_sint(FLOATS, a);
        Word::of(self.words(float), Known::float_below(32))
    }

    pub(super) fn ftoi(&mut self, operand: Word) -> Value {
        if self.converts(operand) {
            let x = self.float(operand.value);
            return self.truncated(x);
        }
        let a = self.settled(operand);
        let x = self.float(a);
        let in_range = self.build.ins().fcvt_to_sint_sat(WORDS, x);
        let mantissa = self.and_with(a, 0x007f_ffff);
        let hidden = self.constant(0x0080_0000);
        let top = self.build.ins().bor(mantissa, hidden);
        let top = self.shifted_left(top, 8);
        let sign = self.build.ins().sshr_imm(a, 31);
        let flipped = self.build.ins().bxor(top, sign);
        let top = self.build.ins().isub(flipped, sign);
        let exponent = self.and_with(a, INF);
        let edge = self.constant(158 << 23);
        let at_edge = self.compare(IntCC::Equal, exponent, edge);
        let near = self.select(at_edge, top, in_range);
        let above = self.compare(IntCC::SignedGreaterThan, exponent, edge);
        self.build.ins().band_not(near, above)
    }
}

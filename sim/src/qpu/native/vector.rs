//! Four elements at a time: the meaning of `vc4::qpu::alu` in the compiler's instructions.
//!
//! The code runs where floats are truncated, and numbers below the smallest normal one count as zero, operands and results
//! (`vc4_jit::truncating`): that is a QPU's arithmetic, but for the sign of zero, which a QPU does not have. It is dropped
//! where somebody looks at more than the number ([`Word::signs_zero`]).
//!
//! Most programs never see an infinity or a NaN, and code that need not expect them is shorter: [`Floats::Finite`]. It keeps an
//! upper bound of each value ([`Known::below`]), and looks only where too little is known for a finite result: at inputs above
//! all. Where one of those is too large, a result may be wrong: [`Memo::suspects`] collects what would show that,
//! and the interpreter does the work again. [`Floats::All`] computes with them.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlags, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use vc4::qpu::{AddOp, MulOp};

use super::layout::VECTOR_BYTES;
use crate::lanes::Lanes;

pub(super) const SIGN: u32 = 0x8000_0000;
pub(super) const INF: u32 = 0x7f80_0000;

/// Words of four elements.
pub const WORDS: Type = types::I32X4;
pub(super) const FLOATS: Type = types::F32X4;
pub(super) const BYTES: Type = types::I8X16;
pub(super) const HALVES: Type = types::I16X8;

/// Which floats code expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floats {
    /// No infinities and NaNs.
    Finite,
    /// Any.
    All,
}

/// What is known of a value in all elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// No element is a float without a normal exponent, other than zero.
    pub normal: bool,
    /// No element is a NaN.
    pub number: bool,
    /// As floats, all elements lie between minus and plus two to this, at most [`FINITE`]. `None`: there may be infinities or NaNs.
    pub below: Option<i32>,
    /// Every element is this word.
    pub word: Option<u32>,
}

/// [`Known::below`] of all finite floats.
const FINITE: i32 = 128;
/// Of what counts as zero if it is not normal: the smallest one that says something.
const ZERO: i32 = -126;
/// Of an operand that was looked at. Products of two such are finite, and so are sums of some such products; numbers beyond
/// are about as rare in programs as infinities.
pub(super) const CHECKED: i32 = 60;

impl Known {
    /// What is known of a constant.
    pub fn constant(word: u32) -> Known {
        let exponent = (word & INF) >> 23;
        Known {
            normal: exponent != 0 || word & !SIGN == 0,
            number: word & !SIGN <= INF,
            below: (word & INF != INF).then_some(exponent as i32 + ZERO),
            word: Some(word),
        }
    }

    /// What is known where some elements are of one value and some of another.
    pub fn or(self, other: Known) -> Known {
        Known {
            normal: self.normal && other.normal,
            number: self.number && other.number,
            below: self.below.zip(other.below).map(|(a, b)| a.max(b)),
            word: None,
        }
    }

    /// A float that arithmetic made.
    pub(super) const FLOAT: Known = Known { normal: true, number: true, below: None, word: None };

    /// One that has such a bound.
    pub(super) fn float_below(below: i32) -> Known {
        Known { below: Some(below), ..Known::FLOAT }
    }
}

/// Four elements and what is known of them.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    pub value: Value,
    pub known: Known,
    /// A zero may have a sign that the QPU's does not have: [`Vector::settled`] drops it.
    pub signs_zero: bool,
}

impl From<Value> for Word {
    fn from(value: Value) -> Word {
        Word::of(value, Known::default())
    }
}

impl Word {
    /// Elements of which something is known.
    pub fn of(value: Value, known: Known) -> Word {
        Word { value, known, signs_zero: false }
    }
}

/// What straight code has computed of values before.
#[derive(Default)]
pub struct Memo {
    settled: HashMap<Value, Value>,
    numbers: HashMap<Value, Value>,
    halves: HashMap<Value, Value>,
    orders: HashMap<Value, Value>,
    /// Floats that are taken to lie below [`CHECKED`].
    checked: HashSet<Value>,
    /// The largest of their magnitudes, shifted left by one bit, if there is any.
    pub suspects: Option<Value>,
}

/// A suspect from here on is too large, or an infinity or a NaN.
pub const SUSPICIOUS: u32 = ((CHECKED - ZERO + 1) as u32) << 24;

/// Constants of four words, which code finds in memory.
#[derive(Default)]
pub struct Pool {
    pub words: Vec<[u32; 4]>,
    places: HashMap<[u32; 4], usize>,
    /// Those that straight code has loaded.
    pub loaded: HashMap<[u32; 4], Value>,
}

impl Pool {
    /// The place of four rows with a word for each element.
    pub fn by_element(&mut self, words: &Lanes) -> usize {
        let rows = words.chunks_exact(4).map(|row| [row[0], row[1], row[2], row[3]]);
        let known = self.words.windows(4).position(|found| rows.clone().eq(found.iter().copied()));
        known.unwrap_or_else(|| {
            self.words.extend(rows);
            self.words.len() - 4
        })
    }
}

/// Arithmetic on four elements.
pub struct Vector<'a, 'f> {
    pub build: &'a mut FunctionBuilder<'f>,
    pub floats: Floats,
    pub pool: &'a mut Pool,
    /// The address of the pool.
    pub constants: Value,
    pub memo: &'a mut Memo,
}

fn cast() -> MemFlags {
    MemFlags::new().with_endianness(Endianness::Little)
}

impl Vector<'_, '_> {
    /// The same word in all elements.
    pub fn constant(&mut self, word: u32) -> Value {
        self.constants([word; 4])
    }

    /// A word for each element.
    pub fn constants(&mut self, words: [u32; 4]) -> Value {
        if let Some(&value) = self.pool.loaded.get(&words) {
            return value;
        }
        let next = self.pool.words.len();
        let place = *self.pool.places.entry(words).or_insert(next);
        if place == next {
            self.pool.words.push(words);
        }
        let value =
            self.build.ins().load(WORDS, MemFlags::trusted(), self.constants, (place * VECTOR_BYTES) as i32);
        self.pool.loaded.insert(words, value);
        value
    }

    pub(super) fn zero(&mut self) -> Value {
        self.constant(0)
    }

    pub(super) fn as_type(&mut self, ty: Type, value: Value) -> Value {
        self.build.ins().bitcast(ty, cast(), value)
    }

    pub(super) fn float(&mut self, value: Value) -> Value {
        self.as_type(FLOATS, value)
    }

    pub(super) fn words(&mut self, value: Value) -> Value {
        self.as_type(WORDS, value)
    }

    pub(super) fn and_with(&mut self, value: Value, word: u32) -> Value {
        let mask = self.constant(word);
        self.build.ins().band(value, mask)
    }

    pub(super) fn compare(&mut self, cc: IntCC, a: Value, b: Value) -> Value {
        self.build.ins().icmp(cc, a, b)
    }

    pub(super) fn shifted_left(&mut self, value: Value, by: i64) -> Value {
        if by == 0 { value } else { self.build.ins().ishl_imm(value, by) }
    }

    pub(super) fn shifted_right(&mut self, value: Value, by: i64) -> Value {
        if by == 0 { value } else { self.build.ins().ushr_imm(value, by) }
    }

    /// `a` where a mask is set, else `b`.
    pub fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.build.ins().bitselect(mask, a, b)
    }

    /// The words as the QPU has them: its zero has no sign.
    pub fn settled(&mut self, word: Word) -> Value {
        if !word.signs_zero {
            return word.value;
        }
        if let Some(&settled) = self.memo.settled.get(&word.value) {
            return settled;
        }
        let zero = self.zero();
        let (x, zero) = (self.float(word.value), self.float(zero));
        let sum = self.build.ins().fadd(x, zero);
        let settled = self.words(sum);
        self.memo.settled.insert(word.value, settled);
        settled
    }

    /// What is known of a word here.
    fn known(&self, word: Word) -> Known {
        match self.memo.checked.contains(&word.value) {
            true => Known {
                below: Some(word.known.below.map_or(CHECKED, |below| below.min(CHECKED))),
                ..word.known
            },
            false => word.known,
        }
    }

    /// If this is too large, what was computed does not count.
    fn check(&mut self, word: Word) {
        self.memo.checked.insert(word.value);
        let magnitude = self.build.ins().iadd(word.value, word.value);
        self.memo.suspects = Some(match self.memo.suspects {
            Some(most) => self.build.ins().umax(most, magnitude),
            None => magnitude,
        });
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

    /// A result that may be anything. Where infinities need not be expected it is looked at: it is one, or a NaN, if an
    /// operand was.
    fn unbounded(&mut self, value: Value) -> Word {
        let word = Word { value, known: Known::FLOAT, signs_zero: true };
        self.check(word);
        Word { known: self.known(word), ..word }
    }

    /// Floats whose NaNs are the infinities that they count as.
    fn number(&mut self, word: Word) -> Value {
        if word.known.number {
            return word.value;
        }
        if let Some(&number) = self.memo.numbers.get(&word.value) {
            return number;
        }
        let (magnitude, infinity) = (self.and_with(word.value, !SIGN), self.constant(INF));
        let unclean = self.compare(IntCC::SignedGreaterThan, magnitude, infinity);
        let mantissa = self.and_with(unclean, !(SIGN | INF));
        let number = self.build.ins().band_not(word.value, mantissa);
        self.memo.numbers.insert(word.value, number);
        number
    }

    /// Half of a float.
    fn half(&mut self, word: Value) -> Value {
        if let Some(&half) = self.memo.halves.get(&word) {
            return half;
        }
        let factor = self.constant(0.5f32.to_bits());
        let (x, factor) = (self.float(word), self.float(factor));
        let half = self.build.ins().fmul(x, factor);
        self.memo.halves.insert(word, half);
        half
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

    fn fadd(&mut self, a: Word, b: Word, minus: bool) -> Word {
        let sum = |this: &mut Self, x: Value, y: Value| match minus {
            true => this.build.ins().fsub(x, y),
            false => this.build.ins().fadd(x, y),
        };
        if let Some(below) = self.bound(a, b, |a, b| a.max(b) + 1) {
            let (x, y) = (self.float(a.value), self.float(b.value));
            let value = sum(self, x, y);
            let value = self.words(value);
            return Word { value, known: Known::float_below(below), signs_zero: true };
        }
        if self.floats == Floats::Finite {
            let (x, y) = (self.float(a.value), self.float(b.value));
            let value = sum(self, x, y);
            let value = self.words(value);
            return self.unbounded(value);
        }
        let (x_words, y_words) = (self.number(a), self.number(b));
        let (x, y) = (self.float(x_words), self.float(y_words));
        let whole = sum(self, x, y);
        let value = self.words(whole);
        let (x, y) = (self.half(x_words), self.half(y_words));
        let half = sum(self, x, y);
        let mut value = self.overflowed(value, half);
        if a.known.below.is_none() && b.known.below.is_none() {
            // Of two infinities the second one wins.
            let none = self.build.ins().fcmp(FloatCC::Unordered, whole, whole);
            let sign = self.constant(if minus { SIGN } else { 0 });
            let second = self.build.ins().bxor(y_words, sign);
            value = self.select(none, second, value);
        }
        Word { value, known: Known::FLOAT, signs_zero: true }
    }

    fn fmul(&mut self, a: Word, b: Word) -> Word {
        let product = |this: &mut Self, x: Value, y: Value| {
            let (x, y) = (this.float(x), this.float(y));
            this.build.ins().fmul(x, y)
        };
        if let Some(below) = self.bound(a, b, |a, b| a + b) {
            let value = product(self, a.value, b.value);
            let value = self.words(value);
            return Word { value, known: Known::float_below(below), signs_zero: true };
        }
        if self.floats == Floats::Finite {
            let value = product(self, a.value, b.value);
            let value = self.words(value);
            return self.unbounded(value);
        }
        let (x, y) = (self.number(a), self.number(b));
        let whole = product(self, x, y);
        let value = self.words(whole);
        let half = self.half(x);
        let half = self.words(half);
        let half = product(self, half, y);
        let mut value = self.overflowed(value, half);
        if a.known.below.is_none() || b.known.below.is_none() {
            // Zero wins over an infinity.
            let none = self.build.ins().fcmp(FloatCC::Unordered, whole, whole);
            value = self.build.ins().band_not(value, none);
        }
        Word { value, known: Known::FLOAT, signs_zero: true }
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
    fn least_or_most(&mut self, a: Word, b: Word, least: bool, carries: bool) -> (Word, Option<Value>) {
        let (known_a, known_b) = (self.known(a), self.known(b));
        let known = known_a.or(known_b);
        if known.normal && known.below.is_some() {
            // The host's own order, in the form that the code generator has one instruction for. Of zeros with different
            // signs either may be the result.
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

    fn itof(&mut self, a: Value) -> Word {
        let float = self.build.ins().fcvt_from_sint(FLOATS, a);
        Word::of(self.words(float), Known::float_below(32))
    }

    fn ftoi(&mut self, a: Value) -> Value {
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

    /// Each element by itself.
    fn one_by_one(
        &mut self,
        a: Value,
        b: Value,
        f: impl Fn(&mut FunctionBuilder, Value, Value) -> Value,
    ) -> Value {
        (0..4).fold(a, |out, lane| {
            let x = self.build.ins().extractlane(a, lane);
            let y = self.build.ins().extractlane(b, lane);
            let word = f(self.build, x, y);
            self.build.ins().insertlane(out, word, lane)
        })
    }

    fn shift(&mut self, op: AddOp, a: Value, b: Word) -> Value {
        let Some(by) = b.known.word.map(|by| i64::from(by & 31)) else {
            return self.one_by_one(a, b.value, |build, x, y| match op {
                AddOp::Shr => build.ins().ushr(x, y),
                AddOp::Asr => build.ins().sshr(x, y),
                AddOp::Shl => build.ins().ishl(x, y),
                _ => build.ins().rotr(x, y),
            });
        };
        if by == 0 {
            return a;
        }
        match op {
            AddOp::Shr => self.shifted_right(a, by),
            AddOp::Asr => self.build.ins().sshr_imm(a, by),
            AddOp::Shl => self.shifted_left(a, by),
            _ => {
                let (right, left) = (self.shifted_right(a, by), self.shifted_left(a, 32 - by));
                self.build.ins().bor(right, left)
            }
        }
    }

    fn by_bytes(
        &mut self,
        a: Value,
        b: Value,
        f: impl FnOnce(&mut FunctionBuilder, Value, Value) -> Value,
    ) -> Value {
        let (x, y) = (self.as_type(BYTES, a), self.as_type(BYTES, b));
        let out = f(self.build, x, y);
        self.words(out)
    }

    /// Per byte (a·b + 127) / 255, as `vc4::qpu::alu::v8muld`.
    fn v8muld(&mut self, a: Value, b: Value) -> Value {
        let (x, y) = (self.as_type(BYTES, a), self.as_type(BYTES, b));
        let half = {
            let words = self.constant(0x0080_0080);
            self.as_type(HALVES, words)
        };
        let (x_low, y_low) = (self.build.ins().uwiden_low(x), self.build.ins().uwiden_low(y));
        let (x_high, y_high) = (self.build.ins().uwiden_high(x), self.build.ins().uwiden_high(y));
        let (low, high) = (self.divided(x_low, y_low, half), self.divided(x_high, y_high, half));
        let out = self.build.ins().unarrow(low, high);
        self.words(out)
    }

    /// Products of bytes in half words, divided by 255.
    fn divided(&mut self, x: Value, y: Value, half: Value) -> Value {
        let product = self.build.ins().imul(x, y);
        let t = self.build.ins().iadd(product, half);
        let more = self.build.ins().ushr_imm(t, 8);
        let sum = self.build.ins().iadd(t, more);
        self.build.ins().ushr_imm(sum, 8)
    }

    /// What an add operation gives, and its carry flags as a mask if they are asked for.
    pub fn add(&mut self, op: AddOp, a: Word, b: Word, carries: bool) -> (Word, Option<Value>) {
        let mut word = match op {
            AddOp::Fadd => self.fadd(a, b, false),
            AddOp::Fsub => self.fadd(a, b, true),
            AddOp::Fmin | AddOp::Fmax => return self.least_or_most(a, b, op == AddOp::Fmin, carries),
            AddOp::Or if a.value == b.value => a,
            _ => return self.add_words(op, a, b, carries),
        };
        if !carries {
            return (word, None);
        }
        let zero = self.zero();
        let carry = match op {
            AddOp::Or => zero,
            _ => {
                word = Word::of(self.settled(word), word.known);
                self.compare(IntCC::SignedGreaterThan, word.value, zero)
            }
        };
        (word, Some(carry))
    }

    /// The same of operations that look at all bits of their operands.
    fn add_words(&mut self, op: AddOp, a: Word, b: Word, carries: bool) -> (Word, Option<Value>) {
        let (x, y) = (self.settled(a), self.settled(b));
        let word: Word = match op {
            AddOp::Nop | AddOp::Fadd | AddOp::Fsub | AddOp::Fmin | AddOp::Fmax => self.zero().into(),
            AddOp::Fminabs | AddOp::Fmaxabs => {
                let (x, y) = (self.and_with(x, !SIGN), self.and_with(y, !SIGN));
                let least = op == AddOp::Fminabs;
                let value = if least { self.build.ins().smin(x, y) } else { self.build.ins().smax(x, y) };
                let carry = carries.then(|| self.compare(IntCC::SignedGreaterThan, x, y));
                return (Word::of(value, Known { word: None, ..a.known.or(b.known) }), carry);
            }
            AddOp::Ftoi => self.ftoi(x).into(),
            AddOp::Itof => self.itof(x),
            AddOp::Add => self.build.ins().iadd(x, y).into(),
            AddOp::Sub => self.build.ins().isub(x, y).into(),
            AddOp::Shr | AddOp::Asr | AddOp::Shl | AddOp::Ror => self.shift(op, x, b).into(),
            AddOp::Min => self.build.ins().smin(x, y).into(),
            AddOp::Max => self.build.ins().smax(x, y).into(),
            AddOp::And => self.build.ins().band(x, y).into(),
            AddOp::Or => self.build.ins().bor(x, y).into(),
            AddOp::Xor => self.build.ins().bxor(x, y).into(),
            AddOp::Not => self.build.ins().bnot(x).into(),
            AddOp::Clz => self.one_by_one(x, x, |build, x, _| build.ins().clz(x)).into(),
            AddOp::V8adds => self.by_bytes(x, y, |build, x, y| build.ins().uadd_sat(x, y)).into(),
            AddOp::V8subs => self.by_bytes(x, y, |build, x, y| build.ins().usub_sat(x, y)).into(),
        };
        if !carries {
            return (word, None);
        }
        let carry = match op {
            AddOp::Itof => {
                let zero = self.zero();
                self.compare(IntCC::SignedGreaterThan, word.value, zero)
            }
            AddOp::Add => self.compare(IntCC::UnsignedLessThan, word.value, x),
            AddOp::Sub => self.compare(IntCC::UnsignedLessThan, x, y),
            AddOp::Min | AddOp::Max => self.compare(IntCC::SignedGreaterThan, x, y),
            // Shifts that set flags are not compiled; the others never carry.
            _ => self.zero(),
        };
        (word, Some(carry))
    }

    /// What a mul operation gives.
    pub fn mul(&mut self, op: MulOp, a: Word, b: Word) -> Word {
        match op {
            MulOp::Nop => return self.zero().into(),
            MulOp::Fmul => return self.fmul(a, b),
            MulOp::V8min | MulOp::V8max if a.value == b.value => return a,
            _ => {}
        }
        let (x, y) = (self.settled(a), self.settled(b));
        let value = match op {
            MulOp::Mul24 => {
                let (x, y) = (self.and_with(x, 0xff_ffff), self.and_with(y, 0xff_ffff));
                self.build.ins().imul(x, y)
            }
            MulOp::V8muld => self.v8muld(x, y),
            MulOp::V8min => self.by_bytes(x, y, |build, x, y| build.ins().umin(x, y)),
            MulOp::V8max => self.by_bytes(x, y, |build, x, y| build.ins().umax(x, y)),
            MulOp::V8adds => self.by_bytes(x, y, |build, x, y| build.ins().uadd_sat(x, y)),
            _ => self.by_bytes(x, y, |build, x, y| build.ins().usub_sat(x, y)),
        };
        value.into()
    }

    /// `a` where a mask is set, else `b`.
    pub fn either(&mut self, mask: Value, a: Word, b: Word) -> Word {
        let known = self.known(a).or(self.known(b));
        if a.signs_zero == b.signs_zero {
            return Word { value: self.select(mask, a.value, b.value), known, signs_zero: a.signs_zero };
        }
        let (x, y) = (self.settled(a), self.settled(b));
        Word::of(self.select(mask, x, y), known)
    }

    /// Z and N of a result.
    pub fn zero_and_negative(&mut self, value: Value) -> [Value; 2] {
        let zero = self.zero();
        [self.compare(IntCC::Equal, value, zero), self.compare(IntCC::SignedLessThan, value, zero)]
    }

    /// Element i to element i + `by` of its quad.
    pub fn turned(&mut self, value: Value, by: u8) -> Value {
        if by & 3 == 0 {
            return value;
        }
        let bytes: [u8; 16] = std::array::from_fn(|i| {
            let lane = (i / 4 + 4 - usize::from(by & 3)) % 4;
            (lane * 4 + i % 4) as u8
        });
        let mask = self.build.func.dfg.immediates.push(bytes.as_slice().into());
        let value = self.as_type(BYTES, value);
        let turned = self.build.ins().shuffle(value, value, mask);
        self.words(turned)
    }

    /// The first element of a quad in all of it.
    pub fn first(&mut self, value: Value) -> Value {
        let mask = self.build.func.dfg.immediates.push([0u8, 1, 2, 3].repeat(4).as_slice().into());
        let value = self.as_type(BYTES, value);
        let first = self.build.ins().shuffle(value, value, mask);
        self.words(first)
    }
}

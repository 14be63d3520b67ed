//! Four elements at a time: the meaning of `vc4::qpu::alu` in the compiler's instructions.
//!
//! Most programs never see an infinity or a NaN, and code that need not expect them is shorter: [`Floats::Finite`]. Where one
//! turns up all the same, a result may be wrong: [`Memo::suspects`] collects what would show that, and the interpreter does
//! the work again. [`Floats::All`] computes with them, and only sums that overflow are done again.

use std::collections::HashMap;

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
const BYTES: Type = types::I8X16;
const HALVES: Type = types::I16X8;

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
    /// No element is a float without a normal exponent, other than +0.
    pub flushed: bool,
    /// No element is an infinity or a NaN.
    pub finite: bool,
    /// Every element is this word.
    pub word: Option<u32>,
}

impl Known {
    /// What is known of a constant.
    pub fn constant(word: u32) -> Known {
        let exponent = word & INF;
        Known { flushed: exponent != 0 || word == 0, finite: exponent != INF, word: Some(word) }
    }

    /// What is known where some elements are of one value and some of another.
    pub fn or(self, other: Known) -> Known {
        Known { flushed: self.flushed && other.flushed, finite: self.finite && other.finite, word: None }
    }

    /// A float that arithmetic made.
    const FLOAT: Known = Known { flushed: true, finite: false, word: None };
    /// One that is no infinity either.
    pub(super) const FINITE: Known = Known { flushed: true, finite: true, word: None };
}

/// Four elements and what is known of them.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    pub value: Value,
    pub known: Known,
}

impl From<Value> for Word {
    fn from(value: Value) -> Word {
        Word { value, known: Known::default() }
    }
}

/// What straight code has computed of values before.
#[derive(Default)]
pub struct Memo {
    exponents: HashMap<Value, Value>,
    flushed: HashMap<Value, Value>,
    infinite: HashMap<Value, Value>,
    orders: HashMap<Value, Value>,
    /// Lower and upper singles as doubles.
    doubles: HashMap<(Value, bool), Value>,
    /// The sum of what must be finite, if there is any.
    pub suspects: Option<Value>,
}

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

    fn as_type(&mut self, ty: Type, value: Value) -> Value {
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

    /// A float's exponent, in place.
    fn exponent(&mut self, value: Value) -> Value {
        if let Some(&exponent) = self.memo.exponents.get(&value) {
            return exponent;
        }
        let exponent = self.and_with(value, INF);
        self.memo.exponents.insert(value, exponent);
        exponent
    }

    /// Floats without a normal exponent become +0.
    fn flush(&mut self, word: Word) -> Value {
        if word.known.flushed {
            return word.value;
        }
        if let Some(&flushed) = self.memo.flushed.get(&word.value) {
            return flushed;
        }
        let (exponent, zero) = (self.exponent(word.value), self.zero());
        let none = self.compare(IntCC::Equal, exponent, zero);
        let flushed = self.build.ins().band_not(word.value, none);
        self.memo.flushed.insert(word.value, flushed);
        flushed
    }

    /// If this is an infinity or a NaN, what was computed does not count.
    fn suspect(&mut self, float: Value) {
        self.memo.suspects = Some(match self.memo.suspects {
            Some(sum) => self.build.ins().fadd(sum, float),
            None => float,
        });
    }

    /// The same for an operand, once.
    fn suspect_word(&mut self, word: &mut Word) {
        if !word.known.finite {
            let float = self.float(word.value);
            self.suspect(float);
            word.known.finite = true;
        }
    }

    /// Where infinities and NaNs are.
    fn infinite(&mut self, word: Word) -> Option<Value> {
        if word.known.finite || self.floats == Floats::Finite {
            return None;
        }
        if let Some(&infinite) = self.memo.infinite.get(&word.value) {
            return Some(infinite);
        }
        let (exponent, most) = (self.exponent(word.value), self.constant(INF));
        let infinite = self.compare(IntCC::Equal, exponent, most);
        self.memo.infinite.insert(word.value, infinite);
        Some(infinite)
    }

    /// x + y or x - y of finite floats, truncated: see `vc4::qpu::alu::fadd`. Where `infinite` is set, anything.
    fn truncated_sum(&mut self, x: Value, y: Value, minus: bool, infinite: Option<Value>) -> Value {
        let (x, y) = (self.float(x), self.float(y));
        let sum = if minus { self.build.ins().fsub(x, y) } else { self.build.ins().fadd(x, y) };
        match infinite {
            Some(mask) => {
                let words = self.words(sum);
                let others = self.build.ins().band_not(words, mask);
                let others = self.float(others);
                self.suspect(others);
            }
            None => self.suspect(sum),
        }
        let y_part = self.build.ins().fsub(sum, x);
        let x_part = self.build.ins().fsub(sum, y_part);
        let x_error = self.build.ins().fsub(x, x_part);
        // What is subtracted is negative: the error of its part changes sides.
        let error = if minus {
            let y_error = self.build.ins().fadd(y, y_part);
            self.build.ins().fsub(x_error, y_error)
        } else {
            let y_error = self.build.ins().fsub(y, y_part);
            self.build.ins().fadd(x_error, y_error)
        };
        let (sum, error) = (self.words(sum), self.words(error));
        let sign = self.and_with(sum, SIGN);
        let along = self.build.ins().bxor(error, sign);
        let (along, zero) = (self.float(along), self.zero());
        let zero = self.float(zero);
        // The sum was rounded away from zero: one word less.
        let away = self.build.ins().fcmp(FloatCC::LessThan, along, zero);
        self.build.ins().iadd(sum, away)
    }

    fn fadd(&mut self, a: Word, b: Word, minus: bool) -> Word {
        let (x, y) = (self.flush(a), self.flush(b));
        let masks = [self.infinite(a), self.infinite(b)];
        let either = match masks {
            [Some(a), Some(b)] => Some(self.build.ins().bor(a, b)),
            [a, b] => a.or(b),
        };
        let value = self.truncated_sum(x, y, minus, either);
        let mut value = self.flush(value.into());
        // The second operand's infinity wins.
        for (mask, operand, minus) in [(masks[0], a.value, false), (masks[1], b.value, minus)] {
            if let Some(mask) = mask {
                let sign = self.and_with(operand, SIGN);
                let infinity = self.constant(if minus { INF | SIGN } else { INF });
                let infinity = self.build.ins().bxor(sign, infinity);
                value = self.select(mask, infinity, value);
            }
        }
        Word { value, known: if either.is_some() { Known::FLOAT } else { Known::FINITE } }
    }

    /// Two of four singles, the lower or the upper ones, as doubles.
    fn doubles(&mut self, singles: Value, upper: bool) -> Value {
        if let Some(&doubles) = self.memo.doubles.get(&(singles, upper)) {
            return doubles;
        }
        let meant = match upper {
            true => self.shuffled(singles, singles, [8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7]),
            false => singles,
        };
        let floats = self.float(meant);
        let doubles = self.build.ins().fvpromote_low(floats);
        self.memo.doubles.insert((singles, upper), doubles);
        doubles
    }

    /// The words of a product, which is exact in doubles: bits beyond those of a single are dropped.
    fn truncated_product(&mut self, x: Value, y: Value) -> Value {
        let kept = self.constants([!0x1fff_ffff, !0, !0x1fff_ffff, !0]);
        let [lower, upper] = [false, true].map(|upper| {
            let (x, y) = (self.doubles(x, upper), self.doubles(y, upper));
            let exact = self.build.ins().fmul(x, y);
            let exact = self.words(exact);
            let cut = self.build.ins().band(exact, kept);
            let cut = self.as_type(types::F64X2, cut);
            let singles = self.build.ins().fvdemote(cut);
            self.words(singles)
        });
        self.shuffled(lower, upper, [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23])
    }

    /// The bytes of two vectors that a mask names.
    fn shuffled(&mut self, a: Value, b: Value, mask: [u8; 16]) -> Value {
        let mask = self.build.func.dfg.immediates.push(mask.to_vec().into());
        let [a, b] = [a, b].map(|words| self.as_type(BYTES, words));
        let bytes = self.build.ins().shuffle(a, b, mask);
        self.words(bytes)
    }

    fn fmul(&mut self, a: Word, b: Word) -> Word {
        let (mut x, mut y) = (self.flush(a), self.flush(b));
        let finite = a.known.finite && b.known.finite;
        for (word, operand) in [(a, &mut x), (b, &mut y)] {
            if let Some(mask) = self.infinite(word) {
                // NaNs count as infinities.
                let mantissa = self.and_with(mask, !(SIGN | INF));
                *operand = self.build.ins().band_not(*operand, mantissa);
            }
        }
        let mut value = self.truncated_product(x, y);
        let product = self.float(value);
        if !finite {
            match self.floats {
                Floats::Finite => self.suspect(product),
                Floats::All => {
                    // Zero wins over an infinity.
                    let none = self.build.ins().fcmp(FloatCC::Unordered, product, product);
                    value = self.build.ins().band_not(value, none);
                }
            }
        }
        let value = self.flush(value.into());
        let checked = !finite && self.floats == Floats::Finite;
        Word { value, known: if checked { Known::FINITE } else { Known::FLOAT } }
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

    /// The mask of a > b as floats.
    fn is_greater(&mut self, a: &mut Word, b: &mut Word) -> Value {
        if self.floats == Floats::All && !(a.known.finite && b.known.finite) {
            let (x, y) = (self.order(a.value), self.order(b.value));
            return self.compare(IntCC::SignedGreaterThan, x, y);
        }
        self.suspect_word(a);
        self.suspect_word(b);
        let (x, y) = (self.float(a.value), self.float(b.value));
        self.build.ins().fcmp(FloatCC::GreaterThan, x, y)
    }

    fn itof(&mut self, a: Value) -> Word {
        // Both parts are exact, and their sum is truncated as any.
        const LOW: u32 = 0xfff;
        let (high, low) = (self.and_with(a, !LOW), self.and_with(a, LOW));
        let (x, y) =
            (self.build.ins().fcvt_from_sint(FLOATS, high), self.build.ins().fcvt_from_sint(FLOATS, low));
        let (x, y) = (self.words(x), self.words(y));
        let value = self.truncated_sum(x, y, false, None);
        Word { value, known: Known::FINITE }
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
    pub fn add(&mut self, op: AddOp, a: &mut Word, b: &mut Word, carries: bool) -> (Word, Option<Value>) {
        let (x, y) = (a.value, b.value);
        let word: Word = match op {
            AddOp::Nop => self.zero().into(),
            AddOp::Fadd => self.fadd(*a, *b, false),
            AddOp::Fsub => self.fadd(*a, *b, true),
            AddOp::Fmin | AddOp::Fmax => {
                let greater = self.is_greater(a, b);
                let (first, second) = if op == AddOp::Fmin { (y, x) } else { (x, y) };
                let value = self.select(greater, first, second);
                return (Word { value, known: a.known.or(b.known) }, Some(greater));
            }
            AddOp::Fminabs | AddOp::Fmaxabs => {
                let (x, y) = (self.and_with(x, !SIGN), self.and_with(y, !SIGN));
                let least = op == AddOp::Fminabs;
                let value = if least { self.build.ins().smin(x, y) } else { self.build.ins().smax(x, y) };
                let carry = carries.then(|| self.compare(IntCC::SignedGreaterThan, x, y));
                return (value.into(), carry);
            }
            AddOp::Ftoi => self.ftoi(x).into(),
            AddOp::Itof => self.itof(x),
            AddOp::Add => self.build.ins().iadd(x, y).into(),
            AddOp::Sub => self.build.ins().isub(x, y).into(),
            AddOp::Shr | AddOp::Asr | AddOp::Shl | AddOp::Ror => self.shift(op, x, *b).into(),
            AddOp::Min => self.build.ins().smin(x, y).into(),
            AddOp::Max => self.build.ins().smax(x, y).into(),
            AddOp::And => self.build.ins().band(x, y).into(),
            AddOp::Or if x == y => *a,
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
            AddOp::Fadd | AddOp::Fsub | AddOp::Itof => {
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
        let (x, y) = (a.value, b.value);
        match op {
            MulOp::Nop => self.zero().into(),
            MulOp::Fmul => self.fmul(a, b),
            MulOp::Mul24 => {
                let (x, y) = (self.and_with(x, 0xff_ffff), self.and_with(y, 0xff_ffff));
                self.build.ins().imul(x, y).into()
            }
            MulOp::V8muld => self.v8muld(x, y).into(),
            MulOp::V8min | MulOp::V8max if x == y => a,
            MulOp::V8min => self.by_bytes(x, y, |build, x, y| build.ins().umin(x, y)).into(),
            MulOp::V8max => self.by_bytes(x, y, |build, x, y| build.ins().umax(x, y)).into(),
            MulOp::V8adds => self.by_bytes(x, y, |build, x, y| build.ins().uadd_sat(x, y)).into(),
            MulOp::V8subs => self.by_bytes(x, y, |build, x, y| build.ins().usub_sat(x, y)).into(),
        }
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

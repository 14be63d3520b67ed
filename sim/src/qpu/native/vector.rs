//! Four elements at a time: the meaning of `vc4::qpu::alu` in the compiler's instructions. Sums, products and comparisons of floats
//! are in [`super::float`].

use std::collections::HashMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlags, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use vc4::qpu::{AddOp, MulOp};

use super::known::{Floats, Known, SIGN};
use super::layout::VECTOR_BYTES;
use crate::lanes::Lanes;

/// Words of four elements.
pub const WORDS: Type = types::I32X4;
pub(super) const FLOATS: Type = types::F32X4;
pub(super) const BYTES: Type = types::I8X16;
pub(super) const HALVES: Type = types::I16X8;

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

    /// Whether signs of zeros may be dropped later from what is the one or the other: both may have such, or one is a float
    /// that is no zero with a sign.
    pub(super) fn zeros_mix_with(&self, other: Word) -> bool {
        let has_none =
            |word: Word| word.known.is_ordered() && word.known.word.is_some_and(|word| word != SIGN);
        self.signs_zero == other.signs_zero || has_none(if self.signs_zero { other } else { *self })
    }
}

/// What straight code has computed of values before.
#[derive(Default)]
pub struct Memo {
    pub(super) settled: HashMap<Value, Value>,
    pub(super) orders: HashMap<Value, Value>,
    /// Floats that were looked at, and the power of two that their magnitudes are taken to lie below.
    pub(super) checked: HashMap<Value, i32>,
    /// The largest of their magnitudes, shifted left by one bit, if there is any.
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

    /// Each element by itself.
    fn one_by_one(&mut self, a: Value, f: impl Fn(&mut FunctionBuilder, Value) -> Value) -> Value {
        (0..4).fold(a, |out, lane| {
            let x = self.build.ins().extractlane(a, lane);
            let word = f(self.build, x);
            self.build.ins().insertlane(out, word, lane)
        })
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
                if x == y {
                    let carry = carries.then(|| self.zero());
                    return (Word::of(self.and_with(x, !SIGN), Known { word: None, ..a.known }), carry);
                }
                let (x, y) = (self.and_with(x, !SIGN), self.and_with(y, !SIGN));
                let least = op == AddOp::Fminabs;
                let value = if least { self.build.ins().smin(x, y) } else { self.build.ins().smax(x, y) };
                let carry = carries.then(|| self.compare(IntCC::SignedGreaterThan, x, y));
                return (Word::of(value, Known { word: None, ..a.known.or(b.known) }), carry);
            }
            AddOp::Ftoi => self.ftoi(a).into(),
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
            AddOp::Clz => self.one_by_one(x, |build, x| build.ins().clz(x)).into(),
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
        if a.zeros_mix_with(b) {
            let signs_zero = a.signs_zero || b.signs_zero;
            return Word { value: self.select(mask, a.value, b.value), known, signs_zero };
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

//! A patch as a graph: what the emitter of [`crate::state`] is told, before registers are known. Equal operations are one
//! node, constants are folded, and what nothing needs is never lowered.

use crate::qpu::alu::{add_value, mul_value};
use crate::qpu::{AddOp, MulOp, Unpack, Waddr};
use crate::state::{Emitter, Flag, SampleEmitter, StateUniform, refined};
use std::collections::HashMap;

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value(u32);

impl Value {
    /// Its place in the list of nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An operation without side effects, or one whose place is in [`Patch::effects`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A constant.
    Word(u32),
    /// A word of the uniform stream.
    Uniform(StateUniform),
    /// A register that holds a value when the patch begins, by its number among the inputs.
    Input(usize),
    /// An operation of the add unit.
    Add(AddOp, Value, Value),
    /// An operation of the mul unit.
    Mul(MulOp, Value, Value),
    /// A request to the special functions unit.
    Sfu(Waddr, Value),
    /// A part of a word, as a float or as an integer.
    Unpack(Value, Unpack, bool),
    /// Four floats as bytes.
    Bytes([Value; 4]),
    /// Two halves of integers.
    Halves(Value, Value),
    /// Two float16 of floats.
    HalfFloats(Value, Value),
    /// By a flag of the first: the second, else the third.
    Select(Flag, Value, Value, Value),
    /// What an effect reads, by its number.
    Read(usize),
    /// 1 in elements for which the program's own condition holds when the patch begins, else 0.
    Kept,
}

/// Something whose order counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Reads the destination colour.
    ReadColor,
    /// Reads the sample mask.
    ReadCoverage,
    /// Reads the facing.
    ReadReverse,
    /// Pops a vector of the VPM.
    ReadVpm,
    /// Writes to a port.
    Write(Waddr, Value),
    /// Hands a value to the program or to a later patch, by number.
    Give(usize, Value),
}

/// A patch.
#[derive(Clone, Debug, Default)]
pub struct Patch {
    /// Operations; operands come before their users.
    pub nodes: Vec<Node>,
    /// Effects in order.
    pub effects: Vec<Effect>,
    known: HashMap<Node, Value>,
    /// Not 0 in elements whose tile buffer writes count; `None` leaves that to the program's own condition.
    pub keep: Option<Value>,
    /// Colours go to the sample register: the program writes sample by sample.
    pub color_per_sample: bool,
}

impl Patch {
    /// The node of a value.
    pub fn node(&self, value: Value) -> Node {
        self.nodes[value.index()]
    }

    /// An input.
    pub fn input(&mut self, number: usize) -> Value {
        self.push(Node::Input(number))
    }

    /// Where the program's own condition holds.
    pub fn kept(&mut self) -> Value {
        self.push(Node::Kept)
    }

    /// Reads a vector of the VPM.
    pub fn read_vpm(&mut self) -> Value {
        self.read(Effect::ReadVpm)
    }

    /// Gives a value under a number.
    pub fn give(&mut self, number: usize, value: Value) {
        self.effects.push(Effect::Give(number, value));
    }

    fn read(&mut self, effect: Effect) -> Value {
        self.effects.push(effect);
        self.push(Node::Read(self.effects.len() - 1))
    }

    fn push(&mut self, node: Node) -> Value {
        if let Some(&value) = self.known.get(&node) {
            return value;
        }
        let value = Value(self.nodes.len() as u32);
        self.nodes.push(node);
        self.known.insert(node, value);
        value
    }

    fn constant(&self, value: Value) -> Option<u32> {
        match self.node(value) {
            Node::Word(bits) => Some(bits),
            _ => None,
        }
    }

    /// Whether a float lies within 0..1 because it is a byte.
    fn is_fraction(&self, value: Value) -> bool {
        matches!(
            self.node(value),
            Node::Unpack(_, Unpack::Byte0 | Unpack::Byte1 | Unpack::Byte2 | Unpack::Byte3, true)
        )
    }

    /// If the floats are bytes of one word in their places, or with bytes 0 and 2 exchanged, or 0: the word, whether they
    /// are exchanged, and the bits that are not 0. A byte that becomes a float and then a byte again is the same byte
    /// (qpu.md §2.11).
    fn moved_bytes(&self, floats: [Value; 4]) -> Option<(Value, bool, u32)> {
        let place = |value: Value| match self.node(value) {
            Node::Unpack(word, unpack, true) => {
                BYTES.iter().position(|&byte| byte == unpack).map(|byte| (word, byte))
            }
            _ => None,
        };
        let word = floats.iter().find_map(|&value| place(value))?.0;
        let (mut straight, mut exchanged, mut kept) = (true, true, 0u32);
        for (n, &value) in floats.iter().enumerate() {
            if self.constant(value) == Some(0) {
                continue;
            }
            let (from, byte) = place(value)?;
            straight &= byte == n;
            exchanged &= byte == [2, 1, 0, 3][n];
            kept |= 0xff << (8 * n);
            if from != word {
                return None;
            }
        }
        (straight || exchanged).then_some((word, !straight, kept))
    }

    /// The values that some effect needs.
    pub fn needed(&self) -> Vec<bool> {
        let mut out = vec![false; self.nodes.len()];
        let mut work: Vec<Value> = self.effects.iter().filter_map(Effect::value).chain(self.keep).collect();
        while let Some(value) = work.pop() {
            if !std::mem::replace(&mut out[value.index()], true) {
                work.extend(self.node(value).operands());
            }
        }
        out
    }

    /// Whether the patch does nothing.
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }
}

impl Effect {
    fn value(&self) -> Option<Value> {
        match *self {
            Effect::Write(_, value) | Effect::Give(_, value) => Some(value),
            Effect::ReadColor | Effect::ReadCoverage | Effect::ReadReverse | Effect::ReadVpm => None,
        }
    }
}

impl Node {
    /// What it is computed of.
    pub fn operands(&self) -> Vec<Value> {
        match *self {
            Node::Word(_) | Node::Uniform(_) | Node::Input(_) | Node::Read(_) | Node::Kept => vec![],
            Node::Sfu(_, a) | Node::Unpack(a, ..) => vec![a],
            Node::Add(op, a, b) if op.operands() == 2 => vec![a, b],
            Node::Add(_, a, _) => vec![a],
            Node::Mul(_, a, b) | Node::Halves(a, b) | Node::HalfFloats(a, b) => vec![a, b],
            Node::Bytes(values) => values.to_vec(),
            Node::Select(_, on, yes, no) => vec![on, yes, no],
        }
    }
}

const BYTES: [Unpack; 4] = [Unpack::Byte0, Unpack::Byte1, Unpack::Byte2, Unpack::Byte3];

impl Emitter for Patch {
    type Value = Value;

    fn word(&mut self, bits: u32) -> Value {
        self.push(Node::Word(bits))
    }

    fn uniform(&mut self, slot: StateUniform) -> Value {
        self.push(Node::Uniform(slot))
    }

    fn add(&mut self, op: AddOp, a: Value, b: Value) -> Value {
        if let (Some(a), Some(b)) = (self.constant(a), self.constant(b)) {
            return self.word(add_value(op, a, b));
        }
        let limit = match op {
            AddOp::Fmax => Some(0),
            AddOp::Fmin => Some(1f32.to_bits()),
            _ => None,
        };
        if limit.is_some() && self.constant(b) == limit && self.is_fraction(a) {
            return a;
        }
        // Shifts take their distance modulo 32, and small immediates go from -16 to 15.
        let shifts = matches!(op, AddOp::Shl | AddOp::Shr | AddOp::Asr | AddOp::Ror);
        if let (true, Some(by @ 16..=31)) = (shifts, self.constant(b)) {
            let by = self.word(by.wrapping_sub(32));
            return self.push(Node::Add(op, a, by));
        }
        self.push(Node::Add(op, a, b))
    }

    fn mul(&mut self, op: MulOp, a: Value, b: Value) -> Value {
        if let (Some(a), Some(b)) = (self.constant(a), self.constant(b)) {
            return self.word(mul_value(op, a, b));
        }
        self.push(Node::Mul(op, a, b))
    }

    fn recip(&mut self, a: Value) -> Value {
        refined(self, a, |e, a| e.push(Node::Sfu(Waddr::SFU_RECIP, a)))
    }

    fn log2(&mut self, a: Value) -> Value {
        self.push(Node::Sfu(Waddr::SFU_LOG2, a))
    }

    fn exp2(&mut self, a: Value) -> Value {
        self.push(Node::Sfu(Waddr::SFU_EXP2, a))
    }

    fn unpack(&mut self, from: Value, unpack: Unpack, float: bool) -> Value {
        self.push(Node::Unpack(from, unpack, float))
    }

    fn pack_unorm8(&mut self, rgba: [Value; 4]) -> Value {
        if let (Node::Unpack(word, Unpack::Byte3, true), true) = (self.node(rgba[0]), rgba == [rgba[0]; 4]) {
            return self.unpack(word, Unpack::Rep8d, false);
        }
        match self.moved_bytes(rgba) {
            Some((word, false, u32::MAX)) => word,
            Some((word, false, kept)) => {
                let kept = self.word(kept);
                self.and(word, kept)
            }
            Some((word, true, kept)) => {
                let (middle, outer, half) =
                    (self.word(kept & 0xff00_ff00), self.word(kept & 0x00ff_00ff), self.word(16));
                let turned = self.add(AddOp::Ror, word, half);
                let (middle, outer) = (self.and(word, middle), self.and(turned, outer));
                self.or(middle, outer)
            }
            None => self.push(Node::Bytes(rgba)),
        }
    }

    fn pack_half_floats(&mut self, low: Value, high: Value) -> Value {
        self.push(Node::HalfFloats(low, high))
    }

    fn pack_halves(&mut self, low: Value, high: Value) -> Value {
        self.push(Node::Halves(low, high))
    }

    fn select(&mut self, flag: Flag, on: Value, yes: Value, no: Value) -> Value {
        if let Some(on) = self.constant(on) {
            let holds = match flag {
                Flag::Zero => on == 0,
                Flag::NotZero => on != 0,
                Flag::Negative => on >> 31 == 1,
                Flag::NotNegative => on >> 31 == 0,
            };
            return if holds { yes } else { no };
        }
        self.push(Node::Select(flag, on, yes, no))
    }

    fn tlb_color(&mut self) -> Value {
        self.read(Effect::ReadColor)
    }

    fn write_tlb_color(&mut self, v: Value) {
        let port = if self.color_per_sample { Waddr::TLB_COLOR_MS } else { Waddr::TLB_COLOR_ALL };
        self.effects.push(Effect::Write(port, v));
    }

    fn write_tlb_z(&mut self, z: Value) {
        self.effects.push(Effect::Write(Waddr::TLB_Z, z));
    }

    fn write_tlb_stencil(&mut self, word: Value) {
        self.effects.push(Effect::Write(Waddr::TLB_STENCIL_SETUP, word));
    }

    fn write_vpm(&mut self, v: Value) {
        self.effects.push(Effect::Write(Waddr::VPM, v));
    }

    /// Patches of depth have the payload as their input 0.
    fn payload_z(&mut self) -> Value {
        self.input(0)
    }
}

impl SampleEmitter for Patch {
    fn write_tlb_color_sample(&mut self, v: Value) {
        self.effects.push(Effect::Write(Waddr::TLB_COLOR_MS, v));
    }

    fn coverage(&mut self) -> Value {
        self.read(Effect::ReadCoverage)
    }

    fn reverse(&mut self) -> Value {
        self.read(Effect::ReadReverse)
    }

    fn write_coverage(&mut self, mask: Value) {
        self.effects.push(Effect::Write(Waddr::MS_REV_FLAGS, mask));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_operations_are_one() {
        let mut patch = Patch::default();
        let a = patch.input(0);
        let (one, two) = (patch.float(1.0), patch.float(2.0));
        assert_eq!(patch.fadd(a, one), patch.fadd(a, one));
        let sum = patch.fadd(one, two);
        assert_eq!(patch.node(sum), Node::Word(3f32.to_bits()));
        assert_eq!(patch.select(Flag::Zero, one, a, two), two);
    }

    #[test]
    fn bytes_that_come_back_pass() {
        let mut patch = Patch::default();
        let word = patch.input(0);
        let parts = BYTES.map(|byte| patch.unpack(word, byte, true));
        assert_eq!(patch.pack_unorm8(parts), word);
        let [r, g, b, a] = parts;
        let zero = patch.word(0);
        let opaque = patch.pack_unorm8([r, g, b, zero]);
        let kept = patch.word(0x00ff_ffff);
        assert_eq!(patch.node(opaque), Node::Add(AddOp::And, word, kept));
        let exchanged = patch.pack_unorm8([b, g, r, a]);
        assert!(matches!(patch.node(exchanged), Node::Add(AddOp::Or, ..)));
        assert_eq!(patch.pack_unorm8([a, g, b, r]), patch.push(Node::Bytes([a, g, b, r])));
        let alphas = patch.pack_unorm8([a; 4]);
        assert_eq!(patch.node(alphas), Node::Unpack(word, Unpack::Rep8d, false));
        patch.write_tlb_color(word);
        let needed = patch.needed();
        assert!(needed[word.index()] && !needed[exchanged.index()]);
    }

    #[test]
    fn long_shifts_are_small_immediates() {
        let mut patch = Patch::default();
        let word = patch.input(0);
        let (near, far) = (patch.shl(word, 15), patch.shr(word, 22));
        let by = |patch: &Patch, value| match patch.node(value) {
            Node::Add(_, _, by) => patch.constant(by),
            _ => None,
        };
        assert_eq!((by(&patch, near), by(&patch, far)), (Some(15), Some(-10i32 as u32)));
    }

    #[test]
    fn bytes_are_fractions() {
        let mut patch = Patch::default();
        let word = patch.input(0);
        let byte = patch.unpack(word, Unpack::Byte2, true);
        let (zero, one) = (patch.word(0), patch.float(1.0));
        assert_eq!((patch.fmax(byte, zero), patch.fmin(byte, one)), (byte, byte));
        assert!(patch.fmax(byte, one) != byte && patch.fmax(word, zero) != word);
    }
}

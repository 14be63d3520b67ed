//! Values as terms: equal ones have equal numbers.

use rustc_hash::FxHashMap;
use vc4::qpu::{AddOp, Cond, MulOp, Pack, RegFile, Unpack};

use crate::backend::virt::{Loc, Reg};
use crate::binding::UniformSlot;

/// Number of a term.
pub type Term = u32;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// What stands in a place that nobody wrote.
    Undefined(Place),
    Const(u32),
    /// A word of the stream, by its number: see [`Terms::slot`].
    Uniform(u32),
    Add(AddOp, Term, Term),
    Mul(MulOp, Term, Term),
    /// N, Z and C of an operation; `None`: the flags at the start.
    AddFlags(AddOp, Term, Term),
    MulFlags(MulOp, Term, Term),
    ImmFlags(u32),
    Unpack(Unpack, bool, Term),
    /// Pack code, whether the mul unit packs, whether the result counts as a float, the result.
    Pack(Pack, bool, bool, Term),
    /// A word of four bytes of their own, and a byte of a word.
    Bytes([Term; 4]),
    Byte(u8, Term),
    /// Condition, flags, new and old content.
    Conditional(Cond, Term, Term, Term),
    Rotate(u8, Term),
    /// A result of the SFU register with this address.
    Sfu(u8, Term),
    /// The n-th result of a TMU, tile colour, varying, its C, or VPM row.
    Tmu(u8, u32),
    Color(u32),
    Varying(u32),
    VaryingC(u32),
    VpmRow(u32),
    /// The sample mask behind so many tile accesses.
    Coverage(usize),
    /// A peripheral that always reads the same.
    Fixed(u8, RegFile),
    /// r5 after a write through file A or B.
    R5(RegFile, Term),
}

/// A place that holds a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    Virtual(Reg),
    Physical(Loc),
    R5,
    Flags,
}

#[derive(Default)]
pub struct Terms {
    numbers: FxHashMap<Node, Term>,
    pub nodes: Vec<Node>,
    /// Words of the stream: nodes are small without them.
    words: FxHashMap<UniformSlot, u32>,
    slots: Vec<UniformSlot>,
}

impl Terms {
    /// The term of a word of the stream.
    pub fn uniform(&mut self, slot: UniformSlot) -> Term {
        let node = match slot {
            UniformSlot::Const(word) => Node::Const(word),
            slot => Node::Uniform(*self.words.entry(slot).or_insert_with(|| {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            })),
        };
        self.number(node)
    }

    /// The word of the stream with a number.
    pub fn slot(&self, number: u32) -> UniformSlot {
        self.slots[number as usize]
    }

    pub fn number(&mut self, node: Node) -> Term {
        let next = self.nodes.len() as Term;
        let number = *self.numbers.entry(node).or_insert(next);
        if number == next {
            self.nodes.push(node);
        }
        number
    }

    /// `old` with the bytes replaced that a pack writes. Bytewise, so that a word whose parts were all
    /// written does not depend on what stood there before.
    pub fn packed(&mut self, write: &Write, old: Term) -> Term {
        let part = self.number(Node::Pack(write.pack, write.mul_pack, write.float, write.value));
        let written: &[usize] = match write.pack {
            Pack::Half0 | Pack::Half0Sat => &[0, 1],
            Pack::Half1 | Pack::Half1Sat => &[2, 3],
            Pack::Byte0 | Pack::Byte0Sat => &[0],
            Pack::Byte1 | Pack::Byte1Sat => &[1],
            Pack::Byte2 | Pack::Byte2Sat => &[2],
            Pack::Byte3 | Pack::Byte3Sat => &[3],
            Pack::Nop => return write.value,
            Pack::Rep8 | Pack::Sat | Pack::Rep8Sat => return part,
        };
        let mut bytes = match self.nodes[old as usize] {
            Node::Bytes(bytes) => bytes,
            _ => [0, 1, 2, 3].map(|byte| self.number(Node::Byte(byte, old))),
        };
        written.iter().for_each(|&byte| bytes[byte] = part);
        self.number(Node::Bytes(bytes))
    }
}

/// A result on its way to a destination.
pub struct Write {
    pub value: Term,
    pub float: bool,
    pub pack: Pack,
    pub mul_pack: bool,
    pub cond: Cond,
    pub parameter: Option<UniformSlot>,
}

pub fn unpacked(terms: &mut Terms, unpack: Unpack, float: bool, value: Term) -> Term {
    // A byte copied to all four is no number either way.
    let float = float && unpack != Unpack::Rep8d;
    if unpack == Unpack::Nop { value } else { terms.number(Node::Unpack(unpack, float, value)) }
}

pub struct Computed {
    pub value: Term,
    pub flags: Node,
    pub float: bool,
}

pub fn add_result(terms: &mut Terms, op: AddOp, a: Term, b: Term) -> Computed {
    let b = if op.operands() == 1 { a } else { b };
    // The larger of a float and itself is a copy, which unpacks on the way (qpu.md §2.3).
    if op == AddOp::Fmax && a == b {
        return Computed { value: a, flags: Node::AddFlags(op, a, b), float: true };
    }
    let value = match op {
        AddOp::Or if a == b => a,
        AddOp::V8adds => terms.number(Node::Mul(MulOp::V8adds, a, b)),
        AddOp::V8subs => terms.number(Node::Mul(MulOp::V8subs, a, b)),
        _ => terms.number(Node::Add(op, a, b)),
    };
    Computed { value, flags: Node::AddFlags(op, a, b), float: op.writes_float() }
}

pub fn mul_result(terms: &mut Terms, op: MulOp, a: Term, b: Term, rotate: u8) -> Computed {
    let mut value = match op {
        MulOp::V8min if a == b => a,
        _ => terms.number(Node::Mul(op, a, b)),
    };
    if rotate != 0 {
        value = terms.number(Node::Rotate(rotate, value));
    }
    // A move's flags are those of its value on either unit.
    let flags =
        if op == MulOp::V8min && a == b { Node::AddFlags(AddOp::Or, a, a) } else { Node::MulFlags(op, a, b) };
    Computed { value, flags, float: op == MulOp::Fmul }
}

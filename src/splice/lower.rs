//! A patch as operations on virtual registers, each computed right before what needs it: that keeps few values at a
//! time.

use super::record::{Effect, Node, Patch, Value};
use super::registers::Reg;
use crate::qpu::isa::RegFile;
use crate::qpu::{AddOp, Cond, MulOp, Pack, Raddr, Signal, SmallImm, Unpack, Waddr};
use crate::state::{Flag, StateUniform};
use std::collections::HashMap;

/// Where an operand comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Src {
    /// A virtual register.
    Virtual(usize),
    /// A small immediate.
    Imm(SmallImm),
    /// r4.
    R4,
    /// The uniform stream.
    Uniform,
    /// A peripheral of a file.
    Port(RegFile, Raddr),
}

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dst {
    /// Nowhere: only flags or a signal count.
    None,
    /// A virtual register.
    Virtual(usize),
    /// A peripheral.
    Port(Waddr),
}

/// What an operation computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Nothing.
    Nop,
    /// Moves the first operand; either unit can.
    Move,
    /// On the add unit.
    Add(AddOp),
    /// On the mul unit.
    Mul(MulOp),
    /// Loads a word.
    Load(u32),
}

/// One half of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// What it computes.
    pub work: Work,
    /// Operands; the second repeats the first where there is none.
    pub src: [Src; 2],
    /// Destination.
    pub dst: Dst,
    /// When it is written.
    pub cond: Cond,
    /// Sets flags.
    pub sf: bool,
    /// On the file-A operand.
    pub unpack: Unpack,
    /// On the mul result where the work is the mul unit's, else on the file-A destination.
    pub pack: Pack,
    /// Signal.
    pub signal: Signal,
    /// What the uniform is that it takes.
    pub uniform: Option<StateUniform>,
}

/// A virtual register.
#[derive(Clone, Copy, Debug, Default)]
pub struct Virtual {
    /// It must be in file A.
    pub file_a: bool,
    /// The register that it is.
    pub fixed: Option<Reg>,
    /// It outlives the patch.
    pub given: bool,
}

/// A lowered patch.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// Operations in order.
    pub ops: Vec<Op>,
    /// Virtual registers.
    pub virtuals: Vec<Virtual>,
}

/// How a patch is lowered.
#[derive(Clone, Copy, Debug)]
pub struct Lowering<'a> {
    /// Registers of the inputs.
    pub inputs: &'a [Reg],
    /// Registers of what is given.
    pub outputs: &'a [Reg],
    /// Condition under which the program writes to the tile buffer.
    pub cond: Cond,
    /// Load constants again for each use instead of keeping them.
    pub reload: bool,
}

/// Whether the patch sets flags.
pub fn sets_flags(patch: &Patch) -> bool {
    let needed = patch.needed();
    let selects = |(node, needed): (&Node, &bool)| *needed && matches!(node, Node::Select(..));
    patch.keep.is_some() || patch.nodes.iter().zip(&needed).any(selects)
}

/// Lowers a patch.
pub fn lower(patch: &Patch, how: &Lowering<'_>) -> Lowered {
    let mut uses = vec![0u32; patch.nodes.len()];
    let needed = patch.needed();
    for (node, _) in patch.nodes.iter().zip(&needed).filter(|(_, needed)| **needed) {
        node.operands().iter().for_each(|value| uses[value.index()] += 1);
    }
    for effect in &patch.effects {
        if let Effect::Write(_, value) | Effect::Give(_, value) = effect {
            uses[value.index()] += 1;
        }
    }
    let mut lowerer = Lowerer {
        patch,
        how,
        uses,
        out: Lowered::default(),
        places: vec![None; patch.nodes.len()],
        inputs: Vec::new(),
        constants: HashMap::new(),
        copies: HashMap::new(),
        kept_flags: false,
    };
    lowerer.run(&needed);
    lowerer.out
}

struct Lowerer<'a> {
    patch: &'a Patch,
    how: &'a Lowering<'a>,
    uses: Vec<u32>,
    out: Lowered,
    /// Virtual register of each node that is computed.
    places: Vec<Option<usize>>,
    inputs: Vec<usize>,
    constants: HashMap<u32, usize>,
    /// File-A copies of inputs.
    copies: HashMap<usize, usize>,
    /// The flags tell what is kept.
    kept_flags: bool,
}

const BLANK: Op = Op {
    work: Work::Nop,
    src: [Src::Imm(SmallImm::new(0)); 2],
    dst: Dst::None,
    cond: Cond::Always,
    sf: false,
    unpack: Unpack::Nop,
    pack: Pack::Nop,
    signal: Signal::None,
    uniform: None,
};

fn moving(dst: Dst, src: Src) -> Op {
    Op { work: Work::Move, src: [src; 2], dst, ..BLANK }
}

impl Lowerer<'_> {
    fn run(&mut self, needed: &[bool]) {
        for &reg in self.how.inputs {
            let input = self.fixed(reg, false);
            self.inputs.push(input);
        }
        let kept = self.patch.nodes.iter().position(|node| *node == Node::Kept);
        if let Some(kept) = kept.filter(|&kept| needed[kept]) {
            self.own_mask(kept);
        }
        for (number, effect) in self.patch.effects.iter().enumerate() {
            match *effect {
                Effect::ReadColor => {
                    self.push(Op { signal: Signal::ColorLoad, ..BLANK });
                    self.read(number, Src::R4);
                }
                Effect::ReadCoverage => {
                    self.read(number, Src::Port(RegFile::A, Raddr::MS_REV_FLAGS));
                }
                Effect::ReadReverse => {
                    self.read(number, Src::Port(RegFile::B, Raddr::MS_REV_FLAGS));
                }
                Effect::ReadVpm => self.read(number, Src::Port(RegFile::A, Raddr::VPM)),
                Effect::Write(port, value) => self.write(port, value),
                Effect::Give(output, value) => {
                    let place = self.places[value.index()];
                    let reg = self.how.outputs[output];
                    if place.is_some_and(|place| self.out.virtuals[place].fixed == Some(reg)) {
                        continue;
                    }
                    let dst = self.fixed(self.how.outputs[output], true);
                    self.compute_to(value, Dst::Virtual(dst), Cond::Always);
                }
            }
        }
    }

    fn push(&mut self, op: Op) {
        self.kept_flags &= !op.sf;
        self.out.ops.push(op);
    }

    fn fresh(&mut self) -> usize {
        self.out.virtuals.push(Virtual::default());
        self.out.virtuals.len() - 1
    }

    fn fixed(&mut self, reg: Reg, given: bool) -> usize {
        self.out.virtuals.push(Virtual { file_a: false, fixed: Some(reg), given });
        self.out.virtuals.len() - 1
    }

    /// 1 where the program's condition holds.
    fn own_mask(&mut self, node: usize) {
        let mask = self.fresh();
        let (zero, one) = (Src::Imm(SmallImm::new(0)), Src::Imm(SmallImm::new(1)));
        self.push(moving(Dst::Virtual(mask), zero));
        self.push(Op { cond: self.how.cond, ..moving(Dst::Virtual(mask), one) });
        self.places[node] = Some(mask);
    }

    /// The value of an effect that reads, if something needs it; popped in any case.
    fn read(&mut self, number: usize, src: Src) {
        let node = self.patch.nodes.iter().position(|node| *node == Node::Read(number));
        let wanted = node.filter(|&node| self.uses[node] > 0);
        match wanted {
            Some(node) => {
                let given = self.patch.effects.iter().find_map(|effect| match *effect {
                    Effect::Give(output, value) if value.index() == node => Some(output),
                    _ => None,
                });
                let place = match given {
                    Some(output) => self.fixed(self.how.outputs[output], true),
                    None => self.fresh(),
                };
                self.places[node] = Some(place);
                self.push(moving(Dst::Virtual(place), src));
            }
            None if src != Src::R4 => self.push(moving(Dst::Port(Waddr::NOP), src)),
            None => {}
        }
    }

    fn write(&mut self, port: Waddr, value: Value) {
        let tile = matches!(port, Waddr::TLB_Z | Waddr::TLB_COLOR_ALL | Waddr::TLB_COLOR_MS);
        let mut cond = Cond::Always;
        if tile {
            cond = match self.patch.keep {
                None => self.how.cond,
                Some(keep) => {
                    // Operands first: they may set flags.
                    self.prepare(value);
                    if !self.kept_flags {
                        let mask = self.operand(keep);
                        self.push(Op { sf: true, ..self.flags_of(mask) });
                        self.kept_flags = true;
                    }
                    Cond::Zc
                }
            };
        }
        self.compute_to(value, Dst::Port(port), cond);
    }

    fn flags_of(&self, src: Src) -> Op {
        Op { work: Work::Add(AddOp::Or), src: [src; 2], ..BLANK }
    }

    /// Computes what `value` is made of.
    fn prepare(&mut self, value: Value) {
        match self.patch.node(value) {
            node @ (Node::Add(..) | Node::Mul(..)) if self.uses[value.index()] == 1 => {
                node.operands().into_iter().for_each(|operand| {
                    self.operand(operand);
                });
            }
            _ => {
                self.operand(value);
            }
        }
    }

    /// Computes a value into a destination, in one operation where that goes.
    fn compute_to(&mut self, value: Value, dst: Dst, cond: Cond) {
        let node = self.patch.node(value);
        let single = self.uses[value.index()] == 1 && self.places[value.index()].is_none();
        match node {
            Node::Add(..) | Node::Mul(..) if single => {
                let op = self.operation(node);
                self.push(Op { dst, cond, ..op });
            }
            Node::Unpack(from, unpack, float) if single => {
                let op = self.unpacked(from, unpack, float);
                self.push(Op { dst, cond, ..op });
            }
            Node::Uniform(slot) if single => {
                self.push(Op { uniform: Some(slot), cond, ..moving(dst, Src::Uniform) });
            }
            Node::Word(bits) if SmallImm::from_value(bits).is_none() => {
                self.push(Op { work: Work::Load(bits), dst, cond, ..BLANK });
            }
            _ => {
                let src = self.operand(value);
                self.push(Op { cond, ..moving(dst, src) });
            }
        }
    }

    /// An operation of one unit, its operands computed.
    fn operation(&mut self, node: Node) -> Op {
        let (work, a, b) = match node {
            Node::Add(op, a, b) if op.operands() == 2 => (Work::Add(op), a, b),
            Node::Add(op, a, _) => (Work::Add(op), a, a),
            Node::Mul(op, a, b) => (Work::Mul(op), a, b),
            _ => unreachable!("only operations of one unit come here"),
        };
        let src = self.pair(a, b);
        Op { work, src, ..BLANK }
    }

    /// Two operands; at most one is an immediate unless they are the same.
    fn pair(&mut self, a: Value, b: Value) -> [Src; 2] {
        let (a, mut b) = (self.operand(a), self.operand(b));
        if let (Src::Imm(x), Src::Imm(y)) = (a, b) {
            if x != y {
                let place = self.fresh();
                self.push(moving(Dst::Virtual(place), b));
                b = Src::Virtual(place);
            }
        }
        [a, b]
    }

    fn operand(&mut self, value: Value) -> Src {
        let node = self.patch.node(value);
        match node {
            Node::Word(bits) => return self.constant(bits),
            Node::Input(number) => return Src::Virtual(self.inputs[number]),
            _ => {}
        }
        if let Some(place) = self.places[value.index()] {
            return Src::Virtual(place);
        }
        let place = match node {
            Node::Bytes(floats) => self.bytes(floats),
            Node::Halves(low, high) => self.halves(low, high, false),
            Node::HalfFloats(low, high) => self.halves(low, high, true),
            Node::Select(flag, on, yes, no) => self.select(flag, on, yes, no),
            _ => self.simple(node),
        };
        self.places[value.index()] = Some(place);
        Src::Virtual(place)
    }

    fn simple(&mut self, node: Node) -> usize {
        let op = match node {
            Node::Uniform(slot) => Op { uniform: Some(slot), ..moving(Dst::None, Src::Uniform) },
            Node::Sfu(port, a) => {
                let a = self.operand(a);
                self.push(moving(Dst::Port(port), a));
                moving(Dst::None, Src::R4)
            }
            Node::Unpack(from, unpack, float) => self.unpacked(from, unpack, float),
            node => self.operation(node),
        };
        let place = self.fresh();
        self.push(Op { dst: Dst::Virtual(place), ..op });
        place
    }

    fn unpacked(&mut self, from: Value, unpack: Unpack, float: bool) -> Op {
        let src = self.in_file_a(from);
        let op = if float { AddOp::Fmax } else { AddOp::Or };
        Op { work: Work::Add(op), src: [src; 2], unpack, ..BLANK }
    }

    fn constant(&mut self, bits: u32) -> Src {
        if let Some(imm) = SmallImm::from_value(bits) {
            return Src::Imm(imm);
        }
        if let (Some(&place), false) = (self.constants.get(&bits), self.how.reload) {
            return Src::Virtual(place);
        }
        let place = self.fresh();
        self.push(Op { work: Work::Load(bits), dst: Dst::Virtual(place), ..BLANK });
        self.constants.insert(bits, place);
        Src::Virtual(place)
    }

    /// The operand where an unpack reaches it.
    fn in_file_a(&mut self, value: Value) -> Src {
        let src = self.operand(value);
        let from = match src {
            Src::Virtual(from) if self.out.virtuals[from].fixed.is_none() => Some(from),
            Src::Virtual(from) if matches!(self.out.virtuals[from].fixed, Some(Reg::A(_))) => return src,
            Src::Virtual(from) => self.copies.get(&from).copied(),
            _ => None,
        };
        let place = from.unwrap_or_else(|| {
            let place = self.fresh();
            self.push(moving(Dst::Virtual(place), src));
            if let Src::Virtual(from) = src {
                self.copies.insert(from, place);
            }
            place
        });
        self.out.virtuals[place].file_a = true;
        Src::Virtual(place)
    }

    fn bytes(&mut self, floats: [Value; 4]) -> usize {
        let place = self.fresh();
        // The first write fills the whole word, so that no byte of it is ever undefined.
        let packs = [Pack::Rep8, Pack::Byte1, Pack::Byte2, Pack::Byte3];
        for (n, (float, pack)) in floats.into_iter().zip(packs).enumerate() {
            if n > 0 && float == floats[0] {
                continue;
            }
            let node = self.patch.node(float);
            let product = matches!(node, Node::Mul(MulOp::Fmul, ..))
                && self.uses[float.index()] == 1
                && self.places[float.index()].is_none();
            let op = if product {
                self.operation(node)
            } else {
                let src = self.operand(float);
                Op { work: Work::Mul(MulOp::V8min), src: [src; 2], ..BLANK }
            };
            self.push(Op { pack, dst: Dst::Virtual(place), ..op });
        }
        place
    }

    fn halves(&mut self, low: Value, high: Value, float: bool) -> usize {
        let place = self.fresh();
        self.out.virtuals[place].file_a = true;
        let low = self.operand(low);
        let high = self.operand(high);
        let dst = Dst::Virtual(place);
        let work = Work::Add(if float { AddOp::Fmax } else { AddOp::Or });
        let first = if float { Pack::Half0 } else { Pack::Nop };
        self.push(Op { work, src: [low; 2], dst, pack: first, ..BLANK });
        self.push(Op { work, src: [high; 2], dst, pack: Pack::Half1, ..BLANK });
        place
    }

    fn select(&mut self, flag: Flag, on: Value, yes: Value, no: Value) -> usize {
        let (yes, no) = (self.operand(yes), self.operand(no));
        let on = self.operand(on);
        let place = self.fresh();
        let dst = Dst::Virtual(place);
        self.push(moving(dst, no));
        self.push(Op { sf: true, ..self.flags_of(on) });
        let cond = match flag {
            Flag::Zero => Cond::Zs,
            Flag::NotZero => Cond::Zc,
            Flag::Negative => Cond::Ns,
            Flag::NotNegative => Cond::Nc,
        };
        self.push(Op { cond, ..moving(dst, yes) });
        place
    }
}

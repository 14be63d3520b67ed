//! A selection under way: which registers values have, what is live, and the operations so far. Any value becomes an
//! operand here, or one operation where one computes it.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use vc4::qpu::{AddOp, MulOp, Pack, Raddr, RegFile, SmallImm, Unpack, Waddr};

use super::ports::Ports;
use crate::backend::error::BackendError;
use crate::backend::virt::{Dst, Loc, Operand, Operation, Places, Reg, RegInfo, Src, Unit, VirtProgram};
use crate::binding::UniformSlot;
use crate::ir::uniform::Uniform;
use crate::ir::{Block, Inst, LineId, Op, Shader, Value};

/// A selection under way.
pub struct Selector<'a> {
    pub shader: &'a Shader,
    /// Values that are the same in all elements, as soon as an if asks.
    pub uniform: Option<Uniform>,
    pub uses: SecondaryMap<Value, u32>,
    pub live: EntitySet<Inst>,
    pub covered: EntitySet<Inst>,
    pub regs: SecondaryMap<Value, PackedOption<Reg>>,
    pub block_of: SecondaryMap<Inst, PackedOption<Block>>,
    /// The block that is being selected.
    pub current: Option<Block>,
    /// The condition of the one `DiscardIf`.
    pub kill: Option<Value>,
    /// First blocks of loops.
    pub headers: EntitySet<Block>,
    /// Phis of loops that have their first value in front of the if around the loop.
    pub started: EntitySet<Value>,
    pub program: VirtProgram,
    pub seq: Vec<Operation>,
    /// VPM writes that do not follow the row in front of theirs.
    pub first_rows: EntitySet<Inst>,
    /// Source line of the instruction that is being selected.
    pub line: LineId,
    /// Registers that some operation unpacks to an integer.
    pub not_in_r4: EntitySet<Reg>,
    pub payload_w: Option<Reg>,
    pub payload_z: Option<Reg>,
    /// Whether samples are filtered, as soon as a direct lookup asks.
    pub filters: Option<bool>,
    /// TMUs that vectors in buffers are looked up by: of the clamped offset, and which vector there.
    pub direct_tmus: FxHashMap<(Value, u32), usize>,
}

impl<'a> Selector<'a> {
    /// Of a shader of which nothing is selected yet.
    pub fn new(shader: &'a Shader) -> Self {
        Selector {
            shader,
            uniform: None,
            uses: shader.per_value(),
            live: EntitySet::new(),
            covered: EntitySet::new(),
            regs: shader.per_value(),
            block_of: shader.per_inst(),
            current: None,
            kill: None,
            headers: EntitySet::new(),
            started: EntitySet::new(),
            program: VirtProgram::default(),
            seq: Vec::new(),
            first_rows: EntitySet::new(),
            line: LineId::NONE,
            not_in_r4: EntitySet::new(),
            payload_w: None,
            payload_z: None,
            filters: None,
            direct_tmus: FxHashMap::default(),
        }
    }

    /// The operation that defines a value.
    pub fn op(&self, value: Value) -> Op {
        self.shader.insts[self.shader.values[value].inst].op
    }

    /// Its operands.
    pub fn args(&self, value: Value) -> &'a [Value] {
        &self.shader.insts[self.shader.values[value].inst].args
    }

    /// The register of a value.
    pub fn reg_of(&mut self, value: Value) -> Reg {
        if let Some(reg) = self.regs[value].expand() {
            return reg;
        }
        let reg = match self.op(value) {
            Op::PayloadW => self.payload(true),
            Op::PayloadZ => self.payload(false),
            _ => self.program.reg(),
        };
        self.regs[value] = reg.into();
        reg
    }

    /// The register of the payload's W (ra15) or Z (rb15), qpu.md §4.3.
    pub fn payload(&mut self, w: bool) -> Reg {
        let (slot, loc) =
            if w { (&mut self.payload_w, Loc::A(15)) } else { (&mut self.payload_z, Loc::B(15)) };
        if let Some(reg) = *slot {
            return reg;
        }
        let reg = self.program.regs.push(RegInfo { fixed: Some(loc), places: Places::ANY });
        *slot = Some(reg);
        reg
    }

    /// A value as an operand.
    pub fn operand(&mut self, value: Value) -> Operand {
        match self.op(value) {
            Op::Const(word) => self.constant(word),
            Op::Undef => self.constant(0),
            Op::Uniform(slot) => self.uniform_word(slot),
            Op::ElementNumber => Src::Port(Raddr::ELEM_QPU, Some(RegFile::A)).into(),
            Op::PixelX => Src::Port(Raddr::PIXEL_XY, Some(RegFile::A)).into(),
            Op::PixelY => Src::Port(Raddr::PIXEL_XY, Some(RegFile::B)).into(),
            Op::RevFlag => Src::Port(Raddr::MS_REV_FLAGS, Some(RegFile::B)).into(),
            _ => Src::Reg(self.reg_of(value)).into(),
        }
    }

    /// A word of the stream as an operand.
    pub fn uniform_word(&mut self, slot: UniformSlot) -> Operand {
        Src::Uniform(self.program.word(slot)).into()
    }

    /// A constant as an operand: in the instruction if it fits, else of the stream.
    pub fn constant(&mut self, word: u32) -> Operand {
        match SmallImm::from_value(word) {
            Some(imm) => Src::Imm(imm).into(),
            None => self.uniform_word(UniformSlot::Const(word)),
        }
    }

    /// Adds an operation, moving operands that cannot share its ports into registers first.
    pub fn push(&mut self, mut op: Operation) {
        let mut ports = Ports::new(&op);
        for i in 0..op.src.len() {
            if !ports.take(op.src[i].src) {
                let temp = self.program.reg();
                self.seq.push(Operation::mov(Dst::Reg(temp), op.src[i].src));
                let old = op.src[i].src;
                for operand in op.src[i..].iter_mut().filter(|operand| operand.src == old) {
                    operand.src = Src::Reg(temp);
                }
            }
        }
        self.restrict(&mut op, &ports);
        self.seq.push(op);
    }

    /// Narrows the places of registers that share an operation with a port's only user or are unpacked.
    /// A register that would have no place left is copied for this operation.
    pub fn restrict(&mut self, op: &mut Operation, ports: &Ports) {
        for i in 0..op.src.len() {
            let Operand { src: Src::Reg(reg), unpack } = op.src[i] else { continue };
            let allowed = if unpack != Unpack::Nop {
                // r4 unpacks to floats, whoever reads it (qpu.md §2.11).
                // It also takes the `pm` bit that a pack in file A needs clear.
                let file_packs = op.pack != Pack::Nop && !op.mul_pack;
                let r4 = (op.reads_float() || unpack == Unpack::Rep8d) && !file_packs;
                if !r4 {
                    self.not_in_r4.insert(reg);
                }
                Places { a: true, b: false, acc: false, r4 }
            } else {
                Places { a: !ports.a_taken, b: !ports.b_taken, acc: true, r4: true }
            };
            if let Some(rest) = self.program.regs[reg].within(allowed) {
                self.program.regs[reg].places = rest;
                continue;
            }
            let temp =
                self.program.regs.push(RegInfo { fixed: None, places: Places { r4: false, ..allowed } });
            self.seq.push(Operation::mov(Dst::Reg(temp), Src::Reg(reg)));
            for operand in op.src[i..].iter_mut().filter(|operand| operand.src == Src::Reg(reg)) {
                operand.src = Src::Reg(temp);
            }
        }
        if let (Dst::Reg(reg), true) = (op.dst, op.pack != Pack::Nop && !op.mul_pack) {
            let only_a = Places { a: true, b: false, acc: false, r4: false };
            match self.program.regs[reg].within(only_a) {
                Some(rest) => self.program.regs[reg].places = rest,
                None => unreachable!("packed results are copied before they are restricted otherwise"),
            }
        }
    }

    /// The unit and operands of a value that one operation computes.
    pub fn single(&self, value: Value) -> Option<(Unit, Unpack)> {
        let unit = match self.op(value) {
            Op::FAdd => Unit::Add(AddOp::Fadd),
            Op::FSub => Unit::Add(AddOp::Fsub),
            Op::FMul if self.doubled(value).is_some() => Unit::Add(AddOp::Fadd),
            Op::FMul => Unit::Mul(MulOp::Fmul),
            Op::FNeg => Unit::Add(AddOp::Fsub),
            Op::FAbs => Unit::Add(AddOp::Fmaxabs),
            Op::FMin => Unit::Add(AddOp::Fmin),
            Op::FMax => Unit::Add(AddOp::Fmax),
            Op::IAdd => Unit::Add(AddOp::Add),
            Op::ISub => Unit::Add(AddOp::Sub),
            Op::Shl => Unit::Add(AddOp::Shl),
            Op::Shr => Unit::Add(AddOp::Shr),
            Op::Asr => Unit::Add(AddOp::Asr),
            Op::And => Unit::Add(AddOp::And),
            Op::Or => Unit::Add(AddOp::Or),
            Op::Xor => Unit::Add(AddOp::Xor),
            Op::Not => Unit::Add(AddOp::Not),
            Op::SMin => Unit::Add(AddOp::Min),
            Op::SMax => Unit::Add(AddOp::Max),
            Op::Clz => Unit::Add(AddOp::Clz),
            Op::FToS => Unit::Add(AddOp::Ftoi),
            Op::SToF => Unit::Add(AddOp::Itof),
            Op::Add(AddOp::Or) if self.args(value)[0] == self.args(value)[1] => Unit::Move,
            Op::Add(op) => Unit::Add(op),
            Op::Mul(op) => Unit::Mul(op),
            Op::UnpackFloat(unpack) => return Some((Unit::Add(AddOp::Fmax), unpack)),
            Op::UnpackInt(unpack) => return Some((Unit::Move, unpack)),
            _ => return None,
        };
        Some((unit, Unpack::Nop))
    }

    /// What a product with 2 doubles. A sum does that, too: the mul unit has more to do in most shaders, and the immediate would
    /// take a port.
    fn doubled(&self, value: Value) -> Option<Value> {
        let is_two = |arg: Value| self.shader.const_of(arg) == Some(2f32.to_bits());
        match (self.op(value), self.args(value)) {
            (Op::FMul, &[x, two] | &[two, x]) if is_two(two) && !is_two(x) => Some(x),
            _ => None,
        }
    }

    /// The one operation that computes `value` into `dst`.
    pub fn build(&mut self, value: Value, dst: Dst) -> Operation {
        let (unit, unpack) = self.single(value).expect("the caller asked for a single operation");
        let doubled = self.doubled(value).map(|x| [x]);
        let args = doubled.as_ref().map_or(self.args(value), |doubled| &doubled[..]);
        if unpack != Unpack::Nop {
            let reg = self.unpackable(args[0]);
            let operand = Operand { src: Src::Reg(reg), unpack };
            let count = if unit == Unit::Move { 1 } else { 2 };
            return Operation::new(unit, dst, &[operand; 2][..count]);
        }
        let reads_float = Operation::new(unit, dst, &[]).reads_float();
        let mut operands: SmallVec<[Operand; 2]> = match self.op(value) {
            Op::FNeg => smallvec![self.constant(0), self.operand(args[0])],
            Op::FAbs => smallvec![self.operand(args[0]); 2],
            // The shifter looks at five bits, so that counts from 16 on are small immediates, too.
            Op::Shl | Op::Shr | Op::Asr if self.shader.const_of(args[1]).is_some() => {
                let count = self.shader.const_of(args[1]).unwrap_or_default();
                smallvec![self.operand(args[0]), self.constant(five_bits(count))]
            }
            _ => {
                let fold = self.unpack_to_fold(args, reads_float);
                (0..args.len())
                    .map(|i| match fold {
                        Some((index, operand)) if args[i] == args[index] => operand,
                        _ => self.operand(args[i]),
                    })
                    .collect()
            }
        };
        if doubled.is_some() {
            operands.push(operands[0]);
        }
        Operation::new(unit, dst, &operands[..operands.len().min(unit_operands(unit))])
    }

    /// The register of a value that an operand unpacks; constants are loaded.
    pub fn unpackable(&mut self, value: Value) -> Reg {
        match self.operand(value).src {
            Src::Reg(reg) => reg,
            src => {
                let reg = self.program.reg();
                self.seq.push(Operation::mov(Dst::Reg(reg), src));
                reg
            }
        }
    }

    /// One operand that can be unpacked on its way in: its index and the operand.
    pub fn unpack_to_fold(&mut self, args: &[Value], reads_float: bool) -> Option<(usize, Operand)> {
        for (index, &arg) in args.iter().enumerate() {
            let unpack = match self.op(arg) {
                Op::UnpackFloat(unpack) if reads_float => unpack,
                Op::UnpackInt(unpack) if !reads_float => unpack,
                _ => continue,
            };
            let packed = self.args(arg)[0];
            let same = args.iter().filter(|&&other| other == arg).count() as u32;
            let alone = self.uses[arg] <= same && self.regs[arg].expand().is_none() && self.is_local(arg);
            // The unpack would also change a plain use of the packed word in the same operation.
            let clash = args.contains(&packed) || !matches!(self.operand(packed).src, Src::Reg(_));
            if alone && !clash {
                self.covered.insert(self.shader.values[arg].inst);
                let src = self.operand(packed).src;
                return Some((index, Operand { src, unpack }));
            }
        }
        None
    }

    /// Whether `value` is made in the block that is being selected: nothing moves into or out of loops.
    pub fn is_local(&self, value: Value) -> bool {
        self.block_of[self.shader.values[value].inst].expand() == self.current
    }

    /// Whether the only consumer may compute `value` itself.
    pub fn foldable(&self, value: Value) -> bool {
        self.uses[value] == 1
            && self.regs[value].expand().is_none()
            && self.single(value).is_some()
            && self.is_local(value)
    }

    /// The operation that computes `value` into `dst` for its only consumer.
    pub fn fold(&mut self, value: Value, dst: Dst) -> Operation {
        self.covered.insert(self.shader.values[value].inst);
        self.build(value, dst)
    }

    /// Puts `value` into a register that is free until then.
    pub fn value_to_reg(&mut self, value: Value, reg: Reg) {
        if self.foldable(value) {
            let op = self.fold(value, Dst::Reg(reg));
            self.push(op);
        } else if self.can_alias(value) {
            self.regs[value] = reg.into();
        } else {
            let operand = self.operand(value);
            self.push(Operation::mov(Dst::Reg(reg), operand));
        }
    }

    /// Whether `value` may be computed straight into the register of its only consumer. What a loop carries has a
    /// register of its own.
    pub fn can_alias(&self, value: Value) -> bool {
        let carried = || self.current.is_some_and(|block| self.headers.contains(block));
        self.uses[value] == 1
            && self.regs[value].expand().is_none()
            && !self.op(value).is_leaf()
            && !matches!(self.op(value), Op::PayloadW | Op::PayloadZ)
            && self.is_local(value)
            && (self.op(value) != Op::Phi || !carried())
    }

    /// Writes `value` to a peripheral, computing it there if this is its only use.
    pub fn value_to_port(&mut self, value: Value, waddr: Waddr, file: Option<RegFile>) {
        let dst = Dst::Port(waddr, file);
        let op = if self.foldable(value) {
            self.fold(value, dst)
        } else {
            let operand = self.operand(value);
            Operation::mov(dst, operand)
        };
        self.push(op);
    }

    /// Copies what `producer` leaves in r4.
    pub fn load_r4(&mut self, reg: Reg, producer: Operation) {
        self.push(producer);
        self.program.regs[reg].places.r4 = !self.not_in_r4.contains(reg);
        self.push(Operation::mov(Dst::Reg(reg), Src::R4));
    }

    /// Takes over the sequence that the last step made, in reverse.
    pub fn flush(&mut self) {
        let line = self.line;
        self.program.ops.extend(self.seq.drain(..).rev().map(|op| Operation { line, ..op }));
    }
}

/// The low five bits as a signed number.
fn five_bits(count: u32) -> u32 {
    const UNUSED: u32 = u32::BITS - 5;
    ((count << UNUSED) as i32 >> UNUSED) as u32
}

fn unit_operands(unit: Unit) -> usize {
    match unit {
        Unit::Add(op) => op.operands(),
        Unit::Mul(op) => op.operands(),
        Unit::Move => 1,
        _ => 0,
    }
}

/// The error about an operation without code.
pub fn not_lowered(op: Op) -> BackendError {
    BackendError::NotLowered { op: format!("{op:?}") }
}

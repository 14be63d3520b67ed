//! Selection: IR values become operations on virtual registers.
//!
//! The walk runs backwards, so a consumer sees its operands before they are emitted and can take a
//! single-use producer into itself: a coordinate computed straight into a TMU register, a product
//! packed on its way out, one arm of a select as a conditional write. Operations are collected in
//! reverse; each IR instruction contributes a short forward sequence.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use vc4::qpu::{AddOp, BranchCond, Cond, MulOp, Pack, Raddr, RegFile, Signal, SmallImm, Unpack, Waddr};

use super::virt::{Dst, Loc, Operand, Operation, Places, Reg, RegInfo, Src, Unit, VirtProgram};
use super::{BackendError, Inputs};
use crate::ir::{Block, Inst, Lod, Node, Op, Shader, Stage, Value, for_each_condition};
use crate::program::{Descriptor, SampleBo, UniformSlot};

/// Vectors that one VPM read set-up may deliver (qpu.md §4.9).
const VPM_BLOCK: usize = 16;
/// Set-up word: 32-bit rows, horizontal, stride 1 (qpu.md §4.9).
const VPM_SETUP: u32 = 0x0000_1a00;

/// Turns a lowered shader into operations. Its loops must have the form that [`crate::pass::lower_control`] gives
/// them, and it must have no other control flow.
pub fn select(shader: &Shader, inputs: Inputs) -> Result<VirtProgram, BackendError> {
    let mut selector = Selector::new(shader);
    selector.count_uses();
    selector.find_kill()?;
    selector.region(&shader.body)?;
    selector.inputs(inputs)?;
    let mut program = selector.program;
    program.ops.reverse();
    reset_streams(&mut program);
    drop_repeated_flags(&mut program.ops);
    Ok(program)
}

/// Every piece of a program with loops starts by setting the uniform stream's position, which a branch leaves
/// undefined for the kernel (qpu.md §5.3).
fn reset_streams(program: &mut VirtProgram) {
    let ops = std::mem::take(&mut program.ops);
    for op in ops {
        let marker = op.is_marker();
        program.ops.push(op);
        if marker {
            let offset = program.reg();
            program.ops.push(Operation::new(Unit::StreamOffset, Dst::Reg(offset), &[]));
            let operands = [Src::Reg(offset).into(), Src::Uniform(UniformSlot::StreamAddress).into()];
            let reset = Dst::Port(Waddr::UNIF_ADDR, Some(RegFile::A));
            let reset = Operation::new(Unit::Add(AddOp::Add), reset, &operands);
            program.ops.push(Operation { ordered: true, ..reset });
        }
    }
}

struct Selector<'a> {
    shader: &'a Shader,
    uses: SecondaryMap<Value, u32>,
    live: EntitySet<Inst>,
    covered: EntitySet<Inst>,
    regs: SecondaryMap<Value, PackedOption<Reg>>,
    block_of: SecondaryMap<Inst, PackedOption<Block>>,
    /// The block that is being selected.
    current: Option<Block>,
    /// The condition of the one `DiscardIf`.
    kill: Option<Value>,
    program: VirtProgram,
    seq: Vec<Operation>,
    payload_w: Option<Reg>,
    payload_z: Option<Reg>,
}

impl<'a> Selector<'a> {
    fn new(shader: &'a Shader) -> Self {
        Selector {
            shader,
            uses: SecondaryMap::new(),
            live: EntitySet::new(),
            covered: EntitySet::new(),
            regs: SecondaryMap::new(),
            block_of: SecondaryMap::new(),
            current: None,
            kill: None,
            program: VirtProgram::default(),
            seq: Vec::new(),
            payload_w: None,
            payload_z: None,
        }
    }

    fn op(&self, value: Value) -> Op {
        self.shader.insts[self.shader.values[value].inst].op
    }

    fn args(&self, value: Value) -> &'a [Value] {
        &self.shader.insts[self.shader.values[value].inst].args
    }

    /// Marks what effects and loop conditions need, and counts the uses of each value by marked instructions.
    fn count_uses(&mut self) {
        let mut needed: Vec<Value> = Vec::new();
        for block in self.shader.blocks_in_order() {
            for &inst in &self.shader.blocks[block].insts {
                self.block_of[inst] = block.into();
                let data = &self.shader.insts[inst];
                if has_effect(data.op) {
                    self.live.insert(inst);
                    needed.extend(data.args.iter().copied());
                }
            }
        }
        for_each_condition(&self.shader.body, &mut |condition| needed.push(condition));
        while let Some(value) = needed.pop() {
            self.uses[value] += 1;
            let inst = self.shader.values[value].inst;
            if self.live.insert(inst) {
                needed.extend(self.shader.insts[inst].args.iter().copied());
            }
        }
    }

    fn find_kill(&mut self) -> Result<(), BackendError> {
        for inst in self.shader.insts_in_order() {
            let data = &self.shader.insts[inst];
            if data.op == Op::DiscardIf {
                if self.kill.is_some() {
                    return Err(BackendError::NotLowered { op: "a second discard".into() });
                }
                self.kill = Some(data.args[0]);
                // Each conditional tile write looks at the condition again.
                self.uses[data.args[0]] += 1;
            }
        }
        Ok(())
    }

    /// Selects a region from its end.
    fn region(&mut self, region: &[Node]) -> Result<(), BackendError> {
        for node in region.iter().rev() {
            match node {
                Node::Block(block) => self.block(*block)?,
                Node::Loop(body) => self.endless_loop(body)?,
                Node::Return => {}
                _ => return Err(BackendError::ControlFlow),
            }
        }
        Ok(())
    }

    fn block(&mut self, block: Block) -> Result<(), BackendError> {
        self.current = Some(block);
        for &inst in self.shader.blocks[block].insts.iter().rev() {
            self.inst(inst)?;
            self.flush();
        }
        Ok(())
    }

    /// Takes over the sequence that the last step made, in reverse.
    fn flush(&mut self) {
        let sequence = std::mem::take(&mut self.seq);
        self.program.ops.extend(sequence.into_iter().rev());
    }

    /// A loop: copies of what its phis start with, the body, the flags of its exit, copies for the next iteration.
    fn endless_loop(&mut self, body: &[Node]) -> Result<(), BackendError> {
        let [rest @ .., Node::If { cond, then, otherwise }, Node::Block(back)] = body else {
            return Err(BackendError::ControlFlow);
        };
        let (Some(&Node::Block(header)), Some(&Node::Block(last))) = (rest.first(), rest.last()) else {
            return Err(BackendError::ControlFlow);
        };
        let (true, true) = (self.is_exit(then), self.is_empty_arm(otherwise)) else {
            return Err(BackendError::ControlFlow);
        };
        let phis = self.header_phis(header, *back);
        let branch = self.program.ops.len();
        self.next_iteration(&phis);
        self.flush();
        self.current = Some(last);
        let leave = self.flags(*cond)?;
        self.flush();
        let end = Operation::new(Unit::LoopEnd(any(inverse(leave))?), Dst::None, &[]);
        self.program.ops.insert(branch, end);
        self.block(*back)?;
        self.region(rest)?;
        self.program.ops.push(Operation::new(Unit::LoopStart, Dst::None, &[]));
        for &(reg, start, _) in &phis {
            let operand = self.operand(start);
            self.push(Operation::mov(Dst::Reg(reg), operand));
        }
        self.flush();
        Ok(())
    }

    fn is_exit(&self, arm: &[Node]) -> bool {
        matches!(arm, [Node::Block(block), Node::Break] if self.shader.blocks[*block].insts.is_empty())
    }

    fn is_empty_arm(&self, arm: &[Node]) -> bool {
        matches!(arm, [Node::Block(block)] if self.shader.blocks[*block].insts.is_empty())
    }

    /// Register, first and next value of each phi that matters.
    fn header_phis(&mut self, header: Block, back: Block) -> Vec<(Reg, Value, Value)> {
        let mut phis = Vec::new();
        for &inst in &self.shader.blocks[header].insts {
            let data = &self.shader.insts[inst];
            if data.op != Op::Phi || !self.live.contains(inst) {
                continue;
            }
            let again = data.phi_blocks.iter().position(|&from| from == back);
            let first = data.phi_blocks.iter().position(|&from| from != back);
            if let (Some(again), Some(first)) = (again, first) {
                phis.push((self.reg_of(data.results[0]), data.args[first], data.args[again]));
            }
        }
        phis
    }

    /// All phis change at once: one that another takes over is saved first.
    fn next_iteration(&mut self, phis: &[(Reg, Value, Value)]) {
        let mut copies = Vec::new();
        for &(reg, _, next) in phis {
            let operand = self.operand(next);
            if operand.src == Src::Reg(reg) {
                continue;
            }
            if phis.iter().any(|&(other, ..)| operand.src == Src::Reg(other)) {
                let saved = self.program.reg();
                self.push(Operation::mov(Dst::Reg(saved), operand));
                copies.push((reg, Src::Reg(saved).into()));
            } else {
                copies.push((reg, operand));
            }
        }
        for (reg, operand) in copies {
            self.push(Operation::mov(Dst::Reg(reg), operand));
        }
    }

    fn reg_of(&mut self, value: Value) -> Reg {
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
    fn payload(&mut self, w: bool) -> Reg {
        let (slot, loc) =
            if w { (&mut self.payload_w, Loc::A(15)) } else { (&mut self.payload_z, Loc::B(15)) };
        if let Some(reg) = *slot {
            return reg;
        }
        let reg = self.program.regs.push(RegInfo { fixed: Some(loc), places: Places::ANY });
        *slot = Some(reg);
        reg
    }

    fn operand(&mut self, value: Value) -> Operand {
        match self.op(value) {
            Op::Const(word) => constant(word),
            Op::Undef => constant(0),
            Op::Uniform(slot) => Src::Uniform(slot).into(),
            Op::ElementNumber => Src::Port(Raddr::ELEM_QPU, Some(RegFile::A)).into(),
            Op::PixelX => Src::Port(Raddr::PIXEL_XY, Some(RegFile::A)).into(),
            Op::PixelY => Src::Port(Raddr::PIXEL_XY, Some(RegFile::B)).into(),
            Op::RevFlag => Src::Port(Raddr::MS_REV_FLAGS, Some(RegFile::B)).into(),
            _ => Src::Reg(self.reg_of(value)).into(),
        }
    }

    /// Adds an operation, moving operands that cannot share its ports into registers first.
    fn push(&mut self, mut op: Operation) {
        let mut ports = Ports::new(&op);
        for i in 0..op.src.len() {
            if !ports.take(op.src[i].src) {
                let temp = self.program.reg();
                self.seq.push(Operation::mov(Dst::Reg(temp), op.src[i].src));
                let old = op.src[i].src;
                for operand in op.src[i..].iter_mut().filter(|operand| operand.src == old) {
                    operand.src = Src::Reg(temp);
                }
                ports.registers.push(temp);
            }
        }
        self.restrict(&mut op, &ports);
        self.seq.push(op);
    }

    /// Narrows the places of registers that share an operation with a port's only user or are unpacked.
    /// A register that would have no place left is copied for this operation.
    fn restrict(&mut self, op: &mut Operation, ports: &Ports) {
        for i in 0..op.src.len() {
            let Operand { src: Src::Reg(reg), unpack } = op.src[i] else { continue };
            let allowed = if unpack != Unpack::Nop {
                Places { a: true, b: false, acc: false, r4: true }
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
    fn single(&self, value: Value) -> Option<(Unit, Unpack)> {
        let unit = match self.op(value) {
            Op::FAdd => Unit::Add(AddOp::Fadd),
            Op::FSub => Unit::Add(AddOp::Fsub),
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
            Op::Add(op) => Unit::Add(op),
            Op::Mul(op) => Unit::Mul(op),
            Op::UnpackFloat(unpack) => return Some((Unit::Add(AddOp::Fmax), unpack)),
            Op::UnpackInt(unpack) => return Some((Unit::Move, unpack)),
            _ => return None,
        };
        Some((unit, Unpack::Nop))
    }

    /// The one operation that computes `value` into `dst`.
    fn build(&mut self, value: Value, dst: Dst) -> Operation {
        let (unit, unpack) = self.single(value).expect("the caller asked for a single operation");
        let args = self.args(value);
        if unpack != Unpack::Nop {
            let reg = self.unpackable(args[0]);
            let operand = Operand { src: Src::Reg(reg), unpack };
            let count = if unit == Unit::Move { 1 } else { 2 };
            return Operation::new(unit, dst, &[operand; 2][..count]);
        }
        let reads_float = Operation::new(unit, dst, &[]).reads_float();
        let operands: Vec<Operand> = match self.op(value) {
            Op::FNeg => vec![constant(0), self.operand(args[0])],
            Op::FAbs => vec![self.operand(args[0]); 2],
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
        Operation::new(unit, dst, &operands[..operands.len().min(unit_operands(unit))])
    }

    /// The register of a value that an operand unpacks; constants are loaded.
    fn unpackable(&mut self, value: Value) -> Reg {
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
    fn unpack_to_fold(&mut self, args: &[Value], reads_float: bool) -> Option<(usize, Operand)> {
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
            let clash =
                args.iter().any(|&other| other == packed) || !matches!(self.operand(packed).src, Src::Reg(_));
            if alone && !clash {
                self.covered.insert(self.shader.values[arg].inst);
                let src = self.operand(packed).src;
                return Some((index, Operand { src, unpack }));
            }
        }
        None
    }

    /// Whether `value` is made in the block that is being selected: nothing moves into or out of loops.
    fn is_local(&self, value: Value) -> bool {
        self.block_of[self.shader.values[value].inst].expand() == self.current
    }

    /// Whether the only consumer may compute `value` itself.
    fn foldable(&self, value: Value) -> bool {
        self.uses[value] == 1
            && self.regs[value].expand().is_none()
            && self.single(value).is_some()
            && self.is_local(value)
    }

    fn fold(&mut self, value: Value, dst: Dst) -> Operation {
        self.covered.insert(self.shader.values[value].inst);
        self.build(value, dst)
    }

    /// Puts `value` into a register that is free until then.
    fn value_to_reg(&mut self, value: Value, reg: Reg) {
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

    /// Whether `value` may be computed straight into the register of its only consumer.
    fn can_alias(&self, value: Value) -> bool {
        self.uses[value] == 1
            && self.regs[value].expand().is_none()
            && !is_leaf(self.op(value))
            && !matches!(self.op(value), Op::PayloadW | Op::PayloadZ | Op::Phi)
            && self.is_local(value)
    }

    /// Writes `value` to a peripheral, computing it there if this is its only use.
    fn value_to_port(&mut self, value: Value, waddr: Waddr, file: Option<RegFile>) {
        let dst = Dst::Port(waddr, file);
        let op = if self.foldable(value) {
            self.fold(value, dst)
        } else {
            let operand = self.operand(value);
            Operation::mov(dst, operand)
        };
        self.push(op);
    }

    /// Writes a TMU parameter, which pops the stream word `parameter` and so excludes another uniform.
    fn tmu_parameter(&mut self, value: Value, waddr: Waddr, parameter: UniformSlot) {
        let dst = Dst::Port(waddr, None);
        let mut op = if self.foldable(value) {
            self.fold(value, dst)
        } else {
            let operand = self.operand(value);
            Operation::mov(dst, operand)
        };
        for i in 0..op.src.len() {
            if let Src::Uniform(slot) = op.src[i].src {
                let temp = self.program.reg();
                self.seq.push(Operation::mov(Dst::Reg(temp), Src::Uniform(slot)));
                op.src[i].src = Src::Reg(temp);
            }
        }
        op.parameter = Some(parameter);
        self.push(op);
    }

    fn inst(&mut self, inst: Inst) -> Result<(), BackendError> {
        let data = &self.shader.insts[inst];
        if !self.live.contains(inst) || self.covered.contains(inst) {
            return Ok(());
        }
        let args = &data.args[..];
        match data.op {
            // Inputs are read ahead of everything, phis are the loop's.
            Op::Varying(_) | Op::VpmRead(_) | Op::Phi => {}
            // Tile writes in front of the discard are for all elements.
            Op::DiscardIf => self.kill = None,
            op if is_leaf(op) || matches!(op, Op::PayloadW | Op::PayloadZ) || is_compare(op) => {}
            Op::Select => self.select_value(data.results[0], args)?,
            Op::PackUnorm8x4 => self.pack_unorm8(data.results[0], args),
            Op::PackHalves => self.pack_halves(data.results[0], args),
            Op::SfuRecip => self.sfu(data.results[0], args[0], Waddr::SFU_RECIP),
            Op::SfuRsqrt => self.sfu(data.results[0], args[0], Waddr::SFU_RSQRT),
            Op::SfuExp2 => self.sfu(data.results[0], args[0], Waddr::SFU_EXP2),
            Op::SfuLog2 => self.sfu(data.results[0], args[0], Waddr::SFU_LOG2),
            Op::Rotate(n) => self.rotate(data.results[0], args[0], n),
            Op::Ddx => self.derivative(data.results[0], args[0], 15),
            Op::Ddy => self.derivative(data.results[0], args[0], 14),
            Op::TmuSample { image, cube, lod } => self.sample(data.results[0], args, image, cube, lod)?,
            Op::TmuDirect(buffer) => self.direct(data.results[0], args[0], buffer),
            Op::TlbColorRead => {
                let reg = self.reg_of(data.results[0]);
                self.load_r4(reg, Operation::signal(Signal::ColorLoad));
            }
            Op::TlbColorWrite => self.tile_write(args[0], Waddr::TLB_COLOR_ALL)?,
            Op::TlbZWrite => self.tile_write(args[0], Waddr::TLB_Z)?,
            Op::TlbStencilWrite => self.value_to_port(args[0], Waddr::TLB_STENCIL_SETUP, None),
            Op::VpmWrite(row) => {
                self.value_to_port(args[0], Waddr::VPM, None);
                if row == 0 {
                    // Before everything that this row's value needs there may stand other code.
                    let setup = vpm_setup(VPM_SETUP, RegFile::B);
                    let at = self.seq.len() - 1;
                    self.seq.insert(at, setup);
                }
            }
            _ => {
                let value = *data.results.first().ok_or_else(|| not_lowered(data.op))?;
                if self.single(value).is_none() {
                    return Err(not_lowered(data.op));
                }
                let reg = self.reg_of(value);
                let op = self.build(value, Dst::Reg(reg));
                self.push(op);
            }
        }
        Ok(())
    }

    fn load_r4(&mut self, reg: Reg, producer: Operation) {
        self.push(producer);
        self.program.regs[reg].places.r4 = true;
        self.push(Operation::mov(Dst::Reg(reg), Src::R4));
    }

    fn sfu(&mut self, result: Value, arg: Value, waddr: Waddr) {
        let reg = self.reg_of(result);
        self.value_to_port(arg, waddr, None);
        self.program.regs[reg].places.r4 = true;
        self.push(Operation::mov(Dst::Reg(reg), Src::R4));
    }

    fn rotate(&mut self, result: Value, arg: Value, n: u8) {
        let reg = self.reg_of(result);
        let source = self.unpackable(arg);
        let mut op = Operation::new(Unit::Mul(MulOp::V8min), Dst::Reg(reg), &[Src::Reg(source).into(); 2]);
        op.rotate = n & 15;
        self.push(op);
    }

    /// The difference of a neighbour and the first pixel, made the whole quad's by r5's per-quad write
    /// (qpu.md §1.3, §3.2). Rotating down by `16 - rotation` brings the right or lower neighbour.
    fn derivative(&mut self, result: Value, arg: Value, rotation: u8) {
        let (reg, neighbour) = (self.reg_of(result), self.program.reg());
        let source = self.unpackable(arg);
        let operand = Operand::from(Src::Reg(source));
        let mut rotate = Operation::new(Unit::Mul(MulOp::V8min), Dst::Reg(neighbour), &[operand; 2]);
        rotate.rotate = rotation;
        self.push(rotate);
        let r5 = Dst::Port(Waddr::R5, Some(RegFile::A));
        self.push(Operation::new(Unit::Add(AddOp::Fsub), r5, &[Src::Reg(neighbour).into(), operand]));
        self.push(Operation::mov(Dst::Reg(reg), Src::R5));
    }

    fn sample(
        &mut self,
        result: Value,
        args: &[Value],
        image: Descriptor,
        cube: bool,
        lod: Lod,
    ) -> Result<(), BackendError> {
        let coordinates = if cube { 3 } else { 2 };
        let extra = usize::from(lod != Lod::Auto);
        if args.len() != coordinates + extra {
            return Err(not_lowered(Op::TmuSample { image, cube, lod }));
        }
        let p2 = if cube || lod == Lod::Explicit {
            UniformSlot::TextureP2 { image, explicit_lod: lod == Lod::Explicit }
        } else {
            UniformSlot::Const(0)
        };
        let mut words =
            [UniformSlot::TextureP0(image), UniformSlot::TextureP1(image), p2, UniformSlot::Const(0)]
                .into_iter();
        let mut next = || words.next().expect("a request has at most four parameters");
        self.tmu_parameter(args[1], Waddr::TMU0_T, next());
        if cube {
            self.tmu_parameter(args[2], Waddr::TMU0_R, next());
        }
        if extra == 1 {
            self.tmu_parameter(args[coordinates], Waddr::TMU0_B, next());
        }
        self.tmu_parameter(args[0], Waddr::TMU0_S, next());
        self.seq.last_mut().expect("the parameter was just written").sample = Some(SampleBo::Texture(image));
        let reg = self.reg_of(result);
        self.load_r4(reg, Operation::signal(Signal::LoadTmu0));
        Ok(())
    }

    /// The kernel accepts a direct lookup only as max, min, add in exactly this form (SHD-19).
    fn direct(&mut self, result: Value, offset: Value, buffer: Descriptor) {
        let (low, clamped) = (self.program.reg(), self.program.reg());
        let offset = match self.operand(offset) {
            operand @ Operand { src: Src::Imm(_), .. } => {
                let temp = self.program.reg();
                self.push(Operation::mov(Dst::Reg(temp), operand));
                Src::Reg(temp).into()
            }
            operand => operand,
        };
        let steps = [
            Operation::new(Unit::Add(AddOp::Max), Dst::Reg(low), &[offset, constant(0)]),
            Operation::new(
                Unit::Add(AddOp::Min),
                Dst::Reg(clamped),
                &[Src::Reg(low).into(), Src::Uniform(UniformSlot::UboLimit(buffer)).into()],
            ),
            Operation {
                sample: Some(SampleBo::Ubo(buffer)),
                ..Operation::new(
                    Unit::Add(AddOp::Add),
                    Dst::Port(Waddr::TMU1_S, None),
                    &[Src::Reg(clamped).into(), Src::Uniform(UniformSlot::UboBase(buffer)).into()],
                )
            },
        ];
        for step in steps {
            self.push(Operation { ordered: true, ..step });
        }
        let reg = self.reg_of(result);
        self.load_r4(reg, Operation::signal(Signal::LoadTmu1));
    }

    /// A write that discarded elements skip.
    fn tile_write(&mut self, value: Value, waddr: Waddr) -> Result<(), BackendError> {
        let Some(kill) = self.kill else {
            self.value_to_port(value, waddr, None);
            return Ok(());
        };
        let operand = self.operand(value);
        let killed = self.flags(kill)?;
        let mut op = Operation::mov(Dst::Port(waddr, None), operand);
        op.cond = inverse(killed);
        self.push(op);
        Ok(())
    }

    fn select_value(&mut self, result: Value, args: &[Value]) -> Result<(), BackendError> {
        let &[condition, mut yes, mut no] = args else { unreachable!("the verifier counts operands") };
        let reg = self.reg_of(result);
        // The operand that is overwritten where the condition holds should be the one that can be
        // computed in place; the other may then still become a conditional operation.
        let mut invert = false;
        if !(self.foldable(no) || self.can_alias(no)) && self.can_alias(yes) && !self.foldable(yes) {
            (yes, no, invert) = (no, yes, true);
        }
        self.value_to_reg(no, reg);
        let conditional = if self.foldable(yes) && yes != no {
            self.fold(yes, Dst::Reg(reg))
        } else {
            let operand = self.operand(yes);
            Operation::mov(Dst::Reg(reg), operand)
        };
        let cond = self.flags(condition)?;
        let cond = if invert { inverse(cond) } else { cond };
        self.push(Operation { cond, ..conditional });
        Ok(())
    }

    /// Sets the flags from a comparison; the condition that holds where it is true.
    fn flags(&mut self, condition: Value) -> Result<Cond, BackendError> {
        let op = self.op(condition);
        let args = self.args(condition);
        let zero = |this: &Self, value: Value| matches!(this.op(value), Op::Const(0));
        if matches!(op, Op::IEq | Op::INe) && (zero(self, args[1]) || zero(self, args[0])) {
            let word = if zero(self, args[1]) { args[0] } else { args[1] };
            self.flags_of_word(word);
            return Ok(if op == Op::IEq { Cond::Zs } else { Cond::Zc });
        }
        if op == Op::SLt && zero(self, args[1]) {
            self.flags_of_word(args[0]);
            return Ok(Cond::Ns);
        }
        if op == Op::SLe && zero(self, args[0]) {
            self.flags_of_word(args[1]);
            return Ok(Cond::Nc);
        }
        let (unit, swap, cond) = match op {
            // fmax and max set C when a > b, exactly and for all operands (qpu.md §2.3).
            Op::FLt => (AddOp::Fmax, true, Cond::Cs),
            Op::FLe => (AddOp::Fmax, false, Cond::Cc),
            Op::SLt => (AddOp::Max, true, Cond::Cs),
            Op::SLe => (AddOp::Max, false, Cond::Cc),
            // sub sets C on unsigned borrow.
            Op::ULt => (AddOp::Sub, false, Cond::Cs),
            Op::ULe => (AddOp::Sub, true, Cond::Cc),
            Op::FEq => (AddOp::Fsub, false, Cond::Zs),
            Op::FNe => (AddOp::Fsub, false, Cond::Zc),
            Op::IEq => (AddOp::Sub, false, Cond::Zs),
            Op::INe => (AddOp::Sub, false, Cond::Zc),
            _ => return Err(not_lowered(op)),
        };
        let mut operands = [self.operand(args[0]), self.operand(args[1])];
        if swap {
            operands.swap(0, 1);
        }
        let mut compare = Operation::new(Unit::Add(unit), Dst::None, &operands);
        compare.sets_flags = true;
        self.push(compare);
        Ok(cond)
    }

    /// Sets Z and N from a word, in the operation that computes it if that is its only use.
    fn flags_of_word(&mut self, word: Value) {
        let add_unit = matches!(self.single(word), Some((Unit::Add(_), Unpack::Nop)));
        let mut op = if add_unit && self.foldable(word) {
            self.fold(word, Dst::None)
        } else {
            let operand = self.operand(word);
            Operation::new(Unit::Add(AddOp::Or), Dst::None, &[operand, operand])
        };
        op.sets_flags = true;
        self.push(op);
    }

    fn pack_unorm8(&mut self, result: Value, args: &[Value]) {
        let reg = self.reg_of(result);
        if args.iter().all(|&arg| arg == args[0]) {
            self.packed_byte(args[0], reg, Pack::Rep8);
            return;
        }
        let bytes = [Pack::Byte0, Pack::Byte1, Pack::Byte2, Pack::Byte3];
        for (&arg, pack) in args.iter().zip(bytes) {
            self.packed_byte(arg, reg, pack);
        }
    }

    fn packed_byte(&mut self, value: Value, reg: Reg, pack: Pack) {
        let product = matches!(self.single(value), Some((Unit::Mul(MulOp::Fmul), Unpack::Nop)));
        let mut op = if product && self.foldable(value) {
            self.fold(value, Dst::Reg(reg))
        } else {
            let operand = self.operand(value);
            Operation::new(Unit::Mul(MulOp::V8min), Dst::Reg(reg), &[operand, operand])
        };
        (op.pack, op.mul_pack) = (pack, true);
        self.push(op);
    }

    fn pack_halves(&mut self, result: Value, args: &[Value]) {
        let target = self.reg_of(result);
        // A consumer may keep the result out of file A, where packs happen.
        let reg = if self.program.regs[target].places.a { target } else { self.program.reg() };
        for (&arg, pack) in args.iter().zip([Pack::Half0, Pack::Half1]) {
            // Float results would be converted, and sums saturated, by a pack (qpu.md §2.11).
            let plain = matches!(self.single(arg), Some((Unit::Add(op), Unpack::Nop))
                if !op.writes_float() && !matches!(op, AddOp::Add | AddOp::Sub));
            let mut op = if plain && self.foldable(arg) {
                self.fold(arg, Dst::Reg(reg))
            } else {
                let operand = self.operand(arg);
                Operation::mov(Dst::Reg(reg), operand)
            };
            op.pack = pack;
            self.push(op);
        }
        if reg != target {
            self.push(Operation::mov(Dst::Reg(target), Src::Reg(reg)));
        }
    }

    /// Reads varyings and attribute rows in hardware order, ahead of all other code; the scheduler
    /// moves them to where they are wanted. Appends in reverse like everything else.
    fn inputs(&mut self, inputs: Inputs) -> Result<(), BackendError> {
        let mut values: Vec<Option<Value>> = vec![None; inputs.count as usize];
        for inst in self.shader.insts_in_order() {
            let data = &self.shader.insts[inst];
            if let Op::Varying(n) | Op::VpmRead(n) = data.op {
                match values.get_mut(n as usize) {
                    Some(slot @ None) => *slot = Some(data.results[0]),
                    _ => return Err(BackendError::InputOrder(n)),
                }
            }
        }
        for (index, value) in values.iter().enumerate() {
            let value = value.filter(|&value| self.uses[value] > 0);
            match self.shader.stage {
                Stage::Fragment => self.varying(value, inputs.flat >> index & 1 != 0),
                Stage::Vertex => self.vpm_read(index, values.len(), value),
            }
        }
        self.flush();
        Ok(())
    }

    /// Value = VP·W + C (qpu.md §4.2); of a flat varying C, untouched by arithmetic that would flush integers.
    fn varying(&mut self, value: Option<Value>, flat: bool) {
        let vary = Src::Port(Raddr::VARYING, None);
        let Some(value) = value.filter(|_| !flat) else {
            self.push(Operation::mov(Dst::None, vary));
            if let Some(value) = value {
                let reg = self.reg_of(value);
                self.push(Operation::mov(Dst::Reg(reg), Src::R5));
            }
            return;
        };
        let w = self.payload(true);
        let product = self.program.reg();
        let reg = self.reg_of(value);
        let operands = [vary.into(), Src::Reg(w).into()];
        self.push(Operation::new(Unit::Mul(MulOp::Fmul), Dst::Reg(product), &operands));
        let operands = [Src::Reg(product).into(), Src::R5.into()];
        self.push(Operation::new(Unit::Add(AddOp::Fadd), Dst::Reg(reg), &operands));
    }

    fn vpm_read(&mut self, index: usize, total: usize, value: Option<Value>) {
        if index % VPM_BLOCK == 0 {
            let count = (total - index).min(VPM_BLOCK) as u32;
            let setup = VPM_SETUP | (count & 15) << 20 | index as u32;
            self.seq.push(vpm_setup(setup, RegFile::A));
        }
        let dst = value.map_or(Dst::None, |value| Dst::Reg(self.reg_of(value)));
        self.push(Operation::mov(dst, Src::Port(Raddr::VPM, None)));
    }
}

/// Ports of one operation while its operands are placed.
struct Ports {
    uniform: Option<UniformSlot>,
    imm: Option<SmallImm>,
    /// A peripheral that only file A or B has.
    fixed_a: Option<Raddr>,
    fixed_b: Option<Raddr>,
    /// A peripheral of either file, or the uniform.
    flexible: usize,
    rotates: bool,
    a_taken: bool,
    b_taken: bool,
    registers: Vec<Reg>,
}

impl Ports {
    fn new(op: &Operation) -> Ports {
        let mut ports = Ports {
            uniform: None,
            imm: None,
            fixed_a: None,
            fixed_b: None,
            flexible: 0,
            rotates: op.rotate != 0,
            a_taken: false,
            b_taken: op.rotate != 0,
            registers: Vec::new(),
        };
        for operand in &op.src {
            if let Src::Reg(reg) = operand.src {
                if !ports.registers.contains(&reg) {
                    ports.registers.push(reg);
                }
            }
        }
        ports
    }

    /// Claims a port for `src`; `false` if it has to come from a register instead.
    fn take(&mut self, src: Src) -> bool {
        match src {
            Src::Reg(_) | Src::R4 | Src::R5 => true,
            Src::Imm(imm) => {
                if self.imm == Some(imm) {
                    return true;
                }
                let free = !self.b_taken && !self.rotates && (self.flexible == 0 || !self.a_taken);
                if free {
                    self.imm = Some(imm);
                    self.b_taken = true;
                }
                free
            }
            Src::Uniform(slot) => {
                if self.uniform == Some(slot) {
                    return true;
                }
                let free = self.uniform.is_none() && self.take_flexible();
                if free {
                    self.uniform = Some(slot);
                }
                free
            }
            Src::Port(raddr, Some(RegFile::A)) => {
                let free = self.fixed_a == Some(raddr) || !self.a_taken;
                if free {
                    self.fixed_a = Some(raddr);
                    self.a_taken = true;
                }
                free
            }
            Src::Port(raddr, Some(RegFile::B)) => {
                let free = self.fixed_b == Some(raddr) || !self.b_taken;
                if free {
                    self.fixed_b = Some(raddr);
                    self.b_taken = true;
                }
                free
            }
            Src::Port(_, None) => self.take_flexible(),
        }
    }

    fn take_flexible(&mut self) -> bool {
        let free = self.flexible == 0 && !(self.a_taken && self.b_taken);
        if free {
            self.flexible = 1;
        }
        free
    }
}

fn constant(word: u32) -> Operand {
    match SmallImm::from_value(word) {
        Some(imm) => Src::Imm(imm).into(),
        None => Src::Uniform(UniformSlot::Const(word)).into(),
    }
}

fn vpm_setup(word: u32, file: RegFile) -> Operation {
    Operation::new(Unit::LoadImm(word), Dst::Port(Waddr::VPM_SETUP, Some(file)), &[])
}

fn unit_operands(unit: Unit) -> usize {
    match unit {
        Unit::Add(op) => op.operands(),
        Unit::Mul(op) => op.operands(),
        Unit::Move => 1,
        _ => 0,
    }
}

/// The branch condition that holds if a flag condition holds in any element.
fn any(cond: Cond) -> Result<BranchCond, BackendError> {
    Ok(match cond {
        Cond::Zs => BranchCond::AnyZs,
        Cond::Zc => BranchCond::AnyZc,
        Cond::Ns => BranchCond::AnyNs,
        Cond::Nc => BranchCond::AnyNc,
        Cond::Cs => BranchCond::AnyCs,
        Cond::Cc => BranchCond::AnyCc,
        Cond::Never | Cond::Always => return Err(BackendError::ControlFlow),
    })
}

/// The condition that holds in the other elements.
pub fn inverse(cond: Cond) -> Cond {
    match cond {
        Cond::Never => Cond::Always,
        Cond::Always => Cond::Never,
        Cond::Zs => Cond::Zc,
        Cond::Zc => Cond::Zs,
        Cond::Ns => Cond::Nc,
        Cond::Nc => Cond::Ns,
        Cond::Cs => Cond::Cc,
        Cond::Cc => Cond::Cs,
    }
}

/// Values that every operand can read afresh.
fn is_leaf(op: Op) -> bool {
    matches!(
        op,
        Op::Const(_) | Op::Undef | Op::Uniform(_) | Op::ElementNumber | Op::PixelX | Op::PixelY | Op::RevFlag
    )
}

fn is_compare(op: Op) -> bool {
    matches!(
        op,
        Op::FEq | Op::FNe | Op::FLt | Op::FLe | Op::IEq | Op::INe | Op::SLt | Op::SLe | Op::ULt | Op::ULe
    )
}

fn has_effect(op: Op) -> bool {
    matches!(
        op,
        Op::VpmWrite(_)
            | Op::TlbColorWrite
            | Op::TlbZWrite
            | Op::TlbStencilWrite
            | Op::DiscardIf
            | Op::StoreOutput(_)
    )
}

fn not_lowered(op: Op) -> BackendError {
    BackendError::NotLowered { op: format!("{op:?}") }
}

/// Removes flag settings that repeat the one before them.
fn drop_repeated_flags(ops: &mut Vec<Operation>) {
    let mut current: Option<Operation> = None;
    ops.retain(|op| {
        if op.is_marker() {
            current = None;
        }
        if op.sets_flags {
            let repeated = op.dst == Dst::None && op.cond == Cond::Always && current.as_ref() == Some(op);
            if repeated {
                return false;
            }
            current = (op.dst == Dst::None).then(|| op.clone());
        }
        // A register that the comparison read may have changed since.
        if let (Some(reg), Some(flags)) = (op.writes(), &current) {
            if flags.reads().any(|read| read == reg) {
                current = None;
            }
        }
        true
    });
}

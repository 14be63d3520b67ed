//! Execution of finished instructions.

use vc4::qpu::rules::SIGNAL_SLOTS;
use vc4::qpu::{
    Access, AddOp, AluInst, BranchCond, Cond, Inst, LoadImmInst, MulOp, Mux, Pack, Raddr, RaddrB, RegFile,
    Waddr,
};

use super::machine::{Channel, Machine};
use super::terms::{Computed, Node, Place, Term, Terms, Write, add_result, mul_result, unpacked};
use crate::backend::virt::Loc;
use crate::binding::UniformSlot;
use crate::program::Program;

/// The uniform stream with its position.
pub struct Stream<'a> {
    pub words: &'a [UniformSlot],
    pub next: usize,
    /// Words that were read at all.
    pub end: usize,
}

impl Stream<'_> {
    fn pop(&mut self) -> Result<UniformSlot, String> {
        let slot = *self.words.get(self.next).ok_or("the uniform stream ended")?;
        self.next += 1;
        self.end = self.end.max(self.next);
        Ok(slot)
    }
}

impl Machine {
    pub fn run_code(
        &mut self,
        terms: &mut Terms,
        program: &Program,
        stream: &mut Stream,
    ) -> Result<(), String> {
        // Branches that were taken once, and what to do behind the delay slots of the last one.
        let mut taken: Vec<usize> = Vec::new();
        let mut jump: Option<(usize, usize)> = None;
        // What a jump says of the flags, behind its delay slots.
        let mut reason: Option<(Term, BranchCond)> = None;
        // Where a thread switch takes effect: behind its delay slots.
        let mut switch: Option<usize> = None;
        let mut index = 0;
        while let Some(&word) = program.code.get(index) {
            if switch == Some(index) {
                self.switch_threads();
            }
            let inst = Inst::decode(word).map_err(|error| format!("instruction {index}: {error}"))?;
            if let Inst::Branch(branch) = inst {
                let target = index as i64 + 4 + i64::from(branch.offset) / 8;
                let target = usize::try_from(target).map_err(|_| "a branch leaves the program")?;
                let flags = self.get(terms, Place::Flags);
                let jumps = if branch.cond == BranchCond::Always {
                    true
                } else if target > index {
                    self.branch(terms, branch.cond);
                    let jumps = self.ways.jumps(flags, branch.cond);
                    reason = jumps.then_some((flags, branch.cond));
                    jumps
                } else {
                    self.branch(terms, branch.cond);
                    let again = taken.last() != Some(&index);
                    if again {
                        taken.push(index);
                    } else {
                        taken.pop();
                    }
                    again
                };
                if jumps {
                    jump = Some((index + 3, target));
                }
            } else {
                self.instruction(terms, &inst, stream)
                    .map_err(|error| format!("instruction {index}: {error}"))?;
            }
            if Access::of(&inst).is_switch() {
                switch = Some(index + 1 + SIGNAL_SLOTS);
            }
            index = match jump {
                Some((last, target)) if last == index => {
                    jump = None;
                    if let Some((flags, cond)) = reason.take() {
                        self.ways.jump(flags, cond);
                    }
                    target
                }
                _ => index + 1,
            };
        }
        Ok(())
    }

    /// Executes a finished instruction.
    fn instruction(&mut self, terms: &mut Terms, inst: &Inst, stream: &mut Stream) -> Result<(), String> {
        match inst {
            Inst::Alu(alu) => self.alu(terms, alu, stream),
            Inst::LoadImm(load) => {
                self.load_imm(terms, load);
                Ok(())
            }
            Inst::Semaphore(_) | Inst::Branch(_) => Err("no semaphores are generated".into()),
        }
    }

    fn load_imm(&mut self, terms: &mut Terms, load: &LoadImmInst) {
        let flags = self.get(terms, Place::Flags);
        let value = terms.number(Node::Const(load.imm));
        let write =
            |cond| Write { value, float: false, pack: load.pack, mul_pack: load.pm, cond, parameter: None };
        let [file_add, file_mul] = files(load.ws);
        self.destination(terms, load.waddr_add, file_add, flags, &write(load.cond_add));
        self.destination(terms, load.waddr_mul, file_mul, flags, &write(load.cond_mul));
        if load.sf {
            self.set_flags(terms, Node::ImmFlags(load.imm), load.cond_add, flags);
        }
    }

    fn destination(&mut self, terms: &mut Terms, waddr: Waddr, file: RegFile, flags: Term, write: &Write) {
        if write.cond == Cond::Never || waddr == Waddr::NOP {
            return;
        }
        let code = waddr.code();
        match code {
            0..=31 if file == RegFile::A => self.store(terms, Place::Physical(Loc::A(code)), flags, write),
            0..=31 => self.store(terms, Place::Physical(Loc::B(code)), flags, write),
            32..=35 => self.store(terms, Place::Physical(Loc::Acc(code - 32)), flags, write),
            _ => self.port(terms, waddr, Some(file), flags, write),
        }
    }

    fn alu(&mut self, terms: &mut Terms, alu: &AluInst, stream: &mut Stream) -> Result<(), String> {
        let flags = self.get(terms, Place::Flags);
        let accumulators = [0, 1, 2, 3].map(|n| self.get(terms, Place::Physical(Loc::Acc(n))));
        let (r4, r5) = (self.get(terms, Place::Physical(Loc::R4)), self.get(terms, Place::R5));
        let ports = self.read_ports(terms, alu, stream)?;
        let rotate = match alu.raddr_b {
            RaddrB::Imm(imm) => imm.rotation().flatten().unwrap_or(0),
            RaddrB::Reg(_) => 0,
        };
        let operand = |terms: &mut Terms, mux: Mux, float: bool| match mux {
            Mux::R0 | Mux::R1 | Mux::R2 | Mux::R3 => accumulators[usize::from(mux.code())],
            // r4 unpacks to floats, whoever reads it (qpu.md §2.11).
            Mux::R4 if alu.pm => unpacked(terms, alu.unpack, true, r4),
            Mux::R4 => r4,
            Mux::R5 => r5,
            Mux::A if !alu.pm => unpacked(terms, alu.unpack, float, ports[0]),
            Mux::A => ports[0],
            Mux::B => ports[1],
        };
        let [file_add, file_mul] = files(alu.ws);
        let mut results: Vec<(Computed, Waddr, RegFile, Cond, bool)> = Vec::new();
        if alu.op_add != AddOp::Nop {
            let float = alu.op_add.reads_float();
            let (a, b) = (operand(terms, alu.add_a, float), operand(terms, alu.add_b, float));
            let result = add_result(terms, alu.op_add, a, b);
            results.push((result, alu.waddr_add, file_add, alu.cond_add, false));
        }
        if alu.op_mul != MulOp::Nop {
            let float = alu.op_mul.reads_float();
            let (a, b) = (operand(terms, alu.mul_a, float), operand(terms, alu.mul_b, float));
            let result = mul_result(terms, alu.op_mul, a, b, rotate);
            results.push((result, alu.waddr_mul, file_mul, alu.cond_mul, true));
        }
        if alu.sf {
            let (result, _, _, cond, _) = results.first().ok_or("flags of nothing")?;
            self.set_flags(terms, result.flags, *cond, flags);
        }
        if alu.waddr_add == Waddr::UNIF_ADDR && alu.cond_add == Cond::Always {
            let (result, ..) = results.first().ok_or("a uniform reset without value")?;
            stream.next = reset_position(terms, result.value)?;
        }
        let parameter = self.parameter(alu, stream)?;
        for (result, waddr, file, cond, mul) in results {
            let packs = if alu.pm { mul } else { file == RegFile::A && waddr.is_reg() };
            let pack = if packs { alu.pack } else { Pack::Nop };
            let parameter = if waddr.is_tmu() { parameter } else { None };
            let write =
                Write { value: result.value, float: result.float, pack, mul_pack: alu.pm, cond, parameter };
            self.destination(terms, waddr, file, flags, &write);
        }
        self.signal(terms, alu.sig);
        Ok(())
    }

    /// The values of ports A and B; a uniform is one word, whoever reads it.
    fn read_ports(
        &mut self,
        terms: &mut Terms,
        alu: &AluInst,
        stream: &mut Stream,
    ) -> Result<[Term; 2], String> {
        let nothing = terms.number(Node::Undefined(Place::R5));
        let mut values = [nothing; 2];
        let raddr_b = match alu.raddr_b {
            RaddrB::Reg(raddr) => raddr,
            RaddrB::Imm(imm) => {
                values[1] = terms.number(Node::Const(imm.value()));
                Raddr::NOP
            }
        };
        if alu.raddr_a == Raddr::UNIFORM || raddr_b == Raddr::UNIFORM {
            let slot = stream.pop()?;
            let value = terms.uniform(slot);
            for (port, raddr) in [alu.raddr_a, raddr_b].into_iter().enumerate() {
                if raddr == Raddr::UNIFORM {
                    values[port] = value;
                }
            }
        }
        for (port, (raddr, file)) in
            [(alu.raddr_a, RegFile::A), (raddr_b, RegFile::B)].into_iter().enumerate()
        {
            if raddr == Raddr::NOP || raddr == Raddr::UNIFORM {
                continue;
            }
            let n = raddr.code();
            values[port] = match file {
                RegFile::A if raddr.is_reg() => self.get(terms, Place::Physical(Loc::A(n))),
                RegFile::B if raddr.is_reg() => self.get(terms, Place::Physical(Loc::B(n))),
                _ => self.read_port(terms, raddr, file),
            };
        }
        Ok(values)
    }

    /// The stream word of a TMU parameter: each pops one, except the S of a direct lookup.
    fn parameter(&mut self, alu: &AluInst, stream: &mut Stream) -> Result<Option<UniformSlot>, String> {
        let halves = [(alu.op_add != AddOp::Nop, alu.waddr_add), (alu.op_mul != MulOp::Nop, alu.waddr_mul)];
        let Some(waddr) = halves.into_iter().find(|(busy, waddr)| *busy && waddr.is_tmu()).map(|half| half.1)
        else {
            return Ok(None);
        };
        let tmu = waddr.tmu().expect("it is a TMU register");
        let pending = self.events.get(&Channel::Tmu(tmu)).and_then(|events| events.last());
        let first = pending.is_none_or(|event| is_s(event.waddr));
        if is_s(waddr.code()) && first {
            return Ok(None);
        }
        stream.pop().map(Some)
    }
}

/// The stream position that a reset asks for: a constant offset added to the stream's address.
fn reset_position(terms: &Terms, value: Term) -> Result<usize, String> {
    if let Node::Add(AddOp::Add, offset, base) = terms.nodes[value as usize] {
        if let (Node::Const(offset), Node::Uniform(base)) =
            (terms.nodes[offset as usize], terms.nodes[base as usize])
        {
            if terms.slot(base) == UniformSlot::StreamAddress {
                return Ok(offset as usize / 4);
            }
        }
    }
    Err("a uniform reset of another form".into())
}

const fn is_s(waddr: u8) -> bool {
    waddr % 4 == 0
}

fn files(ws: bool) -> [RegFile; 2] {
    if ws { [RegFile::B, RegFile::A] } else { [RegFile::A, RegFile::B] }
}

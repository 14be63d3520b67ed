//! Execution of selected operations.

use vc4::qpu::{AddOp, RegFile};

use super::machine::Machine;
use super::terms::{Computed, Node, Place, Term, Terms, Write, add_result, mul_result, unpacked};
use crate::backend::virt::{Dst, Loc, Operand, Operation, Reg, Src, Unit, VirtProgram};

impl Machine {
    pub fn run_selected(&mut self, terms: &mut Terms, program: &VirtProgram) {
        // Start and number of the iteration of each open loop.
        let mut open: Vec<(usize, u32)> = Vec::new();
        let mut index = 0;
        while let Some(op) = program.ops.get(index) {
            index += 1;
            match op.unit {
                Unit::LoopStart => open.push((index, 1)),
                Unit::LoopEnd(cond) => {
                    let (start, iteration) = open.pop().expect("loops nest");
                    self.branch(terms, cond);
                    if iteration == 1 {
                        open.push((start, 2));
                        index = start;
                    }
                }
                Unit::If(cond) => {
                    self.branch(terms, cond);
                    let flags = self.get(terms, Place::Flags);
                    if self.ways.jumps(flags, cond) {
                        self.ways.jump(flags, cond);
                        index = behind_arm(&program.ops, index);
                    }
                }
                Unit::Else => index = behind_arm(&program.ops, index),
                Unit::EndIf => {}
                _ => self.operation(terms, program, op),
            }
        }
    }

    /// Executes a selected operation.
    fn operation(&mut self, terms: &mut Terms, program: &VirtProgram, op: &Operation) {
        let flags = self.get(terms, Place::Flags);
        let float = op.reads_float();
        // r5 as it was: a varying read shows its C only to the next instruction.
        let mut values = Vec::new();
        let mut read: Option<(Src, Term)> = None;
        for operand in op.src.iter() {
            let value = match read {
                Some((src, value)) if src == operand.src => value,
                _ => self.source(terms, program, operand),
            };
            read = Some((operand.src, value));
            values.push(unpacked(terms, operand.unpack, float, value));
        }
        let (a, b) = (values.first().copied().unwrap_or(0), values.get(1).copied());
        let result = match op.unit {
            Unit::Signal => {
                self.signal(terms, op.signal);
                return;
            }
            // The stream is read by name here; where its words stand is the finished code's business.
            Unit::StreamOffset
            | Unit::LoopStart
            | Unit::LoopEnd(_)
            | Unit::If(_)
            | Unit::Else
            | Unit::EndIf => return,
            Unit::LoadImm(word) => {
                Computed { value: terms.number(Node::Const(word)), flags: Node::ImmFlags(word), float: false }
            }
            Unit::Move => Computed { value: a, flags: Node::AddFlags(AddOp::Or, a, a), float: false },
            Unit::Add(add) => add_result(terms, add, a, b.unwrap_or(a)),
            Unit::Mul(mul) => mul_result(terms, mul, a, b.unwrap_or(a), op.rotate),
        };
        let write = Write {
            value: result.value,
            float: result.float,
            pack: op.pack,
            mul_pack: op.mul_pack,
            cond: op.cond,
            parameter: op.parameter.map(|word| program.words[word]),
        };
        match op.dst {
            Dst::None => {}
            Dst::Reg(reg) => self.store(terms, virtual_place(program, reg), flags, &write),
            Dst::Port(waddr, file) => self.port(terms, waddr, file, flags, &write),
        }
        if op.sets_flags {
            self.set_flags(terms, result.flags, op.cond, flags);
        }
    }

    fn source(&mut self, terms: &mut Terms, program: &VirtProgram, operand: &Operand) -> Term {
        match operand.src {
            Src::Reg(reg) => self.get(terms, virtual_place(program, reg)),
            Src::R4 => self.get(terms, Place::Physical(Loc::R4)),
            Src::R5 => self.get(terms, Place::R5),
            Src::Imm(imm) => terms.number(Node::Const(imm.value())),
            Src::Uniform(word) => terms.uniform(program.words[word]),
            Src::Port(raddr, file) => self.read_port(terms, raddr, file.unwrap_or(RegFile::A)),
        }
    }
}

/// The operation behind the `Else` or `EndIf` of the arm that begins at `index`.
fn behind_arm(ops: &[Operation], index: usize) -> usize {
    let mut depth = 0;
    let end = ops[index..].iter().position(|op| match op.unit {
        Unit::If(_) => {
            depth += 1;
            false
        }
        Unit::Else => depth == 0,
        Unit::EndIf => {
            depth -= 1;
            depth < 0
        }
        _ => false,
    });
    index + 1 + end.expect("ifs end")
}

/// The payload stands in its registers before the program starts.
fn virtual_place(program: &VirtProgram, reg: Reg) -> Place {
    match program.regs[reg].fixed {
        Some(loc) => Place::Physical(loc),
        None => Place::Virtual(reg),
    }
}

//! Which of an operation's operands can share its two read ports (qpu.md §2.5).

use vc4::qpu::{Raddr, RegFile, SmallImm};

use crate::backend::virt::{Operation, Src, StreamWord};

/// Ports of one operation while its operands are placed.
pub struct Ports {
    uniform: Option<StreamWord>,
    imm: Option<SmallImm>,
    /// A peripheral that only file A or B has.
    fixed_a: Option<Raddr>,
    fixed_b: Option<Raddr>,
    /// A peripheral of either file, or the uniform.
    flexible: usize,
    rotates: bool,
    pub a_taken: bool,
    pub b_taken: bool,
}

impl Ports {
    /// The ports that an operation takes by itself.
    pub fn new(op: &Operation) -> Ports {
        Ports {
            uniform: None,
            imm: None,
            fixed_a: None,
            fixed_b: None,
            flexible: 0,
            rotates: op.rotate != 0,
            a_taken: false,
            b_taken: op.rotate != 0,
        }
    }

    /// Claims a port for `src`; `false` if it has to come from a register instead.
    pub fn take(&mut self, src: Src) -> bool {
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

    /// Takes either port, if one is free.
    pub fn take_flexible(&mut self) -> bool {
        let free = self.flexible == 0 && !(self.a_taken && self.b_taken);
        if free {
            self.flexible = 1;
        }
        free
    }
}

//! The fields of an instruction word that the kernel looks at, by position alone.

use std::fmt;
use vc4::qpu::{Inst, Mux, Raddr, Signal, Waddr, inst};

/// One of the two units.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Add,
    Mul,
}

/// An instruction word.
#[derive(Clone, Copy)]
pub struct Word(pub u64);

impl Word {
    pub fn signal(self) -> Signal {
        Signal::from_code(inst::SIG.get(self.0) as u8).expect("all sixteen signals have a row")
    }

    pub fn waddr(self, unit: Unit) -> Waddr {
        let field = if unit == Unit::Add { inst::WADDR_ADD } else { inst::WADDR_MUL };
        Waddr::new(field.get(self.0) as u8)
    }

    pub fn cond(self, unit: Unit) -> u8 {
        let field = if unit == Unit::Add { inst::COND_ADD } else { inst::COND_MUL };
        field.get(self.0) as u8
    }

    /// Whether the unit writes to file B; accumulators and most peripherals do not care.
    pub fn writes_file_b(self, unit: Unit) -> bool {
        (unit == Unit::Mul) != (inst::WS.get(self.0) != 0)
    }

    pub fn op_add(self) -> u8 {
        inst::OP_ADD.get(self.0) as u8
    }

    pub fn pack(self) -> u8 {
        inst::PACK.get(self.0) as u8
    }

    pub fn pm(self) -> bool {
        inst::PM.get(self.0) != 0
    }

    pub fn raddr_a(self) -> u8 {
        inst::RADDR_A.get(self.0) as u8
    }

    pub fn raddr_b(self) -> u8 {
        inst::RADDR_B.get(self.0) as u8
    }

    pub fn add_a(self) -> Mux {
        Mux::from_code(inst::ADD_A.get(self.0) as u8).expect("all eight mux codes have a row")
    }

    pub fn add_b(self) -> Mux {
        Mux::from_code(inst::ADD_B.get(self.0) as u8).expect("all eight mux codes have a row")
    }

    /// The immediate of a load or the offset of a branch.
    pub fn imm(self) -> i32 {
        inst::IMM.get(self.0) as u32 as i32
    }

    /// Whether a uniform is named as source, used or not.
    pub fn reads_uniform(self) -> bool {
        let uniform = Raddr::UNIFORM.code();
        self.raddr_a() == uniform || self.signal() != Signal::SmallImm && self.raddr_b() == uniform
    }

    /// Whether the second operand of the add unit is the uniform. Callers exclude small immediates.
    pub fn add_b_is_uniform(self) -> bool {
        let uniform = Raddr::UNIFORM.code();
        match self.add_b() {
            Mux::A => self.raddr_a() == uniform,
            Mux::B => self.raddr_b() == uniform,
            _ => false,
        }
    }

    /// Whether pack or unpack changes an operand or the result of the add unit (qpu.md §2.11).
    pub fn changes_add_value(self) -> bool {
        let operand = |mux| self.add_a() == mux || self.add_b() == mux;
        let unpacked = inst::UNPACK.get(self.0) != 0 && operand(if self.pm() { Mux::R4 } else { Mux::A });
        let packed = self.pack() != 0 && !self.pm() && !self.writes_file_b(Unit::Add);
        unpacked || packed
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)?;
        match Inst::decode(self.0) {
            Ok(inst) => write!(f, " {inst}"),
            Err(error) => write!(f, " ({error})"),
        }
    }
}

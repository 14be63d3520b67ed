//! The instruction words: layouts drawn as in qpu.md §2.1, encode and decode, nothing else.

use super::isa::{
    AddOp, BranchCond, Cond, MulOp, Mux, Pack, Raddr, RegFile, Signal, SmallImm, Unpack, Waddr,
};
use crate::picture::{Field, field, fixed, width};

/// ALU word; with signal 13 the field `e` is a small immediate.
const ALU: &str = "ssss uuu p kkkk ccc ddd f w aaaaaa mmmmmm ooo qqqqq rrrrrr eeeeee ggg hhh iii jjj";
/// Load immediate; the mode stands where the ALU word has its unpack.
const LOAD: &str = "1110 uuu p kkkk ccc ddd f w aaaaaa mmmmmm iiiiiiii iiiiiiii iiiiiiii iiiiiiii";
/// Branch.
const BRANCH: &str = "1111 0000 cccc r g nnnnn w aaaaaa mmmmmm iiiiiiii iiiiiiii iiiiiiii iiiiiiii";

const _: () = assert!(width(ALU) == 64 && width(LOAD) == 64 && width(BRANCH) == 64);

/// A word as the manual draws it, for documentation.
pub struct Layout {
    /// What the word is.
    pub name: &'static str,
    /// One letter per field bit, most significant first.
    pub picture: &'static str,
    /// Letter and name of each field.
    pub fields: &'static [(char, &'static str)],
}

/// The three pictures that all words follow.
pub const LAYOUTS: [Layout; 3] = [
    Layout {
        name: "ALU (sig 0-12; sig 13: raddr_b is a small immediate)",
        picture: ALU,
        fields: &[
            ('s', "sig"),
            ('u', "unpack"),
            ('p', "pm"),
            ('k', "pack"),
            ('c', "cond_add"),
            ('d', "cond_mul"),
            ('f', "sf"),
            ('w', "ws"),
            ('a', "waddr_add"),
            ('m', "waddr_mul"),
            ('o', "op_mul"),
            ('q', "op_add"),
            ('r', "raddr_a"),
            ('e', "raddr_b"),
            ('g', "add_a"),
            ('h', "add_b"),
            ('i', "mul_a"),
            ('j', "mul_b"),
        ],
    },
    Layout {
        name: "Load immediate (mode 0: word, 1: signed per element, 3: unsigned per element) and semaphore (mode 4)",
        picture: LOAD,
        fields: &[
            ('u', "mode"),
            ('p', "pm"),
            ('k', "pack"),
            ('c', "cond_add"),
            ('d', "cond_mul"),
            ('f', "sf"),
            ('w', "ws"),
            ('a', "waddr_add"),
            ('m', "waddr_mul"),
            ('i', "immediate"),
        ],
    },
    Layout {
        name: "Branch (target relative to the branch + 32 bytes with rel; plus ra[raddr_a] with reg)",
        picture: BRANCH,
        fields: &[
            ('c', "cond_br"),
            ('r', "rel"),
            ('g', "reg"),
            ('n', "raddr_a"),
            ('w', "ws"),
            ('a', "waddr_add"),
            ('m', "waddr_mul"),
            ('i', "immediate"),
        ],
    },
];

macro_rules! fields {
    ($picture:ident: $($name:ident $letter:literal),* $(,)?) => {
        $(
            #[doc = concat!("Field `", $letter, "` of the ", stringify!($picture), " word.")]
            pub const $name: Field = field($picture, $letter);
        )*
    };
}

fields!(ALU: SIG 's', UNPACK 'u', PM 'p', PACK 'k', COND_ADD 'c', COND_MUL 'd', SF 'f', WS 'w', WADDR_ADD 'a',
    WADDR_MUL 'm', OP_MUL 'o', OP_ADD 'q', RADDR_A 'r', RADDR_B 'e', ADD_A 'g', ADD_B 'h', MUL_A 'i', MUL_B 'j');
fields!(LOAD: IMM 'i');
fields!(BRANCH: COND_BR 'c', REL 'r', REG 'g', BR_RADDR 'n');

/// What bits 17:12 of an ALU word select for mux B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RaddrB {
    /// A file-B read.
    Reg(Raddr),
    /// A small immediate or rotate; the instruction's signal is then `SmallImm`.
    Imm(SmallImm),
}

/// An ALU instruction: both units and a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AluInst {
    /// Never `SmallImm`, `LoadImm` or `Branch`; must be `None` when `raddr_b` is an immediate.
    pub sig: Signal,
    /// Unpack of the file-A value (`pm` = 0) or of r4 (`pm` = 1).
    pub unpack: Unpack,
    /// Chooses what `unpack` and `pack` apply to.
    pub pm: bool,
    /// Pack of the file-A write (`pm` = 0) or of the mul result (`pm` = 1).
    pub pack: Pack,
    /// Write condition of the add unit.
    pub cond_add: Cond,
    /// Write condition of the mul unit.
    pub cond_mul: Cond,
    /// Set flags from the add result (from mul when the add op is nop).
    pub sf: bool,
    /// Swap files: add writes B, mul writes A.
    pub ws: bool,
    /// Destination of the add unit.
    pub waddr_add: Waddr,
    /// Destination of the mul unit.
    pub waddr_mul: Waddr,
    /// Mul operation.
    pub op_mul: MulOp,
    /// Add operation.
    pub op_add: AddOp,
    /// File-A read.
    pub raddr_a: Raddr,
    /// File-B read or small immediate.
    pub raddr_b: RaddrB,
    /// First operand of the add unit.
    pub add_a: Mux,
    /// Second operand of the add unit.
    pub add_b: Mux,
    /// First operand of the mul unit.
    pub mul_a: Mux,
    /// Second operand of the mul unit.
    pub mul_b: Mux,
}

impl AluInst {
    /// The canonical no-operation, `0x100009e7009e7000`.
    pub const NOP: AluInst = AluInst {
        sig: Signal::None,
        unpack: Unpack::Nop,
        pm: false,
        pack: Pack::Nop,
        cond_add: Cond::Never,
        cond_mul: Cond::Never,
        sf: false,
        ws: false,
        waddr_add: Waddr::NOP,
        waddr_mul: Waddr::NOP,
        op_mul: MulOp::Nop,
        op_add: AddOp::Nop,
        raddr_a: Raddr::NOP,
        raddr_b: RaddrB::Reg(Raddr::NOP),
        add_a: Mux::R0,
        add_b: Mux::R0,
        mul_a: Mux::R0,
        mul_b: Mux::R0,
    };
}

/// How a load-immediate's 32 bits become elements (qpu.md §2.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoadMode {
    /// The word to all elements.
    Word,
    /// Two signed bits per element, -2 to 1.
    PerElementSigned,
    /// Two unsigned bits per element, 0 to 3.
    PerElementUnsigned,
}

/// Load immediate: both units move the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoadImmInst {
    /// Meaning of the immediate.
    pub mode: LoadMode,
    /// See [`AluInst::pm`].
    pub pm: bool,
    /// See [`AluInst::pack`].
    pub pack: Pack,
    /// Write condition of the add destination.
    pub cond_add: Cond,
    /// Write condition of the mul destination.
    pub cond_mul: Cond,
    /// Set flags from the immediate.
    pub sf: bool,
    /// Swap files.
    pub ws: bool,
    /// Add destination.
    pub waddr_add: Waddr,
    /// Mul destination.
    pub waddr_mul: Waddr,
    /// The immediate.
    pub imm: u32,
}

impl LoadImmInst {
    /// Loads a word to an address, of this file or of either, and does nothing else.
    pub fn word(waddr: Waddr, file: Option<RegFile>, imm: u32) -> LoadImmInst {
        LoadImmInst {
            mode: LoadMode::Word,
            pm: false,
            pack: Pack::Nop,
            cond_add: Cond::Always,
            cond_mul: Cond::Never,
            sf: false,
            ws: file == Some(RegFile::B),
            waddr_add: waddr,
            waddr_mul: Waddr::NOP,
            imm,
        }
    }
}

/// Semaphore operation (qpu.md §2.10). The remaining fields are those of a load immediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SemaphoreInst {
    /// See [`AluInst::pm`].
    pub pm: bool,
    /// See [`AluInst::pack`].
    pub pack: Pack,
    /// Write condition of the add destination.
    pub cond_add: Cond,
    /// Write condition of the mul destination.
    pub cond_mul: Cond,
    /// Set flags.
    pub sf: bool,
    /// Swap files.
    pub ws: bool,
    /// Add destination.
    pub waddr_add: Waddr,
    /// Mul destination.
    pub waddr_mul: Waddr,
    /// The whole immediate: bits 3:0 the semaphore, bit 4 set to decrement (acquire), the rest ignored.
    pub imm: u32,
}

impl SemaphoreInst {
    /// Semaphore number, 0–15.
    pub const fn number(&self) -> u8 {
        (self.imm & 15) as u8
    }

    /// Whether this is the decrement (acquire) form.
    pub const fn is_decrement(&self) -> bool {
        self.imm & 16 != 0
    }
}

/// Branch (qpu.md §2.8). Three delay slots follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BranchInst {
    /// When the branch is taken.
    pub cond: BranchCond,
    /// Target is relative to the address of the branch + 32.
    pub rel: bool,
    /// File-A register 0–31 added to the target.
    pub reg: Option<u8>,
    /// The raddr_a field when `reg` is `None`; odd values update the flags, keep it even.
    pub unused_raddr_a: u8,
    /// Swap files.
    pub ws: bool,
    /// Link destination of the add unit.
    pub waddr_add: Waddr,
    /// Link destination of the mul unit.
    pub waddr_mul: Waddr,
    /// Target in bytes.
    pub offset: i32,
}

impl BranchInst {
    /// A branch to `offset` bytes behind its delay slots, without link.
    pub const fn relative(cond: BranchCond, offset: i32) -> BranchInst {
        BranchInst {
            cond,
            rel: true,
            reg: None,
            unused_raddr_a: 0,
            ws: false,
            waddr_add: Waddr::NOP,
            waddr_mul: Waddr::NOP,
            offset,
        }
    }
}

/// One 64-bit instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Inst {
    /// Add and mul operation with signal.
    Alu(AluInst),
    /// Load immediate.
    LoadImm(LoadImmInst),
    /// Semaphore increment or decrement.
    Semaphore(SemaphoreInst),
    /// Branch.
    Branch(BranchInst),
}

/// Why a word is no instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Add operation code without a row.
    #[error("add operation {0} is reserved")]
    ReservedAddOp(u8),
    /// Load-immediate mode without a meaning.
    #[error("load-immediate mode {0} is undefined")]
    ReservedLoadMode(u8),
    /// Branch condition without a row.
    #[error("branch condition {0} is reserved")]
    ReservedBranchCond(u8),
    /// Bits of a branch that must be zero.
    #[error("bits 59:56 of a branch must be zero, found {0:#x}")]
    BranchBits(u8),
}

const MODE_WORD: u64 = 0;
const MODE_SIGNED: u64 = 1;
const MODE_UNSIGNED: u64 = 3;
const MODE_SEMAPHORE: u64 = 4;

/// A row of a table all of whose codes exist.
macro_rules! total {
    ($table:ident, $field:expr, $word:expr) => {
        $table::from_code($field.get($word) as u8).expect("every code of this field has a row")
    };
}

impl Inst {
    /// The canonical no-operation.
    pub const NOP: Inst = Inst::Alu(AluInst::NOP);

    /// The instruction's signal as it stands in bits 63:60.
    pub const fn signal(&self) -> Signal {
        match self {
            Inst::Alu(AluInst { raddr_b: RaddrB::Imm(_), .. }) => Signal::SmallImm,
            Inst::Alu(alu) => alu.sig,
            Inst::LoadImm(_) | Inst::Semaphore(_) => Signal::LoadImm,
            Inst::Branch(_) => Signal::Branch,
        }
    }

    /// The 64-bit word.
    ///
    /// # Panics
    /// If an ALU instruction carries a signal of another word class, or a signal beside a small
    /// immediate: such an instruction does not exist.
    pub fn encode(&self) -> u64 {
        match self {
            Inst::Alu(i) => {
                let (sig, raddr_b) = match i.raddr_b {
                    RaddrB::Imm(imm) => {
                        assert!(i.sig == Signal::None, "a small immediate excludes every signal");
                        (Signal::SmallImm, imm.code())
                    }
                    RaddrB::Reg(reg) => {
                        assert!(
                            !matches!(i.sig, Signal::SmallImm | Signal::LoadImm | Signal::Branch),
                            "signal of another instruction class"
                        );
                        (i.sig, reg.code())
                    }
                };
                SIG.put(sig.code().into())
                    | UNPACK.put(i.unpack.code().into())
                    | OP_MUL.put(i.op_mul.code().into())
                    | OP_ADD.put(i.op_add.code().into())
                    | RADDR_A.put(i.raddr_a.code().into())
                    | RADDR_B.put(raddr_b.into())
                    | ADD_A.put(i.add_a.code().into())
                    | ADD_B.put(i.add_b.code().into())
                    | MUL_A.put(i.mul_a.code().into())
                    | MUL_B.put(i.mul_b.code().into())
                    | head(i.pm, i.pack, i.cond_add, i.cond_mul, i.sf)
                    | destinations(i.ws, i.waddr_add, i.waddr_mul)
            }
            Inst::LoadImm(i) => {
                let mode = match i.mode {
                    LoadMode::Word => MODE_WORD,
                    LoadMode::PerElementSigned => MODE_SIGNED,
                    LoadMode::PerElementUnsigned => MODE_UNSIGNED,
                };
                fixed(LOAD).1
                    | UNPACK.put(mode)
                    | IMM.put(i.imm.into())
                    | head(i.pm, i.pack, i.cond_add, i.cond_mul, i.sf)
                    | destinations(i.ws, i.waddr_add, i.waddr_mul)
            }
            Inst::Semaphore(i) => {
                fixed(LOAD).1
                    | UNPACK.put(MODE_SEMAPHORE)
                    | IMM.put(i.imm.into())
                    | head(i.pm, i.pack, i.cond_add, i.cond_mul, i.sf)
                    | destinations(i.ws, i.waddr_add, i.waddr_mul)
            }
            Inst::Branch(i) => {
                fixed(BRANCH).1
                    | COND_BR.put(i.cond.code().into())
                    | REL.put(i.rel.into())
                    | REG.put(i.reg.is_some().into())
                    | BR_RADDR.put(i.reg.unwrap_or(i.unused_raddr_a).into())
                    | IMM.put((i.offset as u32).into())
                    | destinations(i.ws, i.waddr_add, i.waddr_mul)
            }
        }
    }

    /// The instruction of a 64-bit word; every decodable word encodes back to itself.
    pub fn decode(word: u64) -> Result<Inst, DecodeError> {
        let pm = PM.get(word) != 0;
        let pack = total!(Pack, PACK, word);
        let (cond_add, cond_mul) = (total!(Cond, COND_ADD, word), total!(Cond, COND_MUL, word));
        let (sf, ws) = (SF.get(word) != 0, WS.get(word) != 0);
        let waddr_add = Waddr::new(WADDR_ADD.get(word) as u8);
        let waddr_mul = Waddr::new(WADDR_MUL.get(word) as u8);
        let imm = IMM.get(word) as u32;
        match total!(Signal, SIG, word) {
            Signal::LoadImm => {
                let mode = match UNPACK.get(word) {
                    MODE_WORD => LoadMode::Word,
                    MODE_SIGNED => LoadMode::PerElementSigned,
                    MODE_UNSIGNED => LoadMode::PerElementUnsigned,
                    MODE_SEMAPHORE => {
                        return Ok(Inst::Semaphore(SemaphoreInst {
                            pm,
                            pack,
                            cond_add,
                            cond_mul,
                            sf,
                            ws,
                            waddr_add,
                            waddr_mul,
                            imm,
                        }));
                    }
                    mode => return Err(DecodeError::ReservedLoadMode(mode as u8)),
                };
                Ok(Inst::LoadImm(LoadImmInst {
                    mode,
                    pm,
                    pack,
                    cond_add,
                    cond_mul,
                    sf,
                    ws,
                    waddr_add,
                    waddr_mul,
                    imm,
                }))
            }
            Signal::Branch => {
                let (mask, value) = fixed(BRANCH);
                if word & mask != value {
                    return Err(DecodeError::BranchBits((word >> 56 & 15) as u8));
                }
                let code = COND_BR.get(word) as u8;
                let raddr = BR_RADDR.get(word) as u8;
                let reg = REG.get(word) != 0;
                Ok(Inst::Branch(BranchInst {
                    cond: BranchCond::from_code(code).ok_or(DecodeError::ReservedBranchCond(code))?,
                    rel: REL.get(word) != 0,
                    reg: reg.then_some(raddr),
                    unused_raddr_a: if reg { 0 } else { raddr },
                    ws,
                    waddr_add,
                    waddr_mul,
                    offset: imm as i32,
                }))
            }
            sig => {
                let op_add = OP_ADD.get(word) as u8;
                let raddr_b = RADDR_B.get(word) as u8;
                let small = sig == Signal::SmallImm;
                Ok(Inst::Alu(AluInst {
                    sig: if small { Signal::None } else { sig },
                    unpack: total!(Unpack, UNPACK, word),
                    pm,
                    pack,
                    cond_add,
                    cond_mul,
                    sf,
                    ws,
                    waddr_add,
                    waddr_mul,
                    op_mul: total!(MulOp, OP_MUL, word),
                    op_add: AddOp::from_code(op_add).ok_or(DecodeError::ReservedAddOp(op_add))?,
                    raddr_a: Raddr::new(RADDR_A.get(word) as u8),
                    raddr_b: if small {
                        RaddrB::Imm(SmallImm::new(raddr_b))
                    } else {
                        RaddrB::Reg(Raddr::new(raddr_b))
                    },
                    add_a: total!(Mux, ADD_A, word),
                    add_b: total!(Mux, ADD_B, word),
                    mul_a: total!(Mux, MUL_A, word),
                    mul_b: total!(Mux, MUL_B, word),
                }))
            }
        }
    }
}

/// Pack, conditions and flags: the bits that ALU, load-immediate and semaphore words share.
fn head(pm: bool, pack: Pack, cond_add: Cond, cond_mul: Cond, sf: bool) -> u64 {
    PM.put(pm.into())
        | PACK.put(pack.code().into())
        | COND_ADD.put(cond_add.code().into())
        | COND_MUL.put(cond_mul.code().into())
        | SF.put(sf.into())
}

/// Write swap and destinations: the bits that all words share.
fn destinations(ws: bool, add: Waddr, mul: Waddr) -> u64 {
    WS.put(ws.into()) | WADDR_ADD.put(add.code().into()) | WADDR_MUL.put(mul.code().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_nop() {
        assert_eq!(Inst::NOP.encode(), 0x1000_09e7_009e_7000);
    }
}

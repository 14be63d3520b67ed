//! Instructions as text, in the syntax of qpu.md §6.1 with its suggested extensions: `rot_r5`, `rot1`–`rot15`,
//! `tlb_alpha_mask`, the two-part `.sat` packs, and semaphores that do what their name says.
//! [`assemble`](super::asm::assemble) reads all of it back into the same words.

use super::inst::{AluInst, BranchInst, Inst, LoadImmInst, LoadMode, RaddrB, SemaphoreInst};
use super::isa::{Cond, Pack, Raddr, RegFile, SmallImm, Unpack, Waddr};
use std::fmt::{self, Display, Formatter, Write};

/// The listing of a program: one line per word, its number and value behind it as a comment. A word that is
/// no instruction stands as `.word` data with the reason.
pub fn disassemble(words: &[u64]) -> String {
    let mut out = String::new();
    for (number, &word) in words.iter().enumerate() {
        let text = match Inst::decode(word) {
            Ok(inst) => writeln!(out, "{:<100} # {number}: {word:#018x}", inst.to_string()),
            Err(reason) => writeln!(out, "{:<100} # {number}: {reason}", format!(".word {word:#018x} ;")),
        };
        text.expect("writing to a string does not fail");
    }
    out
}

impl Display for Inst {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} ; ", self.signal().name())?;
        match self {
            Inst::Alu(inst) => alu(f, inst),
            Inst::LoadImm(inst) => load_imm(f, inst),
            Inst::Semaphore(inst) => semaphore(f, inst),
            Inst::Branch(inst) => branch(f, inst),
        }
    }
}

/// What the text says of both halves alike.
struct Head {
    pm: bool,
    pack: Pack,
    cond_add: Cond,
    cond_mul: Cond,
    sf: bool,
    ws: bool,
    waddr_add: Waddr,
    waddr_mul: Waddr,
}

macro_rules! head_of {
    ($inst:expr) => {
        Head {
            pm: $inst.pm,
            pack: $inst.pack,
            cond_add: $inst.cond_add,
            cond_mul: $inst.cond_mul,
            sf: $inst.sf,
            ws: $inst.ws,
            waddr_add: $inst.waddr_add,
            waddr_mul: $inst.waddr_mul,
        }
    };
}

impl Head {
    /// `dst[.pack] = ` of the add half.
    fn add_destination(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let file = if self.ws { RegFile::B } else { RegFile::A };
        destination(f, self.waddr_add, file, if self.pm { Pack::Nop } else { self.pack })
    }

    /// `dst[.pack] = ` of the mul half.
    fn mul_destination(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let file = if self.ws { RegFile::A } else { RegFile::B };
        destination(f, self.waddr_mul, file, if self.pm { self.pack } else { Pack::Nop })
    }

    /// The modifiers of the add half, in a fixed order.
    fn modifiers(&self, f: &mut Formatter<'_>, unpack: Unpack, signed: bool) -> fmt::Result {
        flag(f, self.pm, ".pm")?;
        flag(f, self.sf, ".sf")?;
        flag(f, signed, ".signed")?;
        condition(f, self.cond_add)?;
        if unpack != Unpack::Nop {
            write!(f, ".{}", unpack.name())?;
        }
        flag(f, self.ws, ".ws")
    }

    /// A word without operands: add half with `arguments`, mul half with none.
    fn both_halves(
        &self,
        f: &mut Formatter<'_>,
        op: &str,
        signed: bool,
        arguments: fmt::Arguments<'_>,
    ) -> fmt::Result {
        self.add_destination(f)?;
        f.write_str(op)?;
        self.modifiers(f, Unpack::Nop, signed)?;
        write!(f, "({arguments}) ; ")?;
        self.mul_destination(f)?;
        f.write_str(op)?;
        condition(f, self.cond_mul)?;
        f.write_str("() ;")
    }
}

fn flag(f: &mut Formatter<'_>, set: bool, text: &str) -> fmt::Result {
    if set { f.write_str(text) } else { Ok(()) }
}

/// The condition as a modifier; `never` is the default and stays unsaid.
fn condition(f: &mut Formatter<'_>, cond: Cond) -> fmt::Result {
    if cond == Cond::Never { Ok(()) } else { write!(f, ".{}", cond.name()) }
}

fn destination(f: &mut Formatter<'_>, waddr: Waddr, file: RegFile, pack: Pack) -> fmt::Result {
    match waddr.name(file) {
        Some(name) => f.write_str(name)?,
        None => write!(f, "rx{}", waddr.code())?,
    }
    if pack != Pack::Nop {
        write!(f, ".{}", pack.name())?;
    }
    f.write_str(" = ")
}

fn alu(f: &mut Formatter<'_>, inst: &AluInst) -> fmt::Result {
    let head = head_of!(inst);
    head.add_destination(f)?;
    f.write_str(inst.op_add.name())?;
    head.modifiers(f, inst.unpack, false)?;
    write!(f, "({}, {}", inst.add_a.name(), inst.add_b.name())?;
    if inst.raddr_a != Raddr::NOP || inst.raddr_b != RaddrB::Reg(Raddr::NOP) {
        f.write_str(", ")?;
        source(f, inst.raddr_a, RegFile::A)?;
    }
    if inst.raddr_b != RaddrB::Reg(Raddr::NOP) {
        f.write_str(", ")?;
        match inst.raddr_b {
            RaddrB::Reg(raddr) => source(f, raddr, RegFile::B)?,
            RaddrB::Imm(imm) => write!(f, "{imm}")?,
        }
    }
    f.write_str(") ; ")?;
    head.mul_destination(f)?;
    f.write_str(inst.op_mul.name())?;
    condition(f, inst.cond_mul)?;
    write!(f, "({}, {}) ;", inst.mul_a.name(), inst.mul_b.name())
}

fn source(f: &mut Formatter<'_>, raddr: Raddr, file: RegFile) -> fmt::Result {
    match (raddr.name(file), file) {
        (Some(name), _) => f.write_str(name),
        (None, RegFile::A) => write!(f, "ra{}", raddr.code()),
        (None, RegFile::B) => write!(f, "rb{}", raddr.code()),
    }
}

impl Display for SmallImm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.rotation() {
            Some(None) => f.write_str("rot_r5"),
            Some(Some(n)) => write!(f, "rot{n}"),
            None if self.code() < 32 => write!(f, "{}", self.value() as i32),
            None => write!(f, "{:#x}", self.value()),
        }
    }
}

fn load_imm(f: &mut Formatter<'_>, inst: &LoadImmInst) -> fmt::Result {
    let head = head_of!(inst);
    let (high, low) = (inst.imm >> 16, inst.imm & 0xffff);
    match inst.mode {
        LoadMode::Word => head.both_halves(f, "load32", false, format_args!("{:#010x}", inst.imm)),
        LoadMode::PerElementSigned => {
            head.both_halves(f, "load16", true, format_args!("{high:#06x}, {low:#06x}"))
        }
        LoadMode::PerElementUnsigned => {
            head.both_halves(f, "load16", false, format_args!("{high:#06x}, {low:#06x}"))
        }
    }
}

fn semaphore(f: &mut Formatter<'_>, inst: &SemaphoreInst) -> fmt::Result {
    let op = if inst.is_decrement() { "sem_dec" } else { "sem_inc" };
    match inst.imm >> 5 {
        0 => head_of!(inst).both_halves(f, op, false, format_args!("{}", inst.number())),
        rest => head_of!(inst).both_halves(f, op, false, format_args!("{}, {rest:#x}", inst.number())),
    }
}

fn branch(f: &mut Formatter<'_>, inst: &BranchInst) -> fmt::Result {
    let (add, mul) = if inst.ws { (RegFile::B, RegFile::A) } else { (RegFile::A, RegFile::B) };
    destination(f, inst.waddr_add, add, Pack::Nop)?;
    f.write_str("branch")?;
    flag(f, inst.rel, ".rel")?;
    flag(f, inst.reg.is_some(), ".reg")?;
    flag(f, inst.ws, ".ws")?;
    let raddr = inst.reg.unwrap_or(inst.unused_raddr_a);
    write!(f, "({}, {}, ra{raddr}) ; ", inst.offset, inst.cond.name())?;
    destination(f, inst.waddr_mul, mul, Pack::Nop)?;
    f.write_str("branch() ;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_like_the_manual() {
        // qpu.md §8.1, in the canonical spelling of this module.
        let examples: &[(u64, &str)] = &[
            (0x1000_09e7_009e_7000, "sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;"),
            (
                0x1002_4821_2c04_2dd3,
                "sig_none ; r0 = add.always(a, b, ra1, rb2) ; r1 = fmul.always(r2, r3) ;",
            ),
            (
                0xd002_10e7_0e9c_89c0,
                "sig_small_imm ; rx3 = shr.always.ws(r4, b, nop, 8) ; nop = nop(r0, r0) ;",
            ),
            (0x1140_49e0_209e_7001, "sig_none ; nop = nop.pm(r0, r0) ; r0.8a = fmul.always(r0, r1) ;"),
            (0xf038_09e7_ffff_ffc0, "sig_branch ; nop = branch.rel(-64, any_zc, ra0) ; nop = branch() ;"),
            (0xe800_09e7_0000_0015, "sig_load_imm ; nop = sem_dec(5) ; nop = sem_dec() ;"),
            (
                0xe202_0827_ff00_f0f0,
                "sig_load_imm ; r0 = load16.signed.always(0xff00, 0xf0f0) ; nop = load16() ;",
            ),
            (
                0xd000_49e1_809f_1000,
                "sig_small_imm ; nop = nop(r0, r0, nop, rot1) ; r1 = v8min.always(r0, r0) ;",
            ),
        ];
        for &(word, text) in examples {
            assert_eq!(Inst::decode(word).unwrap().to_string(), text);
        }
    }

    #[test]
    fn undecodable_words_become_data() {
        let listing = disassemble(&[0x1000_09e7_009e_7000, 0x1000_09e7_099e_7000, 0xff00_0000_0000_0000]);
        let lines: Vec<&str> = listing.lines().collect();
        assert!(lines[0].starts_with("sig_none") && lines[0].ends_with("# 0: 0x100009e7009e7000"));
        assert!(lines[1].starts_with(".word 0x100009e7099e7000 ;"));
        assert!(lines[1].ends_with("# 1: add operation 9 is reserved"));
        assert!(lines[2].contains("bits 59:56"));
    }
}

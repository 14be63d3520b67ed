//! The defects of the assembler that the syntax comes from, by their number in the table of qpu.md §6.1: each is an error
//! here, or the word that the text meant.

use super::*;
use crate::qpu::Inst;
use crate::qpu::isa::{Raddr, RegFile, Waddr};

fn one(text: &str) -> u64 {
    let assembled = assemble(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!((assembled.words.len(), &assembled.warnings[..]), (1, &[][..]), "{text}");
    assembled.words[0]
}

fn refused(text: &str, token: &str, message: &str, suggestion: Option<&str>) {
    let error = assemble(text).expect_err(text);
    let [diagnostic] = &error.diagnostics[..] else { panic!("{text}: {error}") };
    assert_eq!(diagnostic.token, token, "{error}");
    assert!(diagnostic.message.contains(message), "{error}");
    assert_eq!(diagnostic.suggestion.as_deref(), suggestion, "{error}");
    assert_eq!(&text[diagnostic.span.clone()], token);
}

fn alu(add: &str) -> String {
    format!("sig_none ; {add} ; nop = nop(r0, r0) ;")
}

fn small(add: &str) -> String {
    format!("sig_small_imm ; {add} ; nop = nop(r0, r0) ;")
}

#[test]
fn defect_1_semaphores_do_what_they_say() {
    assert_eq!(one("sig_load_imm ; nop = sem_inc(5) ; nop = sem_inc() ;"), 0xe800_09e7_0000_0005);
    assert_eq!(one("sig_load_imm ; nop = sem_dec(5) ; nop = sem_dec() ;"), 0xe800_09e7_0000_0015);
}

#[test]
fn defect_2_branches_without_register_leave_the_flags() {
    const FORWARD: u64 = 0xf0f8_09e7_0000_0010;
    assert_eq!(one("sig_branch ; nop = branch.rel(0x10, always) ; nop = branch() ;"), FORWARD);
    assert_eq!(one("sig_branch ; nop = branch.rel(0x10, always, nop) ; nop = branch() ;"), FORWARD);
}

#[test]
fn defect_3_packs_of_two_parts() {
    assert_eq!(one(&alu("rx0.16a.sat = fadd.always(r1, r2)")), 0x1092_0027_019e_7280);
    refused(&alu("rx0.16a.sit = fadd.always(r1, r2)"), "16a.sit", "unknown pack", Some("16a.sat"));
}

#[test]
fn defect_4_packs_on_the_half_that_they_belong_to() {
    // With ws the mul half writes file A: both spellings of the pack mean it.
    let word = 0x1010_59c4_209e_7001;
    assert_eq!(one("sig_none ; nop = nop.ws(r0, r0) ; rx4.16a = fmul.always(r0, r1) ;"), word);
    assert_eq!(one("sig_none ; nop.16a = nop.ws(r0, r0) ; rx4 = fmul.always(r0, r1) ;"), word);
    let both = "sig_none ; nop.16b = nop.ws(r0, r0) ; rx4.16a = fmul.always(r0, r1) ;";
    refused(both, "16a", "one pack", None);
    refused(
        "sig_none ; nop = nop(r0, r0) ; rx4.8a = fmul.always(r0, r1) ;",
        "8a",
        "needs pm (mul result) or ws (file A)",
        None,
    );
    refused(&alu("rx4.8888 = or.pm.always(r0, r0)"), "8888", "write it on the mul destination", None);
}

#[test]
fn defect_5_values_that_are_no_small_immediates() {
    refused(&small("r0 = add.always(r1, b, nop, 16)"), "16", "no small immediate", None);
    let float = "floats are written as their bit pattern";
    refused(&small("r0 = add.always(r1, b, nop, 1.0)"), "1.0", float, Some("0x3f800000"));
    refused(&small("r0 = add.always(r1, b, nop, -2.5)"), "-2.5", float, Some("0xc0200000"));
    let load = "sig_load_imm ; r0 = load32.always(1.0) ; nop = load32() ;";
    refused(load, "1.0", float, Some("0x3f800000"));
}

#[test]
fn defect_6_rotates_and_missing_immediates() {
    let rotate = "sig_small_imm ; nop = nop(r0, r0, nop, rot1) ; r1 = v8min.always(r0, r0) ;";
    assert_eq!(one(rotate), 0xd000_49e1_809f_1000);
    refused(&small("r0 = add.always(r1, b)"), "sig_small_imm", "needs the small immediate", None);
}

#[test]
fn defect_7_operand_names() {
    refused(&small("r0 = add.always(r1, imm, nop, 3)"), "imm", "operand b", Some("b"));
    assert_eq!(one("sig_none ; nop = nop(nop, nop) ; nop = nop(nop, nop) ;"), Inst::NOP.encode());
}

#[test]
fn defect_8_unknown_names() {
    refused(&alu("rfive = or.always(r1, r1)"), "rfive", "unknown destination", None);
    refused(&alu("tmu0_S = or.always(r1, r1)"), "tmu0_S", "unknown destination", Some("tmu0_s"));
    refused(&alu("r4 = or.always(r1, r1)"), "r4", "cannot be written", None);
    refused(&alu("ra3 = or.always(r1, r1)"), "ra3", "written rxN", Some("rx3"));
    refused(&alu("r0 = faddd.always(r1, r1)"), "faddd", "no operation of the add half", Some("fadd"));
    refused(&alu("r0 = fmul.always(r1, r1)"), "fmul", "the mul half has this operation", None);
    refused(&alu("r0 = or.allways(r1, r1)"), "allways", "unknown modifier", Some("always"));
    refused(&alu("r0 = or.always(r6, r1)"), "r6", "operands are r0 to r5, a or b", Some("r0"));
    refused(&alu("r0 = or.always(ra1, r1)"), "ra1", "the third argument", Some("a"));
    refused(&alu("r0 = or.always(r1, y_pix)"), "y_pix", "the fourth argument", Some("b"));
    refused(&alu("r0 = or.always(a, r1, elen)"), "elen", "unknown source of file A", Some("elem"));
    refused(&alu("r0.8e = or.always(r1, r1)"), "8e", "unknown pack", Some("8a"));
    refused(
        "sig_nnoe ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;",
        "sig_nnoe",
        "unknown signal",
        Some("sig_none"),
    );
    let branch = "sig_branch ; nop = branch.rel(0, any_sz) ; nop = branch() ;";
    refused(branch, "any_sz", "unknown branch condition", Some("any_zs"));
}

#[test]
fn defect_9_blanks_modifiers_and_comments() {
    let word = 0x1002_0827_1582_7d80;
    assert_eq!(one(&alu("r0 = or.always (a, a, uni, nop)")), word);
    assert_eq!(one(&alu("r0 = or.always( a , a , uni , nop )")), word);
    assert_eq!(one("sig_none ; nop = nop() ; nop = nop() ;"), Inst::NOP.encode());
    assert_eq!(one(&alu("rx0 = or.pm.sf.ws.nop.nop.always(r0, r0)")), 0x1102_3027_159e_7000);
    assert_eq!(one("sig_none ; nop = nop() ; nop = nop() ; # no line end"), Inst::NOP.encode());
}

#[test]
fn defect_10_leading_zeros() {
    let octal = "makes the number octal, 8 in decimal";
    refused(&alu("rx010 = or.always(r1, r1)"), "rx010", octal, None);
    refused(&alu("r0 = or.always(a, a, ra010)"), "ra010", octal, None);
    // As in C, numbers may be octal; that is no accident there.
    assert_eq!(
        one("sig_load_imm ; r1 = load32.always(017) ; nop = load32() ;"),
        one("sig_load_imm ; r1 = load32.always(15) ; nop = load32() ;")
    );
}

#[test]
fn defect_11_sources_of_the_other_file() {
    refused(&alu("r0 = or.always(a, b, y_pix, nop)"), "y_pix", "read through file B", None);
    refused(&alu("r0 = or.always(a, b, rb3, nop)"), "rb3", "the fourth argument", None);
    refused(&alu("r0 = or.always(a, b, nop, ra3)"), "ra3", "the third argument", None);
}

#[test]
fn defect_12_halves_of_different_kinds() {
    let message = "both halves must name the same kind";
    refused("sig_load_imm ; r0 = load32.always(5) ; nop = nop(r0, r0) ;", "nop", message, None);
    refused("sig_load_imm ; r0 = sem_inc(5) ; nop = sem_dec() ;", "sem_dec", message, None);
    refused("sig_branch ; nop = nop() ; nop = branch() ;", "branch", message, None);
    let signal = "sig_branch ; r0 = or.always(r1, r1) ; nop = nop(r0, r0) ;";
    refused(signal, "sig_branch", "this signal goes with", None);
}

#[test]
fn defect_13_the_disassembler_names_every_address() {
    for code in 0..64 {
        for file in [RegFile::A, RegFile::B] {
            let named = |name: Option<&'static str>| name.is_none_or(|name| !name.is_empty());
            assert!(named(Waddr::new(code).name(file)) && named(Raddr::new(code).name(file)));
        }
        let (ws, nop) = (1u64 << 44, Inst::NOP.encode());
        let clear = !(0x3fu64 << 38 | 0x3f << 32 | 0x3f << 18 | 0x3f << 12);
        let c = u64::from(code);
        let word = nop & clear | c << 38 | c << 32 | c << 18 | c << 12;
        for word in [word, word | ws, word | ws | 1 << 52, word | 1 << 52, word | 1 << 56 | 4 << 52] {
            let text = Inst::decode(word).expect("an instruction").to_string();
            assert_eq!(assemble(&text).expect(&text).words, [word], "{text}");
        }
    }
    // Under ws the pack stands where the syntax has it: on the add destination.
    let packed = Inst::decode(0x1010_59c4_209e_7001).expect("an instruction").to_string();
    assert!(packed.contains("nop.16a = nop.ws") && packed.contains("rx4 = fmul"), "{packed}");
}

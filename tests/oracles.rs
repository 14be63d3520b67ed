//! The oracles of the fuzz targets over inputs made for them. `PROPTEST_CASES` makes the run longer.

#[path = "oracle/list.rs"]
mod list;
#[path = "oracle/program.rs"]
mod program;

use proptest::prelude::*;

/// Pieces of assembly text, in any order.
const PIECES: &[&str] = &[
    "sig_none ; ",
    "sig_small_imm ; ",
    "sig_load_imm ; ",
    "sig_branch ; ",
    "sig_end ; ",
    "sig_load_tmu0 ; ",
    "nop = nop() ; ",
    "r0 = fadd.always(r1, r2) ; ",
    "rx3.16a = or.always(a, b, uni, rb2) ; ",
    "r1.8a = v8min.zs(r0, r0) ; ",
    "nop = nop.pm(r0, r0) ; ",
    "r0 = or.ws.sf.always(b, b, nop, 3) ; ",
    "tmu0_s = or.always(r0, r0) ; ",
    "vr_setup = load32.always(0x201a00) ; ",
    "nop = load32() ; ",
    "nop = branch.rel(top, any_zc) ; ",
    "nop = branch.rel(-64, always, ra0) ; ",
    "nop = branch() ; ",
    "nop = sem_dec(3) ; ",
    "nop = sem_dec() ; ",
    "r0 = load16.signed(1, -1) ; ",
    "nop = load16() ; ",
    "top: ",
    "end: ",
    ".uniform scale[1].x ",
    ".word 0x123456789abcdef0 ; ",
    "/* c */",
    "/*",
    "*/",
    "# c\n",
    "\n",
    ";",
    "(",
    ")",
    ",",
    ".",
    "=",
    "-",
    "+",
    ":",
    "[",
    "]",
    "0x",
    "09",
    "1.5",
    "rx070",
    "rot5",
    "é",
    "\u{202c}",
    "/",
];

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(PIECES), 0..24).prop_map(|pieces| pieces.concat())
}

/// Mostly whole instructions, so that programs come to be.
fn instructions() -> impl Strategy<Value = String> {
    let instruction = proptest::sample::select(
        &[
            "sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n",
            "sig_none ; tmu0_t = or.always(r0, r0) ; nop = nop() ;\n",
            "sig_none ; tmu0_s = or.always(r0, r0) ; nop = nop() ;\n",
            "sig_load_tmu0 ; nop = nop() ; nop = nop() ;\n",
            "sig_last_thread_switch ; nop = nop() ; r1 = v8min.always(r0, r0) ;\n",
            "sig_branch ; nop = branch.rel(top, any_zc) ; nop = branch() ;\n",
            "sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;\n",
            "sig_end ; nop = nop() ; nop = nop() ;\n",
            "sig_none ; nop = nop() ; nop = nop() ;\n",
            ".uniform a.b[2]\n",
            "top:\n",
        ][..],
    );
    proptest::collection::vec(instruction, 0..30).prop_map(|lines| lines.concat())
}

/// Opcodes and bytes that lists hold.
fn bytes_of_lists() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(0u8), 0u8..8, 16u8..30, 96u8..116, any::<u8>()];
    proptest::collection::vec(byte, 0..64)
}

proptest! {
    #[test]
    fn texts(text in text()) {
        program::asm(text.as_bytes());
    }

    #[test]
    fn programs(text in instructions()) {
        program::asm(text.as_bytes());
    }

    #[test]
    fn words(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        program::disasm(&bytes);
        program::asm(&bytes);
        list::cl(&bytes);
    }

    #[test]
    fn lists(bytes in bytes_of_lists()) {
        list::cl(&bytes);
    }
}

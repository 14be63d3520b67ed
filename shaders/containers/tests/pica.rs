//! The assembler of PICA200 code: the words of other assemblers, listings that read back, text nobody meant.

use std::collections::BTreeSet;

use proptest::prelude::*;
use shader_containers::pica::{Descriptor, Inst, Op, Program, TABLE, assemble};
use shader_containers::shbin::Shbin;

mod material;
#[allow(dead_code, reason = "files have a suite of their own")]
#[path = "oracle/shbin.rs"]
mod oracle;

use material::{Sample, sample, samples};

/// The instructions of the source of `own_allops`, its structured blocks written as branches, registers as the
/// symbol table numbers them. The words must be those picasso made.
const ALL_OPERATIONS: &str = "
    .alias projection c0
    .alias base c4
    .alias tint c12
    .alias k0 c95
    .alias k1 c94
    .alias pos v0
    .alias nrm v1
    .alias idx v5
sub: add r1, k0, r1
    nop
main:
    dp4 o0.x, projection[0], pos
    dp4 o0.y, projection[1], pos
    dp4 o0.z, projection[2], pos
    dp4 o0.w, projection[3], pos
    mova a0.xy, idx
    add r0, base[a0.x], r0
    dp3 r1, base[a0.y], nrm
    dph r2, pos, tint
    dph r2, tint, pos
    dst r3, tint, pos
    dst r3, pos, tint
    ex2 r4.x, pos.xxxx
    lg2 r4.y, pos.yyyy
    litp r5, pos
    mul r6, tint.wzyx, -pos
    sge r7, tint, pos
    sge r7, pos, tint
    slt r8, tint, pos
    slt r8, pos, tint
    flr r9, pos
    max r10, tint, pos
    min r11, tint, -pos
    rcp r12.x, pos.wwww
    rsq r13.x, pos.wwww
    mov r14, k1
    mad r15, r0, r1, r2
    mad r15.xy, r0, tint, -r2
    mad r15.zw, r0, -r1, tint
    mad r15, r0, base[a0.x], r2
    mad r15, r0, r1, base[a0.y]
    cmp k0, lt, ge, r1
    cmp k0, eq, ne, r1
    cmp k0, le, gt, r1
    ifc cmp.x && cmp.y, e1, d1
        mov r0, tint
e1:     mov r0, r1
d1: ifc cmp.x || !cmp.y, d2, d2
        mov r0, tint
d2: ifc !cmp.x, d3, d3
        mov r0, k0
d3: ifu b0, e4, d4
        mov r1, k0
e4:     mov r1, tint
d4: loop i0, l5
        add r1, base[lcnt], r1
        cmp k0.xxxx, gt, gt, r1
        breakc cmp.x
l5:     nop
    loop i3, l6
        call sub, main
        callc cmp.x, sub, 2
        callu b1, sub, main
l6:     nop
    jmpu b0, skip
    nop
    jmpu !b1, skip
    jmpc cmp.y, skip
    mov r2, tint
skip:
    mov o1, r1
    mov o2, r2
    mov o3, r3
    mov o4, r4
    mov o5, r5
    mov o6, r6
    end
";

#[test]
fn the_assembler_makes_the_words_another_one_made() {
    let expected = Shbin::read(&sample("shbin", "own_allops.shbin")).unwrap();
    let program = assemble(ALL_OPERATIONS).unwrap();
    for (n, &word) in program.code.iter().enumerate() {
        let theirs = expected.dvlp.code.entries[n];
        let listing = (program.line(n), expected.program().line(n));
        assert_eq!(format!("{word:08x}"), format!("{theirs:08x}"), "word {n}: {listing:?}");
    }
    assert_eq!(program.code, expected.dvlp.code.entries);
    assert_eq!(program.descriptors, expected.dvlp.descriptors.entries);
    assert_eq!((program.address("main"), program.address("skip")), (Some(2), Some(60)));
}

/// A listing without operand descriptors: the assembler finds its own.
fn without_descriptors(listing: &str) -> String {
    let lines = listing.lines().filter(|line| !line.starts_with(".opdesc"));
    lines.map(|line| line.split([';', '@']).next().unwrap_or("").trim_end().to_owned() + "\n").collect()
}

#[test]
fn descriptors_found_again_say_the_same() {
    for Sample { name, bytes } in samples("shbin") {
        let listing = Shbin::read(&bytes).unwrap().program().to_string();
        let again =
            assemble(&without_descriptors(&listing)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(without_descriptors(&again.to_string()), without_descriptors(&listing), "{name}");
    }
}

#[test]
fn the_samples_use_every_operation_but_break() {
    let mut seen = BTreeSet::new();
    for Sample { bytes, .. } in samples("shbin") {
        let shbin = Shbin::read(&bytes).unwrap();
        seen.extend(shbin.dvlp.code.entries.iter().filter_map(|&word| Inst::decode(word)).map(Inst::op));
    }
    let missing: Vec<_> = TABLE.iter().map(|row| row.op).filter(|op| !seen.contains(op)).collect();
    assert_eq!(missing, [Op::Break]);
}

#[test]
fn errors_name_line_column_and_token() {
    for (text, expected) in [
        ("mov o0, v0\n  foo r1", "2:3: `foo`: no instruction has this name"),
        ("mov o0, v16", "1:9: `v16`: v16 does not exist; there are 16"),
        ("mov o0 v0", "1:8: `v0`: `,` expected here"),
        ("mov o0,", "1:8: `end of line`: a register expected here"),
        ("add r0, c1, c2", "1:13: `c2`: float uniforms and indices fit only one source"),
        ("call nowhere, 1", "1:6: `nowhere`: no label has this name"),
        ("mov o0, v0 @3", "1:13: `3`: descriptor 3 is not defined by .opdesc"),
        (".opdesc 0, xy, xyzw\nmov o0, v0 @0", "2:13: `0`: the operands disagree with descriptor 0"),
        ("a: nop\na: nop", "2:1: `a`: this label stands elsewhere too"),
        ("call 4096, 0", "1:6: `4096`: 4096 does not fit field Target"),
        ("x: nop\nnop\ncall 2, x", "3:9: `x`: this label stands before the target"),
        ("nop !0x80000000", "1:6: `0x80000000`: the hardware does not ignore"),
        ("ifc cmp.z, 0, 0", "1:9: `z`: the flags are cmp.x and cmp.y"),
        (".data 3", "1:2: `data`: unknown directive"),
        ("end end", "1:5: `end`: nothing more is expected"),
        ("mov o0.yx, v0", "1:8: `yx`: a mask is some of xyzw in this order"),
        ("höhle: nop", "1:1: `h`: no instruction has this name"),
    ] {
        let error = assemble(text).expect_err(text).to_string();
        assert!(error.starts_with(expected), "{text:?}: {error}");
    }
    let many = "nop\n".repeat(4097);
    assert!(assemble(&many).unwrap_err().to_string().starts_with("4097:1: `nop`: there is room for 4096"));
}

/// Any word, or one with a given opcode: most opcodes are rare among random words.
fn any_word() -> impl Strategy<Value = u32> {
    (any::<u32>(), 0u32..64).prop_map(|(word, opcode)| word & 0x03FF_FFFF | opcode << 26)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_words_print_and_parse_back(
        code in proptest::collection::vec(any_word(), 1..60),
        descriptors in proptest::collection::vec(any::<(u32, u32)>(), 0..128),
    ) {
        let program = Program {
            code,
            descriptors: descriptors
                .into_iter()
                .map(|(word, second)| Descriptor { word, second })
                .collect(),
            labels: Vec::new(),
        };
        let text = program.to_string();
        let again = assemble(&text).unwrap();
        prop_assert_eq!(again.code, program.code, "{}", text);
        prop_assert_eq!(again.descriptors, program.descriptors);
    }

    #[test]
    fn assembler_text_never_panics(text in "[a-z0-9 .,:@!\\[\\]\n&|()-]{0,80}") {
        oracle::pica(text.as_bytes());
    }
}

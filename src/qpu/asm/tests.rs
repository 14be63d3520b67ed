//! The vectors of an independent assembler, and the way back from the disassembler.

use super::*;
use crate::qpu::Inst;
use crate::qpu::UniformSource;
use crate::qpu::disasm::disassemble;
use proptest::prelude::*;

/// The rows of the vector file whose first column is `kind` (`""`: plain vectors), split at tabs.
fn rows(kind: &str) -> Vec<Vec<String>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/qpu-vectors.tsv");
    let text = std::fs::read_to_string(path).expect("the vectors stand beside the crate");
    let split = |line: &str| line.split('\t').map(String::from).collect::<Vec<_>>();
    let wanted = |line: &&str| match kind {
        "" => !line.starts_with('#') && !line.is_empty(),
        kind => line.split('\t').next() == Some(kind),
    };
    text.lines().filter(wanted).map(split).collect()
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.strip_prefix("0x").expect("a hexadecimal number"), 16).expect("a word")
}

fn one(text: &str) -> u64 {
    let assembled = assemble(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(assembled.words.len(), 1, "{text}");
    assembled.words[0]
}

fn message(text: &str) -> String {
    assemble(text).expect_err(text).to_string()
}

#[test]
fn all_vectors_assemble_to_their_words() {
    let rows = rows("");
    assert_eq!(rows.len(), 1247);
    for row in rows {
        assert_eq!(one(&row[1]), hex(&row[0]), "{}", row[1]);
    }
}

#[test]
fn extensions_assemble_to_their_words() {
    let rows = rows("#EXTRA");
    assert_eq!(rows.len(), 31);
    for row in rows {
        assert_eq!(one(&row[2]), hex(&row[1]), "{}", row[2]);
    }
}

#[test]
fn excluded_texts_give_the_intended_word_an_error_or_a_warning() {
    let rows = rows("#EXCLUDED");
    assert_eq!(rows.len(), 62);
    let mut intended_words = 0;
    for row in rows {
        let (text, note) = (&row[2], &row[3]);
        let intended = ["correct value 0x", "intended 0x", "raddr_a field 0: 0x"]
            .iter()
            .find_map(|mark| note.find(mark).map(|at| at + mark.len()))
            .map(|at| u64::from_str_radix(&note[at..at + 16], 16).expect("a word"));
        match (assemble(text), intended) {
            (Ok(assembled), Some(word)) => {
                assert_eq!(assembled.words, [word], "{text}");
                intended_words += 1;
            }
            (Err(error), Some(_)) => panic!("{text}: {error}"),
            (Ok(assembled), None) if text.contains("nop.ws") => {
                assert_eq!(assembled.words, [0x1010_59c4_209e_7001], "{text}");
            }
            (Ok(assembled), None) if text.contains("nop()") => {
                assert_eq!(assembled.words, [Inst::NOP.encode()], "{text}");
            }
            // Only the float -1.0 is an accident that programs rely on.
            (Ok(assembled), None) => {
                assert!(text.contains("0xbf800000") && assembled.warnings.len() == 1, "{text}");
            }
            (Err(_), None) => {}
        }
    }
    assert_eq!(intended_words, 45);
}

#[test]
fn canonical_text_of_the_vectors_returns() {
    for row in rows("") {
        let word = hex(&row[0]);
        assert_eq!(one(&Inst::decode(word).expect("a vector").to_string()), word, "{}", row[1]);
    }
}

#[test]
fn oddities_of_existing_programs_assemble() {
    const NOP: u64 = 0x1000_09e7_009e_7000;
    assert_eq!(one(";; sig_none;nop=nop(r0,r0) ;; ; nop = nop( r0 , r0 );;"), NOP);
    assert_eq!(one("sig_none ; nop = nop(nop, nop) ; nop = nop()"), NOP);
    let load = "sig_load_imm ; r0 = load32.always(0x3F800000\u{202c}) ; nop = load32() ;";
    assert_eq!(one(load), 0xe002_0827_3f80_0000);
    let warned = |text: &str, word: u64| {
        let assembled = assemble(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!((assembled.words[0], assembled.warnings.len()), (word, 1), "{text}");
    };
    warned(
        "sig_small_imm ; r2 = or.always(b, b, nop, 0xbf800000) ; nop = nop(r0, r0) ;",
        0xd002_08a7_159f_ffc0,
    );
    warned("sig_small_imm ; r0 = add.always(r1, r2) ; nop = nop(r0, r0) ;", 0xd002_0827_0c9e_7280);
    // A pack on an accumulator is encoded; it has no effect there.
    assert_eq!(one("sig_none ; r1.8a = nop(r0, r0) ; nop = nop(r0, r0) ;"), 0x1040_0867_009e_7000);
}

#[test]
fn errors_point_at_the_word() {
    let text = "sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;\n  sig_none ; r9 = or.always(r1, r1) ; nop = nop(r0, r0) ;\nsig_bogus ;";
    let error = assemble(text).expect_err("two bad lines");
    let places: Vec<_> =
        error.diagnostics.iter().map(|d| (d.line, d.column, d.token.as_str(), d.message.as_str())).collect();
    assert_eq!(places, [(2, 14, "r9", "unknown destination"), (3, 1, "sig_bogus", "unknown signal")]);
    assert_eq!(&text[error.diagnostics[0].span.clone()], "r9");
}

#[test]
fn errors_say_what_to_write() {
    let add = |args: &str| format!("sig_small_imm ; r0 = add.always({args}) ; nop = nop(r0, r0) ;");
    assert!(message(&add("r1, b, nop, 1.0")).contains("0x3f800000"));
    assert!(message(&add("r1, b, nop, 16")).contains("0 to 15"));
    assert!(message(&add("r1, b, nop, rot16")).contains("rot1 to rot15"));
    assert!(message("sig_none ; r4 = or(r0, r0) ; nop = nop(r0, r0) ;").contains("r4 cannot be written"));
    assert!(message("sig_none ; ra4 = or(r0, r0) ; nop = nop(r0, r0) ;").contains("rxN"));
    assert!(message("sig_none ; r0 = or(a, b, rb1) ; nop = nop(r0, r0) ;").contains("fourth argument"));
    assert!(message("sig_load_imm ; r0 = load32(1) ; nop = nop(r0, r0) ;").contains("both halves"));
    assert!(message("sig_none ; r0 = or(r0) ; nop = nop(r0, r0) ;").contains("two operands"));
    assert!(message("sig_branch ; nop = branch.reg(0, always) ; nop = branch() ;").contains("ra0 to ra31"));
    assert!(message("sig_none ; r0 = or(r0, r0)").contains("expected `;`"));
}

/// Shorthand for one instruction per word.
fn lines(text: &str) -> String {
    text.split_whitespace()
        .map(|word| match word {
            "nop" => "sig_none ; nop = nop() ; nop = nop() ;\n".into(),
            "uni" => "sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n".into(),
            "t" => "sig_none ; tmu0_t = or.always(r0, r0) ; nop = nop() ;\n".into(),
            "s" => "sig_none ; tmu0_s = or.always(r0, r0) ; nop = nop() ;\n".into(),
            word => match word.strip_prefix('>') {
                Some(label) => format!("sig_branch ; nop = branch.rel({label}, any_zc) ; nop = branch() ;\n"),
                None if word.ends_with(':') => format!("{word}\n"),
                None => format!(".uniform {word}\n"),
            },
        })
        .collect()
}

#[test]
fn labels_are_distances_from_behind_the_delay_slots() {
    let text = lines("top: nop >end >top nop nop nop back: nop >back nop nop nop end: >end nop nop nop");
    let assembled = assemble(&text).expect(&text);
    let offsets: Vec<_> = assembled
        .instructions()
        .expect("instructions")
        .into_iter()
        .filter_map(|inst| if let Inst::Branch(b) = inst { Some((b.offset, b.rel, b.reg)) } else { None })
        .collect();
    let distance = |from: i32, to: i32| ((to - from - 4) * 8, true, None);
    assert_eq!(offsets, [distance(1, 11), distance(2, 0), distance(7, 6), distance(11, 11)]);
    let labels: Vec<_> = assembled.labels.iter().map(|l| (l.name.as_str(), l.instruction)).collect();
    assert_eq!(labels, [("top", 0), ("back", 6), ("end", 11)]);
    assert_eq!(&text[assembled.labels[1].span.clone()], "back");
}

#[test]
fn bad_labels_are_refused() {
    let refused = |text: &str, message: &str| {
        let error = assemble(text).expect_err(text);
        assert!(error.to_string().contains(message), "{error}");
    };
    refused(&lines("loop: nop >lop nop nop nop"), "no such label (at `lop`); did you mean `loop`?");
    refused(&lines("x: nop x: nop"), "3:1: the label stands before instruction 0 already");
    refused(&lines("nop >end nop nop nop end:"), "no instruction stands behind this label");
    refused(&lines("1st: nop"), "begins with a letter");
    refused("sig_none: nop = nop() ; nop = nop() ;", "name of a signal");
    let absolute = "x: sig_branch ; nop = branch(x, always) ; nop = branch() ;";
    refused(absolute, "write branch.rel");
}

#[test]
fn uniforms_are_named_in_the_order_of_their_reads() {
    let names = |text: &str| -> Vec<(String, usize)> {
        let assembled = assemble(text).unwrap_or_else(|e| panic!("{text}{e}"));
        assembled.uniforms.into_iter().map(|u| (u.name, u.instruction)).collect()
    };
    let row = |name: &str, instruction| (name.to_string(), instruction);
    // In front of the reads, or all at the top; both texture parameters take a word.
    let expected = [row("scale-4", 0), row("tex.p0", 2), row("tex.p1[0]+[1]", 3), row("color[3].x", 4)];
    assert_eq!(names(&lines("scale-4 uni nop tex.p0 t tex.p1[0]+[1] s color[3].x uni")), expected);
    assert_eq!(names(&lines("scale-4 tex.p0 tex.p1[0]+[1] color[3].x uni nop t s uni")), expected);
    assert_eq!(names(&lines("uni nop")), []);
    let source = assemble(&lines("a t b s")).expect("two parameters").uniforms[1].source;
    assert_eq!(source, UniformSource::Tmu(crate::qpu::Waddr::TMU0_S));
}

#[test]
fn wrong_uniforms_are_refused() {
    let refused = |text: &str, token: &str, message: &str| {
        let error = assemble(text).expect_err(text);
        let [diagnostic] = &error.diagnostics[..] else { panic!("{error}") };
        assert_eq!(diagnostic.token, token, "{error}");
        assert!(diagnostic.message.contains(message), "{error}");
    };
    refused(&lines("uni a uni"), "a", "taken before this by instruction 0");
    refused(&lines("a uni b nop"), "b", "the program takes 1 words");
    // A direct lookup takes no word.
    refused(&lines("a s"), "a", "the program takes 0 words");
    let text = lines("a uni uni");
    let error = assemble(&text).expect_err(&text);
    assert_eq!((error.diagnostics[0].line, error.diagnostics.len()), (3, 1));
    assert!(error.diagnostics[0].message.contains("uniform word 1"), "{error}");
    refused(".unifrom a", "unifrom", "the directives are");
}

#[test]
fn comments_stand_anywhere() {
    let nop = Inst::NOP.encode();
    let text = "/* a ; b\n # */ sig_none ;/**/ nop = nop(/* * / */) ; # /* here\n nop = nop() ;/*end*/";
    assert_eq!(one(text), nop);
    assert!(message("sig_none ; nop = nop() /* open").contains("no end"));
    assert!(message("// note\nsig_none ;").contains("`/*` and `*/`"));
}

#[test]
fn errors_do_not_hide_each_other() {
    let text = "sig_none ; r9 = nop() ; nop = nop() ;\nloop: sig_none ; nop = nop( ; nop = nop() ;\n.word 5x ;\n.uniform a sig_non ;";
    let error = assemble(text).expect_err(text);
    let places: Vec<_> = error.diagnostics.iter().map(|d| (d.line, d.column, d.token.as_str())).collect();
    assert_eq!(places, [(1, 12, "r9"), (2, 29, ";"), (3, 7, "5x"), (4, 12, "sig_non")]);
}

#[test]
fn listings_assemble() {
    let words = [0x1000_09e7_009e_7000, 0x1000_09e7_099e_7000, 0xff00_0000_0000_0000, 0xe800_09e7_0000_0015];
    assert_eq!(assemble(&disassemble(&words)).expect("a listing").words, words);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn disassembly_returns(word: u64, signal in 0u64..16) {
        let word = word & !(15 << 60) | signal << 60;
        // Half of the branches would fall to bits that must be zero.
        let word = if signal == 15 { word & !(15 << 56) } else { word };
        if let Ok(inst) = Inst::decode(word) {
            prop_assert_eq!(inst.encode(), word);
            let text = inst.to_string();
            let assembled = assemble(&text).map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
            prop_assert_eq!(&assembled.words[..], &[word][..], "{}", text);
            prop_assert!(assembled.warnings.is_empty(), "{}", text);
        }
    }

    #[test]
    fn any_text_is_answered(text in "(sig_none|sig_branch|;|=|r0|rx[0-9]{1,9}|[.]|load32|nop|[(]|[)]|,|-|#|\n| |0x[0-9a-f]{1,20}|\u{202c}|é|b|add|/[*]|[*]/|/|:|\\[|[.]uniform|loop|[.]word|sig_branch ; nop = branch[.]rel\\(loop, always\\) ; nop = branch\\(\\) ;){0,40}") {
        if let Err(error) = assemble(&text) {
            for diagnostic in error.diagnostics {
                prop_assert!(diagnostic.line >= 1 && text.is_char_boundary(diagnostic.span.end));
            }
        }
    }
}

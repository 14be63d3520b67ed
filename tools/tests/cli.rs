//! The binary as a shell sees it: output, exit codes, standard input.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vc4"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs `vc4` with `input` on standard input.
fn vc4(args: &[&str], input: impl AsRef<[u8]>) -> Output {
    let mut child = command(args).spawn().expect("vc4 starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.as_ref().to_vec();
    let writer = std::thread::spawn(move || {
        // A command that does not read its input closes the pipe.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("vc4 ends");
    writer.join().expect("the writer ends");
    output
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// Standard output of a run that must succeed.
fn ok(args: &[&str], input: impl AsRef<[u8]>) -> String {
    let output = vc4(args, input);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

fn vectors(name: &str) -> String {
    let path = format!("{}/../tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Words and texts of the independent encodings.
fn encodings() -> (Vec<String>, String) {
    let file = vectors("qpu-vectors.tsv");
    let rows = file.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
    let (words, texts): (Vec<_>, Vec<_>) = rows.unzip();
    (words.into_iter().map(str::to_lowercase).collect(), texts.join("\n"))
}

const END: &str = "sig_end ; nop = nop() ; nop = nop() ;\nsig_none ; nop = nop() ; nop = nop() ;\nsig_none ; nop = nop() ; nop = nop() ;\n";

#[test]
fn assembling_and_back_is_the_identity() {
    let (words, text) = encodings();
    let hex = ok(&["asm", "--hex"], &text);
    assert_eq!(hex.lines().collect::<Vec<_>>(), words);
    assert_eq!(ok(&["asm"], ok(&["disasm", "--hex"], &hex)), hex);
    let binary = vc4(&["asm", "--bin"], &text).stdout;
    assert_eq!(binary.len(), words.len() * 8);
    let listing = ok(&["disasm", "--bin"], &binary);
    assert_eq!(listing, ok(&["disasm"], &binary));
    assert_eq!(vc4(&["asm", "--bin"], &listing).stdout, binary);
}

#[test]
fn files_come_and_go() {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (text, out) = (dir.join("files.qpu"), dir.join("files.hex"));
    std::fs::write(&text, END).expect("a file");
    let name = |path: &PathBuf| path.display().to_string();
    assert_eq!(ok(&["asm", &name(&text), "-o", &name(&out)], ""), "");
    assert_eq!(std::fs::read_to_string(&out).expect("words").lines().next(), Some("0x300009e7009e7000"));
    let missing = vc4(&["asm", "no/such/file.qpu"], "");
    assert_eq!(missing.status.code(), Some(1));
    assert!(stderr(&missing).contains("no/such/file.qpu"), "{}", stderr(&missing));
    let unwritable = vc4(&["asm", &name(&text), "-o", "no/such/directory/x"], "");
    assert_eq!(unwritable.status.code(), Some(1));
}

#[test]
fn errors_underline_the_token_and_suggest() {
    let output = vc4(
        &["asm", "-"],
        "sig_none ; nop = nop() ; nop = nop() ;\n  sig_none ; r0 = faddd(r0, r1) ; nop = nop() ;",
    );
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let text = stderr(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "error: no operation of the add half");
    assert!(lines[1].trim_start().starts_with("--> <stdin>:2:19"), "{text}");
    let source = lines.iter().position(|line| line.contains("faddd(r0")).expect("the line");
    let (at, mark) = (lines[source].find("faddd"), lines[source + 1].find("^^^^^"));
    assert!(at.is_some() && at == mark, "{text}");
    assert!(text.contains("did you mean `fadd`?"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colours into a pipe: {text}");
}

#[test]
fn warnings_do_not_fail() {
    let text = "sig_small_imm ; r2 = or.always(b, b, nop, 0xbf800000) ; nop = nop() ;";
    let output = vc4(&["asm"], text);
    assert_eq!((output.status.code(), stdout(&output).trim()), (Some(0), "0xd00208a7159fffc0"));
    assert!(stderr(&output).starts_with("warning: -1.0"), "{}", stderr(&output));
}

#[test]
fn names_come_out_as_json() {
    let text = "top: .uniform scale\nsig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;";
    let json = ok(&["asm", "--json"], text);
    assert_eq!(
        json,
        "{\"words\": [\"0x1002082715827d80\"],\n \"labels\": [{\"name\": \"top\", \"instruction\": 0}],\n \"uniforms\": [{\"name\": \"scale\", \"instruction\": 0, \"source\": \"read\"}]}\n"
    );
}

#[test]
fn words_that_are_no_words_are_refused() {
    for (args, input) in [
        (&["disasm", "--hex"][..], "0x12 xyz"),
        (&["disasm", "--bin"], "1234567"),
        (&["cl", "--hex"], "123"),
        (&["cl", "--encode"], "NO_SUCH_PACKET"),
        (&["cost", "--hex"], "0x100009e7099e7000"),
        (&["check", "--stage", "vertex", "--hex"], "-1"),
        (&["stencil", "--word", "0x00010000"], ""),
        (&["vpm", "decode-read", "0xffffffff"], ""),
    ] {
        let output = vc4(args, input);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", stderr(&output));
    }
    assert_eq!(vc4(&["check"], "").status.code(), Some(2));
    assert_eq!(vc4(&["no-such-command"], "").status.code(), Some(2));
}

#[test]
fn findings_stand_on_lines() {
    let clean = ok(&["check", "--stage", "vertex"], END);
    assert_eq!(clean, "");
    let text = format!(
        "sig_none ; rx1 = or.always(r0, r0) ; nop = nop() ;\nsig_none ; r1 = or.always(a, a, ra1) ; nop = nop() ;\n{END}"
    );
    let output = vc4(&["check", "--stage", "vertex"], &text);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        stdout(&output),
        "<stdin>:2:1: instruction 1: directly after instruction 0, at least 2 needed (file-latency, qpu.md §5.1 9)\n"
    );
    let words = ok(&["asm"], &text);
    let output = vc4(&["check", "--stage", "vertex", "--hex"], &words);
    assert!(stdout(&output).starts_with("<stdin>: instruction 1: "), "{}", stdout(&output));
    let output = vc4(&["check", "--stage", "vertex", "--json"], &words);
    assert!(
        stdout(&output).starts_with("[{\"instruction\": 1, \"rule\": \"file-latency\""),
        "{}",
        stdout(&output)
    );
    let output = vc4(&["check", "--stage", "vertex", "--listing"], &words);
    assert!(stdout(&output).contains(">    1: sig_none"), "{}", stdout(&output));
    let output = vc4(&["check", "--stage", "fragment", "--varyings", "1"], END);
    assert!(stdout(&output).contains("varyings-left") && stdout(&output).contains("tile-untouched"));
}

#[test]
fn the_kernels_vectors_are_judged_as_the_kernel_does() {
    let file = vectors("kernel-shader-vectors.tsv");
    let mut rows = 0;
    for row in file.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let output = vc4(&["check", "--stage", "fragment", "--rules", "kernel", "--hex"], cells[1]);
        let expected = if cells[2] == "accept" { Some(0) } else { Some(1) };
        assert_eq!(output.status.code(), expected, "{}: {}", cells[0], stdout(&output));
        assert_eq!(stdout(&output).lines().count(), usize::from(expected == Some(1)), "{}", cells[0]);
        rows += 1;
    }
    assert_eq!(rows, 87);
}

#[test]
fn costs_of_lines_and_programs() {
    let text = format!(
        "sig_none ; tmu0_s = or.always(r0, r0) ; nop = nop() ;\nsig_load_tmu0 ; nop = nop() ; nop = nop() ;\n{END}"
    );
    let tsv = ok(&["cost", "--stats", "tsv"], &text);
    let rows: Vec<Vec<&str>> = tsv.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0][..4], ["program", "instructions", "nops", "uniforms"]);
    assert_eq!(rows[1], ["<stdin>", "5", "2", "0", "0", "0", "13", "52", "issue"]);
    let listing = ok(&["cost"], &text);
    assert!(listing.contains("      9     1: sig_load_tmu0"), "{listing}");
    assert!(listing.contains("waits 8 for the TMU") && listing.contains("about 52 cycles"), "{listing}");
}

#[test]
fn control_lists_print_and_return() {
    let file = vectors("kernel-bin-vectors.tsv");
    let mut lists = 0;
    for row in file.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let output = vc4(&["cl", "--hex"], cells[1]);
        if output.status.code() != Some(0) {
            assert!(stdout(&output).contains('#') && !stderr(&output).is_empty(), "{}", cells[0]);
            continue;
        }
        lists += 1;
        assert_eq!(ok(&["cl", "--encode", "--hex"], stdout(&output)).trim(), cells[1], "{}", cells[0]);
    }
    assert!(lists >= 30, "{lists}");
    let minimal = ok(&["cl", "--hex"], "70000000000000000000000000010100060704");
    assert!(minimal.starts_with("0000  TILE_BINNING_MODE_CONFIG tile_alloc=0x0"), "{minimal}");
    assert!(minimal.contains("width_tiles=1 height_tiles=1"), "{minimal}");
    let wrong_kind = vc4(&["cl", "--hex", "--list", "renderer"], "06");
    assert_eq!(wrong_kind.status.code(), Some(1));
}

#[test]
fn set_up_words() {
    let both = ok(&["stencil", "--func", "equal", "--pass", "replace", "--reference", "1"], "");
    assert_eq!(both.lines().count(), 1);
    assert_eq!(ok(&["stencil", "--func", "eq", "--pass", "replace", "--reference", "1"], ""), both);
    assert!(both.contains("face=both") && both.contains("depth_pass=replace"), "{both}");
    let word = both.split_whitespace().next().expect("a word");
    assert_eq!(ok(&["stencil", "--word", word], ""), both);
    assert_eq!(ok(&["stencil", "--back-fail", "zero"], "").lines().count(), 2);
    // No compact mask: a word of both faces and one of the masks; faces that differ need a word each.
    assert_eq!(ok(&["stencil", "--write-mask", "0x05"], "").lines().count(), 2);
    let differing = ["stencil", "--write-mask", "0x05", "--back-fail", "zero"];
    assert_eq!(ok(&differing, "").lines().count(), 3);
    assert_eq!(ok(&["stencil", "--dynamic"], "").lines().count(), 3);
    assert_eq!(vc4(&["stencil", "--reference", "256"], "").status.code(), Some(2));
    let read = ok(&["vpm", "read", "--count", "3", "--address", "5"], "");
    assert!(read.starts_with("0x00301a05  read count=3 stride=1"), "{read}");
    let instruction = read.lines().nth(1).expect("the instruction");
    assert_eq!(ok(&["asm"], instruction), "0xe0020c6700301a05\n");
    let write = ok(&["vpm", "write", "--size", "16", "--laned", "--vertical"], "");
    assert!(write.contains("horizontal=0 laned=1 size=16"), "{write}");
    assert_eq!(ok(&["vpm", "decode-write", write.split(' ').next().expect("a word")], ""), write);
}

#[test]
fn the_reference_has_parts() {
    assert!(ok(&["isa"], "").contains("Small immediates"));
    let words = ok(&["isa", "words"], "");
    assert!(words.contains("s  63:60  sig") && !words.contains("Small immediates and"), "{words}");
    assert_eq!(vc4(&["isa", "nonsense"], "").status.code(), Some(2));
}

#[test]
fn every_command_has_help_with_examples() {
    let help = ok(&["--help"], "");
    let commands =
        ["asm", "disasm", "check", "cost", "cl", "isa", "stencil", "vpm", "patch", "doctor", "completions"];
    for command in commands {
        assert!(help.contains(&format!("  {command} ")), "{help}");
        let text = ok(&[command, "--help"], "");
        assert!(text.contains("Examples:") && text.contains(&format!("vc4 {command}")), "{text}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(ok(&["completions", shell], "").contains("disasm"));
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("man");
    ok(&["man", directory.to_str().expect("a plain name")], "");
    for (page, word) in
        [("vc4.1", "vc4\\-asm(1)"), ("vc4-asm.1", "SYNOPSIS"), ("vc4-sim-report.1", "Examples:")]
    {
        let text =
            std::fs::read_to_string(directory.join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.contains(".TH") && text.contains(word), "{page}: {text}");
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let nops = "0x100009e7009e7000\n".repeat(100_000);
    let mut child = command(&["disasm", "--hex"]).spawn().expect("vc4 starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(nops.as_bytes()));
    let mut first = [0; 10];
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut first).expect("ten bytes");
    drop(stdout);
    let output = child.wait_with_output().expect("vc4 ends");
    writer.join().expect("the writer ends").expect("all input is read");
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(stderr(&output), "");
}

//! `vc4 compile` as its users run it, and `vc4 inspect` on what it writes.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn shader(name: &str) -> String {
    let shaders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/shaders");
    shaders.canonicalize().expect("shader folder").join(name).display().to_string()
}

fn vc4(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vc4")).args(arguments).output().expect("vc4 runs")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile");
    std::fs::create_dir_all(&folder).expect("scratch folder");
    folder.join(name)
}

#[test]
fn statistics_have_a_row_per_program() {
    let (vertex, fragment) = (shader("corpus/alpha_test.vert.spv"), shader("corpus/alpha_test.frag.spv"));
    let both = stdout(&vc4(&["compile", "--stats", "tsv", &vertex, &fragment]));
    let rows: Vec<Vec<&str>> = both.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0], ["shader", "stage", "inst", "uniforms", "threads", "max_temps", "est_cycles"]);
    let heads: Vec<_> = rows[1..].iter().map(|row| (row[0], row[1])).collect();
    assert_eq!(heads, [("alpha_test", "VS"), ("alpha_test", "CS"), ("alpha_test", "FS")]);
    for row in &rows[1..] {
        let number = |n: usize| row[n].parse::<u32>().expect("a number");
        assert!(number(2) > 5 && number(3) > 0 && number(5) > 0 && number(5) <= 69 && number(6) >= number(2));
    }
    // Each stage alone; the order of files does not matter.
    let alone = stdout(&vc4(&["compile", "--stats", "tsv", "--name", "x", &fragment]));
    assert_eq!(alone.lines().skip(1).map(|row| &row[..4]).collect::<Vec<_>>(), ["x\tFS"]);
    let alone = stdout(&vc4(&["compile", "--stats", "tsv", "--stage", "vertex", &fragment, &vertex]));
    assert_eq!(alone.lines().count(), 3);
    assert_eq!(
        stdout(&vc4(&["compile", "--stats", "tsv", "--name", "alpha_test", &fragment, &vertex])),
        both
    );
}

/// The listing is a program: it assembles to the words that the file holds.
#[test]
fn the_listing_assembles_to_the_same_words() {
    let (vertex, fragment) = (shader("cube.vert.spv"), shader("cube.frag.spv"));
    for (stage, file) in [("vertex", &vertex), ("fragment", &fragment)] {
        let path = scratch(&format!("{stage}.vc4p"));
        let path = path.to_str().expect("UTF-8");
        let arguments = ["compile", "--asm", "--stage", stage, "-o", path, file];
        let listing = stdout(&vc4(&arguments));
        // The vertex stage has two programs; their heads are comments.
        let count = listing.matches("sig_end").count();
        assert_eq!(count, if stage == "vertex" { 2 } else { 1 });
        let last = listing.rfind("\n# vertex stage (coord").map_or(&listing[..], |at| &listing[at..]);
        let words = assembled(last);
        let bytes = std::fs::read(path).expect("file");
        assert!(bytes.windows(words.len()).any(|window| window == words), "{stage}");
    }
}

fn assembled(text: &str) -> Vec<u8> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_vc4"))
        .args(["asm", "-", "--bin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("vc4 runs");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("vc4 ends");
    assert!(output.status.success() && !output.stdout.is_empty());
    output.stdout
}

#[test]
fn state_becomes_code() {
    let fragment = shader("corpus/alpha_test.frag.spv");
    let file = scratch("blend.state");
    std::fs::write(&file, "blend src-alpha one-minus-src-alpha add\nwrite rgb\n").expect("written");
    let plain = stdout(&vc4(&["compile", "--asm", &fragment]));
    let blended = stdout(&vc4(&["compile", "--asm", "--state", file.to_str().expect("UTF-8"), &fragment]));
    assert!(blended.contains("sig_color_load") && !plain.contains("sig_color_load"));
    std::fs::write(&file, "color r8g8b8a8_unorm\nblend plus\n").expect("written");
    let error = stderr(&vc4(&["compile", "--state", file.to_str().expect("UTF-8"), &fragment]));
    assert!(error.contains("blend.state:2: "), "{error}");
}

#[test]
fn passes_show_their_shader() {
    let fragment = shader("cube.frag.spv");
    let shown = stdout(&vc4(&["compile", "--ir", "lower_float", &fragment]));
    assert!(shown.starts_with("Fragment after lower_float:\nshader Fragment\n"), "{shown}");
    assert!(!shown.contains("Vertex"));
    assert!(stdout(&vc4(&["compile", "--ir", "translate", &fragment])).contains("shader Fragment"));
    let error = stderr(&vc4(&["compile", "--ir", "nonsense", &fragment]));
    assert!(error.contains("no pass nonsense ran; there were: all, ") && error.contains("lower_float"));
}

#[test]
fn what_cannot_be_compiled_is_said() {
    let broken = scratch("broken.spv");
    std::fs::write(&broken, [3, 2, 35, 7, 0, 0, 1, 0, 0, 0, 0, 0]).expect("written");
    let error = stderr(&vc4(&["compile", broken.to_str().expect("UTF-8")]));
    assert!(error.contains("broken.spv: 12 bytes are no SPIR-V"), "{error}");
    let mut module = std::fs::read(shader("cube.frag.spv")).expect("module");
    module.truncate(module.len() - 4);
    std::fs::write(&broken, &module).expect("written");
    let error = stderr(&vc4(&["compile", broken.to_str().expect("UTF-8")]));
    assert!(error.contains("broken.spv: "), "{error}");
    let fragment = shader("cube.frag.spv");
    assert!(stderr(&vc4(&["compile", &fragment, &fragment])).contains("both files have a fragment stage"));
    let error = stderr(&vc4(&["compile", "--entry", "start", &fragment]));
    assert!(error.contains("entry point \"start\""), "{error}");
}

#[test]
fn inspect_opens_what_compile_writes() {
    let path = scratch("cube.vc4p");
    let path = path.to_str().expect("UTF-8");
    let (vertex, fragment) = (shader("cube.vert.spv"), shader("cube.frag.spv"));
    let written = vc4(&["compile", "-o", path, &vertex, &fragment]);
    assert_eq!(stdout(&written), "");
    let tree = stdout(&vc4(&["inspect", path]));
    for part in
        ["cube.vc4p: vc4p, ", "vertex program: ", "coordinate program: ", "screen.x.scale", "TMU request"]
    {
        assert!(tree.contains(part), "`{part}` is missing in\n{tree}");
    }
    let code = stdout(&vc4(&["inspect", "--code", path]));
    assert!(code.contains("sig_end") && code.contains(".uniform tex.p0["), "{code}");
    let json = stdout(&vc4(&["inspect", "--json", "--code", path]));
    for part in
        [r#""format":"vc4p""#, r#""stage":"fragment""#, r#""name":"screen.x.scale""#, r#""findings":[]"#]
    {
        assert!(json.contains(part), "`{part}` is missing in\n{json}");
    }
    assert_eq!(stdout(&vc4(&["inspect", "--check", path])), "");
}

#[test]
fn check_finds_damage_and_broken_rules() {
    let path = scratch("damaged.vc4p");
    let name = path.to_str().expect("UTF-8");
    stdout(&vc4(&["compile", "-o", name, &shader("cube.frag.spv")]));
    let good = std::fs::read(&path).expect("file");
    let check = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        let output = vc4(&["inspect", "--check", name]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let line = |at: usize, code: &str| format!("{name}:0x{at:x}: {code}: ");
    let head = vc4_shaders::file::read_with_places(&good).expect("programs").places[0].head;
    let mut bad = good.clone();
    bad[head] = 9;
    let found = check(&bad);
    let lines: Vec<&str> = found.lines().collect();
    assert!(lines[0].starts_with(&line(16, "P05")) && lines[1].starts_with(&line(head, "P06")), "{found}");
    assert!(check(&good[..40]).starts_with(&line(0, "P04")));

    let mut file = vc4_shaders::file::read(&good).expect("programs");
    file.fragment.uniforms.pop();
    file.fragment.threaded = !file.fragment.threaded;
    let found = check(&vc4_shaders::file::write(&file));
    assert!(found.contains(&line(head + 8, "P12")) && found.contains(&line(head, "P14")), "{found}");
    // The program ends at once, without what an end needs.
    let mut file = vc4_shaders::file::read(&good).expect("programs");
    file.fragment.code[0] = 0x3000_09e7_009e_7000;
    let found = check(&vc4_shaders::file::write(&file));
    assert!(found.contains(": P11: instruction ") || found.contains(": P15: "), "{found}");
}

//! `vc4 inspect` as its users run it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sample(name: &str) -> PathBuf {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shaders/containers/tests/samples");
    samples.canonicalize().expect("sample folder").join(name)
}

fn inspect(arguments: &[&str], files: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vc4"));
    command.arg("inspect").args(arguments).args(files).output().expect("vc4 runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// A folder of this test alone, gone when it ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("scratch folder");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn trees_of_every_format() {
    for (file, lines) in [
        (
            "mbs/arrays_frag.m400.mbs",
            &["fragment program, core version 7 (MALI_400 PP)", "cols: highp vec3[2] at 4"][..],
        ),
        ("shbin/own_allops.shbin", &["DVLE vertex program", "67 code words"]),
        (
            "metallib/sdl_render_macos_air18.metallib",
            &["vertex SDL_Copy_vertex", "attribute 2 per-vertex: texcoord"],
        ),
    ] {
        let output = inspect(&[], &[&sample(file)]);
        let shown = text(&output.stdout);
        assert!(output.status.success());
        for line in lines {
            assert!(shown.contains(line), "{file}: `{line}` is missing in\n{shown}");
        }
    }
}

#[test]
fn check_prints_one_line_per_finding_and_the_status_tells() {
    let clean =
        inspect(&["--check"], &[&sample("shbin/own_pass.shbin"), &sample("mbs/arrays_frag.m400.mbs")]);
    assert_eq!((clean.status.code(), text(&clean.stdout)), (Some(0), String::new()));

    let path = sample("metallib/bad/hash_bit.metallib");
    let damaged = inspect(&["--check"], &[&path]);
    let expected = format!("{}:0x78: T12: `vadd`: SHA-256 of the module is ", path.display());
    assert_eq!(damaged.status.code(), Some(1));
    assert!(text(&damaged.stdout).starts_with(&expected));
    assert_eq!(text(&damaged.stdout).lines().count(), 1);

    let warned = sample("mbs/synthetic-seedform.mbs");
    let noted = inspect(&["--check"], &[&warned]);
    assert!(noted.status.success() && !noted.stdout.is_empty());
    assert_eq!(inspect(&["--check", "--strict"], &[&warned]).status.code(), Some(1));
}

/// A file whose magic is gone is still one by its name.
#[test]
fn every_damaged_sample_gives_its_code() {
    let mut seen = 0;
    for format in ["mbs", "shbin", "metallib"] {
        let folder = sample(format).join("bad");
        let table = std::fs::read_to_string(folder.join("EXPECT.tsv")).expect("table");
        for row in table.lines().skip(1) {
            let mut fields = row.split('\t');
            let (file, code) = (fields.next().expect("file"), fields.next().expect("code"));
            let output = inspect(&["--check"], &[&folder.join(file)]);
            let shown = text(&output.stdout);
            assert_eq!(output.status.code(), Some(i32::from(!code.starts_with("W-"))), "{file}");
            let is_error = |line: &&str| !line.contains(": W-");
            let line = shown.lines().find(is_error).or(shown.lines().next()).unwrap_or_default();
            assert!(line.contains(&format!(": {code}: ")), "{file}: expected {code} in\n{shown}");
            seen += 1;
        }
    }
    assert!(seen >= 41);
}

#[test]
fn unreadable_and_unknown_files_are_said_so() {
    let scratch = Scratch::new("unknown");
    let file = scratch.0.join("notes.txt");
    std::fs::write(&file, "nothing of the kind").expect("write");
    for (path, message) in
        [(file, "not MBS, SHBIN, metallib, SPIR-V or VC4P"), (scratch.0.join("absent"), "absent: ")]
    {
        // The others are looked at all the same.
        let output = inspect(&[], &[&path, &sample("shbin/own_pass.shbin")]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("own_pass.shbin: shbin, 220 bytes"));
    }
}

#[test]
fn containers_inside_other_files_are_found() {
    let scratch = Scratch::new("embedded");
    let library = std::fs::read(sample("metallib/metaljl_kernel.26.metallib")).expect("sample");
    let shbin = std::fs::read(sample("shbin/own_pass.shbin")).expect("sample");
    let mut bytes = b"a text about MTLB; ".to_vec();
    bytes.extend_from_slice(&library);
    bytes.resize(bytes.len().next_multiple_of(4) + 8, 0x55);
    bytes.extend_from_slice(&shbin);
    let file = scratch.0.join("application.bin");
    std::fs::write(&file, bytes).expect("write");
    let output = inspect(&[], &[&file]);
    let shown = text(&output.stdout);
    assert!(output.status.success());
    assert!(shown.contains("@0x13: metallib, 3216 bytes"), "{shown}");
    assert!(shown.contains(": shbin, 218 bytes"), "{shown}");
}

#[test]
fn json_has_its_documented_fields() {
    let output =
        inspect(&["--json", "--code"], &[&sample("shbin/own_pass.shbin"), &sample("mbs/bad/magic.mbs")]);
    let shown = text(&output.stdout);
    assert!(shown.starts_with("{\"schema\":1,\"files\":[{\"file\":\""), "{shown}");
    for field in [
        "\"format\":\"shbin\",\"size\":220,\"content\":{\"code_words\":",
        "\"programs\":[{\"stage\":\"vertex\",\"offset\":",
        "\"findings\":[]",
        "\"refused\":{\"code\":\"M02\",\"severity\":\"error\",\"offset\":0,\"message\":\"",
    ] {
        assert!(shown.contains(field), "`{field}` is missing in\n{shown}");
    }
}

#[test]
fn extraction_writes_modules_and_sources() {
    let scratch = Scratch::new("extract");
    let target = scratch.0.join("out");
    let arguments = ["--extract", target.to_str().expect("UTF-8")];
    let output = inspect(&arguments, &[&sample("metallib/synthetic-dynamic-hsrd.metallib")]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let folder = target.join("synthetic-dynamic-hsrd.metallib");
    let module = std::fs::read(folder.join("modules/00000-vs_main.bc")).expect("module");
    assert!(module.starts_with(b"BC\xC0\xDE"));
    assert!(folder.join("sources/1/own2.metal").is_file());
    // Nothing is replaced: a second run finds every name taken and numbers its files.
    assert!(inspect(&arguments, &[&sample("metallib/synthetic-dynamic-hsrd.metallib")]).status.success());
    assert!(folder.join("modules/2-00000-vs_main.bc").is_file());
}

/// Names inside an archive lead nowhere but below the folder.
#[test]
fn extraction_stays_below_its_folder() {
    use shader_containers::metallib::{FunctionSpec, LibraryBuilder, Platform};
    let scratch = Scratch::new("escape");
    let files = ["../../escaped", "/escaped", "a/../../../escaped", "..\\escaped", "con/.profile"];
    let files = files.map(|path| (path.to_string(), b"x".to_vec())).to_vec();
    let library = LibraryBuilder::new(Platform::MacOs, (14, 0, 0))
        .function(FunctionSpec::new("../../f", 2, (2, 6), (3, 1), b"BC\xC0\xDE").source(0))
        .sources("", "", vec![("../..".into(), files)])
        .build()
        .expect("library");
    let file = scratch.0.join("evil.metallib");
    std::fs::write(&file, library).expect("write");
    let target = scratch.0.join("deep/out");
    assert!(inspect(&["--extract", target.to_str().expect("UTF-8")], &[&file]).status.success());
    let mut found = Vec::new();
    walk(&scratch.0, &mut found);
    found.retain(|path| *path != file);
    assert_eq!(found.len(), 6, "{found:?}");
    assert!(found.iter().all(|path| path.starts_with(&target)), "{found:?}");
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_is_not_followed() {
    let scratch = Scratch::new("link");
    let (target, elsewhere) = (scratch.0.join("out"), scratch.0.join("elsewhere"));
    std::fs::create_dir_all(&elsewhere).expect("folder");
    std::fs::create_dir_all(target.join("kernel.metallib")).expect("folder");
    std::os::unix::fs::symlink(&elsewhere, target.join("kernel.metallib/modules")).expect("link");
    let file = scratch.0.join("kernel.metallib");
    std::fs::copy(sample("metallib/metaljl_kernel.26.metallib"), &file).expect("copy");
    let output = inspect(&["--extract", target.to_str().expect("UTF-8")], &[&file]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_dir(&elsewhere).expect("folder").count(), 0);
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("folder") {
        let path = entry.expect("entry").path();
        match path.is_dir() {
            true => walk(&path, found),
            false => found.push(path),
        }
    }
}

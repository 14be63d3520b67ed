//! The committed SPIR-V is what Debian's glslangValidator makes of the committed GLSL.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use vc4_shaders::ir::Stage;
use vc4_shaders::spirv::{StageSource, translate};
use vc4_tests::glsl;

fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).expect("the shaders are committed") {
        let path = entry.expect("a directory entry").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "vert" || e == "frag" || e == "comp") {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[test]
fn spirv_is_current() {
    let shaders = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    for source in sources(&shaders) {
        let name = source.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.spv"));
        glsl::compile(&source, &fresh).unwrap_or_else(|error| panic!("{error}"));
        let committed = PathBuf::from(format!("{}.spv", source.display()));
        // Word 2 of a module names the generator and its version, which may differ between releases.
        let read = |path: &Path| {
            let mut bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            bytes[8..12].fill(0);
            bytes
        };
        assert!(
            read(&fresh) == read(&committed),
            "{} is stale: glslangValidator -V -o {0} {}",
            committed.display(),
            source.display()
        );
    }
}

/// A listing whose values are numbered as they come, and constants named by their words.
fn renumbered(listing: &str) -> String {
    let mut names: HashMap<&str, String> = HashMap::new();
    let mut text = String::new();
    for line in listing.lines() {
        if let Some((value, constant)) = line.trim().split_once(" = const ") {
            names.insert(value, format!("[{constant}]"));
            continue;
        }
        for word in line.split_inclusive([' ', ',', '(', ')']) {
            let value = word.trim_end_matches([' ', ',', '(', ')']);
            let is_value = value.strip_prefix('v').is_some_and(|number| number.parse::<u32>().is_ok());
            let next = format!("#{}", names.len());
            let name = if is_value { names.entry(value).or_insert(next) } else { value };
            text.push_str(name);
            text.push_str(&word[value.len()..]);
        }
        text.push('\n');
    }
    text
}

/// What the front end makes of a module: the optimised IR.
fn program(module: &Path, stage: Stage) -> String {
    let words = glsl::words(module).unwrap_or_else(|error| panic!("{error}"));
    let source = StageSource { words: &words, entry: "main", specialization: &[] };
    let mut shader =
        translate(&source, stage).unwrap_or_else(|error| panic!("{}: {error}", module.display()));
    vc4_shaders::pass::optimize(&mut shader);
    renumbered(&shader.to_string())
}

#[test]
fn the_version_of_spirv_makes_no_difference() {
    let shaders = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    for source in sources(&shaders) {
        let stage = match source.extension().and_then(|extension| extension.to_str()) {
            Some("vert") => Stage::Vertex,
            Some("frag") => Stage::Fragment,
            _ => Stage::Compute,
        };
        let name = source.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let module = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.1_5.spv"));
        glsl::compile_for("vulkan1.2", &source, &module).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(glsl::words(&module).expect("just written")[1], 0x0001_0500);
        let committed = PathBuf::from(format!("{}.spv", source.display()));
        assert_eq!(program(&module, stage), program(&committed, stage), "{}", source.display());
    }
}

/// Where instructions begin whose first word is this one.
fn places(words: &[u32], first: u32) -> Vec<usize> {
    let mut places = Vec::new();
    let mut at = 5;
    while let Some(&word) = words.get(at) {
        if word == first {
            places.push(at);
        }
        at += (word >> 16).max(1) as usize;
    }
    places
}

#[test]
fn an_invocation_that_is_terminated_is_one_that_is_killed() {
    const KILL: u32 = 1 << 16 | 252;
    const TERMINATE: u32 = 1 << 16 | 4416;
    let shaders = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut found = 0;
    for source in sources(&shaders) {
        let committed = PathBuf::from(format!("{}.spv", source.display()));
        let mut words = glsl::words(&committed).unwrap_or_else(|error| panic!("{error}"));
        let kills = places(&words, KILL);
        if kills.is_empty() {
            continue;
        }
        kills.iter().for_each(|&at| words[at] = TERMINATE);
        let patched = Path::new(env!("CARGO_TARGET_TMPDIR")).join("terminated.spv");
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        std::fs::write(&patched, bytes).expect("the module is written");
        let stage = Stage::Fragment;
        assert_eq!(program(&patched, stage), program(&committed, stage), "{}", source.display());
        found += 1;
    }
    assert!(found > 0, "no shader discards");
}

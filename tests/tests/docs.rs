//! What documents say is what the sources and the driver say: ARCHITECTURE.md lists every assumption about the silicon that is marked,
//! and the book's reference is the driver's.

use std::path::{Path, PathBuf};

use vc4::facts::{ROWS, Row};
use vc4_tests::{driver, scratch};

fn rust_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a source directory") {
        let path = entry.expect("a directory entry").path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

const BEGIN: &str = "<!-- ANCHOR: unverified -->\n";
const END: &str = "<!-- ANCHOR_END: unverified -->";

#[test]
fn the_list_of_assumptions_is_the_table_of_facts() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ARCHITECTURE.md");
    let document = std::fs::read_to_string(&path).expect("ARCHITECTURE.md");
    let (before, rest) = document.split_once(BEGIN).expect("its beginning");
    let (listed, behind) = rest.split_once(END).expect("its end");
    let table = vc4::facts::markdown();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, [before, BEGIN, &table, END, behind].concat()).expect("ARCHITECTURE.md");
    } else {
        let how = "UPDATE_GOLDEN=1 cargo test -p vc4-tests --test docs";
        assert!(listed == table, "ARCHITECTURE.md does not list what src/facts/table.rs does: {how}");
    }
}

#[test]
fn every_unverified_assumption_is_a_fact() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for room in ["src", "shaders/src", "kernel-abi/src", "sim/src", "icd/src", "xtask/src"] {
        rust_files(&root.join(room), &mut files);
    }
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source file");
        let marks = |line: &str| line.trim_start().starts_with("//") && line.contains("UNVERIFIED: ");
        if text.lines().any(marks) {
            let name = file.strip_prefix(&root).expect("below the root").display().to_string();
            assert!(
                ROWS.iter().any(|row| row.place.0 == name),
                "{name} marks an assumption that src/facts/table.rs does not hold"
            );
        }
    }
    for Row { name, place: (file, item), .. } in ROWS {
        let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
        assert!(text.contains(item), "{name} is said to stand at {item} in {file}");
    }
}

#[test]
fn the_reference_is_what_the_driver_says() {
    let written = scratch::empty(env!("CARGO_TARGET_TMPDIR"), "reference");
    let mut command = driver::command(env!("CARGO_BIN_EXE_reference"), &driver::ours());
    driver::run(command.arg(&written), "reference");
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book/reference");
    for page in ["extensions.md", "features.md", "limits.md", "formats.md"] {
        let text = std::fs::read_to_string(written.join(page)).expect("a page");
        assert!(text.lines().count() > 20, "{page} says too little:\n{text}");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(committed.join(page), text).expect("a page");
        } else {
            let old = std::fs::read_to_string(committed.join(page)).unwrap_or_default();
            assert!(
                old == text,
                "{page} is not what the driver says: UPDATE_GOLDEN=1 cargo test -p vc4-tests --test docs"
            );
        }
    }
}

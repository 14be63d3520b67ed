//! ARCHITECTURE.md lists every assumption about the silicon that the sources mark.

use std::path::{Path, PathBuf};

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

#[test]
fn every_unverified_assumption_is_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let document = std::fs::read_to_string(root.join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let listed = document.split("## Unverified").nth(1).expect("the section");
    let mut files = Vec::new();
    for room in ["src", "shaders/src", "kernel-abi/src", "sim/src", "icd/src"] {
        rust_files(&root.join(room), &mut files);
    }
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source file");
        let marks = |line: &str| line.trim_start().starts_with("//") && line.contains("UNVERIFIED: ");
        if text.lines().any(marks) {
            let name = file.strip_prefix(&root).expect("below the root").display().to_string();
            assert!(
                listed.contains(&format!("`{name}`")),
                "{name} marks an assumption that ARCHITECTURE.md does not list"
            );
        }
    }
    for (place, question) in vc4_sim::unverified::all() {
        let name = place.rsplit("::").next().expect("a name");
        assert!(listed.contains(&format!("`{name}`")), "ARCHITECTURE.md lacks {place}: {question}");
    }
}

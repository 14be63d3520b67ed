//! The committed SPIR-V is what Debian's glslangValidator makes of the committed GLSL.

use std::path::{Path, PathBuf};

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

//! Every program of `vc4_tests::drawing` through the Vulkan loader on our driver (simulated VC4), held against
//! Mesa's lavapipe.

use std::path::{Path, PathBuf};

use vc4_tests::compare::{Difference, INSIDE_LIMIT, Picture};
use vc4_tests::{drawing, icd};

fn run_all(manifest: &Path, name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).expect("the target directory is writable");
    let mut command = icd::command(env!("CARGO_BIN_EXE_drawing"), manifest);
    let output = command.arg(&directory).env("VC4VK_DEBUG", "strict").output().expect("drawing starts");
    assert!(
        output.status.success(),
        "drawing on {name} failed:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    directory
}

#[test]
fn pictures_match_lavapipe() {
    let ours = run_all(&icd::ours(), "drawing-vc4");
    let reference = run_all(&icd::lavapipe(), "drawing-lavapipe");
    let mut failures = Vec::new();
    for case in drawing::all() {
        let load = |directory: &Path| {
            let path = directory.join(format!("{}.png", case.name));
            Picture::load_png(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let difference = Difference::between(&load(&ours), &load(&reference));
        println!(
            "{:26} {:6.3} % of pixels differ, worst inside {:3} at {:?}",
            case.name,
            difference.differing * 100.0,
            difference.worst_inside,
            difference.worst_at
        );
        if difference.differing > case.differing || difference.worst_inside > INSIDE_LIMIT {
            failures.push(format!("{}: {difference:?}", case.name));
        }
    }
    let (ours, reference) = (ours.display(), reference.display());
    assert!(failures.is_empty(), "pictures in {ours} and {reference}:\n{}", failures.join("\n"));
}

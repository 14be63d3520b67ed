//! Copies, blits and clears through the Vulkan loader on our driver, held against Mesa's lavapipe.

use std::path::{Path, PathBuf};

use vc4_tests::{icd, transfers};

fn run_all(manifest: &Path, name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("the target directory is writable");
    let output =
        icd::command(env!("CARGO_BIN_EXE_transfers"), manifest).arg(&directory).output().expect("it starts");
    assert!(output.status.success(), "transfers on {name}:\n{}", String::from_utf8_lossy(&output.stderr));
    directory
}

#[test]
fn transfers_match_lavapipe() {
    let ours = run_all(&icd::ours(), "transfers-vc4");
    let theirs = run_all(&icd::lavapipe(), "transfers-lavapipe");
    let (mut compared, mut failures) = (0, Vec::new());
    for (number, case) in transfers::all().iter().enumerate() {
        let load = |directory: &Path| std::fs::read(directory.join(number.to_string())).ok();
        let (Some(ours), theirs) = (load(&ours), load(&theirs)) else {
            // Linear blits need formats that are sampled with filters.
            assert!(case.name.contains("LINEAR"), "{} is not offered", case.name);
            continue;
        };
        let Some(theirs) = theirs else { continue };
        compared += 1;
        failures.extend(case.difference(&ours, &theirs).map(|why| format!("{}: {why}", case.name)));
    }
    assert!(failures.is_empty(), "{} of {compared}:\n{}", failures.len(), failures.join("\n"));
    assert!(compared > 250, "only {compared} cases were compared");
}

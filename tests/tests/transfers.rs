//! Copies, blits and clears through the Vulkan loader on our driver, held against Mesa's lavapipe.

use std::path::{Path, PathBuf};

use vc4_tests::{driver, scratch, transfers};

fn run_all(manifest: &Path, name: &str) -> PathBuf {
    let directory = scratch::empty(env!("CARGO_TARGET_TMPDIR"), name);
    driver::run(driver::command(env!("CARGO_BIN_EXE_transfers"), manifest).arg(&directory), name);
    directory
}

#[test]
fn transfers_match_lavapipe() {
    let ours = run_all(&driver::ours(), "transfers-vc4");
    let theirs = run_all(&driver::lavapipe(), "transfers-lavapipe");
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

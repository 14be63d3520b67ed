//! Copies, blits and clears through the Vulkan loader on our driver, held against Mesa's lavapipe.

use std::path::{Path, PathBuf};

use vc4_tests::{driver, scratch, transfers};

fn run_all(manifest: &Path, name: &str, environment: &[(&str, &str)]) -> (PathBuf, String) {
    let directory = scratch::empty(env!("CARGO_TARGET_TMPDIR"), name);
    let mut command = driver::command(env!("CARGO_BIN_EXE_transfers"), manifest);
    let output = driver::run(command.envs(environment.iter().copied()).arg(&directory), name);
    (directory, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn transfers_match_lavapipe() {
    let (ours, _) = run_all(&driver::ours(), "transfers-vc4", &[]);
    assert_like_lavapipe(&ours, "transfers-lavapipe");
}

/// Small ones are the CPU's otherwise.
#[test]
fn transfers_by_the_qpus_match_lavapipe() {
    let environment = [("VC4VK_TRANSFERS", "qpu"), ("VC4VK_DEBUG", "perf,strict")];
    let (ours, said) = run_all(&driver::ours(), "transfers-drawn", &environment);
    let drawn = said.lines().filter(|line| line.contains(" is drawn by ")).count();
    assert!(drawn > 50, "only {drawn} transfers were drawn:\n{said}");
    assert_like_lavapipe(&ours, "transfers-lavapipe-again");
}

fn assert_like_lavapipe(ours: &Path, name: &str) {
    let (theirs, _) = run_all(&driver::lavapipe(), name, &[]);
    let (mut compared, mut failures) = (0, Vec::new());
    for (number, case) in transfers::all().iter().enumerate() {
        let load = |directory: &Path| std::fs::read(directory.join(number.to_string())).ok();
        let (Some(ours), theirs) = (load(ours), load(&theirs)) else {
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

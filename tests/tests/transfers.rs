//! Copies, blits and clears through the Vulkan loader on our driver, held against Mesa's lavapipe.

use std::path::{Path, PathBuf};

use vc4_tests::transfers::chain::{EDGE, LEVELS, content};
use vc4_tests::vulkan::CACHED_MEMORY;
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
    assert_like_lavapipe(&ours, "transfers-lavapipe", None);
}

/// Small ones are the CPU's otherwise. The host caches what it reads. Blits that lavapipe does not offer are held against the
/// CPU's.
#[test]
fn transfers_by_the_qpus_match_lavapipe() {
    let environment = [("VC4VK_TRANSFERS", "qpu"), ("VC4VK_DEBUG", "perf,strict"), (CACHED_MEMORY, "1")];
    let (ours, said) = run_all(&driver::ours(), "transfers-drawn", &environment);
    let drawn = said.lines().filter(|line| line.contains(" is drawn by ")).count();
    assert!(drawn > 3500, "only {drawn} transfers were drawn:\n{said}");
    let (by_cpu, _) = run_all(&driver::ours(), "transfers-by-cpu", &[("VC4VK_TRANSFERS", "cpu")]);
    assert_like_lavapipe(&ours, "transfers-lavapipe-again", Some(&by_cpu));
}

fn assert_like_lavapipe(ours: &Path, name: &str, otherwise: Option<&Path>) {
    let (theirs, _) = run_all(&driver::lavapipe(), name, &[]);
    let (mut compared, mut failures) = (0, Vec::new());
    for (number, case) in transfers::all().iter().enumerate() {
        let load = |directory: &Path| std::fs::read(directory.join(number.to_string())).ok();
        let theirs = load(&theirs).or_else(|| load(otherwise?));
        let (Some(ours), theirs) = (load(ours), theirs) else {
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

/// What moves more than a few texels is the GPU's, so the CPU reads next to nothing.
#[test]
fn a_mip_chain_is_made_by_the_gpu() {
    let directory = scratch::empty(env!("CARGO_TARGET_TMPDIR"), "transfers-chain");
    let mut command = driver::command(env!("CARGO_BIN_EXE_transfers"), &driver::ours());
    let output = driver::run(command.env("VC4VK_DEBUG", "perf,strict").arg(&directory).arg("chain"), "chain");
    let said = String::from_utf8_lossy(&output.stderr);
    let moved = said.lines().find(|line| line.starts_with("perf: in all, ")).expect("a sum");
    // Levels of 32 texels and fewer: all are copied, all but the last are blitted.
    let small = |first: u32| (first..=5).map(|edge| 4 << (2 * edge)).sum::<u32>();
    let (copied, blitted) = (small(0), small(1));
    let reads = format!("reads {} bytes of BOs (copy {copied}, blit {blitted})", copied + blitted);
    assert!(moved.contains(&reads), "{moved} is not: {reads}");
    let texels = std::fs::read(directory.join("chain")).expect("the levels");
    let (first, mut rest) = texels.split_at(content().len());
    assert!(first == content(), "the upload");
    let mut above = first;
    for level in 1..LEVELS {
        let edge = (EDGE >> level) as usize;
        let (this, below) = rest.split_at(4 * edge * edge);
        for (at, texel) in this.iter().enumerate() {
            let (x, y, byte) = (at / 4 % edge, at / 4 / edge, at % 4);
            let of = |x: usize, y: usize| u32::from(above[4 * (2 * edge * y + x) + byte]);
            let sum =
                of(2 * x, 2 * y) + of(2 * x + 1, 2 * y) + of(2 * x, 2 * y + 1) + of(2 * x + 1, 2 * y + 1);
            let far = (4 * i64::from(*texel) - i64::from(sum)).abs();
            assert!(far <= 4, "level {level}, byte {byte} of ({x}, {y}): {texel} of {sum} / 4");
        }
        (above, rest) = (this, below);
    }
}

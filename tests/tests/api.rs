//! Random programs of the API through the loader: valid ones must do what the specification says and leave nothing behind;
//! others must leave the process, the device and foreign memory as they are.
//!
//! `API_MINUTES=N` runs for N minutes from the seed `API_SEED` on; `cargo xtask test --api N` does both. A failing program is
//! made small and printed.

use std::path::PathBuf;
use std::time::Duration;

use vc4_tests::api::hunt::{self, Bag, Hunt};
use vc4_tests::driver;

/// Programs of a plain test run: by the simulator, by the device that draws nothing, under the validation layer, beside
/// lavapipe.
const SIM: u64 = 300;
const NOOP: u64 = 600;
const LAYER: u64 = 200;
const BESIDE: u64 = 120;

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

fn hunt(name: &str, device: &'static str, valid: bool) -> Hunt {
    Hunt {
        program: PathBuf::from(env!("CARGO_BIN_EXE_api_fuzz")),
        manifest: driver::ours(),
        device,
        valid,
        layer: false,
        threads: 1,
        moves: 200,
        offscreen: false,
        directory: hunt::directory(env!("CARGO_TARGET_TMPDIR"), name),
    }
}

/// Programs of a test: so many of a plain run's, or as many as a share of the time lets, in parts of a hundred. Two suites run beside
/// each other.
fn extent(plain: u64, share: u64) -> (u64, u64, Duration) {
    let first = setting("API_SEED").unwrap_or(1);
    match setting("API_MINUTES") {
        None => (first, plain, Duration::from_secs(3600)),
        Some(minutes) => (first, 1 << 40, Duration::from_secs(60 * minutes * share / 100)),
    }
}

#[track_caller]
fn nothing_in(what: &str, bag: &Bag) {
    println!("{what}: {} programs, {} calls, {} findings", bag.programs, bag.calls, bag.findings.len());
    assert!(bag.findings.is_empty(), "{what}:\n{}", bag.findings.join("\n"));
    assert!(bag.programs > 0 && bag.calls > 0, "{what}: nothing was run");
}

#[test]
fn valid_programs_run_on_the_simulator() {
    let (first, count, time) = extent(SIM, 40);
    nothing_in("valid, simulator", &hunt("api-sim", "sim", true).go(first, count, time));
}

#[test]
fn valid_programs_run_on_several_threads() {
    let (first, count, time) = extent(NOOP, 30);
    let threads = Hunt { threads: 4, ..hunt("api-threads", "noop", true) };
    nothing_in("valid, four threads", &threads.go(first, count, time));
}

#[test]
fn valid_programs_are_silent_under_the_validation_layer() {
    let (first, count, time) = extent(LAYER, 30);
    let layer = Hunt { layer: true, ..hunt("api-layer", "noop", true) };
    nothing_in("valid, validation layer", &layer.go(first, count, time));
}

#[test]
fn invalid_programs_harm_nobody() {
    let (first, count, time) = extent(NOOP, 20);
    let mut bag = hunt("api-invalid", "noop", false).go(first, count, time);
    let (first, count, time) = extent(SIM, 20);
    bag.add(hunt("api-invalid", "sim", false).go(first, count, time));
    nothing_in("invalid", &bag);
}

#[test]
fn valid_programs_end_as_on_lavapipe() {
    let (mut first, count, time) = extent(BESIDE, 40);
    let ours = Hunt { offscreen: true, ..hunt("api-ours", "sim", true) };
    let manifest = driver::lavapipe();
    let theirs = Hunt {
        manifest,
        directory: hunt::directory(env!("CARGO_TARGET_TMPDIR"), "api-theirs"),
        ..ours.clone()
    };
    let (mut bag, start) = (Bag::default(), std::time::Instant::now());
    let mut left = count;
    while left > 0 && start.elapsed() < time && bag.findings.len() < 5 {
        let some = left.min(BESIDE);
        bag.add(ours.compare(&theirs, first, some));
        (first, left) = (first + some, left - some);
    }
    nothing_in("beside lavapipe", &bag);
}

#[test]
fn threads_change_no_results() {
    let (first, _, _) = extent(0, 0);
    let alone = hunt("api-alone", "sim", true);
    let many = Hunt {
        threads: 4,
        directory: hunt::directory(env!("CARGO_TARGET_TMPDIR"), "api-many"),
        ..alone.clone()
    };
    nothing_in("threads", &alone.compare(&many, first, BESIDE));
}

//! Captures of the driver at work, with the simulator inside it and through the preload library: both run again with
//! the same results.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

#[path = "../oracle/recording.rs"]
mod recording;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use bzip2::read::BzDecoder;

use vc4_sim::capture::VARIABLE;
use vc4_sim::capture::read::{Capture, Outcome};
use vc4_sim::replay::{Replay, Watch};
use vc4_tests::random::Random;
use vc4_tests::{driver, scratch};

/// Draws some scenes and returns what was recorded, one capture per device that the program made.
fn record(name: &str, prepare: impl FnOnce(&mut Command)) -> Vec<Capture> {
    let directory = scratch::empty(concat!(env!("CARGO_TARGET_TMPDIR"), "/capture"), name);
    let file = directory.join("scenes.vc4cap");
    let mut command = driver::command(env!("CARGO_BIN_EXE_scenes"), &driver::ours());
    command.arg(&directory).args(["clear", "triangle", "depth", "cube"]).env(VARIABLE, &file);
    prepare(&mut command);
    driver::run(&mut command, name);
    let mut captures = Vec::new();
    for n in 0.. {
        let file = if n == 0 { file.clone() } else { directory.join(format!("scenes.vc4cap.{n}")) };
        let Ok(file) = std::fs::File::open(file) else { break };
        captures.push(Capture::read(file).expect("a capture"));
    }
    captures
}

/// Wherever BOs lie, submissions do what they did.
fn check(name: &str, captures: &[Capture]) {
    let mut drawn = 0;
    for (capture, placement) in captures.iter().flat_map(|capture| [(capture, 0), (capture, 1)]) {
        assert_eq!(capture.cut_at, None, "{name}");
        assert!(Path::new(&capture.head.program).ends_with("scenes"), "{name}: {}", capture.head.program);
        let mut replay = Replay::placed(capture, Replay::config(capture), placement);
        for (number, entry) in capture.entries.iter().enumerate() {
            assert!(matches!(entry.outcome, Outcome::Done(_)), "{name}, submission {number}");
            let replayed = replay.step(Watch::Results).expect("there is another").expect("it can be run");
            assert_eq!(
                replayed.differences(&entry.outcome),
                Vec::<String>::new(),
                "{name}, submission {number}"
            );
            drawn += usize::from(!entry.submission.submit.bin_cl.is_empty());
        }
    }
    assert!(drawn > 0, "{name}: no submission draws");
}

#[test]
fn the_simulator_inside_the_driver_records() {
    check("inside", &record("inside", |_| {}));
}

#[test]
fn the_render_node_records() {
    let captures = record("render-node", |command| {
        command.env("VC4VK_DEVICE", "drm").env("LD_PRELOAD", driver::drm_shim());
    });
    check("render node", &captures);
}

/// Whatever is damaged in a capture: it is refused, or what it holds runs, hangs or is refused.
#[test]
fn damaged_captures_harm_nobody() {
    let directory = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/known/scenes"));
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("known pictures")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let (mut ran, mut random) = (0, Random(1));
    for file in files {
        let mut whole = Vec::new();
        let compressed = std::fs::File::open(&file).expect("a capture");
        BzDecoder::new(compressed).read_to_end(&mut whole).expect("a capture");
        assert!(recording::recording(&whole) > 0, "{}: whole", file.display());
        for _ in 0..12 {
            let mut bytes = whole.clone();
            if random.one_in(4) {
                bytes.truncate(random.below(whole.len()));
            }
            recording::damage(&mut bytes, |limit| random.below(limit));
            ran += recording::recording(&bytes);
        }
    }
    assert!(ran > 50, "{ran} submissions of damaged captures ran");
}

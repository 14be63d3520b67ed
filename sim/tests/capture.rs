//! Captures: what is recorded runs again without the program and leaves the same bits; damaged files are refused.

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::*;
use support::*;
use vc4::cl::packets::*;
use vc4::image::format::TileFormat;
use vc4::image::surface::load_bits;
use vc4_kernel_abi::{Gpu, Noop, Submit, Surface};
use vc4_sim::capture::read::{Capture, Outcome, ReadError};
use vc4_sim::replay::{DeviceReplay, Replay, Replayed, Watch};
use vc4_sim::{Config, Simulator};

const BLACK: u32 = 0xff00_0000;
const RED: u32 = 0xff00_00ff;
/// Far above what these programs need, and soon reached.
const LIMIT: u64 = 1 << 16;

fn triangle(color: u32) -> Draw {
    Draw::color(vec![at(0.0, 0.0, 0.5), at(64.0, 0.0, 0.5), at(0.0, 64.0, 0.5)], color)
}

/// Records what `program` does in a fresh directory.
fn record(name: &str, program: impl FnOnce(&Simulator)) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("capture").join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("a.vc4cap");
    let gpu =
        Simulator::new(Config { memory_bytes: 64 << 20, instruction_limit: LIMIT, ..Config::default() });
    assert!(gpu.record(&path));
    program(&gpu);
    path
}

fn read(path: &Path) -> Capture {
    Capture::read(std::fs::File::open(path).unwrap()).unwrap()
}

fn replay(capture: &Capture, threads: usize, watch: Watch) -> Vec<Replayed> {
    let threads = std::num::NonZeroUsize::new(threads);
    let config = Config { threads, instruction_limit: LIMIT, ..Replay::config(capture) };
    let mut replay = Replay::new(capture, config);
    std::iter::from_fn(|| replay.step(watch)).map(Result::unwrap).collect()
}

/// Loads what the job stores.
fn load_of(job: &Submit) -> Option<Surface> {
    job.color_write.map(|surface| Surface { bits: load_bits(TileFormat::Rgba8888, Tiling::T), ..surface })
}

/// Frames of a program that changes a little, reads its own results and makes a mistake.
fn frames(gpu: &Simulator) {
    let target = Target::new(gpu, 64, 64, Tiling::T);
    for frame in 0..4 {
        run(gpu, &target.draw_job(gpu, BLACK, &[triangle(RED + frame)])).unwrap();
    }
    // Loads what the last job stored.
    let mut load = target.draw_job(gpu, BLACK, &[Draw { fragment: position_color(), ..triangle(RED) }]);
    load.color_read = load_of(&load);
    run(gpu, &load).unwrap();
    let mut wrong = target.draw_job(gpu, BLACK, &[triangle(RED)]);
    wrong.bin_cl.truncate(20);
    gpu.submit(&wrong).unwrap_err();
    for bo in [target.color, target.zs] {
        gpu.close_bo(bo);
    }
    let other = Target::new(gpu, 128, 64, Tiling::Lt);
    run(gpu, &other.draw_job(gpu, RED, &[Draw { fragment: endless(), ..triangle(RED) }])).unwrap_err();
    // The device tells of the hang again.
    run(gpu, &other.draw_job(gpu, RED, &[triangle(BLACK)])).unwrap_err();
}

#[test]
fn replays_leave_the_same_bits() {
    let capture = read(&record("frames", frames));
    assert_eq!((capture.entries.len(), capture.cut_at), (8, None));
    let done = capture.entries.iter().filter(|entry| matches!(entry.outcome, Outcome::Done(_))).count();
    assert_eq!(done, 7);
    assert!(matches!(&capture.entries[5].outcome, Outcome::Refused { errno: 22, .. }));
    let Outcome::Done(hung) = &capture.entries[6].outcome else { panic!("a hang is the end of a job") };
    assert!(hung.hang.as_ref().is_some_and(|what| what.contains("still running")), "{hung:?}");
    for (threads, watch) in [(1, Watch::Results), (2, Watch::Profile)] {
        for (replayed, entry) in replay(&capture, threads, watch).iter().zip(&capture.entries) {
            assert_eq!(replayed.differences(&entry.outcome), Vec::<String>::new());
            assert_eq!(replayed.profile.is_some(), watch == Watch::Profile && replayed.done.is_some());
        }
    }
}

#[test]
fn captures_know_what_the_program_calls_its_bos() {
    let path = record("names", |gpu| {
        let (first, other) = (Target::new(gpu, 64, 64, Tiling::T), Target::new(gpu, 64, 64, Tiling::T));
        gpu.label_bo(first.color, "shadow");
        run(gpu, &first.draw_job(gpu, BLACK, &[triangle(RED)])).unwrap();
        gpu.label_bo(first.color, "shadow map");
        gpu.label_bo(other.color, "scene");
        for target in [&first, &other, &first] {
            run(gpu, &target.draw_job(gpu, BLACK, &[triangle(RED)])).unwrap();
        }
    });
    let capture = read(&path);
    let key = |entry: usize| {
        let Capture { entries, .. } = &capture;
        entries[entry].bos[entries[entry].submission.submit.color_write.unwrap().bo_index as usize].key
    };
    assert_eq!(key(0), key(3));
    // The last one counts.
    assert_eq!(
        [0, 1, 2].map(|entry| capture.names[&key(entry)].as_str()),
        ["shadow map", "shadow map", "scene"]
    );
    assert_eq!(capture.names.len(), 2);
    for (replayed, entry) in replay(&capture, 1, Watch::Results).iter().zip(&capture.entries) {
        assert_eq!(replayed.differences(&entry.outcome), Vec::<String>::new());
    }
}

#[test]
fn any_device_replays() {
    let capture = read(&record("device", frames));
    let gpu = Simulator::new(Config { instruction_limit: LIMIT, ..Replay::config(&capture) });
    let mut replay = DeviceReplay::new(&capture, &gpu);
    // The hang is the last that this device does.
    for (number, entry) in capture.entries[..7].iter().enumerate() {
        assert_eq!(replay.position(), number);
        let replayed = replay.step(Duration::from_secs(60)).unwrap().unwrap();
        assert_eq!(replayed.differences(&entry.outcome), Vec::<String>::new(), "{number}");
    }
    drop(replay);
    assert_eq!(gpu.memory_free(), Simulator::new(Replay::config(&capture)).memory_free());

    // One that drops its jobs stores nothing.
    let gpu = Noop::new();
    let replayed = DeviceReplay::new(&capture, &gpu).step(Duration::ZERO).unwrap().unwrap();
    assert_eq!(replayed.differences(&capture.entries[0].outcome).len(), 1);
}

#[test]
fn memory_that_bos_take_is_told() {
    let capture = read(&record("memory", frames));
    let mut replay = Replay::new(&capture, Config { instruction_limit: LIMIT, ..Replay::config(&capture) });
    let mut alive = BTreeMap::new();
    for entry in &capture.entries {
        for key in &entry.dropped {
            alive.remove(key);
        }
        alive.extend(entry.bos.iter().map(|bo| (bo.key, u64::from(bo.bytes).next_multiple_of(4096))));
        replay.step(Watch::Results).unwrap().unwrap();
        assert_eq!(replay.bo_bytes(), alive.values().sum::<u64>());
    }
    assert!(capture.entries.iter().any(|entry| !entry.dropped.is_empty()));
}

#[test]
fn a_difference_is_found() {
    let mut capture = read(&record("difference", frames));
    capture.entries[2].submission.submit.clear_color = [BLACK + 1; 2];
    let replayed = replay(&capture, 2, Watch::Results);
    let differing: Vec<usize> = replayed
        .iter()
        .zip(&capture.entries)
        .enumerate()
        .filter(|(_, (replayed, entry))| !replayed.differences(&entry.outcome).is_empty())
        .map(|(number, _)| number)
        .collect();
    // The next frame clears again.
    assert_eq!(differing, [2]);
}

#[test]
fn unchanged_bos_take_no_space() {
    let size = |name, count| {
        let path = record(name, |gpu| {
            let target = Target::new(gpu, 512, 512, Tiling::T);
            let job = target.draw_job(gpu, BLACK, &[triangle(RED)]);
            for _ in 0..count {
                run(gpu, &job).unwrap();
            }
        });
        std::fs::metadata(path).unwrap().len()
    };
    let (one, nine) = (size("once", 1), size("nine", 9));
    assert!((nine - one) / 8 < 2000, "{one} bytes for one job, {nine} for nine");
}

#[test]
fn results_are_not_stored_but_made_again() {
    // A picture that no run-length code shortens, read by the next job.
    let path = record("results", |gpu| {
        let target = Target::new(gpu, 256, 256, Tiling::T);
        let whole = vec![at(0.0, 0.0, 0.5), at(64.0, 0.0, 0.5), at(0.0, 64.0, 0.5), at(64.0, 64.0, 0.5)];
        let draw = Draw { fragment: position_color(), ..Draw::color(whole, RED) };
        let mut job = target.draw_job(gpu, BLACK, &[draw.mode(PrimitiveMode::TriangleStrip)]);
        run(gpu, &job).unwrap();
        job.color_read = load_of(&job);
        run(gpu, &job).unwrap();
    });
    assert!(std::fs::metadata(&path).unwrap().len() < 64 << 10);
    let capture = read(&path);
    for (replayed, entry) in replay(&capture, 2, Watch::Results).iter().zip(&capture.entries) {
        assert!(replayed.differences(&entry.outcome).is_empty());
    }
}

#[test]
fn a_file_that_exists_stays() {
    let path = record("names", |gpu| {
        let target = Target::new(gpu, 64, 64, Tiling::T);
        run(gpu, &target.clear_job(RED)).unwrap();
    });
    let first = std::fs::read(&path).unwrap();
    let gpu = simulator(1);
    assert!(gpu.record(&path));
    assert!(!gpu.record("another"));
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    assert!(!path.with_extension("vc4cap.1").exists());
    run(&gpu, &target.clear_job(BLACK)).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), first);
    assert_eq!(read(&path.with_extension("vc4cap.1")).entries.len(), 1);
}

#[test]
fn cut_files_are_read_up_to_the_cut() {
    let bytes = std::fs::read(record("cut", frames)).unwrap();
    let whole = Capture::read(&bytes[..]).unwrap();
    for size in (0..bytes.len()).step_by(97) {
        match Capture::read(&bytes[..size]) {
            Ok(capture) => {
                assert!(capture.entries.len() <= whole.entries.len());
                assert!(capture.cut_at.is_none_or(|at| at < size as u64));
            }
            Err(error) => {
                assert!(matches!(error, ReadError::NoCapture | ReadError::Cut { .. } | ReadError::NoHead))
            }
        }
    }
}

#[test]
fn a_flipped_bit_is_found() {
    let bytes = std::fs::read(record("flip", frames)).unwrap();
    for at in (8..bytes.len()).step_by(101) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        let found = match Capture::read(&damaged[..]) {
            Err(_) => true,
            Ok(capture) => capture.cut_at.is_some(),
        };
        assert!(found, "byte {at}");
    }
}

/// Gives the record around `at` a valid checksum again.
fn mend(bytes: &mut [u8], at: usize) {
    let mut offset = 8;
    while let Some(size) = bytes.get(offset + 4..offset + 8) {
        let size = u32::from_le_bytes(size.try_into().unwrap()) as usize;
        let Some(end) = (offset + 8).checked_add(size).filter(|end| end + 8 <= bytes.len()) else { return };
        if (offset..end + 8).contains(&at) {
            let sum = vc4_sim::capture::pages::Hash::of_bytes(&bytes[offset + 8..end]).low();
            bytes[end..end + 8].copy_from_slice(&sum.to_le_bytes());
            return;
        }
        offset = end + 8;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn damaged_captures_never_crash(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        static BYTES: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
        let mut bytes = BYTES.get_or_init(|| {
            let path = record("damage", |gpu| {
                let target = Target::new(gpu, 64, 64, Tiling::T);
                for color in 0..3 {
                    run(gpu, &target.draw_job(gpu, BLACK, &[triangle(color)])).unwrap();
                }
            });
            std::fs::read(path).unwrap()
        }).clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
            mend(&mut bytes, at);
        }
        if let Ok(capture) = Capture::read(&bytes[..]) {
            let mut replay = Replay::new(&capture, Config { instruction_limit: LIMIT, ..Replay::config(&capture) });
            while let Some(step) = replay.step(Watch::Results) {
                if step.is_err() {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_profile_counts_everything_once_whatever_the_threads() {
    let profiles = [1, 3].map(|threads| {
        let gpu = simulator(threads);
        let target = Target::new(&gpu, 128, 128, Tiling::T);
        let job = target.draw_job(
            &gpu,
            BLACK,
            &[triangle(RED), Draw { fragment: position_color(), ..triangle(RED) }],
        );
        gpu.observe(&job).unwrap()
    });
    let [one, three] = &profiles;
    assert_eq!(one.profile.counts, three.profile.counts);
    let (profile, total) = (&one.profile, one.profile.counts.total());
    assert_eq!((total.instructions, total.instances), (profile.stats.instructions, profile.stats.instances));
    assert_eq!(profile.counts.lines.values().flatten().sum::<u64>(), total.instructions);
    let tiles: u64 = profile.counts.tiles.values().map(|work| work.pixels).sum();
    assert!(tiles > 0 && tiles == total.pixels);
    assert_eq!((profile.draws.len(), profile.tiles.columns, profile.tiles.rows), (2, 2, 2));
    assert!(profile.draws.iter().all(|draw| draw.programs.len() == 3 && draw.primitives > 0));
    assert_eq!(profile.draws[0].programs[2].uniforms, [RED]);
    assert!(!profile.render.bytes.is_empty() && profile.bin.is_some());
}

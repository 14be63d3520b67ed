//! The captures that `vc4 doctor` compares GPUs with (`tools/known`): scenes and drawing programs of these suites, whose
//! pictures the suites judge, and scenes as Mesa's driver draws them. `UPDATE_GOLDEN=1` records them again, those of Mesa with
//! `cargo xtask test --mesa`; an empty file makes a new one.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use bzip2::Compression;
use bzip2::read::BzDecoder;
use bzip2::write::BzEncoder;
use vc4_sim::capture::VARIABLE;
use vc4_sim::capture::read::{Capture, Outcome};
use vc4_sim::replay::{Replay, Watch};
use vc4_tests::{driver, scratch};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/known");
const ENDING: &str = ".vc4cap.bz2";
/// More would be too much in the command that carries all of them.
const MOST_BYTES: usize = 64 << 10;

/// Boards have little contiguous memory, and jobs need some themselves.
const MOST_MEMORY: u32 = 16 << 20;

/// Program of these suites, if it is one, name and file of each.
fn known() -> Vec<(Option<&'static str>, String, PathBuf)> {
    let suites = [
        ("scenes", Some(env!("CARGO_BIN_EXE_scenes"))),
        ("drawing", Some(env!("CARGO_BIN_EXE_drawing"))),
        ("mesa", None),
    ];
    let mut known = Vec::new();
    for (suite, program) in suites {
        for entry in std::fs::read_dir(Path::new(FOLDER).join(suite)).expect("the folder") {
            let path = entry.expect("an entry").path();
            let file = path.file_name().and_then(|name| name.to_str()).expect("a plain name");
            known.push((program, file.strip_suffix(ENDING).expect("a packed capture").to_owned(), path));
        }
    }
    known
}

/// Records a program's run. Its head says nothing of this machine.
fn record(program: &str, name: &str, path: &Path) {
    let directory = scratch::empty(concat!(env!("CARGO_TARGET_TMPDIR"), "/known"), name);
    let file = directory.join("capture");
    let mut command = driver::command(program, &driver::ours());
    command.arg0(Path::new(program).file_name().expect("a program"));
    command.arg(&directory).arg(name).env(VARIABLE, &file);
    driver::run(&mut command, name);
    let mut packed = BzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&std::fs::read(file).expect("the program recorded")).expect("memory");
    std::fs::write(path, packed.finish().expect("memory")).expect("the folder is writable");
}

#[test]
fn known_pictures_are_what_the_simulator_draws() {
    let known = known();
    assert!(known.len() >= 60, "{}", known.len());
    for (program, name, path) in known {
        if let Some(program) = program.filter(|_| std::env::var_os("UPDATE_GOLDEN").is_some()) {
            record(program, &name, &path);
        }
        let packed = std::fs::read(&path).expect("a file");
        assert!(packed.len() <= MOST_BYTES, "{name}: {} bytes", packed.len());
        let mut bytes = Vec::new();
        BzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let capture = Capture::read(&bytes[..]).unwrap_or_else(|error| panic!("{name} {error}"));
        assert!(!capture.head.program.contains('/'), "{name}: {}", capture.head.program);
        let largest =
            capture.entries.iter().map(|entry| entry.bos.iter().map(|bo| bo.bytes).sum::<u32>()).max();
        assert!(largest.is_some_and(|bytes| bytes <= MOST_MEMORY), "{name}: {largest:?} bytes of BOs");
        let mut replay = Replay::new(&capture, Replay::config(&capture));
        for (number, entry) in capture.entries.iter().enumerate() {
            let Outcome::Done(done) = &entry.outcome else { panic!("{name}, {number}: {:?}", entry.outcome) };
            assert_eq!(done.hang, None, "{name}, {number}");
            let replayed = replay.step(Watch::Results).expect("there is another").expect("it can be run");
            let differences = replayed.differences(&entry.outcome);
            assert!(
                differences.is_empty(),
                "{name}, {number}: it {differences:?}; UPDATE_GOLDEN=1 records it again, see above"
            );
        }
        assert!(
            capture.entries.iter().any(|entry| !entry.submission.written().is_empty()),
            "{name} stores nothing"
        );
    }
}

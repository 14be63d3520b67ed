//! Does a little of everything that needs the kernel, three times, each with a device of its own; for `tests/faults.rs`, which
//! lets calls of the first time fail.
//!
//! Prints for each time `done=DIGEST` or `error=TEXT`, and how many descriptors the process has open behind it.

use std::hash::{DefaultHasher, Hash, Hasher};

use vc4_tests::vulkan::{Error, Harness, Lab};
use vc4_tests::{drawing, player, scenes, transfers};

/// What is drawn: textures, depth, dynamic indices; with queries; and what is copied.
const SCENES: [&str; 2] = ["depth", "texture_fetch"];
const DRAWINGS: [&str; 2] = ["query-occlusion", "query-timestamps"];
const TRANSFERS: [&str; 2] = ["copy R8G8B8A8_UNORM", "clear R8G8B8A8_UNORM"];

fn main() {
    for _ in 0..3 {
        match everything() {
            Ok(digest) => println!("done={digest:016x}"),
            Err(error) => println!("error={error}"),
        }
        println!("descriptors={}", descriptors());
    }
}

/// Open descriptors, once their number rests: the simulated device closes its ends a little later.
fn descriptors() -> usize {
    let count = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let (mut before, mut rests) = (count(), 0);
    while rests < 5 {
        std::thread::sleep(std::time::Duration::from_millis(5));
        let now = count();
        rests = if now == before { rests + 1 } else { 0 };
        before = now;
    }
    before
}

/// A digest of all results.
fn everything() -> Result<u64, Error> {
    let harness = Harness::new()?;
    let mut digest = DefaultHasher::new();
    let mut count = 0;
    for scene in scenes::all().iter().filter(|scene| SCENES.contains(&scene.name.as_str())) {
        player::draw(&harness, scene)?.rgba.hash(&mut digest);
        count += 1;
    }
    for case in drawing::all().iter().filter(|case| DRAWINGS.contains(&case.name)) {
        (case.run)(&Lab::new(&harness))?.rgba.hash(&mut digest);
        count += 1;
    }
    for case in transfers::all().iter().filter(|case| TRANSFERS.contains(&case.name.as_str())) {
        case.run(&harness)?.hash(&mut digest);
        count += 1;
    }
    assert_eq!(count, SCENES.len() + DRAWINGS.len() + TRANSFERS.len(), "all cases are there");
    Ok(digest.finish())
}

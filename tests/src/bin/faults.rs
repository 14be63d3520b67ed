//! Does a little of everything that needs the kernel, again and again, each time on a device of its own; for
//! `tests/faults.rs`, which lets calls of the first times fail.
//!
//! `faults [TIMES]`, three times by default: prints for each `done=DIGEST` or `error=TEXT`, and how many descriptors the
//! process has open behind it.

use vc4_tests::tour;
use vc4_tests::vulkan::Harness;

fn main() {
    let times = std::env::args().nth(1).map_or(3, |times| times.parse().expect("a number of times"));
    for _ in 0..times {
        match Harness::new().and_then(|harness| tour::digest(&harness)) {
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

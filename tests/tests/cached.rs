//! Cases whose buffers lie in memory that the CPU caches: the simulated cache keeps what it has until it is told otherwise, so
//! nothing is drawn right that somebody forgot to write back, or to look at again. Only who waits for a job need not ask for
//! what it stored.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use std::path::PathBuf;
use std::process::Command;

use vc4_tests::vulkan::{CACHED_MEMORY, CARELESS};
use vc4_tests::{drawing, driver, scratch};

/// What is drawn by way of the heap.
const HEAP: [&str; 4] = ["again-memory", "again-everything", "clears-depth", "targets-three"];

fn draw(name: &str, prepare: impl FnOnce(&mut Command)) -> PathBuf {
    let directory = scratch::empty(env!("CARGO_TARGET_TMPDIR"), name);
    let mut command = driver::command(env!("CARGO_BIN_EXE_drawing"), &driver::ours());
    prepare(command.arg(&directory));
    driver::run(&mut command, name);
    directory
}

/// In the driver's process, and by way of a heap of the kernel's that the preloaded node imports from.
#[test]
fn pictures_do_not_depend_on_the_memory() {
    let coherent = draw("memory-coherent", |_| {});
    let cached = draw("memory-cached", |command| {
        command.env(CACHED_MEMORY, "1");
    });
    let careless = draw("memory-careless", |command| {
        command.env(CACHED_MEMORY, CARELESS);
    });
    let heap = draw("memory-heap", |command| {
        command
            .env(CACHED_MEMORY, "1")
            .env("VC4VK_DEVICE", "drm")
            .env("LD_PRELOAD", driver::drm_shim())
            .args(HEAP);
    });
    let mut differing = Vec::new();
    let [mut compared, mut of_careless, mut of_heap] = [0; 3];
    for case in drawing::all() {
        let file = format!("{}.png", case.name);
        let read = |directory: &PathBuf| std::fs::read(directory.join(&file)).ok();
        let expected = read(&coherent).unwrap_or_else(|| panic!("{} was drawn", case.name));
        let others = [(&cached, &mut compared), (&careless, &mut of_careless), (&heap, &mut of_heap)];
        for (other, count) in others {
            let Some(picture) = read(other) else { continue };
            *count += 1;
            if picture != expected {
                differing.push(format!("{} in {}", case.name, other.display()));
            }
        }
    }
    assert!(differing.is_empty(), "{differing:?} are not as in {}", coherent.display());
    assert_eq!([compared, of_careless], [drawing::all().len(); 2]);
    assert_eq!(of_heap, HEAP.len());
}

//! Every scene through the Vulkan loader on our driver (simulated VC4), held against Mesa's lavapipe.

use std::path::{Path, PathBuf};

use vc4_tests::{driver, scenes, scratch, validation};

fn draw_all(manifest: &Path, name: &str) -> PathBuf {
    let directory = scratch::directory(env!("CARGO_TARGET_TMPDIR"), name);
    driver::run(driver::command(env!("CARGO_BIN_EXE_scenes"), manifest).arg(&directory), name);
    directory
}

#[test]
fn scenes_are_clean_under_the_validation_layers() {
    let directory = scratch::directory(env!("CARGO_TARGET_TMPDIR"), "scenes-validated");
    let mut command = driver::command(env!("CARGO_BIN_EXE_scenes"), &driver::ours());
    validation::watch(command.arg(&directory), &directory);
    validation::assert_silent(&driver::run(&mut command, "scenes under the validation layers"));
}

#[test]
fn scenes_match_lavapipe() {
    let ours = draw_all(&driver::ours(), "scenes-vc4");
    let reference = draw_all(&driver::lavapipe(), "scenes-lavapipe");
    let mut failures = Vec::new();
    for scene in scenes::all() {
        let difference = scenes::compare(&scene.name, &ours, &reference).expect("two pictures");
        if !difference.acceptable() {
            failures.push(format!("{}: {difference:?}", scene.name));
        }
    }
    assert!(
        failures.is_empty(),
        "pictures in {} and {}:\n{}",
        ours.display(),
        reference.display(),
        failures.join("\n")
    );
}

#[test]
fn drawing_twice_gives_the_same_pictures() {
    let first = draw_all(&driver::ours(), "scenes-first");
    let second = draw_all(&driver::ours(), "scenes-second");
    for scene in scenes::all() {
        let file = format!("{}.png", scene.name);
        let read = |directory: &Path| std::fs::read(directory.join(&file)).expect("scenes saved it");
        assert!(
            read(&first) == read(&second),
            "{file} differs between {} and {}",
            first.display(),
            second.display()
        );
    }
}

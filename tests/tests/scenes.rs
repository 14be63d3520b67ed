//! Every scene through the Vulkan loader on our driver (simulated VC4), held against Mesa's lavapipe.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use vc4_tests::compare::{Difference, Picture};
use vc4_tests::{icd, scenes, validation};

fn directory(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).expect("the target directory is writable");
    directory
}

fn draw_all(manifest: &Path, name: &str) -> PathBuf {
    let directory = directory(name);
    run(icd::command(env!("CARGO_BIN_EXE_scenes"), manifest).arg(&directory), name);
    directory
}

fn run(command: &mut Command, name: &str) -> Output {
    let output = command.output().expect("scenes starts");
    assert!(
        output.status.success(),
        "scenes on {name} failed:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

#[test]
fn scenes_are_clean_under_the_validation_layers() {
    let directory = directory("scenes-validated");
    let mut command = icd::command(env!("CARGO_BIN_EXE_scenes"), &icd::ours());
    validation::watch(command.arg(&directory), &directory);
    validation::assert_silent(&run(&mut command, "the validation layers"));
}

#[test]
fn scenes_match_lavapipe() {
    let ours = draw_all(&icd::ours(), "scenes-vc4");
    let reference = draw_all(&icd::lavapipe(), "scenes-lavapipe");
    let mut failures = Vec::new();
    for scene in scenes::all() {
        let load = |directory: &Path| {
            let path = directory.join(format!("{}.png", scene.name));
            Picture::load_png(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let difference = Difference::between(&load(&ours), &load(&reference));
        println!(
            "{:26} {:6.3} % of pixels differ, worst inside {:3} at {:?}",
            scene.name,
            difference.differing * 100.0,
            difference.worst_inside,
            difference.worst_at
        );
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
    let first = draw_all(&icd::ours(), "scenes-first");
    let second = draw_all(&icd::ours(), "scenes-second");
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

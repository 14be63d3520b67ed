//! A machine that is other than assumed, and a driver that knows: scenes and drawing suite are right. With a driver that does not
//! know, some pictures are others.

use std::path::{Path, PathBuf};

use vc4_tests::picture::Difference;
use vc4_tests::{drawing, driver, scenes, scratch};

/// Facts that the driver answers to.
const OTHER: &str = "\
provoking-vertex = \"first\"
packet-106 = \"offset-first\"
depth-unit = \"two-steps\"
magnified-until = \"zero\"
";

/// Pictures of scenes and drawing suite.
fn draw_all(manifest: &Path, name: &str, variables: &[(&str, &Path)]) -> PathBuf {
    let directory = scratch::directory(env!("CARGO_TARGET_TMPDIR"), name);
    for program in [env!("CARGO_BIN_EXE_scenes"), env!("CARGO_BIN_EXE_drawing")] {
        let mut command = driver::command(program, manifest);
        driver::run(command.arg(&directory).envs(variables.iter().copied()), name);
    }
    directory
}

/// The pictures that are not as lavapipe draws them.
fn wrong(ours: &Path, reference: &Path) -> Vec<String> {
    let difference = |name: &str| Difference::of_files(name, ours, reference).expect("two pictures");
    let scenes =
        scenes::all().into_iter().map(|scene| scene.name).filter(|name| !difference(name).acceptable());
    let drawings = drawing::all().into_iter().filter(|case| {
        let difference = difference(case.name);
        difference.differing > case.differing || difference.worst_inside > case.inside
    });
    scenes.chain(drawings.map(|case| case.name.to_string())).collect()
}

#[test]
fn a_driver_that_knows_the_machine_draws_right() {
    let facts = scratch::directory(env!("CARGO_TARGET_TMPDIR"), "facts").join("other.toml");
    std::fs::write(&facts, OTHER).expect("a file");
    let reference = draw_all(&driver::lavapipe(), "facts-lavapipe", &[]);
    let knows =
        draw_all(&driver::ours(), "facts-known", &[("VC4SIM_FACTS", &facts), ("VC4VK_FACTS", &facts)]);
    assert_eq!(wrong(&knows, &reference), [""; 0], "{}", knows.display());
    let guesses = draw_all(&driver::ours(), "facts-unknown", &[("VC4SIM_FACTS", &facts)]);
    let read = |directory: &Path, name: &str| {
        std::fs::read(directory.join(format!("{name}.png"))).expect("a picture")
    };
    let is_other = |name: &str| read(&knows, name) != read(&guesses, name);
    assert!(drawing::all().iter().any(|case| is_other(case.name)), "no picture rests on these facts");
}

#[test]
fn files_of_no_facts_give_no_device() {
    let directory = scratch::directory(env!("CARGO_TARGET_TMPDIR"), "facts-wrong");
    let file = directory.join("wrong.toml");
    std::fs::write(&file, "provoking-vertex = \"middle\"\n").expect("a file");
    for variable in ["VC4SIM_FACTS", "VC4VK_FACTS"] {
        let mut command = driver::command(env!("CARGO_BIN_EXE_scenes"), &driver::ours());
        let output = command.arg(&directory).env(variable, &file).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{variable}");
        assert!(said.contains("line 1: `provoking-vertex` cannot be \"middle\""), "{variable}: {said}");
    }
}

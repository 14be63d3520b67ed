//! A machine that is other than assumed, and a driver that knows: scenes and drawing suite are right. With a driver that does not
//! know, some pictures are others.

use std::path::{Path, PathBuf};

use vc4_tests::picture::Difference;
use vc4_tests::{drawing, driver, scenes, scratch};

/// Facts that the driver answers to, all at once.
const OTHER: &str = include_str!("../rehearsal/board.toml");

/// Pictures of scenes and drawing suite, all or those of some names.
fn draw(manifest: &Path, name: &str, variables: &[(&str, &Path)], pictures: &[&str]) -> PathBuf {
    let directory = scratch::directory(env!("CARGO_TARGET_TMPDIR"), name);
    let is_drawing = |picture: &&&str| drawing::all().iter().any(|case| case.name == **picture);
    let (drawings, scenes): (Vec<&str>, Vec<&str>) = pictures.iter().partition(is_drawing);
    for (program, names) in
        [(env!("CARGO_BIN_EXE_scenes"), scenes), (env!("CARGO_BIN_EXE_drawing"), drawings)]
    {
        if names.is_empty() && !pictures.is_empty() {
            continue;
        }
        let mut command = driver::command(program, manifest);
        driver::run(command.arg(&directory).args(names).envs(variables.iter().copied()), name);
    }
    directory
}

/// The pictures, all or those of some names, that are not as lavapipe draws them.
fn wrong(ours: &Path, reference: &Path, pictures: &[&str]) -> Vec<String> {
    let is_meant = |name: &str| pictures.is_empty() || pictures.contains(&name);
    let difference = |name: &str| Difference::of_files(name, ours, reference).expect("two pictures");
    let scenes = scenes::all().into_iter().map(|scene| scene.name);
    let scenes = scenes.filter(|name| {
        is_meant(name) && !scenes::compare(name, ours, reference).expect("two pictures").acceptable()
    });
    let drawings = drawing::all().into_iter().filter(|case| {
        is_meant(case.name) && {
            let difference = difference(case.name);
            difference.differing > case.differing || difference.worst_inside > case.inside
        }
    });
    scenes.chain(drawings.map(|case| case.name.to_string())).collect()
}

/// Facts that the driver answers to, and a picture that shows it. Of two more no picture goes wrong: a depth unit of two steps is
/// within Vulkan's bounds, and what magnifies earlier than assumed is filtered by programs in vain.
const ANSWERED: &[(&str, &str, &str)] = &[
    ("provoking-vertex", "first", "polygon-filled"),
    ("guard-band", "1023", "parts-place"),
    ("guard-band", "511", "parts-lines"),
    ("near-plane", "zero", "cube"),
    ("packet-106", "offset-first", "depth-clip-range"),
    ("depth-unit", "coarse", "depth-bias-units"),
    ("depth-slope", "sum", "depth-bias-slope"),
    // lavapipe's own are the mirrored ones.
    ("sample-positions", "mirrored", "ms-centroid"),
    ("weight-bits", "5", "texture_line"),
    ("level-rounding", "down", "texture_grad"),
];

#[test]
fn each_answer_is_seen() {
    let pictures: Vec<&str> = ANSWERED.iter().map(|(.., picture)| *picture).collect();
    let reference = draw(&driver::lavapipe(), "facts-lavapipe-each", &[], &pictures);
    let facts = scratch::directory(env!("CARGO_TARGET_TMPDIR"), "facts-each").join("row.toml");
    let told = [("VC4SIM_FACTS", facts.as_path()), ("VC4VK_FACTS", facts.as_path())];
    for (row, hypothesis, picture) in ANSWERED {
        std::fs::write(&facts, format!("{row} = \"{hypothesis}\"\n")).expect("a file");
        let knows = draw(&driver::ours(), "facts-each-known", &told, &[picture]);
        assert_eq!(wrong(&knows, &reference, &[picture]), [""; 0], "{row} = {hypothesis}, told");
        let guesses = draw(&driver::ours(), "facts-each-unknown", &told[..1], &[picture]);
        assert_eq!(wrong(&guesses, &reference, &[picture]), [*picture], "{row} = {hypothesis}, not told");
    }
}

#[test]
fn a_driver_that_knows_the_machine_draws_right() {
    let facts = scratch::directory(env!("CARGO_TARGET_TMPDIR"), "facts").join("other.toml");
    std::fs::write(&facts, OTHER).expect("a file");
    let reference = draw(&driver::lavapipe(), "facts-lavapipe", &[], &[]);
    let told = [("VC4SIM_FACTS", facts.as_path()), ("VC4VK_FACTS", facts.as_path())];
    let knows = draw(&driver::ours(), "facts-known", &told, &[]);
    assert_eq!(wrong(&knows, &reference, &[]), [""; 0], "{}", knows.display());
}

/// What rests on an answer is not offered by a machine with another one.
#[test]
fn features_follow_the_facts() {
    let directory = scratch::directory(env!("CARGO_TARGET_TMPDIR"), "facts-features");
    let offers = |facts: &str, feature: &str| {
        let file = directory.join("facts.toml");
        std::fs::write(&file, facts).expect("a file");
        let mut command = driver::command(env!("CARGO_BIN_EXE_reference"), &driver::ours());
        command.arg(&directory).env("VC4SIM_FACTS", &file).env("VC4VK_FACTS", &file);
        driver::run(&mut command, "reference");
        let page = std::fs::read_to_string(directory.join("features.md")).expect("a page");
        let row = format!("| `{feature}` | ");
        let row = page.lines().find_map(|line| line.strip_prefix(&row)).expect("a row of the feature");
        row.starts_with("yes")
    };
    let exact = "occlusionQueryPrecise";
    assert!(offers("", exact));
    assert!(!offers("occlusion-events = \"counted\"\n", exact));
    assert!(offers("occlusion-events = \"counted\"\n", "pipelineStatisticsQuery"));
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

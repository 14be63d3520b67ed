//! SPIR-V from the repository: scenes, corpus, control flow.

use std::collections::BTreeSet;

use vc4_shaders::ir::interp;
use vc4_shaders::ir::{Shader, Stage};
use vc4_shaders::pass;

use crate::case::*;
use crate::world::{Fragments, World};

/// A SPIR-V stage of a committed or freshly compiled module.
pub fn translate(path: impl AsRef<std::path::Path>, stage: Stage) -> Result<Shader, String> {
    let path = path.as_ref();
    let words = vc4_tests::glsl::words(path)?;
    let source = vc4_shaders::spirv::StageSource { words: &words, entry: "main", specialization: &[] };
    vc4_shaders::spirv::translate(&source, stage).map_err(|error| format!("{}: {error}", path.display()))
}

/// Directories of committed pipelines, each a `.vert.spv` beside a `.frag.spv`.
pub fn committed_pipelines() -> Vec<(String, Shader, Shader)> {
    let shaders = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut found = Vec::new();
    for directory in [shaders.clone(), shaders.join("corpus")] {
        let entries = std::fs::read_dir(&directory).expect("the shaders are committed");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("a directory entry").path()).collect();
        paths.sort();
        for path in paths {
            let Some(name) = path.to_string_lossy().strip_suffix(".vert.spv").map(str::to_string) else {
                continue;
            };
            // Some vertex stages are drawn with another pipeline's fragment stage.
            let fragment = std::path::PathBuf::from(format!("{name}.frag.spv"));
            if !fragment.exists() {
                continue;
            }
            let vertex = translate(&path, Stage::Vertex).expect("committed shaders are valid");
            let fragment = translate(fragment, Stage::Fragment).expect("so is the other stage");
            let name = name.rsplit('/').next().expect("a path has a name").to_string();
            found.push((name, vertex, fragment));
        }
    }
    found
}

/// A fragment shader of `control`, behind the vertex stage that all of them have.
pub fn control_stages(name: &str) -> [Shader; 2] {
    let shaders = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("shaders/control");
    let read =
        |file: String, stage| translate(shaders.join(file), stage).expect("committed shaders are valid");
    [read("plain.vert.spv".into(), Stage::Vertex), read(format!("{name}.frag.spv"), Stage::Fragment)]
}

/// Loops that no pass can unroll.
#[test]
fn control_flow() {
    for name in [
        "uniform_loop",
        "bounded_loop",
        "counted_loop",
        "two_guards_loop",
        "carrying_loop",
        "guarded_loop",
        "divergent_loop",
        "nested_loop",
        "fetching_loop",
    ] {
        let [vertex, fragment] = control_stages(name);
        check_lowered_control(name, &fragment);
        Case { name, vertex: &vertex, fragment: &fragment, state: state(), exact: false }.run();
    }
}

/// Neither loop of a nest is short by itself: the inner one chooses among all words of an array, by both counters.
#[test]
fn nests_that_fill_arrays_are_straight() {
    let name = "array_kernel";
    let [vertex, fragment] = control_stages(name);
    let mut optimized = fragment.clone();
    pass::optimize(&mut optimized);
    assert!(optimized.single_block().is_some(), "{name}: there are loops left\n{optimized}");
    Case { name, vertex: &vertex, fragment: &fragment, state: state(), exact: false }.run();
}

/// Lowering control flow changes nothing that the interpreter can see.
fn check_lowered_control(name: &str, fragment: &Shader) {
    let mut lowered = fragment.clone();
    pass::optimize(&mut lowered);
    pass::lower_control(&mut lowered);
    assert!(lowered.body.len() > 1, "{name}: the loop is gone");
    for seed in 0..16 {
        let world = || Fragments { world: World { seed, ..World::default() }, flat: BTreeSet::new() };
        let before = interp::run(fragment, &mut world()).expect("interpretable");
        let after = interp::run(&lowered, &mut world()).expect("interpretable");
        assert_eq!(before.discarded, after.discarded, "{name}, seed {seed}: discarded elements");
        for (output, lanes) in &before.outputs {
            for lane in (0..LANES).filter(|lane| before.discarded >> lane & 1 == 0) {
                assert_eq!(
                    lanes[lane],
                    after.output(*output)[lane],
                    "{name}, seed {seed}: {output:?}, element {lane}"
                );
            }
        }
    }
}

#[test]
fn committed_shaders() {
    for (name, vertex, fragment) in committed_pipelines() {
        // Its fragment program reads what the CPU's vertices store: that takes a device (`tests/drawing.rs`).
        if name == "varyings" {
            continue;
        }
        Case { name: &name, vertex: &vertex, fragment: &fragment, state: state(), exact: false }.run();
    }
}

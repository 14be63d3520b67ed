//! Listings of a few pipelines, so that a change of the generated code shows in review. `UPDATE_GOLDEN=1` rewrites them.

use std::fmt::Write;
use std::path::PathBuf;

use vc4_shaders::compile::compile_shaders;
use vc4_shaders::program::Program;

use crate::case::state;
use crate::committed::{committed_pipelines, control_stages};

/// Pipelines that have a listing.
const NAMES: [&str; 4] = ["cube", "cube_spin", "textured_quad", "vertex_color"];
/// Fragment shaders with branches that have one.
const CONTROL: [&str; 2] = ["uniform_arms", "guarded_loop"];

fn listing(title: &str, program: &Program) -> String {
    let mut text = format!("{title}: {} instructions\n", program.code.len());
    for line in vc4::qpu::disasm::disassemble(&program.code).lines() {
        writeln!(text, "    {line}").expect("writing to a string does not fail");
    }
    for slot in &program.uniforms {
        writeln!(text, "    uniform {slot:?}").expect("writing to a string does not fail");
    }
    for sample in &program.samples {
        writeln!(text, "    request {sample:?}").expect("writing to a string does not fail");
    }
    text
}

#[test]
fn listings() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden/compile");
    let mut stale = Vec::new();
    let control = CONTROL.map(|name| {
        let [vertex, fragment] = control_stages(name);
        (name.to_string(), vertex, fragment)
    });
    let listed = committed_pipelines().into_iter().filter(|(name, ..)| NAMES.contains(&name.as_str()));
    for (name, vertex, fragment) in listed.chain(control) {
        let pipeline = compile_shaders(vertex, Some(fragment), &state()).expect("committed shaders compile");
        let mut text = String::new();
        for (title, program) in [
            ("coordinate program", &pipeline.coordinate),
            ("vertex program", &pipeline.vertex),
            ("fragment program", &pipeline.fragment),
        ] {
            text += &listing(title, program);
        }
        for array in &pipeline.attributes {
            writeln!(text, "{array:?}").expect("writing to a string does not fail");
        }
        let path = directory.join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(&directory).expect("the golden directory can be made");
            std::fs::write(&path, text).expect("the golden file can be written");
        } else if std::fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            stale.push(name);
        }
    }
    assert!(
        stale.is_empty(),
        "generated code of {stale:?} differs from tests/golden/compile; if that is meant, run with UPDATE_GOLDEN=1"
    );
}

//! The shared corpus: does it compile, and to how much.

use vc4_shaders::compile::{PipelineState, compile_shaders};
use vc4_shaders::ir::Stage;

use crate::case::*;
use crate::committed::translate;

/// Instruction and uniform counts of every shader of the shared corpus beside those of the baseline, as a table:
/// `cargo test -p vc4-tests --test compiler -- --ignored --nocapture measure_corpus`.
#[test]
#[ignore = "reads the shared corpus and needs glslangValidator"]
fn measure_corpus() {
    let corpus = vc4_tests::shared::path("shader-corpus");
    let baseline =
        std::fs::read_to_string(corpus.join("mesa-vc4-baseline.tsv")).expect("the baseline is there");
    let count_of = |name: &str, stage: &str| -> Option<[u32; 2]> {
        let row = baseline.lines().find(|line| line.starts_with(&format!("{name}\t{stage}\t")))?;
        let mut fields = row.split('\t').skip(2);
        Some([fields.next()?.parse().ok()?, fields.next()?.parse().ok()?])
    };
    let mut names: Vec<String> = baseline
        .lines()
        .filter_map(|line| line.split_once("\tFS\t").map(|(name, _)| name.to_string()))
        .collect();
    names.sort();
    let directory = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (mut total, mut total_baseline, mut failures) = (0, 0, Vec::new());
    for name in &names {
        let stage = |extension: &str, stage| {
            let out = directory.join(format!("{name}.{extension}.spv"));
            let source = corpus.join(name).join(format!("vk.{extension}"));
            let run = std::process::Command::new("glslangValidator")
                .arg("-V")
                .arg("-o")
                .arg(&out)
                .arg(source)
                .output();
            assert!(run.expect("glslangValidator is installed").status.success());
            translate(&out, stage)
        };
        let compiled = stage("vert", Stage::Vertex).and_then(|vertex| {
            let fragment = stage("frag", Stage::Fragment)?;
            let state = PipelineState { points: name == "point_sprite", ..state() };
            let start = std::time::Instant::now();
            let pipeline =
                compile_shaders(vertex, Some(fragment), &state).map_err(|error| error.to_string())?;
            Ok((pipeline, start.elapsed()))
        });
        let (pipeline, time) = match compiled {
            Ok(compiled) => compiled,
            Err(error) => {
                failures.push(format!("{name}: {error}"));
                continue;
            }
        };
        let mut line = format!("{name:20}");
        for (stage, program) in
            [("VS", &pipeline.vertex), ("CS", &pipeline.coordinate), ("FS", &pipeline.fragment)]
        {
            check_kernel(name, program);
            let [instructions, uniforms] = count_of(name, stage).expect("the baseline has every program");
            let ours = program.code.len() as u32;
            total += ours;
            total_baseline += instructions;
            line += &format!(
                " | {stage} {ours:4} / {instructions:4}, uniforms {:3} / {uniforms:3}",
                program.uniforms.len()
            );
        }
        println!("{line} | {} us", time.as_micros());
    }
    println!("total {total} / {total_baseline}");
    for failure in failures {
        println!("FAILED {failure}");
    }
}

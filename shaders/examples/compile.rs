//! Compiles pairs of modules, as often as is asked for, and prints nothing: a program for whoever counts what that takes.
//!
//! `compile LIST ROUNDS`: each line of the list names a vertex and a fragment module with the entry point `main`, with a tab between.
//! A round is each of them once, for RGBA8 colours and a depth test.

use std::fs;
use std::process::ExitCode;

use vc4::image::format::Format;
use vc4::state::blend::ColorOutput;
use vc4::state::depth_stencil::{DepthStencilPlan, StencilPlan};
use vc4_shaders::compile::{PipelineState, VertexAttribute, compile_shaders};
use vc4_shaders::ir::Stage;
use vc4_shaders::spirv::{StageSource, translate};

const USAGE: &str = "usage: compile LIST ROUNDS";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("compile: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), String> {
    let [list, rounds] = arguments else { return Err(USAGE.into()) };
    let rounds: u32 = rounds.parse().map_err(|_| USAGE)?;
    let text = fs::read_to_string(list).map_err(|error| format!("{list}: {error}"))?;
    let mut pairs = Vec::new();
    for line in text.lines() {
        let (vertex, fragment) =
            line.split_once('\t').ok_or_else(|| format!("{list}: no tab in `{line}`"))?;
        pairs.push((line, [words(vertex)?, words(fragment)?]));
    }
    for _ in 0..rounds {
        for (names, pair) in &pairs {
            compile(pair).map_err(|error| format!("{names}: {error}"))?;
        }
    }
    Ok(())
}

fn words(path: &str) -> Result<Vec<u32>, String> {
    let bytes = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}

fn compile(modules: &[Vec<u32>; 2]) -> Result<(), String> {
    let stage = |words: &[u32], stage| {
        translate(&StageSource { words, entry: "main", specialization: &[] }, stage)
            .map_err(|error| error.to_string())
    };
    let vertex = stage(&modules[0], Stage::Vertex)?;
    let fragment = stage(&modules[1], Stage::Fragment)?;
    let state = PipelineState {
        attributes: VertexAttribute::read_by(&vertex),
        color: Some(ColorOutput::plain(Format::R8G8B8A8.info(), false)),
        depth_stencil: DepthStencilPlan { write_z: true, stencil: StencilPlan::Off },
        ..PipelineState::default()
    };
    compile_shaders(vertex, Some(fragment), &state).map(drop).map_err(|error| error.to_string())
}

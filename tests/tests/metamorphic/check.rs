//! One program in one form: what the interpreters and the simulated QPU show of it, beside what it means.

use vc4::state::blend::ColorOutput;
use vc4_shaders::compile::{CompileError, PipelineState, VertexAttribute, compile_shaders};
use vc4_shaders::ir::{Output, Shader, interp};
use vc4_shaders::spirv::{StageSource, translate};
use vc4_tests::runner::Runner;

use crate::ast::Program;
use crate::outcome::{BATCHES, Batch, Outcome, Shown};
use crate::random::Random;
use crate::variant::{Variant, passes};
use crate::world::{Seen, World};
use crate::{front, kernel, transform};

fn state() -> PipelineState {
    PipelineState {
        attributes: (0..4).map(|location| VertexAttribute::floats(location, 4)).collect(),
        color: Some(ColorOutput::plain(vc4::image::format::Format::R8G8B8A8.info(), false)),
        ..Default::default()
    }
}

fn interpreted(vertex: &Shader, fragment: &Shader, world: &World) -> Result<Shown, String> {
    let first = interp::run(vertex, &mut Seen { world, varyings: None }).map_err(|e| e.to_string())?;
    let second =
        interp::run(fragment, &mut Seen { world, varyings: Some(&first) }).map_err(|e| e.to_string())?;
    let bytes = [0, 1, 2, 3].map(|component| second.floats(Output::User { location: 0, component }));
    Ok(std::array::from_fn(|lane| {
        let word = bytes.map(|byte| (byte[lane] * 255.0).round() as u8);
        (second.discarded >> lane & 1 == 0).then(|| u32::from_le_bytes(word))
    }))
}

/// Compiles a program as it is given and compares what it shows with what `meaning` shows.
fn check(program: &Program, meaning: &Program, flags: &[&str], seed: u64) -> Outcome {
    let [vertex, fragment] = match front::modules(program, flags) {
        Ok(modules) => modules,
        Err(error) => return Outcome::Wrong(error),
    };
    let stage = |words: &[u32], stage| {
        translate(&StageSource { words, entry: "main", specialization: &[] }, stage)
            .map_err(|e| e.to_string())
    };
    use vc4_shaders::ir::Stage;
    let shaders = stage(&vertex, Stage::Vertex).and_then(|v| Ok((v, stage(&fragment, Stage::Fragment)?)));
    let (vertex, fragment) = match shaders {
        Ok(shaders) => shaders,
        Err(error) => return Outcome::Wrong(format!("front end: {error}")),
    };
    let pipeline = match compile_shaders(vertex.clone(), Some(fragment.clone()), &state()) {
        Ok(pipeline) => Some(pipeline),
        Err(CompileError::Backend { .. }) => None,
        Err(error) => return Outcome::Wrong(format!("compiler: {error}")),
    };
    for batch in 0..BATCHES {
        let batch = Batch::new(batch, seed, program, meaning);
        let world = &batch.world;
        match interpreted(&vertex, &fragment, world) {
            Err(error) => return Outcome::Wrong(format!("IR interpreter: {error}")),
            Ok(shown) => {
                if let Some(wrong) = batch.difference("IR interpreter", &shown) {
                    return wrong;
                }
            }
        }
        let Some(pipeline) = &pipeline else { continue };
        let run = || {
            let runner = Runner::new(pipeline, &world.buffers)?;
            let rows = runner.vertex(|location, word| world.attribute(location, word), true)?;
            runner.fragment(&rows[3..], true)
        };
        match run() {
            Err(error) => return Outcome::Wrong(format!("QPU: {error}")),
            Ok((mask, color)) => {
                let shown: Shown = std::array::from_fn(|lane| (mask >> lane & 1 != 0).then_some(color[lane]));
                if let Some(wrong) = batch.difference("QPU", &shown) {
                    return wrong;
                }
            }
        }
    }
    if pipeline.is_some() { Outcome::Agrees } else { Outcome::Refused }
}

/// The program of a seed in one variant, checked.
pub fn check_variant(program: &Program, variant: Variant, seed: u64) -> Outcome {
    match variant {
        Variant::Plain => check(program, program, &[], seed),
        Variant::Optimised(flags) => check(program, program, flags, seed),
        Variant::Passes(number) => check(program, program, &passes(number), seed),
        Variant::Kernel(flags) => kernel::check(program, flags, seed),
        Variant::Changed(transform) => {
            let changed = transform::apply(program, transform, &mut Random(seed ^ 0x7a4f));
            // A change that would need more digits than floats have proves nothing.
            if !changed.is_exact() {
                return Outcome::Agrees;
            }
            check(&changed, program, &[], seed)
        }
    }
}

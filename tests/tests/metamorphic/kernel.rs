//! A program as a compute shader on the CPU's engines.

use std::time::{Duration, Instant};

use vc4_shaders::ir::Stage;
use vc4_shaders::spirv::{StageSource, translate};
use vc4_shaders_cpu::{Dispatch, Engine, Images, Kernel, Range, Words};

use crate::ast::{Program, Source};
use crate::front;
use crate::outcome::{BATCHES, Batch, Outcome, Shown};
use crate::value::LANES;
use crate::world::World;

/// How long a dispatch of sixteen invocations may take.
const LONGEST: Duration = Duration::from_secs(60);

/// The programs have none.
struct NoImages;

impl Images for NoImages {
    fn access(&self, index: usize, _: &[Words], _: u8, _: &mut [Words]) {
        panic!("image operation {index} of a kernel without images");
    }
}

/// What the elements show when the kernel runs on a world.
fn run(kernel: &Kernel, world: &World) -> Result<Shown, String> {
    let own = [Source::InputInt, Source::InputUint, Source::InputFloat];
    let given = world.inputs.iter().flat_map(|inputs| own.map(|source| inputs[source.place()]));
    let mut buffers = [world.buffers.uniform.clone(), given.flatten().collect(), vec![0; 2 * LANES]];
    let range =
        |words: &mut Vec<u32>| Range { address: words.as_mut_ptr().cast(), bytes: 4 * words.len() as u32 };
    let ranges: Vec<Range> =
        kernel.buffers().iter().map(|buffer| range(&mut buffers[buffer.binding as usize])).collect();
    let dispatch = Dispatch {
        base: [0; 3],
        groups: [1; 3],
        count: [1; 3],
        push: &world.buffers.push,
        buffers: &ranges,
        images: &NoImages,
        deadline: Some(Instant::now() + LONGEST),
    };
    // SAFETY: the ranges are those of vectors that live on.
    unsafe { kernel.run(&dispatch) }.map_err(|halt| halt.to_string())?;
    Ok(std::array::from_fn(|lane| (buffers[2][2 * lane] != 0).then(|| buffers[2][2 * lane + 1])))
}

/// Compiles a program for every engine and compares what it shows with what it means.
pub fn check(program: &Program, flags: &[&str], seed: u64) -> Outcome {
    let compiled = front::kernel(program, flags).and_then(|words| {
        let source = StageSource { words: &words, entry: "main", specialization: &[] };
        let mut shader = translate(&source, Stage::Compute).map_err(|error| format!("front end: {error}"))?;
        vc4_shaders::pass::optimize(&mut shader);
        let compile = |&engine: &Engine| match Kernel::compile_for(&shader, engine) {
            Ok(kernel) => Ok((engine, kernel)),
            Err(error) => Err(format!("{} engine: {error}", engine.name())),
        };
        Engine::ALL.iter().map(compile).collect::<Result<Vec<_>, _>>()
    });
    let kernels = match compiled {
        Ok(kernels) => kernels,
        Err(error) => return Outcome::Wrong(error),
    };
    for batch in (0..BATCHES).map(|number| Batch::new(number, seed, program, program)) {
        for (engine, kernel) in &kernels {
            let what = format!("{} engine", engine.name());
            match run(kernel, &batch.world) {
                Err(error) => return Outcome::Wrong(format!("{what}: {error}")),
                Ok(shown) => {
                    if let Some(wrong) = batch.difference(&what, &shown) {
                        return wrong;
                    }
                }
            }
        }
    }
    Outcome::Agrees
}

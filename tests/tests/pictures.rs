//! Random kernels that are pictures, as QPU programs on the simulator, against the interpreter that runs the kernel.

#[path = "../../shaders/tests/support/picture.rs"]
mod picture;

use picture::{BUFFER, Kernel, UNIFORM, World, random};
use vc4::state::{ColorKind, ColorOutput, Encoding, Field};
use vc4_shaders::compile::{CompileError, PipelineState, compile_picture, compute_stage};
use vc4_shaders::diagnostic::ErrorKind;
use vc4_shaders::ir::interp::run_dispatch;
use vc4_shaders::picture::estimate::Estimate;
use vc4_shaders::picture::find;
use vc4_shaders::spirv::StageSource;
use vc4_shaders::state::Conversions;
use vc4_tests::runner::{Buffers, Runner};

/// Pixels along an edge of what a batch of the runner covers.
const EDGE: u32 = 8;

/// The pixel of an element: quads along a diagonal.
fn pixel(lane: usize) -> [u32; 2] {
    [0, 1].map(|bit| (lane / 4 * 2) as u32 + (lane as u32 >> bit & 1))
}

#[test]
fn qpu_programs_of_random_kernels_write_what_the_kernels_write() {
    let word = Encoding {
        kind: ColorKind::Uint,
        fields: [Some(Field { bit: 0, width: 32 }), None, None, None],
        stores_565: false,
    };
    let state = PipelineState { color: Some(ColorOutput::encoded(word, false)), ..PipelineState::default() };
    let (mut compared, mut kept) = (0, 0);
    for seed in 0..250 {
        let Kernel { shader, .. } = random(seed);
        let Ok(picture) = find(&shader) else { continue };
        let pipeline = match compile_picture(&picture, &state) {
            Ok(pipeline) => pipeline,
            Err(CompileError::Backend { error, .. }) if error.kind() == ErrorKind::DoesNotFit => continue,
            Err(error) => panic!("{error}:\n{shader}"),
        };
        // The runner has one buffer.
        let mut world = World::new(seed, EDGE + 2, EDGE + 3);
        let words = world.buffers[&BUFFER].clone();
        world.buffers.insert(UNIFORM, words.clone());
        let groups = [0, 1].map(|axis| EDGE.div_ceil(shader.workgroup.size[axis]));
        let groups = [groups[0], groups[1], 1];
        let buffers = Buffers { uniform: words, push: world.parameters(groups) };
        let runner = Runner::new(&pipeline, &buffers).unwrap_or_else(|error| panic!("{error}:\n{shader}"));
        let (mask, colors) = runner.fragment(&[], true).unwrap_or_else(|error| panic!("{error}:\n{shader}"));
        run_dispatch(&shader, &mut world, groups).unwrap();
        for (lane, &color) in colors.iter().enumerate() {
            let at = pixel(lane);
            let limit = |axis: u8| {
                let own = picture.limits.iter().filter(move |limit| limit.axis == axis);
                own.map(|limit| limit.below.evaluate(|word| world.host(word, groups)).unwrap()).min()
            };
            if (0..2).any(|axis| limit(axis).is_some_and(|limit| at[usize::from(axis)] >= limit)) {
                continue;
            }
            let written = (mask >> lane & 1 == 1).then_some(color);
            let expected = world.target.get(&at).map(|color| color[0]);
            assert_eq!(written, expected, "pixel {at:?}, seed {seed}:\n{shader}\n{}", picture.fragment);
            compared += 1;
            kept += u32::from(expected.is_none());
        }
    }
    assert!(compared > 2000 && kept > 100, "{compared} pixels were compared, of which {kept} are kept");
}

/// The kernels that are timed: each fits, and pays beside one core.
#[test]
fn the_blur_and_the_mandelbrot_set_are_worth_drawing() {
    let state = PipelineState {
        color: Some(ColorOutput::encoded(Encoding::RGBA8, false)),
        ..PipelineState::default()
    };
    for spirv in [
        &include_bytes!("../shaders/kernels/blur.comp.spv")[..],
        &include_bytes!("../shaders/kernels/mandelbrot.comp.spv")[..],
    ] {
        let words: Vec<u32> =
            spirv.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let source = StageSource { words: &words, entry: "main", specialization: &[] };
        let kernel = compute_stage(&source, &Conversions::new()).unwrap();
        let picture = find(&kernel).unwrap();
        assert!(!picture.keeps && picture.limits.is_empty());
        let pipeline = compile_picture(&picture, &state).unwrap();
        let estimate = Estimate::new(&kernel, &pipeline.fragment, &vc4::facts::Numbers::default());
        assert!(estimate.favours_qpu(1 << 20, 1, 1) && !estimate.may_hang(), "{estimate:?}");
        assert!(!estimate.favours_qpu(16, 1, 1), "a job for sixteen pixels");
    }
}

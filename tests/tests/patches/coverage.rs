//! Samples: per-sample blending, sample mask, alpha to coverage, alpha to one.

use vc4::cl::packets::CompareFunc;
use vc4::hw::LANES;
use vc4::state::blend::{Blend, ColorOutput};
use vc4::state::depth_stencil::{DepthStencilPlan, StencilPlan};
use vc4::state::{Multisample, StateWords};
use vc4_shaders::compile::PipelineState;
use vc4_shaders::ir::{Op, Output};
use vc4_sim::tlb::{DepthMode, Tile};

use crate::blend::{check, colors, pass_through, stored, targets};
use crate::machine::{Pixels, Random, compile, fragment, input, tile};
use crate::reference::{self, Inputs};

const FOUR: Multisample =
    Multisample { four_samples: true, sample_mask: false, alpha_to_coverage: false, alpha_to_one: false };

fn index(lane: usize, sample: usize) -> usize {
    4 * lane + sample
}

/// Every sample that is covered is blended with its own destination; the others stay.
#[test]
fn samples_are_blended_one_by_one() {
    let equations = reference::equations();
    let mut random = Random::new(77);
    for target in targets() {
        for state in 0..10 {
            let blend = Blend { color: random.pick(&equations), alpha: random.pick(&equations) };
            let blend = (state != 0).then_some(blend);
            let write = if state % 3 == 1 { [true, false, true, true] } else { [true; 4] };
            let output = ColorOutput { blend, write, multisample: true, ..target.output };
            let state = PipelineState { color: Some(output), multisample: FOUR, ..PipelineState::default() };
            let program = compile(pass_through(output.reads_second_source()), &state);
            let batch = colors(&mut random, LANES);
            let coverage = std::array::from_fn(|_| random.word() & 15);
            let mut tile = tile(true);
            let old: Vec<u32> = (0..4 * LANES).map(|_| stored(&mut random, &target)).collect();
            tile.color_mut()[..4 * LANES].copy_from_slice(&old);
            let words = StateWords { blend_constants: batch[0].constants, ..Default::default() };
            program.run(
                &mut tile,
                &Pixels { coverage, words, ..Pixels::default() },
                |location, component| {
                    std::array::from_fn(|lane| {
                        let color = if location == 0 { batch[lane].src } else { batch[lane].src1 };
                        color[usize::from(component)].to_bits()
                    })
                },
            );
            for (lane, inputs) in batch.iter().enumerate() {
                for sample in 0..4 {
                    let (old, new) = (old[index(lane, sample)], tile.color()[index(lane, sample)]);
                    if coverage[lane] >> sample & 1 == 0 {
                        assert_eq!(new, old, "{}: sample {sample} is not covered", target.name);
                    } else {
                        check(&target, &output, &Inputs { dst: old, ..*inputs }, new);
                    }
                }
            }
        }
    }
}

/// Samples of each pixel that a program with this state wrote; alphas are sixteenths and a bit.
fn written(
    multisample: Multisample,
    sample_mask: u32,
    coverage: u32,
    shader_mask: bool,
) -> (Tile, [u32; LANES]) {
    let shader = fragment(|b| {
        let alpha = input(b, 0, 0);
        for component in 0..3 {
            let one = b.float(1.0);
            b.store_output(Output::User { location: 0, component }, one);
        }
        b.store_output(Output::User { location: 0, component: 3 }, alpha);
        if shader_mask {
            // 0 to 15 by alpha.
            let scale = b.float(15.0);
            let scaled = b.op(Op::FMul, &[alpha, scale]);
            let mask = b.op(Op::FToS, &[scaled]);
            b.store_output(Output::SampleMask, mask);
        }
    });
    let output = ColorOutput::plain(vc4::image::Format::R8G8B8A8.info(), multisample.four_samples);
    let depth_stencil = DepthStencilPlan { write_z: true, stencil: StencilPlan::Off };
    let state = PipelineState { color: Some(output), multisample, depth_stencil, ..PipelineState::default() };
    let program = compile(shader, &state);
    let mut tile = tile(multisample.four_samples);
    let pixels = Pixels {
        coverage: [coverage; LANES],
        z: [5; LANES],
        depth: DepthMode { func: CompareFunc::Always, write: true },
        words: StateWords { sample_mask, ..Default::default() },
        ..Pixels::default()
    };
    program.run(&mut tile, &pixels, |_, _| std::array::from_fn(|lane| (lane as f32 / 15.0 + 1e-4).to_bits()));
    let samples = tile.samples();
    let masks = std::array::from_fn(|lane| {
        (0..samples).map(|s| u32::from(tile.color()[lane * samples + s] != 0) << s).sum()
    });
    // The depth is written where the colour is: coverage narrows in front of the test.
    for lane in 0..LANES {
        for s in 0..samples {
            let at = lane * samples + s;
            assert_eq!(tile.zs()[at] != 0, tile.color()[at] != 0, "element {lane}, sample {s}");
        }
    }
    (tile, masks)
}

#[test]
fn the_sample_mask_leaves_samples_out() {
    for mask in 0..16 {
        for coverage in [15, 9, 6] {
            let state = Multisample { sample_mask: true, ..FOUR };
            assert_eq!(written(state, mask, coverage, false).1, [mask & coverage; LANES]);
        }
    }
}

#[test]
fn the_shader_s_mask_counts_too() {
    let expected = |mask: u32| std::array::from_fn(|lane| lane as u32 & mask);
    assert_eq!(written(FOUR, 15, 15, true).1, expected(15));
    assert_eq!(written(Multisample { sample_mask: true, ..FOUR }, 6, 13, true).1, expected(4));
    let one = Multisample { four_samples: false, ..FOUR };
    assert_eq!(written(one, 1, 15, true).1, expected(1));
}

#[test]
fn alpha_becomes_coverage() {
    let state = Multisample { alpha_to_coverage: true, ..FOUR };
    let (tile, masks) = written(state, 15, 15, false);
    for (lane, mask) in masks.into_iter().enumerate() {
        let share = (lane as f64 / 15.0 + 1e-4) * 4.0;
        assert!((f64::from(mask.count_ones()) - share).abs() <= 0.5001, "alpha {lane}/15 covers {mask:#06b}");
    }
    assert_eq!((masks[0], masks[15]), (0, 15), "nothing of 0, everything of 1");
    assert!(masks.windows(2).all(|pair| pair[0] & !pair[1] == 0), "more alpha never uncovers a sample");
    assert_eq!(tile.color()[index(8, 0)] >> 24, 136, "alpha itself stays");
    let single = Multisample { four_samples: false, ..state };
    let (_, masks) = written(single, 1, 15, false);
    assert_eq!(masks, std::array::from_fn(|lane| u32::from(lane >= 8)));
}

#[test]
fn alpha_becomes_one_behind_coverage() {
    let state = Multisample { alpha_to_coverage: true, alpha_to_one: true, ..FOUR };
    let (tile, masks) = written(state, 15, 15, false);
    for (lane, mask) in masks.into_iter().enumerate() {
        for sample in (0..4).filter(|sample| mask >> sample & 1 != 0) {
            assert_eq!(tile.color()[index(lane, sample)], 0xffff_ffff);
        }
    }
    assert_eq!(masks[4].count_ones(), 1);
}

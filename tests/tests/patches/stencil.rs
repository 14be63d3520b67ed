//! Depth and stencil: every comparison, operation, face and mask against an independent reference.

use vc4::cl::packets::CompareFunc;
use vc4::cl::words::StencilOp;
use vc4::hw::LANES;
use vc4::state::StateWords;
use vc4::state::depth_stencil::{
    DepthStencil, DepthStencilPlan, StencilFaceState, StencilPlan, StencilWords,
};
use vc4_shaders::compile::PipelineState;
use vc4_shaders::ir::{Op, Output};
use vc4_sim::tlb::DepthMode;

use crate::blend::pass_through;
use crate::machine::{Compiled, Pixels, Random, compile, fragment, input, tile};

const FUNCS: [CompareFunc; 8] = [
    CompareFunc::Never,
    CompareFunc::Less,
    CompareFunc::Equal,
    CompareFunc::LessOrEqual,
    CompareFunc::Greater,
    CompareFunc::NotEqual,
    CompareFunc::GreaterOrEqual,
    CompareFunc::Always,
];

const OPS: [StencilOp; 8] = [
    StencilOp::Zero,
    StencilOp::Keep,
    StencilOp::Replace,
    StencilOp::IncrementClamp,
    StencilOp::DecrementClamp,
    StencilOp::Invert,
    StencilOp::IncrementWrap,
    StencilOp::DecrementWrap,
];

/// Compact codes and what needs the extra word.
const WRITE_MASKS: [u8; 8] = [1, 3, 15, 255, 0, 0x80, 0x5a, 0xfe];

/// VkCompareOp on integers.
fn holds(func: CompareFunc, a: i64, b: i64) -> bool {
    let order = a.cmp(&b);
    match func {
        CompareFunc::Never => false,
        CompareFunc::Less => order.is_lt(),
        CompareFunc::Equal => order.is_eq(),
        CompareFunc::LessOrEqual => order.is_le(),
        CompareFunc::Greater => order.is_gt(),
        CompareFunc::NotEqual => order.is_ne(),
        CompareFunc::GreaterOrEqual => order.is_ge(),
        CompareFunc::Always => true,
    }
}

/// VkStencilOp, with unsigned saturation and wrapping at eight bits.
fn operated(op: StencilOp, stored: i64, reference: i64) -> i64 {
    match op {
        StencilOp::Keep => stored,
        StencilOp::Zero => 0,
        StencilOp::Replace => reference,
        StencilOp::IncrementClamp => (stored + 1).min(255),
        StencilOp::DecrementClamp => (stored - 1).max(0),
        StencilOp::Invert => 255 - stored,
        StencilOp::IncrementWrap => (stored + 1).rem_euclid(256),
        StencilOp::DecrementWrap => (stored - 1).rem_euclid(256),
    }
}

/// What a fragment leaves: depth and stencil, and whether its colour is written.
fn tested(state: &DepthStencil, back: bool, z: u32, old: u32) -> (u32, bool) {
    let (old_z, old_s) = (old >> 8, i64::from(old & 255));
    let depth_passes = !state.depth_test || holds(state.depth_func, z.into(), old_z.into());
    let (stencil_passes, stencil) = match state.stencil {
        None => (true, old_s),
        Some(faces) => {
            let face = faces[usize::from(back)];
            let mask = i64::from(face.compare_mask);
            let passes = holds(face.func, i64::from(face.reference) & mask, old_s & mask);
            let op = match (passes, depth_passes) {
                (false, _) => face.fail,
                (true, false) => face.depth_fail,
                (true, true) => face.pass,
            };
            let new = operated(op, old_s, face.reference.into());
            let write = i64::from(face.write_mask);
            (passes, (new & write) | (old_s & !write))
        }
    };
    let passes = depth_passes && stencil_passes;
    let new_z = if passes && state.depth_test && state.depth_write { z } else { old_z };
    (new_z << 8 | stencil as u32, passes)
}

/// The depth part of CONFIGURATION_BITS, as the driver sets it.
fn mode(state: &DepthStencil) -> DepthMode {
    let raster = vc4::state::Raster {
        triangles: true,
        cull_front: false,
        cull_back: false,
        front_face: vc4::state::FrontFace::Clockwise,
        depth_bias: false,
        multisample: false,
        whole_pixels: false,
        shader_depth: false,
    };
    let bits = raster.configuration(Some(state));
    DepthMode { func: bits.depth_func, write: bits.depth_write }
}

/// Runs sixteen fragments, half of them back faces, and compares what they leave.
fn check(program: &Compiled, plan: StencilPlan, state: &DepthStencil, random: &mut Random) {
    let mut tile = tile(false);
    let old: [u32; LANES] = std::array::from_fn(|_| {
        let z = random.pick(&[0, 1, 77, 78, 79, 0xff_fffe, 0xff_ffff]);
        let near = state.stencil.map_or(0, |faces| faces[0].reference);
        let s = random.pick(&[0, 1, 254, 255, near, near.wrapping_add(1), random.clone().word() as u8]);
        z << 8 | u32::from(s)
    });
    tile.zs_mut()[..LANES].copy_from_slice(&old);
    let z: [u32; LANES] = std::array::from_fn(|_| random.pick(&[0, 77, 78, 79, 0xff_ffff]));
    let coverage: [u32; LANES] = std::array::from_fn(|_| random.pick(&[15, 15, 15, 0]));
    let back = random.word() as u16;
    let stencil = state.stencil.map_or(StencilWords::default(), |faces| StencilWords::new(plan, &faces));
    let words = StateWords { stencil, ..Default::default() };
    let pixels = Pixels { coverage, back, z, depth: mode(state), words, ..Pixels::default() };
    program.run(&mut tile, &pixels, |_, _| [1f32.to_bits(); LANES]);
    for lane in 0..LANES {
        let (mut wanted, mut passes) = tested(state, back >> lane & 1 != 0, z[lane], old[lane]);
        if coverage[lane] == 0 {
            (wanted, passes) = (old[lane], false);
        }
        assert_eq!(tile.zs()[lane], wanted, "element {lane}: z {}, was {:#x}\n{state:?}", z[lane], old[lane]);
        assert_eq!(tile.color()[lane] != 0, passes, "element {lane}: colour\n{state:?}");
    }
}

fn compiled(plan: DepthStencilPlan) -> Compiled {
    let color = vc4::state::ColorOutput::plain(vc4::image::Format::R8G8B8A8.info(), false);
    let state = PipelineState { color: Some(color), depth_stencil: plan, ..PipelineState::default() };
    compile(pass_through(false), &state)
}

/// Programs by their number of stencil words.
struct Programs(Vec<(DepthStencilPlan, Compiled)>);

impl Programs {
    fn get(&mut self, plan: DepthStencilPlan) -> &Compiled {
        let at = self.0.iter().position(|(known, _)| *known == plan).unwrap_or_else(|| {
            self.0.push((plan, compiled(plan)));
            self.0.len() - 1
        });
        &self.0[at].1
    }
}

fn check_state(programs: &mut Programs, state: &DepthStencil, dynamic: bool, random: &mut Random) {
    let plan = DepthStencilPlan::new(state, dynamic);
    check(programs.get(plan), plan.stencil, state, random);
}

/// All comparisons, operations in each place, write masks and compare masks; the other face has another state, or the
/// same one.
#[test]
fn every_stencil_state() {
    let mut random = Random::new(3);
    let mut programs = Programs(Vec::new());
    let mut states = 0;
    for func in FUNCS {
        for place in 0..3 {
            for op in OPS {
                for write_mask in WRITE_MASKS {
                    for compare_mask in [0xff, 0x0f, 0x81, 0] {
                        for other_face in 0..3 {
                            let face = |random: &mut Random| {
                                let mut ops = [random.pick(&OPS), random.pick(&OPS), random.pick(&OPS)];
                                ops[place] = op;
                                let [fail, pass, depth_fail] = ops;
                                let reference = random.pick(&[0, 1, 0x55, 254, 255]);
                                StencilFaceState {
                                    fail,
                                    pass,
                                    depth_fail,
                                    func,
                                    compare_mask,
                                    write_mask,
                                    reference,
                                }
                            };
                            let this = face(&mut random);
                            let other = StencilFaceState {
                                func: random.pick(&FUNCS),
                                write_mask: random.pick(&WRITE_MASKS),
                                ..face(&mut random)
                            };
                            let faces = [[this, this], [this, other], [other, this]][other_face];
                            let state = DepthStencil {
                                depth_test: random.below(3) != 0,
                                depth_write: random.below(2) == 0,
                                depth_func: random.pick(&FUNCS),
                                stencil: Some(faces),
                            };
                            check_state(&mut programs, &state, random.below(4) == 0, &mut random);
                            states += 1;
                        }
                    }
                }
            }
        }
    }
    println!("{states} states, {} programs", programs.0.len());
    assert_eq!(states, 8 * 3 * 8 * 8 * 4 * 3);
}

#[test]
fn every_depth_state() {
    let mut random = Random::new(4);
    let mut programs = Programs(Vec::new());
    for depth_func in FUNCS {
        for (depth_test, depth_write) in [(true, true), (true, false), (false, true), (false, false)] {
            let state = DepthStencil { depth_test, depth_write, depth_func, stencil: None };
            for _ in 0..8 {
                check_state(&mut programs, &state, false, &mut random);
            }
        }
    }
}

/// Discarded elements leave neither depth nor stencil nor colour, with and without tests.
#[test]
fn discards_leave_nothing() {
    let keep = StencilFaceState::default();
    let count = StencilFaceState { pass: StencilOp::IncrementWrap, fail: StencilOp::Invert, ..keep };
    for stencil in [None, Some([count, count])] {
        for depth_test in [false, true] {
            let state =
                DepthStencil { depth_test, depth_write: true, depth_func: CompareFunc::Less, stencil };
            let plan = DepthStencilPlan::new(&state, false);
            let shader = fragment(|b| {
                let (x, zero) = (input(b, 0, 0), b.word(0));
                let below = b.op(Op::FLt, &[x, zero]);
                b.discard_if(below);
                let one = b.float(1.0);
                b.store_output(Output::User { location: 0, component: 0 }, one);
            });
            let color = vc4::state::ColorOutput::plain(vc4::image::Format::R8G8B8A8.info(), false);
            let pipeline =
                PipelineState { color: Some(color), depth_stencil: plan, ..PipelineState::default() };
            let program = compile(shader, &pipeline);
            let mut tile = tile(false);
            tile.clear(None, Some(9 << 8));
            let stencil = stencil.map_or(StencilWords::default(), |f| StencilWords::new(plan.stencil, &f));
            let words = StateWords { stencil, ..Default::default() };
            let pixels = Pixels { z: [5; LANES], depth: mode(&state), words, ..Pixels::default() };
            program.run(&mut tile, &pixels, |_, _| {
                std::array::from_fn(|lane| if lane % 3 == 0 { (-1f32).to_bits() } else { 1f32.to_bits() })
            });
            for lane in 0..LANES {
                let (zs, passes) =
                    if lane % 3 == 0 { (9 << 8, false) } else { tested(&state, false, 5, 9 << 8) };
                assert_eq!(
                    (tile.zs()[lane], tile.color()[lane] != 0),
                    (zs, passes),
                    "element {lane}, {state:?}"
                );
            }
        }
    }
}

/// A depth that the program computes takes the place of the interpolated one.
#[test]
fn shader_depth_is_tested() {
    let state =
        DepthStencil { depth_test: true, depth_write: true, depth_func: CompareFunc::Less, stencil: None };
    let plan = DepthStencilPlan::new(&state, false);
    let shader = fragment(|b| {
        let depth = input(b, 0, 0);
        b.store_output(Output::FragDepth, depth);
    });
    let program = compile(shader, &PipelineState { depth_stencil: plan, ..PipelineState::default() });
    let mut tile = tile(false);
    tile.clear(None, Some(0x80_0000 << 8));
    let pixels = Pixels { z: [1; LANES], depth: mode(&state), ..Pixels::default() };
    let depth = |lane: usize| lane as f32 / 10.0 - 0.2;
    program.run(&mut tile, &pixels, |_, _| std::array::from_fn(|lane| depth(lane).to_bits()));
    for lane in 0..LANES {
        let exact = f64::from(depth(lane)).clamp(0.0, 1.0) * 16_777_215.0;
        let wanted = if exact < 8_388_608.0 { exact } else { 8_388_608.0 };
        let found = f64::from(tile.zs()[lane] >> 8);
        assert!((found - wanted).abs() <= 2.0, "element {lane}: {found} for {wanted}");
    }
}

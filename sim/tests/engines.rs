//! Machine code and interpreter on the tile buffer: random fragment programs, to the same words and the same counts.

mod support;

use support::*;
use vc4::cl::packets::*;
use vc4::facts::{Facts, OcclusionEvents, StencilLatch};
use vc4_kernel_abi::Surface;
use vc4_sim::{Config, Engine, Simulator, Totals};

const NOPS: &str = "nop = nop(r0, r0)";
const FUNCTIONS: [CompareFunc; 8] = [
    CompareFunc::Never,
    CompareFunc::Less,
    CompareFunc::Equal,
    CompareFunc::LessOrEqual,
    CompareFunc::Greater,
    CompareFunc::NotEqual,
    CompareFunc::GreaterOrEqual,
    CompareFunc::Always,
];

/// Numbers that a failure is repeated by (an LCG's upper bits).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        ((self.0 >> 33) % end as u64) as usize
    }

    fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len())]
    }
}

/// A program that tests depths, reads and writes colours in any order and under any condition, and its uniforms.
fn program(random: &mut Random) -> (Vec<u64>, Vec<u32>) {
    let mut uniforms = vec![0x00ff_0f33];
    let mut text = format!(
        "sig_none ; r0 = or.always(a, a, uni) ; {NOPS} ;\n\
         sig_none ; r1 = or.always(a, a, x_pix) ; {NOPS} ;\n\
         sig_none ; r2 = or.always(b, b, nop, y_pix) ; {NOPS} ;\n\
         sig_none ; r3 = or.always(b, b, nop, rb15) ; {NOPS} ;\n"
    );
    for _ in 0..random.below(10) + 3 {
        let cond = random.of(&["always", "always", "always", "zs", "zc", "ns", "nc", "cs", "cc"]);
        let value = random.of(&["r0", "r1", "r2", "r3"]);
        text += &match random.below(9) {
            0 | 1 => format!("sig_none ; tlb_z = or.{cond}({value}, {value}) ; {NOPS} ;\n"),
            2 | 3 => format!("sig_none ; tlb_color_all = or.{cond}({value}, {value}) ; {NOPS} ;\n"),
            4 => format!("sig_none ; {NOPS} ; tlb_color_all = v8adds.{cond}({value}, r0) ;\n"),
            5 => format!(
                "sig_color_load ; {NOPS} ; {NOPS} ;\n\
                 sig_none ; r0 = xor.always(r4, {value}) ; {NOPS} ;\n"
            ),
            6 => {
                // Stencil set-ups, and later depth tests go with them.
                uniforms
                    .push((3 << 30 | 3 << 28 | 3 << 22 | 7 << 16 | 0xff) ^ (random.below(2) << 25) as u32);
                let to = if random.below(4) == 0 { "tlb_stencil_setup" } else { "r0" };
                format!("sig_none ; {to} = or.always(a, a, uni) ; {NOPS} ;\n")
            }
            7 if random.below(3) == 0 => {
                format!("sig_small_imm ; ms_flags = or.{cond}(b, b, nop, {}) ; {NOPS} ;\n", random.below(16))
            }
            _ => {
                let operation = random.of(&["sub", "xor", "and"]);
                let [a, b] = [(); 2].map(|()| random.of(&["r1", "r2"]));
                format!("sig_none ; r{} = {operation}.sf.always({a}, {b}) ; {NOPS} ;\n", 1 + random.below(3))
            }
        };
    }
    let end = format!(
        "sig_end ; {NOPS} ; {NOPS} ;\nsig_none ; {NOPS} ; {NOPS} ;\nsig_unlock_score ; {NOPS} ; {NOPS} ;\n"
    );
    (assemble(&(text + &end)), uniforms)
}

/// Colours, depths and counts of a frame with such programs.
fn frame(seed: u64, engine: Engine) -> (Vec<u32>, Vec<u32>, Totals) {
    let random = &mut Random(seed);
    let mut facts = Facts::default();
    if random.below(2) == 0 {
        facts.occlusion_events = OcclusionEvents::Counted;
        facts.stencil_latch = StencilLatch::FirstWrite;
    }
    // What is watched is interpreted.
    let config = Config { memory_bytes: 32 << 20, check_programs: false, facts, engine, ..Config::default() };
    let gpu = Simulator::new(config);
    let mut target = Target::new(&gpu, 64, 64, if random.below(2) == 0 { Tiling::T } else { Tiling::Raster });
    target.multisample = random.below(5) == 0;
    let draws: Vec<Draw> = (0..3)
        .map(|_| {
            let (fragment, uniforms) = program(random);
            let mut edge = || [random.below(64) as f32, random.below(64) as f32];
            let corners = [edge(), edge(), [63.0, 1.0], [1.0, 60.0]];
            let vertices = corners.into_iter().enumerate();
            let vertices = vertices.map(|(i, [x, y])| at(x, y, (i as f32 + 0.5) / 5.0)).collect();
            let mut draw = Draw::color(vertices, 0).mode(PrimitiveMode::TriangleStrip);
            draw.config.depth_func = FUNCTIONS[random.below(FUNCTIONS.len())];
            draw.config.depth_write = random.below(4) > 0;
            Draw { fragment, uniforms, ..draw }
        })
        .collect();
    let mut job = target.draw_job(&gpu, 0x1020_3040, &draws);
    job.clear_z = 0x90_0000;
    job.zs_write = Some(Surface { bo_index: 1, offset: 0, bits: 0x12, flags: 0 });
    run(&gpu, &job).unwrap();
    (target.pixels(&gpu).words, target.depths(&gpu).words, gpu.totals())
}

#[test]
fn machine_code_draws_what_the_interpreter_does() {
    let mut pictures = std::collections::BTreeSet::new();
    for seed in 0..300 {
        let interpreted = frame(seed, Engine::Interpreter);
        let compiled = frame(seed, Engine::Compiler);
        assert!(interpreted.0 == compiled.0, "colours of seed {seed}");
        assert!(interpreted.1 == compiled.1, "depths of seed {seed}");
        assert_eq!(interpreted.2, compiled.2, "counts of seed {seed}");
        pictures.insert((interpreted.0, interpreted.1));
    }
    assert!(pictures.len() > 200, "{} different pictures", pictures.len());
}

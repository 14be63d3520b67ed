//! Machine code and interpreter on the tile buffer: random fragment programs, to the same words and the same counts.

mod support;

use std::collections::BTreeSet;

use support::*;
use vc4::cl::packets::*;
use vc4::facts::{Facts, OcclusionEvents, StencilLatch};
use vc4_kernel_abi::Surface;
use vc4_sim::{Config, Engine, Simulator, Totals};

const NOPS: &str = "nop = nop(r0, r0)";

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

/// A frame with such programs.
struct Drawn {
    /// Colours and depths.
    picture: [Vec<u32>; 2],
    totals: Totals,
    /// Broken rules, programs and instructions.
    findings: BTreeSet<(&'static str, u32, u32)>,
}

fn frame(seed: u64, engine: Engine, check_programs: bool) -> Drawn {
    let random = &mut Random(seed);
    let mut facts = Facts::default();
    if random.below(2) == 0 {
        facts.occlusion_events = OcclusionEvents::Counted;
        facts.stencil_latch = StencilLatch::FirstWrite;
    }
    let config = Config { memory_bytes: 32 << 20, check_programs, facts, engine, ..Config::default() };
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
            draw.config.depth_func = CompareFunc::ALL[random.below(CompareFunc::ALL.len())];
            draw.config.depth_write = random.below(4) > 0;
            draw.config.early_z = random.below(3) == 0;
            Draw { fragment, uniforms, ..draw }
        })
        .collect();
    let mut job = target.draw_job(&gpu, 0x1020_3040, &draws);
    job.clear_z = 0x90_0000;
    job.zs_write = Some(Surface { bo_index: 1, offset: 0, bits: 0x12, flags: 0 });
    run(&gpu, &job).unwrap();
    let found = gpu.findings();
    Drawn {
        picture: [target.pixels(&gpu), target.depths(&gpu)].map(|pixels| pixels.words),
        totals: gpu.totals(),
        findings: found.iter().map(|finding| (finding.rule.id, finding.program, finding.index)).collect(),
    }
}

/// Compares both engines; returns how many pictures and rules there were.
fn compare(seeds: std::ops::Range<u64>, check: bool) -> (usize, usize) {
    let (mut pictures, mut rules) = (BTreeSet::new(), BTreeSet::new());
    for seed in seeds {
        let interpreted = frame(seed, Engine::Interpreter, check);
        let compiled = frame(seed, Engine::Compiler, check);
        assert!(interpreted.picture[0] == compiled.picture[0], "colours of seed {seed}");
        assert!(interpreted.picture[1] == compiled.picture[1], "depths of seed {seed}");
        assert_eq!(interpreted.totals, compiled.totals, "counts of seed {seed}");
        assert_eq!(interpreted.findings, compiled.findings, "rules of seed {seed}");
        pictures.insert(interpreted.picture);
        rules.extend(interpreted.findings.into_iter().map(|(rule, ..)| rule));
    }
    (pictures.len(), rules.len())
}

#[test]
fn machine_code_draws_what_the_interpreter_does() {
    let (pictures, _) = compare(0..300, false);
    assert!(pictures > 200, "{pictures} different pictures");
}

#[test]
fn broken_rules_are_found_in_machine_code() {
    let (_, rules) = compare(1000..1200, true);
    assert!(rules > 3, "{rules} different rules");
}

/// Depths of its own from column 32 on, which early Z must not see.
#[test]
fn a_rule_that_one_instance_breaks_is_found() {
    let program = assemble(&format!(
        "sig_none ; r1 = or.always(a, a, x_pix) ; {NOPS} ;\n\
         sig_load_imm ; r2 = load32.always(0x20) ; nop = load32() ;\n\
         sig_none ; r3 = or.always(b, b, nop, rb15) ; {NOPS} ;\n\
         sig_none ; nop = sub.sf.always(r1, r2) ; {NOPS} ;\n\
         sig_small_imm ; r3 = add.nc(r3, b, nop, 1) ; {NOPS} ;\n\
         sig_none ; tlb_z = or.always(r3, r3) ; {NOPS} ;\n\
         sig_none ; tlb_color_all = or.always(r1, r1) ; {NOPS} ;\n\
         sig_end ; {NOPS} ; {NOPS} ;\nsig_none ; {NOPS} ; {NOPS} ;\nsig_unlock_score ; {NOPS} ; {NOPS} ;\n"
    ));
    for engine in [Engine::Interpreter, Engine::Compiler] {
        let config = Config { memory_bytes: 32 << 20, check_programs: true, engine, ..Config::default() };
        let gpu = Simulator::new(config);
        let target = Target::new(&gpu, 64, 64, Tiling::T);
        let mut draw = Draw::color(
            [(0.0, 0.0), (64.0, 0.0), (0.0, 64.0), (64.0, 64.0)].map(|(x, y)| at(x, y, 0.5)).to_vec(),
            0,
        );
        draw.config.early_z = true;
        let draw =
            Draw { fragment: program.clone(), uniforms: vec![], ..draw.mode(PrimitiveMode::TriangleStrip) };
        run(&gpu, &target.draw_job(&gpu, BLACK, &[draw])).unwrap();
        let findings = gpu.findings();
        let found = findings.iter().find(|finding| finding.rule.id == "early-z-shader-depth");
        assert_eq!(found.map(|finding| finding.index), Some(5), "{engine:?}");
    }
}

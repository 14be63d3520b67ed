//! Speed of whole frames: a textured quad, a program of many instructions, and many small triangles, on one and two threads.
//! Prints only. `cargo bench -p vc4-sim --bench frame`

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use support::*;
use vc4::cl::packets::*;
use vc4_kernel_abi::Submit;
use vc4_sim::Simulator;

const WIDTH: u16 = 1280;
const HEIGHT: u16 = 720;
const TEXTURE_EDGE: u32 = 256;
/// How long each measurement goes on.
const MEASURE: Duration = Duration::from_millis(1500);

const NOP: &str = "sig_none ; nop = nop() ; nop = nop() ;\n";

/// The colour is a bilinear lookup where two varyings point.
fn textured() -> Vec<u64> {
    assemble(&format!(
        "sig_none ; r3 = or.always(a, a, ra15) ; nop = nop() ;\n\
         sig_none ; nop = nop(r0, r0, vary) ; r1 = fmul.always(a, r3) ;\n\
         sig_none ; r1 = fadd.always(r1, r5) ; nop = nop() ;\n\
         sig_none ; nop = nop(r0, r0, vary) ; r2 = fmul.always(a, r3) ;\n\
         sig_none ; tmu0_t = fadd.always(r2, r5) ; nop = nop() ;\n\
         sig_none ; tmu0_s = or.always(r1, r1) ; nop = nop() ;\n\
         sig_load_tmu0 ; nop = nop() ; nop = nop() ;\n{}",
        ending("r4")
    ))
}

fn ending(color: &str) -> String {
    format!(
        "sig_none ; tlb_z = or.always(b, b, nop, rb15) ; nop = nop() ;\n\
         sig_none ; tlb_color_all = or.always({color}, {color}) ; nop = nop() ;\n\
         sig_end ; nop = nop() ; nop = nop() ;\n{NOP}sig_unlock_score ; nop = nop() ; nop = nop() ;\n"
    )
}

/// 120 instructions of the kinds that shaders consist of; floats become infinities.
fn long() -> Vec<u64> {
    let mut text = String::from("sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n");
    for register in ["r1", "r2", "r3"] {
        text += &format!("sig_none ; {register} = itof.always(r0, r0) ; nop = nop() ;\n");
    }
    for _ in 0..14 {
        text += "sig_none ; r1 = fadd.always(r2, r3) ; r2 = fmul.always(r1, r3) ;\n\
                 sig_none ; r3 = fsub.sf.always(r1, r2) ; nop = nop() ;\n\
                 sig_none ; r0 = or.zs(r1, r1) ; r2 = v8min.ns(r3, r3) ;\n\
                 sig_small_imm ; r3 = fmax.always(r1, b, nop, 0x3f800000) ; r1 = fmul.always(r2, r2) ;\n\
                 sig_small_imm ; r0 = add.always(r0, b, nop, 7) ; r2 = v8adds.always(r1, r0) ;\n\
                 sig_none ; rx3 = and.always(r0, r1) ; nop = nop() ;\n\
                 sig_none ; r1 = shr.always(r1, r0) ; r3 = fmul.always(r3, r2) ;\n\
                 sig_none ; r2 = xor.always(r2, a, ra3) ; nop = nop() ;\n";
    }
    assemble(&format!("{text}{}", ending("r0")))
}

/// As many on floats near 1.
fn lighting() -> Vec<u64> {
    let mut text = String::from("sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n");
    for register in ["r2", "r3"] {
        text += &format!("sig_none ; {register} = itof.always(r0, r0) ; nop = nop() ;\n");
    }
    for _ in 0..20 {
        text += "sig_none ; r1 = fadd.always(r2, r3) ; r0 = fmul.always(r2, r3) ;\n\
                 sig_small_imm ; r2 = fmin.always(r1, b, nop, 0x3f800000) ; r3 = fmul.always(r0, r1) ;\n\
                 sig_none ; r3 = fsub.always(r3, r2) ; r0 = fmul.always(r2, r2) ;\n\
                 sig_small_imm ; r3 = fmax.always(r3, b, nop, 0x3f000000) ; nop = nop() ;\n\
                 sig_small_imm ; r3 = fmin.always(r3, b, nop, 0x3f800000) ; r2 = fmul.always(r2, r0) ;\n\
                 sig_none ; r2 = fadd.always(r2, r3) ; r0 = fmul.always(r0, r1) ;\n";
    }
    assemble(&format!("{text}{}", ending("r0")))
}

fn quad(fragment: Vec<u64>, varyings: u8, uniforms: Vec<u32>) -> Draw {
    let corner = |x: f32, y: f32| Vertex {
        clip: [x, y, 0.0, 1.0],
        varyings: [(x + 1.0) * 2.5, (y + 1.0) * 1.4, 0.0, 0.0],
    };
    let vertices = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0)];
    let draw = Draw::color(vertices, 0).mode(PrimitiveMode::TriangleStrip);
    Draw { fragment, varyings, uniforms, ..draw }
}

fn textured_quad(gpu: &Simulator, target: &Target) -> Submit {
    let texels: Vec<u8> = (0..TEXTURE_EDGE * TEXTURE_EDGE * 4).map(|i| ((i * 7) >> 3) as u8).collect();
    // p1: both edges, linear filter, repeat.
    let draw = quad(textured(), 4, vec![0, TEXTURE_EDGE << 20 | TEXTURE_EDGE << 8]);
    // The program reads two of them; two more would only be read.
    let draw = Draw { varyings: 2, ..draw };
    let mut job = target.draw_job(gpu, 0, &[draw]);
    job.bos.push(filled(gpu, &texels));
    let texture = (job.bos.len() as u32 - 1).to_le_bytes();
    job.uniforms.splice(0..0, texture);
    job
}

/// How fast something went.
#[derive(Clone, Copy)]
struct Rate {
    /// Per second on the wall.
    wall: f64,
    /// Per second of all threads' CPU time: what counts while other programs run.
    cpu: f64,
}

impl Rate {
    fn times(self, factor: f64) -> Rate {
        Rate { wall: self.wall * factor, cpu: self.cpu * factor }
    }
}

/// Seconds of CPU time that the process's threads took.
fn cpu_seconds() -> f64 {
    // Fields 14 and 15 of the line count from the state behind the name in parentheses; ticks of 10 ms.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Frames and instructions.
fn measure(gpu: &Simulator, job: &Submit) -> (Rate, Rate) {
    run(gpu, job).expect("the job runs");
    let before = gpu.totals().instructions;
    let (start, cpu, mut frames) = (Instant::now(), cpu_seconds(), 0);
    while start.elapsed() < MEASURE {
        run(gpu, job).expect("the job runs");
        frames += 1;
    }
    let (wall, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let rate = Rate { wall: 1.0 / wall, cpu: 1.0 / cpu };
    let instructions = gpu.totals().instructions - before;
    (rate.times(f64::from(frames)), rate.times(instructions as f64))
}

fn small_triangles() -> Draw {
    let mut vertices = Vec::new();
    for i in 0..120_000u32 {
        let (x, y) = ((i % 400) as f32 * 0.16, (i / 400) as f32 * 0.21);
        for (dx, dy) in [(0.0, 0.0), (0.25, 0.0), (0.0, 0.25)] {
            vertices.push(at(x + dx, y + dy, 0.5));
        }
    }
    vertices.truncate(65_535);
    Draw::color(vertices, 0xff00_ff00)
}

/// The process's peak memory in bytes.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    let kib = line.split_whitespace().nth(1).and_then(|text| text.parse::<u64>().ok());
    kib.unwrap_or_default() * 1024
}

/// What is measured: a name, its job, and what a frame of it counts for.
type Measured = (&'static str, fn(&Simulator, &Target) -> Submit, fn((Rate, Rate)) -> Rate);

const MEASURED: [Measured; 4] = [
    ("textured quad, frames", textured_quad, |(frames, _)| frames),
    (
        "QPU, million instructions",
        |gpu, target| target.draw_job(gpu, 0, &[quad(long(), 0, vec![12345])]),
        |(_, instructions)| instructions.times(1e-6),
    ),
    (
        "the same on floats near 1",
        |gpu, target| target.draw_job(gpu, 0, &[quad(lighting(), 0, vec![1])]),
        |(_, instructions)| instructions.times(1e-6),
    ),
    (
        "small triangles, million",
        |gpu, target| target.draw_job(gpu, 0, &vec![small_triangles(); 8]),
        |(frames, _)| frames.times(8.0 * 0.021_845),
    ),
];

fn main() {
    // Like test names, words on the command line choose.
    let words: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let chosen = |what: &str| words.is_empty() || words.iter().any(|word| what.contains(word.as_str()));
    println!(
        "simulator, {WIDTH}x{HEIGHT}          1 thread  2 threads  ratio  per CPU second: 1 thread  2 threads"
    );
    for (what, job, of) in MEASURED.into_iter().filter(|(what, ..)| chosen(what)) {
        let [one, two] = [1, 2].map(|threads| {
            let gpu = simulator(threads);
            let target = Target::new(&gpu, WIDTH, HEIGHT, Tiling::T);
            of(measure(&gpu, &job(&gpu, &target)))
        });
        println!(
            "  {what:27} {:9.2}  {:9.2}  {:5.2}  {:24.2}  {:9.2}",
            one.wall,
            two.wall,
            two.wall / one.wall,
            one.cpu,
            two.cpu
        );
    }
    let bos = u64::from(WIDTH) * u64::from(HEIGHT) * 8 + 8 * 65_535 * 44;
    let beyond = peak_bytes().saturating_sub(bos) as f64 / f64::from(1 << 20);
    println!("  peak memory without BOs     {beyond:9.1} MiB");
}

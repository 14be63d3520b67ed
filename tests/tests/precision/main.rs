//! The errors of every arithmetic operation, measured: each is compiled as GLSL, highp and with RelaxedPrecision, and run on
//! the simulated QPU over all exponents; double precision is the reference. `docs/precision.md` is the outcome
//! (`UPDATE_GOLDEN=1` rewrites it); highp must keep what Vulkan 1.0 asks for (Vulkan 1.0, appendix A, "Precision and
//! Operation of SPIR-V Instructions"; vulkan-on-vc4.md §9).

mod operations;

use std::fmt::Write;
use std::path::PathBuf;

use operations::{Domain, OPERATIONS, Operation, ulp};
use vc4::state::blend::ColorOutput;
use vc4_shaders::compile::{PipelineState, VertexAttribute, compile_pipeline};
use vc4_shaders::spirv::StageSource;
use vc4_tests::runner::{Buffers, Runner};
use vc4_tests::{glsl, scratch};

const LANES: usize = vc4::hw::LANES;

/// What a sweep found.
#[derive(Default)]
struct Worst {
    ulps: f64,
    at: Vec<f32>,
    absolute: f64,
    relative: f64,
    /// The worst error as a share of the allowed one, and where.
    share: f64,
    share_at: Vec<f32>,
    count: usize,
}

/// SPIR-V of a GLSL source.
fn spirv(name: &str, stage: &str, source: &str) -> Vec<u32> {
    let directory = scratch::directory(env!("CARGO_TARGET_TMPDIR"), "precision");
    let path = directory.join(format!("{name}.{stage}"));
    let module = directory.join(format!("{name}.{stage}.spv"));
    std::fs::write(&path, source).expect("the target directory is writable");
    glsl::compile(&path, &module).unwrap_or_else(|error| panic!("{source}\n{error}"));
    glsl::words(&module).unwrap_or_else(|error| panic!("{error}"))
}

/// A vertex stage that computes the operation.
fn runner(operation: &Operation, precision: &str, fragment: &[u32]) -> Runner {
    let source = format!(
        "#version 320 es\nprecision highp float;\nprecision highp int;\nlayout(location = 0) in vec4 position;\n\
         layout(location = 1) in {precision} vec4 a;\nlayout(location = 0) flat out {precision} float r;\n\
         void main() {{ {precision} float x = a.x, y = a.y, z = a.z; gl_Position = position; r = {}; }}\n",
        operation.glsl
    );
    let name = format!("{}-{precision}", operation.name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"));
    let vertex = spirv(&name, "vert", &source);
    let stage = |words| StageSource { words, entry: "main", specialization: &[] };
    let state = PipelineState {
        attributes: (0..2).map(|location| VertexAttribute::floats(location, 4)).collect(),
        color: Some(ColorOutput::plain(vc4::image::format::Format::R8G8B8A8.info(), false)),
        ..Default::default()
    };
    let pipeline = compile_pipeline(&stage(&vertex), Some(&stage(fragment)), &state)
        .unwrap_or_else(|error| panic!("{}: {error}", operation.name));
    Runner::new(&pipeline, &Buffers::default()).unwrap_or_else(|error| panic!("{}: {error}", operation.name))
}

/// The same numbers on every run.
struct Random(u32);

impl Random {
    fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(0x2c92_77b5).wrapping_add(0xac56_4b05);
        let word = self.0 ^ self.0 >> ((self.0 >> 28) + 4);
        word.wrapping_mul(0x1085_33e5) ^ word >> 13
    }
}

/// Mantissas that every exponent gets: the ends, their neighbours, and some between.
const MANTISSAS: [u32; 12] = [
    0, 1, 2, 0x7f_ffff, 0x7f_fffe, 0x40_0000, 0x3f_ffff, 0x40_0001, 0x2a_aaaa, 0x55_5555, 0x35_04f3,
    0x35_04f4,
];

/// Operands of a sweep: every exponent with every mantissa for the first, random ones for the others.
fn operands(operation: &Operation) -> Vec<[f32; 3]> {
    let mut random = Random(1);
    let mut found = Vec::new();
    let Domain { exponents: (low, high), limits, .. } = operation.domain;
    let exponents = (low + 127) as u32..=(high + 127) as u32;
    let span = exponents.end() - exponents.start() + 1;
    // Narrow domains get more mantissas.
    let more = (16_000 / span).clamp(24, 2_000) * if operation.operands == 1 { 1 } else { 2 };
    for exponent in exponents.clone() {
        for n in 0..MANTISSAS.len() as u32 + more {
            let any = random.word() & 0x7f_ffff;
            let mantissa = MANTISSAS.get(n as usize).copied().unwrap_or(any);
            for sign in 0..2 {
                let x = f32::from_bits(sign << 31 | exponent << 23 | mantissa);
                let mut other = || {
                    let exponent = exponents.start() + random.word() % span;
                    let near = if n % 3 == 0 { 127 + random.word() % 4 - 2 } else { exponent };
                    let near = near.clamp(*exponents.start(), *exponents.end());
                    f32::from_bits(random.word() & 0x807f_ffff | near << 23)
                };
                let args = [x, other(), other()];
                let fits = |v: &f32| limits.0 <= *v && *v <= limits.1;
                if args[..operation.operands].iter().all(fits) && (operation.domain.also)(&args) {
                    found.push(args);
                }
            }
        }
    }
    found
}

/// Magnitudes that RelaxedPrecision must be able to represent (Vulkan 1.0, appendix A).
const RELAXED: std::ops::RangeInclusive<f64> = 1.0 / 16384.0..=16384.0;

fn sweep(operation: &Operation, runner: &Runner, relaxed: bool) -> Worst {
    let mut worst = Worst::default();
    let mut operands = operands(operation);
    if relaxed {
        let fits = |v: &f32| RELAXED.contains(&f64::from(v.abs()));
        operands.retain(|args| args[..operation.operands].iter().all(fits));
    }
    assert!(operands.len() > 500, "{}: {} operands", operation.name, operands.len());
    for (batch, chunk) in operands.chunks(LANES).enumerate() {
        let lane = |n: usize| chunk.get(n).unwrap_or(&chunk[0]);
        let attribute = |location: u32, word: u32| match (location, word) {
            (1, word @ 0..=2) => std::array::from_fn(|n| lane(n)[word as usize].to_bits()),
            _ => [1f32.to_bits(); LANES],
        };
        let rows = runner.vertex(attribute, batch == 0).unwrap_or_else(|e| panic!("{}: {e}", operation.name));
        for (args, &word) in chunk.iter().zip(&rows[3]) {
            let wide = args.map(f64::from);
            let exact = (operation.exact)(&wide);
            // What underflows may be flushed, what overflows may be anything.
            if !exact.is_finite() || exact.abs() > f64::from(f32::MAX) {
                continue;
            }
            let got = f64::from(f32::from_bits(word));
            let error = (got - exact).abs();
            let flushed =
                exact.abs() < f64::from(f32::MIN_POSITIVE) && got.abs() <= f64::from(f32::MIN_POSITIVE);
            if flushed || relaxed && exact != 0.0 && !RELAXED.contains(&exact.abs()) {
                continue;
            }
            worst.count += 1;
            let ulps = if error.is_finite() { error / ulp(exact) } else { f64::INFINITY };
            if ulps > worst.ulps {
                worst.ulps = ulps;
                worst.at = args[..operation.operands].to_vec();
            }
            worst.absolute = worst.absolute.max(error);
            if exact != 0.0 {
                worst.relative = worst.relative.max(error / exact.abs());
            }
            let share = error / (operation.allowed)(&wide, exact);
            if share > worst.share || share.is_nan() && error > 0.0 {
                worst.share = share;
                worst.share_at = args[..operation.operands].to_vec();
            }
        }
    }
    worst
}

/// A power of two, or "exact".
fn binary(error: f64) -> String {
    if error == 0.0 { "exact".to_string() } else { format!("2^{:.1}", error.log2()) }
}

fn number(value: f64) -> String {
    match value {
        0.0 => "0".to_string(),
        v if v < 1000.0 => format!("{v:.2}"),
        v if v < 1e6 => format!("{v:.0}"),
        v => format!("{v:.1e}"),
    }
}

const HEAD: &str = "\
# Precision

Measured by `cargo test -p vc4-tests --test precision` on the simulated QPU, whose arithmetic is the chip's as far as it is
known ([ARCHITECTURE.md](../ARCHITECTURE.md#unverified)); the same test rewrites this file with `UPDATE_GOLDEN=1`. Each
operation is compiled as GLSL and swept over all exponents of its domain; the reference is double precision. ULP are those of
the exact result.

The machine rounds sums, differences and products toward zero, and flushes denormals. Vulkan asks for
correctly rounded results there and leaves the direction open, so an error below 1 ULP is what it asks for. RelaxedPrecision is
measured where its range must reach, from 2^-14 to 2^14, and asks for 2^-10 relative. Rows marked
\"inherited\" have the error of the formula that the specification gives; what that allows at each operand is computed beside
the sweep, and the column tells the largest share of it that was used.

Two deviations: Vulkan asks for 2.5 ULP of quotients by divisors up to 2^126. From 2^126 · (1 - 2^-13) on the reciprocal that
the machine estimates is no normal number any more and is flushed, and the quotient is 0. Of dividends below 2^-102 what is left
over is no normal number either, so their quotients are not refined: 3.6 ULP.

| operation | domain | highp: worst ULP (at) | absolute | Vulkan 1.0 asks | used | RelaxedPrecision: relative | absolute |
| --- | --- | --- | --- | --- | --- | --- | --- |
";

#[test]
fn errors_are_those_of_the_table() {
    let fragment = spirv(
        "plain",
        "frag",
        "#version 450\nlayout(location = 0) flat in float r;\nlayout(location = 0) out vec4 color;\nvoid main() { color = vec4(r); }\n",
    );
    let (mut text, mut failures) = (HEAD.to_string(), Vec::new());
    for operation in OPERATIONS {
        let highp = sweep(operation, &runner(operation, "highp", &fragment), false);
        let relaxed = sweep(operation, &runner(operation, "mediump", &fragment), true);
        let at: Vec<String> = highp.at.iter().map(|v| format!("{v:e}")).collect();
        let at = if at.is_empty() { String::new() } else { format!(" ({})", at.join(", ")) };
        let used = if highp.share == 0.0 { "0".to_string() } else { format!("{:.0} %", 100.0 * highp.share) };
        writeln!(
            text,
            "| `{}` | {} | {}{at} | {} | {} | {used} | {} | {} |",
            operation.glsl,
            operation.domain.text,
            number(highp.ulps),
            binary(highp.absolute),
            operation.asks,
            binary(relaxed.relative),
            binary(relaxed.absolute),
        )
        .expect("a string grows");
        if highp.share.is_nan() || highp.share > 1.0 {
            failures.push(format!(
                "{}: {:.2} times the allowed error at {:?} ({} ULP at worst)",
                operation.name, highp.share, highp.share_at, highp.ulps
            ));
        }
    }
    println!("{text}");
    assert!(failures.is_empty(), "Vulkan allows less:\n{}", failures.join("\n"));
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/precision.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).expect("the table can be written");
    } else {
        let known = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            known == text,
            "docs/precision.md is not what was measured; if that is meant, run with UPDATE_GOLDEN=1"
        );
    }
}

//! Random kernels of floats that are not exact: what each engine leaves, drawn by the QPUs or run by the CPU, as words of 32 bits
//! or as bytes of colours, has to lie within what Vulkan allows. The oracle knows no compiler: it computes in double precision, with an interval for every value that
//! grows by each operation's allowed error (Vulkan 1.0, appendix A, "Precision and Operation of SPIR-V Instructions").

use std::f64::consts::PI;
use std::fmt::Write;

use ash::vk;
use vc4_tests::compute::{Case, Resource, Shape};
use vc4_tests::scratch;

use crate::picture::{drawn, run};
use crate::random::Random;
use crate::{front, setting};

/// Kernels of a plain test run.
const KERNELS: u64 = 40;
/// Columns and rows of a picture.
const SIZE: [u32; 2] = [128, 64];
/// Invocations of each: whole tiles of words, of which none is left for the CPU.
const COUNT: u32 = SIZE[0] * SIZE[1];
/// Rows of inputs, four floats each.
const GIVEN: u32 = 61;
/// Values of a kernel.
const VALUES: usize = 14;
/// Magnitudes that values keep to, so that no denormal or overflow is near.
const LEAST: f64 = 1.0 / 4096.0;
const MOST: f64 = 4096.0;
/// The largest part of its magnitude that a value may be uncertain by; what is worse would prove nothing.
const VAGUE: f64 = 1.0 / 64.0;

/// Where a value may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Interval {
    low: f64,
    high: f64,
}

/// Size of the last bit of floats of a magnitude.
fn ulp(magnitude: f64) -> f64 {
    2f64.powf(magnitude.max(f64::from(f32::MIN_POSITIVE)).log2().floor() - 23.0)
}

impl Interval {
    fn exactly(value: f32) -> Interval {
        Interval { low: value.into(), high: value.into() }
    }

    fn of(values: &[f64]) -> Interval {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        Interval { low, high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max) }
    }

    fn magnitude(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// With an error of so many units in the last place.
    fn ulps(self, count: f64) -> Interval {
        self.off(count * ulp(self.magnitude()))
    }

    /// With an error of that size.
    fn off(self, error: f64) -> Interval {
        Interval { low: self.low - error, high: self.high + error }
    }

    /// What a function that only rises or only falls makes of it.
    fn map(self, f: impl Fn(f64) -> f64) -> Interval {
        Interval::of(&[f(self.low), f(self.high)])
    }

    fn negated(self) -> Interval {
        self.map(|a| -a)
    }

    fn plus(self, other: Interval) -> Interval {
        Interval { low: self.low + other.low, high: self.high + other.high }.ulps(1.0)
    }

    fn times(self, other: Interval) -> Interval {
        let [a, b] = [self, other];
        Interval::of(&[a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high]).ulps(1.0)
    }

    fn over(self, other: Interval) -> Interval {
        let [a, b] = [self, other];
        Interval::of(&[a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high]).ulps(2.5)
    }

    fn inverse_root(self) -> Interval {
        self.map(|a| 1.0 / a.sqrt()).ulps(2.0)
    }

    fn exp2(self) -> Interval {
        self.map(f64::exp2).ulps(3.0 + 2.0 * self.magnitude())
    }

    fn log2(self) -> Interval {
        let log = self.map(f64::log2);
        // The error has one bound between 1/2 and 2, another one outside.
        match (self.low > 2.0 || self.high < 0.5, self.low >= 0.5 && self.high <= 2.0) {
            (true, _) => log.ulps(3.0),
            (_, true) => log.off(2f64.powi(-21)),
            _ => log.off(2f64.powi(-21)).ulps(3.0),
        }
    }

    /// A sine or cosine of an angle between -π and π: its slope is 1 at most.
    fn wave(self, f: impl Fn(f64) -> f64) -> Interval {
        let (middle, half) = ((self.low + self.high) / 2.0, (self.high - self.low) / 2.0);
        Interval::exactly(0.0).off(half + 2f64.powi(-11)).map(|error| f(middle) + error)
    }
}

/// An operation: its GLSL, with `a`, `b` and `c` for operands, what it takes, and what it makes of intervals.
struct Operation {
    glsl: &'static str,
    takes: fn(&[Interval; 3]) -> bool,
    makes: fn(&[Interval; 3]) -> Interval,
}

fn any(_: &[Interval; 3]) -> bool {
    true
}

fn positive([a, ..]: &[Interval; 3]) -> bool {
    a.low >= LEAST
}

fn angle([a, ..]: &[Interval; 3]) -> bool {
    a.magnitude() <= PI
}

fn exponent([a, ..]: &[Interval; 3]) -> bool {
    a.magnitude() <= 8.0
}

/// Vulkan's own definitions, where an operation's precision is that of others.
const OPERATIONS: [Operation; 22] = [
    Operation { glsl: "a + b", takes: any, makes: |[a, b, _]| a.plus(*b) },
    Operation { glsl: "a - b", takes: any, makes: |[a, b, _]| a.plus(b.negated()) },
    Operation { glsl: "a * b", takes: any, makes: |[a, b, _]| a.times(*b) },
    Operation { glsl: "fma(a, b, c)", takes: any, makes: |[a, b, c]| a.times(*b).plus(*c) },
    Operation {
        glsl: "a / b",
        takes: |[_, b, _]| b.low >= LEAST || b.high <= -LEAST,
        makes: |[a, b, _]| a.over(*b),
    },
    Operation {
        glsl: "min(a, b)",
        takes: any,
        makes: |[a, b, _]| Interval { low: a.low.min(b.low), high: a.high.min(b.high) },
    },
    Operation {
        glsl: "max(a, b)",
        takes: any,
        makes: |[a, b, _]| Interval { low: a.low.max(b.low), high: a.high.max(b.high) },
    },
    Operation {
        glsl: "abs(a)",
        takes: any,
        makes: |[a, ..]| match (a.low >= 0.0, a.high <= 0.0) {
            (true, _) => *a,
            (_, true) => a.negated(),
            _ => Interval { low: 0.0, high: a.magnitude() },
        },
    },
    Operation { glsl: "-a", takes: any, makes: |[a, ..]| a.negated() },
    Operation {
        glsl: "mix(a, b, c)",
        takes: any,
        makes: |[a, b, c]| {
            let rest = Interval::exactly(1.0).plus(c.negated());
            a.times(rest).plus(b.times(*c))
        },
    },
    Operation { glsl: "clamp(a, 0.25, 2.0)", takes: any, makes: |[a, ..]| a.map(|a| a.clamp(0.25, 2.0)) },
    Operation { glsl: "inversesqrt(a)", takes: positive, makes: |[a, ..]| a.inverse_root() },
    Operation {
        glsl: "sqrt(a)",
        takes: positive,
        makes: |[a, ..]| Interval::exactly(1.0).over(a.inverse_root()),
    },
    Operation { glsl: "exp2(a)", takes: exponent, makes: |[a, ..]| a.exp2() },
    Operation {
        glsl: "exp(a)",
        takes: exponent,
        makes: |[a, ..]| a.map(f64::exp).ulps(3.0 + 2.0 * a.magnitude()),
    },
    Operation { glsl: "log2(a)", takes: positive, makes: |[a, ..]| a.log2() },
    Operation {
        glsl: "log(a)",
        takes: positive,
        makes: |[a, ..]| {
            let log = a.map(f64::ln);
            log.off(2f64.powi(-21)).ulps(3.0)
        },
    },
    Operation {
        glsl: "pow(a, b)",
        takes: |[a, b, _]| a.low >= LEAST && a.log2().times(*b).magnitude() <= 8.0,
        makes: |[a, b, _]| a.log2().times(*b).exp2(),
    },
    Operation { glsl: "sin(a)", takes: angle, makes: |[a, ..]| a.wave(f64::sin) },
    Operation { glsl: "cos(a)", takes: angle, makes: |[a, ..]| a.wave(f64::cos) },
    Operation {
        glsl: "dot(vec2(a, b), vec2(c, a))",
        takes: any,
        makes: |[a, b, c]| a.times(*c).plus(b.times(*a)),
    },
    Operation {
        glsl: "length(vec2(a, b))",
        takes: |[a, b, _]| a.times(*a).plus(b.times(*b)).low >= LEAST,
        makes: |[a, b, _]| {
            let square = a.times(*a).plus(b.times(*b));
            Interval::exactly(1.0).over(square.inverse_root())
        },
    },
];

/// What a kernel writes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shown {
    /// Its last value, as a word of a buffer.
    Word,
    /// The magnitudes of its last four values, each times what brings it below 1, as the bytes of a colour.
    Color([f64; 4]),
}

/// A kernel and what each of its invocations may leave.
struct Kernel {
    seed: u64,
    given: Vec<f32>,
    source: String,
    /// Numbers of the operations in it.
    used: Vec<usize>,
    shown: Shown,
    /// Its last four values, the last one first: of rows of inputs.
    allowed: [Vec<Interval>; 4],
}

impl Kernel {
    fn new(seed: u64) -> Kernel {
        let random = &mut Random(seed ^ 0x1_4e8a_c700);
        let given: Vec<f32> =
            (0..4 * GIVEN).map(|_| (random.below(1 << 16) as f32 / 8192.0 - 2.0) * 0.75).collect();
        // The first two are positive, the others on both sides of zero.
        let given: Vec<f32> =
            given.iter().enumerate().map(|(n, v)| if n % 4 < 2 { v.abs() + 0.125 } else { *v }).collect();
        let mut values: Vec<Vec<Interval>> = (0..4)
            .map(|n| given.iter().skip(n).step_by(4).map(|&value| Interval::exactly(value)).collect())
            .collect();
        let (mut text, mut used) = (String::new(), Vec::new());
        while values.len() < VALUES {
            let number = random.below(OPERATIONS.len());
            let operation = &OPERATIONS[number];
            // Mostly of what came last, so that errors of many operations meet.
            let count = values.len();
            let mut operand = || count - 1 - random.below(count).min(random.below(count));
            let operands = [operand(), operand(), operand()];
            let row = |row: usize| operands.map(|n| values[n][row]);
            let rows = 0..GIVEN as usize;
            if !rows.clone().all(|n| (operation.takes)(&row(n))) {
                continue;
            }
            let made: Vec<Interval> = rows.map(|n| (operation.makes)(&row(n))).collect();
            let is_vague = |a: &Interval| {
                let magnitude = a.magnitude();
                !(LEAST..=MOST).contains(&magnitude) || a.high - a.low > VAGUE * magnitude
            };
            if made.iter().any(is_vague) {
                continue;
            }
            let glsl: String = operation
                .glsl
                .split_inclusive(|c: char| !c.is_ascii_alphanumeric())
                .map(|word| {
                    let (name, rest) =
                        word.split_at(word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len());
                    match ["a", "b", "c"].iter().position(|letter| *letter == name) {
                        Some(letter) => format!("v{}{rest}", operands[letter]),
                        None => word.to_string(),
                    }
                })
                .collect();
            writeln!(text, "    float v{count} = {glsl};").expect("a string grows");
            values.push(made);
            used.push(number);
        }
        let last = values.len() - 1;
        let allowed = [0, 1, 2, 3].map(|n| values[last - n].clone());
        let scale = |rows: &Vec<Interval>| {
            let magnitude = rows.iter().map(|row| row.magnitude()).fold(LEAST, f64::max);
            2f64.powf(-magnitude.log2().ceil())
        };
        let shown = match seed % 2 {
            0 => Shown::Word,
            _ => Shown::Color(allowed.each_ref().map(scale)),
        };
        let [width, _] = SIZE;
        let (local, target, at, write) = match shown {
            Shown::Word => (
                "local_size_x = 64",
                "std430) writeonly buffer S { float shown[]; };".to_string(),
                "gl_GlobalInvocationID.x".to_string(),
                format!("shown[i] = v{last};"),
            ),
            Shown::Color(scales) => (
                "local_size_x = 8, local_size_y = 8",
                "rgba8) uniform writeonly image2D shown;".to_string(),
                format!("gl_GlobalInvocationID.x + {width}u * gl_GlobalInvocationID.y"),
                format!(
                    "imageStore(shown, ivec2(gl_GlobalInvocationID.xy), vec4({}));",
                    [0, 1, 2, 3].map(|n| format!("abs(v{}) * {:?}", last - n, scales[n])).join(", ")
                ),
            ),
        };
        let source = format!(
            "#version 450\nlayout({local}) in;\n\
             layout(set = 0, binding = 0, std430) readonly buffer G {{ vec4 given[]; }};\n\
             layout(set = 0, binding = 1, {target}\n\
             void main() {{\n    uint i = {at};\n    vec4 g = given[i % {GIVEN}u];\n\
             \x20   float v0 = g.x, v1 = g.y, v2 = g.z, v3 = g.w;\n{text}    {write}\n}}\n"
        );
        Kernel { seed, given, source, used, shown, allowed }
    }

    fn case(&self) -> Case {
        let given: Vec<u32> = self.given.iter().map(|float| float.to_bits()).collect();
        let [width, height] = SIZE;
        let (target, groups) = match self.shown {
            Shown::Word => (Resource::zeros(COUNT as usize), [COUNT / 64, 1, 1]),
            Shown::Color(_) => {
                let ty = vk::ImageViewType::TYPE_2D;
                let shape = Shape { ty, size: [width, height, 1], layers: 1, levels: 1 };
                (Resource::Storage(vk::Format::R8G8B8A8_UNORM, shape), [width / 8, height / 8, 1])
            }
        };
        let resources = vec![Resource::words(&given), target];
        Case::made_up(format!("inexact {:09}", self.seed), resources, Vec::new(), groups)
    }

    /// What is wrong with a word that an invocation left.
    fn wrong(&self, row: usize, bytes: [u8; 4]) -> Option<String> {
        let not_between = |shown: f64, low: f64, high: f64| {
            (!(low..=high).contains(&shown)).then(|| format!("{shown} is not between {low} and {high}"))
        };
        match self.shown {
            Shown::Word => {
                let Interval { low, high } = self.allowed[0][row];
                not_between(f32::from_le_bytes(bytes).into(), low, high)
            }
            // Either of the numbers next to the right one will do.
            Shown::Color(scales) => (0..4).find_map(|n| {
                let all = self.allowed[n][row];
                let least = if all.low * all.high <= 0.0 { 0.0 } else { all.low.abs().min(all.high.abs()) };
                let of = |magnitude: f64| (magnitude * scales[n]).min(1.0) * 255.0;
                not_between(bytes[n].into(), of(least).floor(), of(all.magnitude()).ceil())
                    .map(|why| format!("component {n}: {why}"))
            }),
        }
    }

    /// The first result that is not allowed.
    fn difference(&self, bytes: &[u8]) -> Option<String> {
        // Buffers come in the order of their bindings, images behind them.
        let shown = bytes.get(bytes.len().checked_sub(4 * COUNT as usize)?..)?;
        let mut wrong = shown.chunks_exact(4).enumerate().filter_map(|(number, b)| {
            let row = number % GIVEN as usize;
            Some((row, self.wrong(row, [b[0], b[1], b[2], b[3]])?))
        });
        let (row, why) = wrong.next()?;
        let given = &self.given[4 * row..][..4];
        Some(format!("{} differ; of {given:?} {why}", 1 + wrong.count()))
    }
}

#[test]
fn kernels_of_inexact_floats_are_as_precise_as_vulkan_asks() {
    let count = setting("METAMORPHIC").unwrap_or(KERNELS);
    let first = setting("METAMORPHIC_SEED").unwrap_or(1);
    let modules = scratch::empty(env!("CARGO_TARGET_TMPDIR"), "metamorphic-inexact");
    let kernels: Vec<Kernel> = (first..first + count).map(Kernel::new).collect();
    for kernel in &kernels {
        let words = front::compute(kernel.source.clone()).unwrap_or_else(|error| panic!("{error}"));
        kernel.case().write(&words, &modules).expect("a directory for tests");
    }
    front::clean();
    let mut failures = Vec::new();
    for engine in ["qpu", "cpu"] {
        let (out, said) = run(&modules, "inexact", engine);
        for kernel in &kernels {
            let wrong = match std::fs::read(kernel.case().result(&out)) {
                Ok(bytes) => kernel.difference(&bytes),
                Err(_) => Some("it did not run".into()),
            };
            failures.extend(
                wrong.map(|why| format!("seed {}, engine {engine}: {why}\n{}", kernel.seed, kernel.source)),
            );
        }
        let drawn = drawn(&said);
        println!("{engine}: {drawn} of {count} kernels were drawn");
        assert_eq!(drawn, if engine == "qpu" { count } else { 0 }, "{said}");
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn every_operation_occurs_and_intervals_tell_much() {
    let kernels: Vec<Kernel> = (1..200).map(Kernel::new).collect();
    let used: std::collections::BTreeSet<usize> =
        kernels.iter().flat_map(|kernel| kernel.used.iter().copied()).collect();
    assert_eq!(used.len(), OPERATIONS.len(), "{used:?}");
    let narrow = |kernel: &&Kernel| {
        kernel.allowed[0].iter().all(|a| a.high - a.low <= a.magnitude() / 1024.0 && a.high > a.low)
    };
    assert!(kernels.iter().filter(narrow).count() > 100);
}

//! Colour output after the Vulkan specification: chapters "Framebuffer" (blend factors, blend operations, logical
//! operations, write mask) and "Formats" (numeric formats, conversions), in double precision.

use vc4::state::blend::{Blend, BlendEquation, BlendOp, ColorOutput, LogicOp, blends_bytes};
use vc4_tests::blend::{FACTORS, OPS, factor};

/// Every factor of source and destination with every operation.
pub fn equations() -> Vec<BlendEquation> {
    let mut all = Vec::new();
    for op in OPS {
        for src in FACTORS {
            for dst in FACTORS {
                all.push(BlendEquation { src, dst, op });
            }
        }
    }
    all
}

/// How numbers of a format are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    Unorm,
    Srgb,
    Snorm,
    Half,
    Float,
    Uint,
    Sint,
}

/// A format: numbers, and lowest bit and width of R, G, B, A.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub numbers: Numbers,
    pub fields: [Option<(u32, u32)>; 4],
}

fn srgb_to_linear(c: f64) -> f64 {
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

fn linear_to_srgb(c: f64) -> f64 {
    if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }
}

/// A float16 as the machine reads it: denormals, which Vulkan lets be flushed, are 0.
pub fn half_to_f64(bits: u32) -> f64 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, mantissa) = (bits >> 10 & 31, f64::from(bits & 0x3ff));
    match exponent {
        0 => 0.0,
        31 if mantissa != 0.0 => f64::NAN,
        31 => sign * f64::INFINITY,
        _ => sign * (1.0 + mantissa / 1024.0) * 2f64.powi(exponent as i32 - 15),
    }
}

impl Layout {
    pub fn field(&self, word: u32, component: usize) -> Option<u32> {
        let (bit, width) = self.fields[component]?;
        Some((u64::from(word) >> bit) as u32 & ((1u64 << width) - 1) as u32)
    }

    fn most(&self, component: usize) -> f64 {
        let (_, width) = self.fields[component].expect("the format has the component");
        let bits = if self.numbers == Numbers::Snorm { width - 1 } else { width };
        ((1u64 << bits) - 1) as f64
    }

    /// The number of a stored component; what a format lacks is 0, 0, 0, 1.
    fn decode(&self, word: u32, component: usize) -> f64 {
        let Some(bits) = self.field(word, component) else { return if component == 3 { 1.0 } else { 0.0 } };
        match self.numbers {
            Numbers::Unorm => f64::from(bits) / self.most(component),
            Numbers::Srgb if component < 3 => srgb_to_linear(f64::from(bits) / 255.0),
            Numbers::Srgb => f64::from(bits) / 255.0,
            Numbers::Snorm => {
                let (_, width) = self.fields[component].expect("it was read");
                let value = i64::from((bits << (32 - width)) as i32 >> (32 - width));
                (value as f64 / self.most(component)).max(-1.0)
            }
            Numbers::Half => half_to_f64(bits),
            Numbers::Float => f64::from(f32::from_bits(bits)),
            Numbers::Uint | Numbers::Sint => unreachable!("integers are not blended"),
        }
    }

    fn clamp(&self, value: f64) -> f64 {
        match self.numbers {
            Numbers::Unorm | Numbers::Srgb => value.clamp(0.0, 1.0),
            Numbers::Snorm => value.clamp(-1.0, 1.0),
            _ => value,
        }
    }

    /// How far a stored component is from a number, in steps of the format, and how far the number lies between steps.
    pub fn distance(&self, word: u32, component: usize, exact: Exact) -> f64 {
        let bits = self.field(word, component).expect("the format has the component");
        match self.numbers {
            Numbers::Unorm => (f64::from(bits) - exact.value * self.most(component)).abs(),
            Numbers::Srgb if component < 3 => (f64::from(bits) - linear_to_srgb(exact.value) * 255.0).abs(),
            Numbers::Srgb => (f64::from(bits) - exact.value * 255.0).abs(),
            Numbers::Snorm => {
                let (_, width) = self.fields[component].expect("it was read");
                let value = f64::from((bits << (32 - width)) as i32 >> (32 - width));
                (value - exact.value * self.most(component)).abs()
            }
            Numbers::Half => {
                let stored = half_to_f64(bits);
                // Beyond the largest number infinity is right, and below the smallest 0.
                if exact.value.abs() >= 65_520.0 * (1.0 - 1e-6)
                    && stored == exact.value.signum() * f64::INFINITY
                {
                    return 0.0;
                }
                let exponent = exact.value.abs().log2().floor().max(-14.0);
                let step = exponent.exp2() / 1024.0;
                let small = 2f64.powi(-14);
                if stored == 0.0 && exact.value.abs() < small + step {
                    return 0.0;
                }
                // Single precision keeps 22 bits of what was added.
                ((stored - exact.value).abs() - exact.operands * 2f64.powi(-22)).max(0.0) / step
            }
            Numbers::Float | Numbers::Uint | Numbers::Sint => unreachable!("compared bit by bit"),
        }
    }
}

/// A result: its value, and how large the numbers were that it is a sum of.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    pub value: f64,
    pub operands: f64,
}

/// What stands in front of the blender.
#[derive(Clone, Copy, Debug)]
pub struct Inputs {
    pub src: [f32; 4],
    pub src1: [f32; 4],
    pub constants: [f32; 4],
    pub dst: u32,
}

/// The colour that the target should hold, before rounding.
pub fn blended(layout: &Layout, blend: Option<Blend>, inputs: &Inputs) -> [Exact; 4] {
    let clamp = |color: [f32; 4]| color.map(|value| layout.clamp(f64::from(value)));
    let (s, s1, k) = (clamp(inputs.src), clamp(inputs.src1), clamp(inputs.constants));
    let d: [f64; 4] = std::array::from_fn(|component| layout.decode(inputs.dst, component));
    std::array::from_fn(|c| {
        let Some(blend) = blend else { return Exact { value: s[c], operands: s[c].abs() } };
        let equation = if c < 3 { blend.color } else { blend.alpha };
        let (sf, df) = (factor(equation.src, c, s, s1, d, k), factor(equation.dst, c, s, s1, d, k));
        let (a, b) = (s[c] * sf, d[c] * df);
        let value = match equation.op {
            BlendOp::Add => a + b,
            BlendOp::Subtract => a - b,
            BlendOp::ReverseSubtract => b - a,
            BlendOp::Min => s[c].min(d[c]),
            BlendOp::Max => s[c].max(d[c]),
        };
        Exact {
            value: layout.clamp(value),
            operands: s[c].abs() * (1.0 + sf.abs()) + d[c].abs() * (1.0 + df.abs()),
        }
    })
}

/// Table "Logical Operations", bit by bit.
pub fn logic(op: LogicOp, s: u32, d: u32) -> u32 {
    let bit = |s: bool, d: bool| match op {
        LogicOp::Clear => false,
        LogicOp::And => s && d,
        LogicOp::AndReverse => s && !d,
        LogicOp::Copy => s,
        LogicOp::AndInverted => !s && d,
        LogicOp::NoOp => d,
        LogicOp::Xor => s != d,
        LogicOp::Or => s || d,
        LogicOp::Nor => !(s || d),
        LogicOp::Equivalent => s == d,
        LogicOp::Invert => !d,
        LogicOp::OrReverse => s || !d,
        LogicOp::CopyInverted => !s,
        LogicOp::OrInverted => !s || d,
        LogicOp::Nand => !(s && d),
        LogicOp::Set => true,
    };
    (0..32).map(|n| u32::from(bit(s >> n & 1 != 0, d >> n & 1 != 0)) << n).sum()
}

/// How many steps a result may be off: one from the rounded number on bytes; else half a step of rounding, with room
/// for the errors of the SFU on sRGB, and a whole one of halves.
pub fn allowed(layout: &Layout, output: &ColorOutput) -> f64 {
    match layout.numbers {
        _ if blends_bytes(output) => 1.5,
        Numbers::Unorm if layout.fields.iter().flatten().any(|field| field.1 > 10) => 0.6,
        Numbers::Unorm | Numbers::Snorm => 0.51,
        // Dark differences of bright colours show the errors of the SFU.
        Numbers::Srgb => 1.0,
        // The pack rounds away from zero.
        Numbers::Half => 1.01,
        // Nearest, and single-precision sums cut off.
        _ => 0.51,
    }
}

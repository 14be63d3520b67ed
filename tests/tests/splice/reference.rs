//! Blending after the Vulkan specification, in double precision, for bytes.

use vc4::state::blend::{Blend, BlendEquation, BlendFactor, BlendOp};

pub const FACTORS: [BlendFactor; 15] = [
    BlendFactor::Zero,
    BlendFactor::One,
    BlendFactor::SrcColor,
    BlendFactor::OneMinusSrcColor,
    BlendFactor::DstColor,
    BlendFactor::OneMinusDstColor,
    BlendFactor::SrcAlpha,
    BlendFactor::OneMinusSrcAlpha,
    BlendFactor::DstAlpha,
    BlendFactor::OneMinusDstAlpha,
    BlendFactor::ConstantColor,
    BlendFactor::OneMinusConstantColor,
    BlendFactor::ConstantAlpha,
    BlendFactor::OneMinusConstantAlpha,
    BlendFactor::SrcAlphaSaturate,
];

pub const OPS: [BlendOp; 5] =
    [BlendOp::Add, BlendOp::Subtract, BlendOp::ReverseSubtract, BlendOp::Min, BlendOp::Max];

/// Four bytes as fractions, lowest first.
pub fn fractions(word: u32) -> [f64; 4] {
    word.to_le_bytes().map(|byte| f64::from(byte) / 255.0)
}

/// The blended colour before it is rounded.
pub fn blended(blend: Option<Blend>, s: [f64; 4], d: [f64; 4], k: [f64; 4]) -> [f64; 4] {
    std::array::from_fn(|c| {
        let Some(blend) = blend else { return s[c] };
        let BlendEquation { src, dst, op } = if c == 3 { blend.alpha } else { blend.color };
        let (a, b) = (s[c] * factor(src, c, s, d, k), d[c] * factor(dst, c, s, d, k));
        let value = match op {
            BlendOp::Add => a + b,
            BlendOp::Subtract => a - b,
            BlendOp::ReverseSubtract => b - a,
            BlendOp::Min => s[c].min(d[c]),
            BlendOp::Max => s[c].max(d[c]),
        };
        value.clamp(0.0, 1.0)
    })
}

fn factor(factor: BlendFactor, c: usize, s: [f64; 4], d: [f64; 4], k: [f64; 4]) -> f64 {
    match factor {
        BlendFactor::Zero => 0.0,
        BlendFactor::One => 1.0,
        BlendFactor::SrcColor => s[c],
        BlendFactor::OneMinusSrcColor => 1.0 - s[c],
        BlendFactor::DstColor => d[c],
        BlendFactor::OneMinusDstColor => 1.0 - d[c],
        BlendFactor::SrcAlpha => s[3],
        BlendFactor::OneMinusSrcAlpha => 1.0 - s[3],
        BlendFactor::DstAlpha => d[3],
        BlendFactor::OneMinusDstAlpha => 1.0 - d[3],
        BlendFactor::ConstantColor => k[c],
        BlendFactor::OneMinusConstantColor => 1.0 - k[c],
        BlendFactor::ConstantAlpha => k[3],
        BlendFactor::OneMinusConstantAlpha => 1.0 - k[3],
        BlendFactor::SrcAlphaSaturate if c == 3 => 1.0,
        BlendFactor::SrcAlphaSaturate => s[3].min(1.0 - d[3]),
        other => panic!("{other:?} has a second source"),
    }
}

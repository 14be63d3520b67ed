//! Blend factors after the Vulkan specification (chapter "Framebuffer"), in double precision.

use vc4::state::blend::{BlendFactor, BlendOp};

/// All blend factors, those of a second source last.
pub const FACTORS: [BlendFactor; 19] = [
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
    BlendFactor::Src1Color,
    BlendFactor::OneMinusSrc1Color,
    BlendFactor::Src1Alpha,
    BlendFactor::OneMinusSrc1Alpha,
];

/// All blend operations.
pub const OPS: [BlendOp; 5] =
    [BlendOp::Add, BlendOp::Subtract, BlendOp::ReverseSubtract, BlendOp::Min, BlendOp::Max];

/// Component `c` of a factor (table "Blend Factors") for source `s`, second source `s1`, destination `d` and constant `k`.
pub fn factor(f: BlendFactor, c: usize, s: [f64; 4], s1: [f64; 4], d: [f64; 4], k: [f64; 4]) -> f64 {
    match f {
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
        BlendFactor::Src1Color => s1[c],
        BlendFactor::OneMinusSrc1Color => 1.0 - s1[c],
        BlendFactor::Src1Alpha => s1[3],
        BlendFactor::OneMinusSrc1Alpha => 1.0 - s1[3],
    }
}

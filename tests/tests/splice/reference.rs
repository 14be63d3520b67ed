//! Blending after the Vulkan specification, in double precision, for bytes.

use vc4::state::blend::{Blend, BlendEquation, BlendOp};
use vc4_tests::blend::factor;

/// Four bytes as fractions, lowest first.
pub fn fractions(word: u32) -> [f64; 4] {
    word.to_le_bytes().map(|byte| f64::from(byte) / 255.0)
}

/// The blended colour before it is rounded.
pub fn blended(blend: Option<Blend>, s: [f64; 4], d: [f64; 4], k: [f64; 4]) -> [f64; 4] {
    std::array::from_fn(|c| {
        let Some(blend) = blend else { return s[c] };
        let BlendEquation { src, dst, op } = if c == 3 { blend.alpha } else { blend.color };
        // No second source: zeros.
        let (a, b) = (s[c] * factor(src, c, s, [0.0; 4], d, k), d[c] * factor(dst, c, s, [0.0; 4], d, k));
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

//! Colour output against an independent calculation in double precision.

use proptest::prelude::*;

use super::*;
use crate::image::Format;
use crate::state::model::Model;
use crate::state::{StateError, StateWords};

const CONSTANTS: [f32; 4] = [0.25, 0.5, 0.75, 0.4];

/// Runs the patch; the words written to all samples, then those written sample by sample.
fn run(output: &ColorOutput, src: [f32; 4], src1: [f32; 4], dst: &[u32]) -> (Vec<u32>, Vec<u32>, usize) {
    let mut model = Model::new(StateWords { blend_constants: CONSTANTS, ..Default::default() });
    model.destination = dst.to_vec();
    emit_color_samples(&mut model, output, src.map(f32::to_bits), Some(src1.map(f32::to_bits))).unwrap();
    (model.color, model.samples, model.reads)
}

fn plain(format: Format) -> ColorOutput {
    ColorOutput::plain(format.info(), false)
}

fn one_equation(src: BlendFactor, dst: BlendFactor, op: BlendOp) -> Blend {
    let equation = BlendEquation { src, dst, op };
    Blend { color: equation, alpha: equation }
}

#[test]
fn colours_are_packed_in_the_targets_order() {
    let src = [1.0, 0.5, 0.0, 0.2];
    let dst = [0];
    assert_eq!(run(&plain(Format::R8G8B8A8), src, src, &dst), (vec![0x3300_80ff], vec![], 0));
    assert_eq!(run(&plain(Format::B8G8R8A8), src, src, &dst), (vec![0x33ff_8000], vec![], 0));
    // R in byte 0; green is 32 of 63, as the store keeps it and a load brings it back.
    assert_eq!(run(&plain(Format::R5G6B5), src, src, &dst).0[0] & 0x00ff_ffff, 0x82ff);
    let four = ColorOutput { multisample: true, ..plain(Format::R8G8B8A8) };
    assert_eq!(run(&four, src, src, &dst), (vec![0x3300_80ff], vec![], 0));
}

#[test]
fn masked_components_keep_the_destination() {
    let output = ColorOutput { write: [true, false, false, true], ..plain(Format::B8G8R8A8) };
    assert_eq!(run(&output, [1.0; 4], [0.0; 4], &[0x1122_3344]).0, [0xffff_3344]);
    let nothing = ColorOutput { write: [false; 4], ..output };
    assert_eq!(run(&nothing, [1.0; 4], [0.0; 4], &[]), (vec![], vec![], 0));
    // Alpha of a format without alpha is nobody's.
    let opaque = ColorOutput { write: [true, true, true, false], ..plain(Format::R5G6B5) };
    assert_eq!(run(&opaque, [1.0; 4], [0.0; 4], &[]).2, 0);
    let only_alpha = ColorOutput { write: [false, false, false, true], ..plain(Format::R5G6B5) };
    assert!(run(&only_alpha, [1.0; 4], [0.0; 4], &[]).0.is_empty());
}

#[test]
fn every_sample_is_blended_with_its_own_destination() {
    let blend = one_equation(BlendFactor::One, BlendFactor::One, BlendOp::Add);
    let output = ColorOutput { blend: Some(blend), multisample: true, ..plain(Format::R8G8B8A8) };
    let (all, samples, reads) = run(&output, [0.0; 4], [0.0; 4], &[1, 2, 3, 4]);
    assert_eq!((all, samples, reads), (vec![], vec![1, 2, 3, 4], 4));
}

#[test]
fn replacing_blends_do_not_read() {
    let blend = one_equation(BlendFactor::SrcAlpha, BlendFactor::Zero, BlendOp::Add);
    let output = ColorOutput { blend: Some(blend), ..plain(Format::R8G8B8A8) };
    assert!(!output.reads_destination());
    assert_eq!(run(&output, [1.0, 1.0, 0.0, 0.2], [0.0; 4], &[]).0, [0x0a00_3333]);
}

#[test]
fn logic_operations_are_those_of_the_truth_table() {
    // Rows of bits for (s, d) = (0,0), (0,1), (1,0), (1,1).
    let rows = [
        (LogicOp::Clear, 0b0000),
        (LogicOp::And, 0b1000),
        (LogicOp::AndReverse, 0b0100),
        (LogicOp::Copy, 0b1100),
        (LogicOp::AndInverted, 0b0010),
        (LogicOp::NoOp, 0b1010),
        (LogicOp::Xor, 0b0110),
        (LogicOp::Or, 0b1110),
        (LogicOp::Nor, 0b0001),
        (LogicOp::Equivalent, 0b1001),
        (LogicOp::Invert, 0b0101),
        (LogicOp::OrReverse, 0b1101),
        (LogicOp::CopyInverted, 0b0011),
        (LogicOp::OrInverted, 0b1011),
        (LogicOp::Nand, 0b0111),
        (LogicOp::Set, 0b1111),
    ];
    for (op, row) in rows {
        let output = ColorOutput { logic_op: Some(op), ..plain(Format::R8G8B8A8) };
        // Source bytes 0xff and 0x00 against 0x0f.
        let word = run(&output, [1.0, 0.0, 1.0, 0.0], [0.0; 4], &[0x0f0f_0f0f]).0[0];
        let byte =
            |s: u32| (0..8).fold(0, |byte, bit| byte | (row >> (2 * s + u32::from(bit < 4)) & 1) << bit);
        assert_eq!(word, u32::from_le_bytes([byte(1), byte(0), byte(1), byte(0)]), "{op:?}");
    }
}

#[test]
fn what_cannot_be_done_is_refused() {
    let mut model = Model::new(StateWords::default());
    let depth = plain(Format::Z24S8);
    assert_eq!(emit_color(&mut model, &depth, [0; 4], None), Err(StateError::NoColorTarget("z24s8")));
    let blend = one_equation(BlendFactor::Src1Alpha, BlendFactor::One, BlendOp::Add);
    let output = ColorOutput { blend: Some(blend), ..plain(Format::R8G8B8A8) };
    assert_eq!(emit_color(&mut model, &output, [0; 4], None), Err(StateError::SecondSource));
    let add = one_equation(BlendFactor::One, BlendFactor::One, BlendOp::Add);
    let samples = ColorOutput { blend: Some(add), multisample: true, ..output };
    assert_eq!(emit_color(&mut model, &samples, [0; 4], None), Err(StateError::Samples));
    let minimum = ColorOutput {
        blend: Some(Blend {
            color: BlendEquation { op: BlendOp::Min, ..blend.color },
            alpha: BlendEquation { op: BlendOp::Min, ..blend.color },
        }),
        ..output
    };
    assert!(!minimum.reads_second_source());
}

const FACTORS: [BlendFactor; 19] = [
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

const OPS: [BlendOp; 5] =
    [BlendOp::Add, BlendOp::Subtract, BlendOp::ReverseSubtract, BlendOp::Min, BlendOp::Max];

/// The factor as the Vulkan specification tabulates it, for component `c`.
fn factor(f: BlendFactor, c: usize, s: [f64; 4], s1: [f64; 4], d: [f64; 4]) -> f64 {
    let k = CONSTANTS.map(f64::from);
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

fn expected(e: BlendEquation, c: usize, s: [f64; 4], s1: [f64; 4], d: [f64; 4]) -> f64 {
    let (sf, df) = (factor(e.src, c, s, s1, d), factor(e.dst, c, s, s1, d));
    let value = match e.op {
        BlendOp::Add => s[c] * sf + d[c] * df,
        BlendOp::Subtract => s[c] * sf - d[c] * df,
        BlendOp::ReverseSubtract => d[c] * df - s[c] * sf,
        BlendOp::Min => s[c].min(d[c]),
        BlendOp::Max => s[c].max(d[c]),
    };
    value.clamp(0.0, 1.0) * 255.0
}

fn equation() -> impl Strategy<Value = BlendEquation> {
    let factor = || prop::sample::select(&FACTORS[..]);
    (factor(), factor(), prop::sample::select(&OPS[..])).prop_map(|(src, dst, op)| BlendEquation {
        src,
        dst,
        op,
    })
}

fn color() -> impl Strategy<Value = [f32; 4]> {
    prop::array::uniform4(-0.5..1.5f32)
}

/// Whether repeating the high bits of RGB565 fields gives this word.
fn is_565(word: u32) -> bool {
    let [r, g, b, _] = word.to_le_bytes();
    let five = |v: u8| v & 0xf8 | v >> 5;
    [five(r), g & 0xfc | g >> 6, five(b)] == [r, g, b]
}

#[test]
fn every_byte_becomes_the_nearest_of_565() {
    for value in 0..=255u32 {
        let src = [value as f32 / 255.0; 4];
        let word = run(&plain(Format::R5G6B5), src, src, &[]).0[0];
        let [r, g, b, _] = word.to_le_bytes();
        let nearest = |most: u32| (value * most * 2 + 255) / 510;
        assert_eq!(
            [r >> 3, g >> 2, b >> 3].map(u32::from),
            [nearest(31), nearest(63), nearest(31)],
            "{value}"
        );
        assert!(is_565(word), "{value}: {word:#x}");
    }
}

#[test]
fn logic_operations_act_on_the_bits_of_565() {
    let output = ColorOutput { logic_op: Some(LogicOp::Xor), ..plain(Format::R5G6B5) };
    // Fields 31, 32, 0 against 21, 21, 21.
    let dst = 0x00ad_55ad;
    assert!(is_565(dst));
    let word = run(&output, [1.0, 32.0 / 63.0, 0.0, 0.0], [0.0; 4], &[dst]).0[0];
    let [r, g, b, _] = word.to_le_bytes();
    assert_eq!([r >> 3, g >> 2, b >> 3], [31 ^ 21, 32 ^ 21, 21]);
    assert!(is_565(word));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn blending_matches_double_precision(
        (color_eq, alpha_eq) in (equation(), equation()),
        (src, src1, dst) in (color(), color(), any::<u32>()),
        format in prop::sample::select(vec![Format::R8G8B8A8, Format::B8G8R8A8, Format::B8G8R8X8]),
        precise: bool,
    ) {
        let blend = Blend { color: color_eq, alpha: alpha_eq };
        let output = ColorOutput { blend: Some(blend), precise, ..plain(format) };
        let word = run(&output, src, src1, &[dst]).0[0].to_le_bytes();
        let order = format.info().tile_order().unwrap();
        let clamp = |color: [f32; 4]| color.map(|v| f64::from(v.clamp(0.0, 1.0)));
        let mut d = [0.0; 4];
        for (byte, component) in order.into_iter().enumerate() {
            d[component] = f64::from(dst.to_le_bytes()[byte]) / 255.0;
        }
        if !format.info().has_alpha() {
            d[3] = 1.0;
        }
        for (byte, component) in order.into_iter().enumerate() {
            if component == 3 && !format.info().has_alpha() {
                continue;
            }
            let equation = if component == 3 { alpha_eq } else { color_eq };
            let exact = expected(equation, component, clamp(src), clamp(src1), d);
            // Half a step of rounding and the QPU's truncations; on bytes, at most one step off the rounded value.
            let limit = if blends_bytes(&output) { 1.5 } else { 0.501 };
            let error = (f64::from(word[byte]) - exact).abs();
            prop_assert!(error < limit, "{:?} component {}: {} for {}", equation, component, word[byte], exact);
        }
    }

    /// Colours and alpha beyond their bounds, with the factors that nearly all programs use.
    #[test]
    fn blending_by_alpha_limits_its_operands(
        src in prop::array::uniform4(-1.0f32..3.0),
        dst: u32,
        alpha in prop::sample::select(vec![BlendFactor::SrcAlpha, BlendFactor::One, BlendFactor::Zero]),
        of_dst in prop::sample::select(vec![BlendFactor::OneMinusSrcAlpha, BlendFactor::One, BlendFactor::Zero]),
    ) {
        let op = BlendOp::Add;
        let equation = |src| BlendEquation { src, dst: of_dst, op };
        let blend = Blend { color: equation(BlendFactor::SrcAlpha), alpha: equation(alpha) };
        let output = ColorOutput { blend: Some(blend), ..plain(Format::R8G8B8A8) };
        let word = run(&output, src, [0.0; 4], &[dst]).0[0].to_le_bytes();
        let clamped = src.map(|v| f64::from(v.clamp(0.0, 1.0)));
        let old = dst.to_le_bytes().map(|byte| f64::from(byte) / 255.0);
        for (n, byte) in word.into_iter().enumerate() {
            let equation = if n == 3 { blend.alpha } else { blend.color };
            let exact = expected(equation, n, clamped, [0.0; 4], old);
            prop_assert!((f64::from(byte) - exact).abs() < 1.5, "component {n}: {byte} for {exact}");
        }
    }

    /// A destination that is kept comes back bit for bit.
    #[test]
    fn kept_destinations_are_exact(dst: u32) {
        let blend = one_equation(BlendFactor::Zero, BlendFactor::One, BlendOp::Add);
        let output = ColorOutput { blend: Some(blend), ..plain(Format::B8G8R8A8) };
        prop_assert_eq!(run(&output, [0.3; 4], [0.0; 4], &[dst]).0, [dst]);
    }
}

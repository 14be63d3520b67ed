//! Names of state on the command line and in state files.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use vc4::image::Format;
use vc4::splice::Reg;
use vc4::state::depth_stencil::StencilPlan;
use vc4::state::vertex_fetch::{Numeric, Packing};
use vc4::state::{BlendFactor, BlendOp, ColorOutput, LogicOp, StateUniform, VertexFormat};
use vc4::state::{ColorKind, Encoding};

/// Blend factors.
pub const FACTORS: &[(&str, BlendFactor)] = &[
    ("zero", BlendFactor::Zero),
    ("one", BlendFactor::One),
    ("src-color", BlendFactor::SrcColor),
    ("one-minus-src-color", BlendFactor::OneMinusSrcColor),
    ("dst-color", BlendFactor::DstColor),
    ("one-minus-dst-color", BlendFactor::OneMinusDstColor),
    ("src-alpha", BlendFactor::SrcAlpha),
    ("one-minus-src-alpha", BlendFactor::OneMinusSrcAlpha),
    ("dst-alpha", BlendFactor::DstAlpha),
    ("one-minus-dst-alpha", BlendFactor::OneMinusDstAlpha),
    ("constant-color", BlendFactor::ConstantColor),
    ("one-minus-constant-color", BlendFactor::OneMinusConstantColor),
    ("constant-alpha", BlendFactor::ConstantAlpha),
    ("one-minus-constant-alpha", BlendFactor::OneMinusConstantAlpha),
    ("src-alpha-saturate", BlendFactor::SrcAlphaSaturate),
    ("src1-color", BlendFactor::Src1Color),
    ("one-minus-src1-color", BlendFactor::OneMinusSrc1Color),
    ("src1-alpha", BlendFactor::Src1Alpha),
    ("one-minus-src1-alpha", BlendFactor::OneMinusSrc1Alpha),
];

/// Blend operations.
pub const OPS: &[(&str, BlendOp)] = &[
    ("add", BlendOp::Add),
    ("subtract", BlendOp::Subtract),
    ("reverse-subtract", BlendOp::ReverseSubtract),
    ("min", BlendOp::Min),
    ("max", BlendOp::Max),
];

/// Logic operations.
pub const LOGIC_OPS: &[(&str, LogicOp)] = &[
    ("clear", LogicOp::Clear),
    ("and", LogicOp::And),
    ("and-reverse", LogicOp::AndReverse),
    ("copy", LogicOp::Copy),
    ("and-inverted", LogicOp::AndInverted),
    ("no-op", LogicOp::NoOp),
    ("xor", LogicOp::Xor),
    ("or", LogicOp::Or),
    ("nor", LogicOp::Nor),
    ("equivalent", LogicOp::Equivalent),
    ("invert", LogicOp::Invert),
    ("or-reverse", LogicOp::OrReverse),
    ("copy-inverted", LogicOp::CopyInverted),
    ("or-inverted", LogicOp::OrInverted),
    ("nand", LogicOp::Nand),
    ("set", LogicOp::Set),
];

/// How many stencil words a program writes.
pub const STENCIL: &[(&str, StencilPlan)] = &[
    ("off", StencilPlan::Off),
    ("both", StencilPlan::Both),
    ("both-masks", StencilPlan::BothMasks),
    ("faces", StencilPlan::Faces),
    ("full", StencilPlan::Full),
    ("apart", StencilPlan::Apart),
];

/// A parser for the names of a table.
pub fn names<T: Copy + Send + Sync + 'static>(
    table: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(table.iter().map(|row| row.0)).map(|name| {
        let row = table.iter().find(|row| row.0 == name);
        row.expect("a possible value has its row").1
    })
}

const KINDS: [(&str, ColorKind); 6] = [
    ("unorm", ColorKind::Unorm),
    ("srgb", ColorKind::Srgb),
    ("snorm", ColorKind::Snorm),
    ("uint", ColorKind::Uint),
    ("sint", ColorKind::Sint),
    ("sfloat", ColorKind::Float),
];

/// Short names of targets.
const SHORT: [(&str, &str); 7] = [
    ("rgba8", "r8g8b8a8-unorm"),
    ("bgra8", "b8g8r8a8-unorm"),
    ("srgb", "r8g8b8a8-srgb"),
    ("565", "r5g6b5-unorm"),
    ("a2b10g10r10", "a2b10g10r10-unorm"),
    ("a2r10g10b10", "a2r10g10b10-unorm"),
    ("rg16f", "r16g16-sfloat"),
];

/// Every target with its name.
fn targets() -> Vec<(String, ColorOutput)> {
    let known = [
        ("r8g8b8a8", Format::R8G8B8A8),
        ("b8g8r8a8", Format::B8G8R8A8),
        ("r5g6b5", Format::R5G6B5),
        ("b5g6r5", Format::B5G6R5),
    ];
    let mut out: Vec<(String, ColorOutput)> = Vec::new();
    for (name, format) in known {
        let plain = ColorOutput::plain(format.info(), false);
        out.push((format!("{name}-unorm"), plain));
        if let Some(encoding) = plain.encoding.srgb() {
            out.push((format!("{name}-srgb"), ColorOutput { encoding, ..plain }));
        }
    }
    for (kind_name, kind) in KINDS {
        let mut add = |name: &str, encoding: Option<Encoding>| {
            let name = format!("{name}-{kind_name}");
            if let Some(encoding) = encoding.filter(|_| out.iter().all(|(known, _)| *known != name)) {
                out.push((name, ColorOutput::encoded(encoding, false)));
            }
        };
        for (count, name) in [(1, "r8"), (2, "r8g8"), (4, "r8g8b8a8")] {
            add(name, Encoding::bytes(kind, count));
        }
        for (count, name) in [(1, "r16"), (2, "r16g16")] {
            add(name, Encoding::halves(kind, count));
        }
        add("r32", Encoding::word(kind));
        add("a2b10g10r10", Encoding::bits_10_10_10_2(kind, false));
        add("a2r10g10b10", Encoding::bits_10_10_10_2(kind, true));
    }
    out
}

/// The target of a name, in small or capital letters, with `-` or `_`.
pub fn target(text: &str) -> Result<ColorOutput, String> {
    let name = text.to_ascii_lowercase().replace('_', "-");
    let name = name.trim_end_matches("-pack16").trim_end_matches("-pack32");
    let name = SHORT.iter().find(|row| row.0 == name).map_or(name, |row| row.1);
    let targets = targets();
    targets.iter().find(|(known, _)| known == name).map(|(_, target)| *target).ok_or_else(|| {
        let short: Vec<&str> = SHORT.iter().map(|row| row.0).collect();
        let long: Vec<&str> = targets.iter().map(|(name, _)| name.as_str()).collect();
        format!("no colour target is called so; there are {} and {}", short.join(", "), long.join(", "))
    })
}

/// The vertex format of a Vulkan name, with or without VK_FORMAT_.
pub fn vertex_format(text: &str) -> Result<VertexFormat, String> {
    let name = text.to_ascii_uppercase().replace('-', "_");
    let name = name.strip_prefix("VK_FORMAT_").unwrap_or(&name);
    let name = name.strip_suffix("_PACK32").unwrap_or(name);
    let unknown = || {
        "no vertex format; write it as R8G8B8A8_UNORM, R16G16_SFLOAT, A2B10G10R10_SNORM_PACK32".to_string()
    };
    let (components, numeric) = name.rsplit_once('_').ok_or_else(unknown)?;
    let numeric = match numeric {
        "UNORM" => Numeric::Unorm,
        "SNORM" => Numeric::Snorm,
        "USCALED" => Numeric::Uscaled,
        "SSCALED" => Numeric::Sscaled,
        "UINT" => Numeric::Uint,
        "SINT" => Numeric::Sint,
        "SFLOAT" | "UFLOAT" => Numeric::Float,
        _ => return Err(unknown()),
    };
    let (packing, swap_rb) = match components {
        "R8" => (Packing::Bytes(1), false),
        "R8G8" => (Packing::Bytes(2), false),
        "R8G8B8" => (Packing::Bytes(3), false),
        "B8G8R8" => (Packing::Bytes(3), true),
        // Packed from the highest byte down, so the bytes are R, G, B, A.
        "R8G8B8A8" | "A8B8G8R8" => (Packing::Bytes(4), false),
        "B8G8R8A8" => (Packing::Bytes(4), true),
        "R16" => (Packing::Halves(1), false),
        "R16G16" => (Packing::Halves(2), false),
        "R16G16B16" => (Packing::Halves(3), false),
        "R16G16B16A16" => (Packing::Halves(4), false),
        "R32" => (Packing::Words(1), false),
        "R32G32" => (Packing::Words(2), false),
        "R32G32B32" => (Packing::Words(3), false),
        "R32G32B32A32" => (Packing::Words(4), false),
        "A2B10G10R10" => (Packing::Bits10_10_10_2, false),
        "A2R10G10B10" => (Packing::Bits10_10_10_2, true),
        "B10G11R11" => (Packing::Floats11_11_10, false),
        _ => return Err(unknown()),
    };
    let exists = match packing {
        Packing::Words(_) => matches!(numeric, Numeric::Uint | Numeric::Sint | Numeric::Float),
        Packing::Bytes(_) | Packing::Bits10_10_10_2 => numeric != Numeric::Float,
        Packing::Halves(_) => true,
        Packing::Floats11_11_10 => numeric == Numeric::Float,
        // The others are texels'.
        _ => false,
    };
    let exists = exists && name.ends_with("_UFLOAT") == (packing == Packing::Floats11_11_10);
    exists.then_some(VertexFormat { packing, numeric, swap_rb }).ok_or_else(unknown)
}

/// A register.
pub fn register(text: &str) -> Result<Reg, String> {
    let number = |digits: &str, count: u8| digits.parse::<u8>().ok().filter(|n| *n < count);
    let reg = match (text.strip_prefix("ra"), text.strip_prefix("rb"), text.strip_prefix('r')) {
        (Some(n), _, _) => number(n, 32).map(Reg::A),
        (_, Some(n), _) => number(n, 32).map(Reg::B),
        (_, _, Some(n)) => number(n, 4).map(Reg::Acc),
        _ => None,
    };
    reg.ok_or_else(|| format!("`{text}` is no register; there are r0-r3, ra0-ra31 and rb0-rb31"))
}

/// Four registers.
pub fn registers(text: &str) -> Result<[Reg; 4], String> {
    let regs: Vec<Reg> = text.split(',').map(|part| register(part.trim())).collect::<Result<_, _>>()?;
    regs.try_into().map_err(|_| "four registers, as r0,r1,ra2,rb3".to_string())
}

/// Components, as letters.
pub fn components(text: &str) -> Result<[bool; 4], String> {
    let mut out = [false; 4];
    if text == "none" {
        return Ok(out);
    }
    for c in text.chars() {
        match "rgba".find(c) {
            Some(n) => out[n] = true,
            None => return Err("letters of rgba, or none".into()),
        }
    }
    Ok(out)
}

/// Four numbers.
pub fn constants(text: &str) -> Result<[f32; 4], String> {
    let numbers: Result<Vec<f32>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let numbers = numbers.map_err(|_| "no number".to_string())?;
    numbers.try_into().map_err(|_| "four numbers, as 0.5,0.5,0.5,1".to_string())
}

/// A word of state as annotations name it.
pub fn uniform(slot: StateUniform) -> String {
    let name = match slot {
        StateUniform::ViewportXScale => "viewport.x.scale",
        StateUniform::ViewportXBias => "viewport.x.bias",
        StateUniform::ViewportYScale => "viewport.y.scale",
        StateUniform::ViewportYBias => "viewport.y.bias",
        StateUniform::RasterScale => "raster.scale",
        StateUniform::ScreenXScale => "screen.x.scale",
        StateUniform::ScreenYScale => "screen.y.scale",
        StateUniform::Corner(axis) => return format!("corner.{}", if axis == 0 { 'x' } else { 'y' }),
        StateUniform::DepthScale => "depth.scale",
        StateUniform::DepthBias => "depth.bias",
        StateUniform::BiasConstant => "bias.constant",
        StateUniform::BiasSlope => "bias.slope",
        StateUniform::BiasLow => "bias.low",
        StateUniform::BiasHigh => "bias.high",
        StateUniform::BlendConstant(n) => return format!("blend.{}", component(n)),
        StateUniform::BlendConstantUnclamped(n) => return format!("blend.unclamped.{}", component(n)),
        StateUniform::BlendConstantBytes(order) => {
            return format!("blend.bytes.{}", order.map(component).iter().collect::<String>());
        }
        StateUniform::StencilFront => "stencil.front",
        StateUniform::StencilBack => "stencil.back",
        StateUniform::StencilMasks => "stencil.masks",
        StateUniform::StencilBackMasks => "stencil.back.masks",
        StateUniform::SampleMask => "sample.mask",
        StateUniform::QuadPixel => "quad.pixel",
    };
    name.to_string()
}

fn component(n: u8) -> char {
    ['r', 'g', 'b', 'a'][usize::from(n & 3)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_names() {
        assert_eq!(target("rgba8"), target("R8G8B8A8_UNORM"));
        assert!(target("565").expect("a target").encoding.stores_565);
        assert_eq!(target("b8g8r8a8-srgb").expect("a target").encoding.kind, ColorKind::Srgb);
        assert_eq!(target("A2B10G10R10_UINT_PACK32").expect("a target").encoding.kind, ColorKind::Uint);
        for wrong in ["r32g32_sfloat", "r16g16b16a16_sfloat", "a2b10g10r10_srgb", "r8g8b8a8_scaled"] {
            assert!(target(wrong).is_err(), "{wrong}");
        }
        assert!(target("rgba9").unwrap_err().contains("r32-sfloat"));
        // Every short name is that of a target.
        assert!(SHORT.iter().all(|row| target(row.0).is_ok()));
    }

    #[test]
    fn vertex_formats_have_names() {
        let format = vertex_format("VK_FORMAT_A2R10G10B10_SNORM_PACK32").expect("a format");
        assert_eq!(
            format,
            VertexFormat { packing: Packing::Bits10_10_10_2, numeric: Numeric::Snorm, swap_rb: true }
        );
        assert_eq!(vertex_format("A8B8G8R8_UINT_PACK32"), vertex_format("r8g8b8a8-uint"));
        assert!(vertex_format("B10G11R11_UFLOAT_PACK32").is_ok());
        for wrong in [
            "B10G11R11_SFLOAT",
            "R16_UFLOAT",
            "R32_UNORM",
            "R8_SFLOAT",
            "R8G8B8A8",
            "A2B10G10R10_SFLOAT",
            "R64_UINT",
        ] {
            assert!(vertex_format(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parts_are_read() {
        assert_eq!(registers("r0, ra31,rb7,r3"), Ok([Reg::Acc(0), Reg::A(31), Reg::B(7), Reg::Acc(3)]));
        assert!(registers("r0,r1").is_err() && register("r4").is_err() && register("ra32").is_err());
        assert_eq!(components("ga"), Ok([false, true, false, true]));
        assert!(components("rx").is_err() && constants("1,2,3").is_err());
        assert_eq!(uniform(StateUniform::BlendConstantBytes([2, 1, 0, 3])), "blend.bytes.bgra");
    }
}

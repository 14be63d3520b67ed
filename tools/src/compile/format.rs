//! Texel and vertex formats by their Vulkan names.

use vc4::image::Format;
use vc4::state::blend::ColorOutput;
use vc4::state::vertex_fetch::{Numeric, Packing, VertexFormat};
use vc4::state::{ColorKind, Encoding};

/// `r8g8b8a8_unorm` taken apart.
struct Name<'a> {
    /// Bits of each component, which are equal, or `None` for the 10, 10, 10, 2 of a packed word.
    bits: Option<u32>,
    /// Components.
    count: u8,
    /// Blue comes first.
    swap_rb: bool,
    /// What follows the `_`.
    kind: &'a str,
}

fn parse(name: &str) -> Option<Name<'_>> {
    let (layout, kind) = name.split_once('_')?;
    let (swap_rb, bits, count) = match layout {
        "a2b10g10r10" => (false, None, 4),
        "a2r10g10b10" => (true, None, 4),
        "b8g8r8a8" => (true, Some(8), 4),
        _ => {
            let bits: u32 = layout.strip_prefix('r')?.split(['g', 'b', 'a']).next()?.parse().ok()?;
            let count = (1..=4).find(|&count| layout == plain(bits, count))?;
            (false, Some(bits), count)
        }
    };
    Some(Name { bits, count, swap_rb, kind })
}

/// `r8g8` and so on.
fn plain(bits: u32, count: u8) -> String {
    "rgba".chars().take(count.into()).map(|c| format!("{c}{bits}")).collect()
}

/// A vertex attribute's format.
pub fn vertex(name: &str) -> Option<VertexFormat> {
    let Name { bits, count, swap_rb, kind } = parse(name)?;
    let numeric = match kind {
        "unorm" => Numeric::Unorm,
        "snorm" => Numeric::Snorm,
        "uscaled" => Numeric::Uscaled,
        "sscaled" => Numeric::Sscaled,
        "uint" => Numeric::Uint,
        "sint" => Numeric::Sint,
        "sfloat" => Numeric::Float,
        _ => return None,
    };
    let packing = match bits {
        None => Packing::Bits10_10_10_2,
        Some(8) => Packing::Bytes(count),
        Some(16) => Packing::Halves(count),
        Some(32) => Packing::Words(count),
        Some(_) => return None,
    };
    let fits = match packing {
        Packing::Words(_) => matches!(numeric, Numeric::Uint | Numeric::Sint | Numeric::Float),
        Packing::Halves(_) => true,
        _ => numeric != Numeric::Float,
    };
    fits.then_some(VertexFormat { packing, numeric, swap_rb })
}

/// A colour attachment's format.
pub fn color(name: &str, multisample: bool) -> Option<ColorOutput> {
    if name == "r5g6b5_unorm" {
        return Some(ColorOutput::plain(Format::R5G6B5.info(), multisample));
    }
    let Name { bits, count, swap_rb, kind } = parse(name)?;
    let kind = match kind {
        "unorm" => ColorKind::Unorm,
        "srgb" => ColorKind::Srgb,
        "snorm" => ColorKind::Snorm,
        "uint" => ColorKind::Uint,
        "sint" => ColorKind::Sint,
        "sfloat" => ColorKind::Float,
        _ => return None,
    };
    if bits == Some(8) && count == 4 && matches!(kind, ColorKind::Unorm | ColorKind::Srgb) {
        let format = if swap_rb { Format::B8G8R8A8 } else { Format::R8G8B8A8 };
        let mut output = ColorOutput::plain(format.info(), multisample);
        output.encoding.kind = kind;
        return Some(output);
    }
    let encoding = match (bits, swap_rb) {
        (None, swap_rb) => Encoding::bits_10_10_10_2(kind, swap_rb),
        (Some(8), false) => Encoding::bytes(kind, count.into()),
        (Some(16), false) => Encoding::halves(kind, count.into()),
        (Some(32), false) if count == 1 => Encoding::word(kind),
        _ => None,
    };
    encoding.map(|encoding| ColorOutput::encoded(encoding, multisample))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertex_formats() {
        let format = |name| vertex(name).map(|f| (f.packing, f.numeric, f.swap_rb));
        assert_eq!(format("r32g32b32_sfloat"), Some((Packing::Words(3), Numeric::Float, false)));
        assert_eq!(format("b8g8r8a8_unorm"), Some((Packing::Bytes(4), Numeric::Unorm, true)));
        assert_eq!(format("a2r10g10b10_sscaled"), Some((Packing::Bits10_10_10_2, Numeric::Sscaled, true)));
        for wrong in ["r8g8b8a8", "r8g16_unorm", "r32_unorm", "r8_sfloat", "g8_unorm", "r64_sfloat", "_", ""]
        {
            assert_eq!(format(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn color_formats() {
        let kind = |name| color(name, false).map(|output| output.encoding.kind);
        assert_eq!(kind("b8g8r8a8_srgb"), Some(ColorKind::Srgb));
        assert_eq!(kind("r5g6b5_unorm"), Some(ColorKind::Unorm));
        assert_eq!(kind("r16g16_sfloat"), Some(ColorKind::Float));
        assert_eq!(kind("a2b10g10r10_unorm"), Some(ColorKind::Unorm));
        assert_eq!(color("r8g8b8a8_unorm", false), Some(ColorOutput::plain(Format::R8G8B8A8.info(), false)));
        for wrong in ["r32g32_sfloat", "r16g16b16a16_sfloat", "a2b10g10r10_srgb", "r8g8b8a8_scaled"] {
            assert_eq!(kind(wrong), None, "{wrong}");
        }
    }
}

//! How programs make colours of texels.

use ash::vk;
use vc4::image::format::{Component, Decode, Format as Texel};
use vc4::image::texel::TexelInfo;
use vc4::state::ColorKind;
use vc4::state::vertex_fetch::{Numeric, Packing, VertexFormat};
use vc4_shaders::compile::{TextureClass, TextureDecode, TextureSwizzle};

use super::table::FormatRow;

/// How a lookup in texels of this format becomes four components, seen through a component mapping: what the texture
/// unit returns, or what is in memory for `direct` lookups. `None` if nothing reads such texels.
pub fn texture_decode(
    row: &FormatRow,
    texel: Texel,
    mapping: &vk::ComponentMapping,
    aspects: vk::ImageAspectFlags,
    direct: bool,
) -> Option<TextureDecode> {
    let texel = texel.info();
    let own = [0, 1, 2, 3].map(TextureSwizzle::Component);
    // Depth and stencil are red; the other components are 0, 0 and 1.
    let red = [own[0], TextureSwizzle::Zero, TextureSwizzle::Zero, TextureSwizzle::One];
    let (class, native) = match (texel.decode, &row.info) {
        // Four bytes are the same to either.
        (Decode::Unorm8(components), _) if texel.cpp == 4 || !direct => {
            let class = if row.is_srgb() { TextureClass::Srgb8 } else { TextureClass::Unorm8 };
            (class, components.map(source))
        }
        // The unit returns the bytes of 16-bit texels apart.
        (Decode::Word, Some(info)) if texel.cpp == 2 && !direct => {
            (TextureClass::SplitFields(fields(info)?), own)
        }
        (Decode::Word | Decode::Unorm8(_), Some(info)) => (TextureClass::Fields(fields(info)?), own),
        (Decode::Word | Decode::Unorm8(_), None) => (TextureClass::Word32, red),
        (Decode::Depth24, _) if aspects == vk::ImageAspectFlags::STENCIL => (TextureClass::Stencil8, red),
        (Decode::Depth24, _) => (TextureClass::Depth24, red),
    };
    Some(TextureDecode { class, swizzle: swizzled(native, mapping) })
}

/// What a component mapping makes of components.
pub fn swizzled(native: [TextureSwizzle; 4], mapping: &vk::ComponentMapping) -> [TextureSwizzle; 4] {
    let mut swizzle = native;
    for (to, from) in swizzle.iter_mut().zip([mapping.r, mapping.g, mapping.b, mapping.a]) {
        match from {
            vk::ComponentSwizzle::ZERO => *to = TextureSwizzle::Zero,
            vk::ComponentSwizzle::ONE => *to = TextureSwizzle::One,
            vk::ComponentSwizzle::R => *to = native[0],
            vk::ComponentSwizzle::G => *to = native[1],
            vk::ComponentSwizzle::B => *to = native[2],
            vk::ComponentSwizzle::A => *to = native[3],
            _ => {}
        }
    }
    swizzle
}

/// The fields of a colour texel, as programs take them apart.
fn fields(info: &TexelInfo) -> Option<VertexFormat> {
    let numeric = match info.kind {
        ColorKind::Unorm | ColorKind::Srgb => Numeric::Unorm,
        ColorKind::Snorm => Numeric::Snorm,
        ColorKind::Uint => Numeric::Uint,
        ColorKind::Sint => Numeric::Sint,
        ColorKind::Float => Numeric::Float,
    };
    let count = info.fields.iter().flatten().count() as u8;
    let place = |component: usize| info.fields[component].map(|field| (field.bit, field.width));
    let (red, blue, alpha) = (place(0)?, place(2), place(3));
    let swap_rb = blue.is_some_and(|blue| match red.1 {
        // From the highest bit down.
        4 | 5 => blue.0 > red.0,
        _ => blue.0 < red.0,
    });
    let packing = match red.1 {
        _ if info.shared_exponent => Packing::Floats9_9_9_5,
        8 => Packing::Bytes(count),
        16 => Packing::Halves(count),
        32 => Packing::Words(count),
        10 => Packing::Bits10_10_10_2,
        11 => Packing::Floats11_11_10,
        5 if count == 3 => Packing::Bits5_6_5,
        5 if alpha == Some((0, 1)) => Packing::Bits5_5_5_1,
        5 => Packing::Bits1_5_5_5,
        4 => Packing::Bits4_4_4_4,
        _ => return None,
    };
    Some(VertexFormat { packing, numeric, swap_rb: swap_rb && !info.shared_exponent })
}

fn source(component: Component) -> TextureSwizzle {
    match component {
        Component::Byte(byte) => TextureSwizzle::Component(byte),
        Component::Zero => TextureSwizzle::Zero,
        Component::One => TextureSwizzle::One,
    }
}

#[cfg(test)]
mod tests {
    use super::super::row;
    use super::super::table::images;
    use super::super::vertex::VERTICES;
    use super::*;

    #[test]
    fn every_texel_can_be_read() {
        for row in images() {
            let (texel, mapping) = (row.texture.unwrap().texel, vk::ComponentMapping::default());
            for direct in [false, true] {
                let decode = texture_decode(&row, texel, &mapping, row.aspects(), direct);
                assert!(decode.is_some(), "{:?}", row.format);
            }
        }
    }

    #[test]
    fn a_mapping_chooses_among_the_format_s_components() {
        use TextureSwizzle::{Component, One};
        let (r, g) = (vk::ComponentSwizzle::A, vk::ComponentSwizzle::ONE);
        let mapping = vk::ComponentMapping { r, g, ..Default::default() };
        let (srgb, aspects) = (row(vk::Format::B8G8R8A8_SRGB).unwrap(), vk::ImageAspectFlags::COLOR);
        let decode = texture_decode(srgb, Texel::B8G8R8A8, &mapping, aspects, false).unwrap();
        assert_eq!(decode.swizzle, [Component(3), One, Component(0), Component(3)]);
        assert_eq!(decode.class, TextureClass::Srgb8);
    }

    #[test]
    fn fields_of_textures_are_those_of_attributes() {
        for row in images() {
            let Some((info, vertex)) = row.info.zip(VERTICES.iter().find(|known| known.0 == row.format))
            else {
                continue;
            };
            let expected = match row.is_srgb() {
                true => continue,
                false => vertex.1,
            };
            assert_eq!(fields(&info), Some(expected), "{:?}", row.format);
        }
        let packed = |format| fields(&row(format).unwrap().info.unwrap()).unwrap();
        assert_eq!(packed(vk::Format::R5G6B5_UNORM_PACK16).packing, Packing::Bits5_6_5);
        assert!(packed(vk::Format::B5G6R5_UNORM_PACK16).swap_rb);
        assert_eq!(packed(vk::Format::R5G5B5A1_UNORM_PACK16).packing, Packing::Bits5_5_5_1);
        assert_eq!(packed(vk::Format::E5B9G9R9_UFLOAT_PACK32).packing, Packing::Floats9_9_9_5);
        assert!(!packed(vk::Format::R4G4B4A4_UNORM_PACK16).swap_rb);
    }
}

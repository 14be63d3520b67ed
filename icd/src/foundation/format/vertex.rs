//! Formats of vertex attributes: how the fetched bytes become components (T-VFMT).

use ash::vk;
use vc4::state::vertex_fetch::{Numeric, Packing, VertexFormat};

/// Rows of formats that vertex attributes have; some of them are image formats, too.
macro_rules! vertices {
    ($($format:ident $packing:ident $(($count:literal))? $numeric:ident $swap:literal;)*) => {
        &[$((vk::Format::$format, VertexFormat {
            packing: Packing::$packing $(($count))?,
            numeric: Numeric::$numeric,
            swap_rb: $swap,
        }),)*]
    };
}

pub(super) const VERTICES: &[(vk::Format, VertexFormat)] = vertices! {
    R8_UNORM Bytes(1) Unorm false;
    R8_SNORM Bytes(1) Snorm false;
    R8_USCALED Bytes(1) Uscaled false;
    R8_SSCALED Bytes(1) Sscaled false;
    R8_UINT Bytes(1) Uint false;
    R8_SINT Bytes(1) Sint false;
    R8G8_UNORM Bytes(2) Unorm false;
    R8G8_SNORM Bytes(2) Snorm false;
    R8G8_USCALED Bytes(2) Uscaled false;
    R8G8_SSCALED Bytes(2) Sscaled false;
    R8G8_UINT Bytes(2) Uint false;
    R8G8_SINT Bytes(2) Sint false;
    R8G8B8_UNORM Bytes(3) Unorm false;
    R8G8B8_SNORM Bytes(3) Snorm false;
    R8G8B8_USCALED Bytes(3) Uscaled false;
    R8G8B8_SSCALED Bytes(3) Sscaled false;
    R8G8B8_UINT Bytes(3) Uint false;
    R8G8B8_SINT Bytes(3) Sint false;
    B8G8R8_UNORM Bytes(3) Unorm true;
    B8G8R8_SNORM Bytes(3) Snorm true;
    B8G8R8_USCALED Bytes(3) Uscaled true;
    B8G8R8_SSCALED Bytes(3) Sscaled true;
    B8G8R8_UINT Bytes(3) Uint true;
    B8G8R8_SINT Bytes(3) Sint true;
    R8G8B8A8_UNORM Bytes(4) Unorm false;
    R8G8B8A8_SNORM Bytes(4) Snorm false;
    R8G8B8A8_USCALED Bytes(4) Uscaled false;
    R8G8B8A8_SSCALED Bytes(4) Sscaled false;
    R8G8B8A8_UINT Bytes(4) Uint false;
    R8G8B8A8_SINT Bytes(4) Sint false;
    B8G8R8A8_UNORM Bytes(4) Unorm true;
    B8G8R8A8_SNORM Bytes(4) Snorm true;
    B8G8R8A8_USCALED Bytes(4) Uscaled true;
    B8G8R8A8_SSCALED Bytes(4) Sscaled true;
    B8G8R8A8_UINT Bytes(4) Uint true;
    B8G8R8A8_SINT Bytes(4) Sint true;
    A8B8G8R8_UNORM_PACK32 Bytes(4) Unorm false;
    A8B8G8R8_SNORM_PACK32 Bytes(4) Snorm false;
    A8B8G8R8_USCALED_PACK32 Bytes(4) Uscaled false;
    A8B8G8R8_SSCALED_PACK32 Bytes(4) Sscaled false;
    A8B8G8R8_UINT_PACK32 Bytes(4) Uint false;
    A8B8G8R8_SINT_PACK32 Bytes(4) Sint false;
    A2B10G10R10_UNORM_PACK32 Bits10_10_10_2 Unorm false;
    A2B10G10R10_SNORM_PACK32 Bits10_10_10_2 Snorm false;
    A2B10G10R10_USCALED_PACK32 Bits10_10_10_2 Uscaled false;
    A2B10G10R10_SSCALED_PACK32 Bits10_10_10_2 Sscaled false;
    A2B10G10R10_UINT_PACK32 Bits10_10_10_2 Uint false;
    A2B10G10R10_SINT_PACK32 Bits10_10_10_2 Sint false;
    A2R10G10B10_UNORM_PACK32 Bits10_10_10_2 Unorm true;
    A2R10G10B10_SNORM_PACK32 Bits10_10_10_2 Snorm true;
    A2R10G10B10_USCALED_PACK32 Bits10_10_10_2 Uscaled true;
    A2R10G10B10_SSCALED_PACK32 Bits10_10_10_2 Sscaled true;
    A2R10G10B10_UINT_PACK32 Bits10_10_10_2 Uint true;
    A2R10G10B10_SINT_PACK32 Bits10_10_10_2 Sint true;
    B10G11R11_UFLOAT_PACK32 Floats11_11_10 Float false;
    R16_UNORM Halves(1) Unorm false;
    R16_SNORM Halves(1) Snorm false;
    R16_USCALED Halves(1) Uscaled false;
    R16_SSCALED Halves(1) Sscaled false;
    R16_UINT Halves(1) Uint false;
    R16_SINT Halves(1) Sint false;
    R16_SFLOAT Halves(1) Float false;
    R16G16_UNORM Halves(2) Unorm false;
    R16G16_SNORM Halves(2) Snorm false;
    R16G16_USCALED Halves(2) Uscaled false;
    R16G16_SSCALED Halves(2) Sscaled false;
    R16G16_UINT Halves(2) Uint false;
    R16G16_SINT Halves(2) Sint false;
    R16G16_SFLOAT Halves(2) Float false;
    R16G16B16_UNORM Halves(3) Unorm false;
    R16G16B16_SNORM Halves(3) Snorm false;
    R16G16B16_USCALED Halves(3) Uscaled false;
    R16G16B16_SSCALED Halves(3) Sscaled false;
    R16G16B16_UINT Halves(3) Uint false;
    R16G16B16_SINT Halves(3) Sint false;
    R16G16B16_SFLOAT Halves(3) Float false;
    R16G16B16A16_UNORM Halves(4) Unorm false;
    R16G16B16A16_SNORM Halves(4) Snorm false;
    R16G16B16A16_USCALED Halves(4) Uscaled false;
    R16G16B16A16_SSCALED Halves(4) Sscaled false;
    R16G16B16A16_UINT Halves(4) Uint false;
    R16G16B16A16_SINT Halves(4) Sint false;
    R16G16B16A16_SFLOAT Halves(4) Float false;
    R32_UINT Words(1) Uint false;
    R32_SINT Words(1) Sint false;
    R32_SFLOAT Words(1) Float false;
    R32G32_UINT Words(2) Uint false;
    R32G32_SINT Words(2) Sint false;
    R32G32_SFLOAT Words(2) Float false;
    R32G32B32_UINT Words(3) Uint false;
    R32G32B32_SINT Words(3) Sint false;
    R32G32B32_SFLOAT Words(3) Float false;
    R32G32B32A32_UINT Words(4) Uint false;
    R32G32B32A32_SINT Words(4) Sint false;
    R32G32B32A32_SFLOAT Words(4) Float false;
};

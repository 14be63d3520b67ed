//! Names of data types (containers.md §3.9).

/// Names from code `first` on, without gaps.
struct Run {
    first: u8,
    names: &'static [&'static str],
}

const RUNS: &[Run] = &[
    Run { first: 0x00, names: &["none", "struct", "array", "float", "float2", "float3", "float4"] },
    Run {
        first: 0x07,
        names: &[
            "float2x2", "float2x3", "float2x4", "float3x2", "float3x3", "float3x4", "float4x2", "float4x3",
            "float4x4",
        ],
    },
    Run { first: 0x10, names: &["half", "half2", "half3", "half4"] },
    Run {
        first: 0x14,
        names: &[
            "half2x2", "half2x3", "half2x4", "half3x2", "half3x3", "half3x4", "half4x2", "half4x3", "half4x4",
        ],
    },
    Run { first: 0x1D, names: &["int", "int2", "int3", "int4", "uint", "uint2", "uint3", "uint4"] },
    Run {
        first: 0x25,
        names: &["short", "short2", "short3", "short4", "ushort", "ushort2", "ushort3", "ushort4"],
    },
    Run { first: 0x2D, names: &["char", "char2", "char3", "char4", "uchar", "uchar2", "uchar3", "uchar4"] },
    Run { first: 0x35, names: &["bool", "bool2", "bool3", "bool4"] },
    Run { first: 0x3A, names: &["texture", "sampler", "pointer"] },
    Run {
        first: 0x3E,
        names: &[
            "r8unorm",
            "r8snorm",
            "r16unorm",
            "r16snorm",
            "rg8unorm",
            "rg8snorm",
            "rg16unorm",
            "rg16snorm",
            "rgba8unorm",
            "rgba8unorm_srgb",
            "rgba8snorm",
            "rgba16unorm",
            "rgba16snorm",
            "rgb10a2unorm",
            "rg11b10float",
            "rgb9e5float",
        ],
    },
    Run { first: 0x4E, names: &["render_pipeline", "compute_pipeline", "indirect_command_buffer"] },
    Run { first: 0x51, names: &["long", "long2", "long3", "long4", "ulong", "ulong2", "ulong3", "ulong4"] },
    Run { first: 0x59, names: &["double", "double2", "double3", "double4"] },
    Run {
        first: 0x5D,
        names: &[
            "float8", "float16", "half8", "half16", "int8", "int16", "uint8", "uint16", "short8", "short16",
            "ushort8", "ushort16", "char8", "char16", "uchar8", "uchar16", "long8", "long16", "ulong8",
            "ulong16", "double8", "double16",
        ],
    },
    Run {
        first: 0x73,
        names: &[
            "visible_function_table",
            "intersection_function_table",
            "primitive_acceleration_structure",
            "instance_acceleration_structure",
            "bool8",
            "bool16",
        ],
    },
    Run { first: 0x79, names: &["bfloat", "bfloat2", "bfloat3", "bfloat4"] },
    Run { first: 0x8B, names: &["depth_stencil_state", "tensor"] },
];

/// The name of a data type code; `None` for codes no description names.
pub fn data_type_name(code: u8) -> Option<&'static str> {
    RUNS.iter().find_map(|run| run.names.get(usize::from(code.checked_sub(run.first)?)).copied())
}

#[cfg(test)]
mod tests {
    use super::data_type_name;

    /// One code of every family, from the table of the older public description and the newer additions.
    #[test]
    fn names_of_known_codes() {
        for (code, name) in [
            (0x00, "none"),
            (0x06, "float4"),
            (0x0F, "float4x4"),
            (0x13, "half4"),
            (0x1C, "half4x4"),
            (0x21, "uint"),
            (0x29, "ushort"),
            (0x34, "uchar4"),
            (0x38, "bool4"),
            (0x3C, "pointer"),
            (0x47, "rgba8unorm_srgb"),
            (0x4D, "rgb9e5float"),
            (0x50, "indirect_command_buffer"),
            (0x58, "ulong4"),
            (0x5C, "double4"),
            (0x64, "uint16"),
            (0x72, "double16"),
            (0x76, "instance_acceleration_structure"),
            (0x78, "bool16"),
            (0x7C, "bfloat4"),
            (0x8C, "tensor"),
        ] {
            assert_eq!(data_type_name(code), Some(name), "{code:#x}");
        }
        for code in [0x39, 0x3D, 0x7D, 0x8A, 0x8D, 0xFF] {
            assert_eq!(data_type_name(code), None, "{code:#x}");
        }
    }
}

//! The shaders of programs, and what each of them asks of a pipeline.

use ash::vk;

/// A shader.
pub struct Shader {
    /// SPIR-V.
    pub code: &'static [u8],
    /// Its stage.
    pub stage: vk::ShaderStageFlags,
    /// Bindings of set 0 that it reads or writes, by number.
    pub bindings: &'static [vk::DescriptorType],
    /// Whether it reads two floats of a vertex.
    pub vertices: bool,
    /// Whether it writes whole numbers to targets, or samples them.
    pub uint: bool,
    /// Targets that it writes to.
    pub targets: usize,
}

macro_rules! shader {
    ($name:literal, $stage:ident, $bindings:expr) => {
        Shader {
            code: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/api/", $name, ".spv")),
            stage: vk::ShaderStageFlags::$stage,
            bindings: $bindings,
            vertices: false,
            uint: false,
            targets: 1,
        }
    };
}

/// Bytes of push constants that all of them share.
pub const PUSH_BYTES: u32 = 64;

use vk::DescriptorType as Type;

/// All of them.
pub const SHADERS: [Shader; 12] = [
    shader!("add.comp", COMPUTE, &[Type::STORAGE_BUFFER]),
    shader!("mix.comp", COMPUTE, &[Type::STORAGE_BUFFER, Type::STORAGE_BUFFER, Type::UNIFORM_BUFFER]),
    shader!("store.comp", COMPUTE, &[Type::STORAGE_IMAGE]),
    Shader {
        uint: true,
        ..shader!("fetch.comp", COMPUTE, &[Type::STORAGE_BUFFER, Type::COMBINED_IMAGE_SAMPLER])
    },
    shader!("shared.comp", COMPUTE, &[Type::STORAGE_BUFFER, Type::UNIFORM_TEXEL_BUFFER]),
    shader!("rect.vert", VERTEX, &[]),
    Shader { vertices: true, ..shader!("points.vert", VERTEX, &[]) },
    shader!("flat.frag", FRAGMENT, &[]),
    Shader { uint: true, ..shader!("words.frag", FRAGMENT, &[]) },
    shader!("texel.frag", FRAGMENT, &[Type::COMBINED_IMAGE_SAMPLER]),
    Shader { targets: 2, ..shader!("two.frag", FRAGMENT, &[]) },
    shader!("tint.frag", FRAGMENT, &[Type::UNIFORM_BUFFER]),
];

/// A kind of descriptors as shaders see it: they know nothing of dynamic offsets.
pub fn seen(kind: Type) -> Type {
    match kind {
        Type::UNIFORM_BUFFER_DYNAMIC => Type::UNIFORM_BUFFER,
        Type::STORAGE_BUFFER_DYNAMIC => Type::STORAGE_BUFFER,
        kind => kind,
    }
}

/// The shader of a number.
pub fn shader(number: u32) -> &'static Shader {
    &SHADERS[number as usize % SHADERS.len()]
}

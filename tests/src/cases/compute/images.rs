//! Kernels that read, write and change texels of storage images and texel buffers.

use ash::vk;

use super::case::Case;
use super::resource::{Resource, Shape, texels};

/// Formats with their names in GLSL; those from `A2B10G10R10_UINT_PACK32` on are the extended ones.
const FORMATS: [(vk::Format, &str); 39] = [
    (vk::Format::R8G8B8A8_UNORM, "rgba8"),
    (vk::Format::R8G8B8A8_SNORM, "rgba8_snorm"),
    (vk::Format::R8G8B8A8_UINT, "rgba8ui"),
    (vk::Format::R8G8B8A8_SINT, "rgba8i"),
    (vk::Format::R16G16B16A16_UINT, "rgba16ui"),
    (vk::Format::R16G16B16A16_SINT, "rgba16i"),
    (vk::Format::R16G16B16A16_SFLOAT, "rgba16f"),
    (vk::Format::R32_UINT, "r32ui"),
    (vk::Format::R32_SINT, "r32i"),
    (vk::Format::R32_SFLOAT, "r32f"),
    (vk::Format::R32G32_UINT, "rg32ui"),
    (vk::Format::R32G32_SINT, "rg32i"),
    (vk::Format::R32G32_SFLOAT, "rg32f"),
    (vk::Format::R32G32B32A32_UINT, "rgba32ui"),
    (vk::Format::R32G32B32A32_SINT, "rgba32i"),
    (vk::Format::R32G32B32A32_SFLOAT, "rgba32f"),
    (vk::Format::A2B10G10R10_UINT_PACK32, "rgb10_a2ui"),
    (vk::Format::A2B10G10R10_UNORM_PACK32, "rgb10_a2"),
    (vk::Format::B10G11R11_UFLOAT_PACK32, "r11f_g11f_b10f"),
    (vk::Format::R16G16B16A16_UNORM, "rgba16"),
    (vk::Format::R16G16B16A16_SNORM, "rgba16_snorm"),
    (vk::Format::R16G16_UNORM, "rg16"),
    (vk::Format::R16G16_SNORM, "rg16_snorm"),
    (vk::Format::R16G16_UINT, "rg16ui"),
    (vk::Format::R16G16_SINT, "rg16i"),
    (vk::Format::R16G16_SFLOAT, "rg16f"),
    (vk::Format::R16_UNORM, "r16"),
    (vk::Format::R16_SNORM, "r16_snorm"),
    (vk::Format::R16_UINT, "r16ui"),
    (vk::Format::R16_SINT, "r16i"),
    (vk::Format::R16_SFLOAT, "r16f"),
    (vk::Format::R8G8_UNORM, "rg8"),
    (vk::Format::R8G8_SNORM, "rg8_snorm"),
    (vk::Format::R8G8_UINT, "rg8ui"),
    (vk::Format::R8G8_SINT, "rg8i"),
    (vk::Format::R8_UNORM, "r8"),
    (vk::Format::R8_SNORM, "r8_snorm"),
    (vk::Format::R8_UINT, "r8ui"),
    (vk::Format::R8_SINT, "r8i"),
];

/// The letter of types in GLSL.
fn kind(name: &str) -> &'static str {
    match name {
        name if name.ends_with("ui") => "u",
        name if name.ends_with('i') => "i",
        _ => "",
    }
}

/// Neither a multiple of the workgroup nor of a tile.
const SMALL: [u32; 2] = [37, 21];
/// Columns lie in panels.
const PANELS: [u32; 2] = [5003, 3];

/// What decoding may differ by.
const DECODED: f32 = 1e-6;

/// Components in the order in which texels of a format can hold them without rounding.
fn order(name: &str) -> &'static str {
    if name == "r11f_g11f_b10f" { "grba" } else { "gbra" }
}

/// Every case.
pub(super) fn all() -> Vec<Case> {
    let formats = FORMATS
        .iter()
        .flat_map(|&(format, name)| [copy(format, name, SMALL), texel_buffers(format, name, kind(name), 48)]);
    let panels = [(vk::Format::R8G8B8A8_UNORM, "rgba8"), (vk::Format::R32G32B32A32_UINT, "rgba32ui")];
    let panels = panels.into_iter().map(|(format, name)| copy(format, name, PANELS));
    formats.chain(panels).chain(shapes()).chain(atomics()).chain(unnamed()).collect()
}

/// Reads all texels of one image and writes them elsewhere to another.
fn copy(format: vk::Format, name: &str, size: [u32; 2]) -> Case {
    let kind = kind(name);
    let source = format!(
        "layout(local_size_x = 8, local_size_y = 8) in;\n\
         layout(binding = 0, {name}) uniform readonly {kind}image2D src;\n\
         layout(binding = 1, {name}) uniform writeonly {kind}image2D dst;\n\
         layout(binding = 2, std430) buffer B {{ {kind}vec4 b[]; }};\n\
         void main() {{\n\
           ivec2 p = ivec2(gl_GlobalInvocationID.xy), s = imageSize(src);\n\
           {kind}vec4 c = imageLoad(src, p);\n\
           if (p.x < s.x && p.y < s.y) b[p.x + p.y * s.x] = c;\n\
           imageStore(dst, s - 1 - p, c.{order});\n\
         }}",
        order = order(name),
    );
    let [width, height] = size;
    let shape = Shape::flat(width, height);
    let buffer = Resource::zeros(4 * (width * height) as usize);
    let case = Case::new(
        format!("storage {name} {width}x{height}"),
        source,
        vec![Resource::Storage(format, shape), Resource::Storage(format, shape), buffer],
    );
    case.groups([width.div_ceil(8), height.div_ceil(8), 1]).floats(if kind.is_empty() {
        DECODED
    } else {
        0.0
    })
}

/// Texel buffers of a format.
fn texel_buffers(format: vk::Format, name: &str, kind: &str, count: u32) -> Case {
    let source = format!(
        "layout(local_size_x = 16) in;\n\
         layout(binding = 0) uniform {kind}samplerBuffer a;\n\
         layout(binding = 1, {name}) uniform {kind}imageBuffer b;\n\
         layout(binding = 2, std430) buffer B {{ {kind}vec4 o[]; }};\n\
         void main() {{\n\
           int n = int(gl_GlobalInvocationID.x);\n\
           {kind}vec4 c = texelFetch(a, n), d = imageLoad(b, n);\n\
           o[2 * n] = c; o[2 * n + 1] = d; imageStore(b, n, c.{swizzle});\n\
           if (n == 0) o[0] = {kind}vec4(textureSize(a), imageSize(b), 0, 0);\n\
         }}",
        swizzle = order(name),
    );
    Case::new(
        format!("texel buffers {name}"),
        source,
        vec![
            Resource::Texels(false, format, texels(format, count, 3)),
            Resource::Texels(true, format, texels(format, count, 4)),
            Resource::zeros(8 * count as usize),
        ],
    )
    .groups([count / 16, 1, 1])
    .floats(if kind.is_empty() { DECODED } else { 0.0 })
}

/// Every shape of image.
fn shapes() -> impl Iterator<Item = Case> {
    use vk::ImageViewType as Type;
    let shapes = [
        ("1D", Type::TYPE_1D, [40, 1, 1], 1, "p.x"),
        ("1DArray", Type::TYPE_1D_ARRAY, [40, 1, 1], 5, "p.xz"),
        ("2DArray", Type::TYPE_2D_ARRAY, [20, 20, 1], 3, "p"),
        ("3D", Type::TYPE_3D, [18, 20, 7], 1, "p"),
        ("Cube", Type::CUBE, [16, 16, 1], 6, "p"),
        ("CubeArray", Type::CUBE_ARRAY, [12, 12, 1], 12, "p"),
    ];
    shapes.into_iter().flat_map(|(name, ty, size, layers, place)| {
        [(vk::Format::R32_UINT, "r32ui", "u"), (vk::Format::R8G8B8A8_UNORM, "rgba8", "")].map(
            move |(format, layout, kind)| {
                let [width, height, depth] = [size[0], size[1], size[2].max(layers)];
                let source = format!(
                    "layout(local_size_x = 4, local_size_y = 4, local_size_z = 2) in;\n\
                     layout(binding = 0, {layout}) uniform {kind}image{name} a;\n\
                     layout(binding = 1, {layout}) uniform {kind}image{name} b;\n\
                     layout(binding = 2, std430) buffer B {{ ivec4 s; }};\n\
                     void main() {{\n\
                       ivec3 p = ivec3(gl_GlobalInvocationID), e = ivec3({width}, {height}, {depth});\n\
                       if (any(greaterThanEqual(p, e))) return;\n\
                       {kind}vec4 c = imageLoad(a, {place});\n\
                       p = e - 1 - p;\n\
                       imageStore(b, {place}, c);\n\
                       s = ivec4(imageSize(a){fill});\n\
                     }}",
                    fill = match name {
                        "1D" => ", 0, 0, 0",
                        "1DArray" | "Cube" => ", 0, 0",
                        _ => ", 0",
                    },
                );
                let shape = Shape { ty, size, layers, levels: 1 };
                let image = Resource::Storage(format, shape);
                Case::new(
                    format!("shape {name} {layout}"),
                    source,
                    vec![image.clone(), image, Resource::zeros(4)],
                )
                .groups([width.div_ceil(4), height.div_ceil(4), depth.div_ceil(2)])
            },
        )
    })
}

/// All atomic operations on texels.
fn atomics() -> impl Iterator<Item = Case> {
    let formats = [(vk::Format::R32_UINT, "r32ui", "u", "uint"), (vk::Format::R32_SINT, "r32i", "i", "int")];
    formats.into_iter().map(|(format, layout, kind, ty)| {
        let source = format!(
            "layout(local_size_x = 64) in;\n\
             layout(binding = 0, {layout}) uniform {kind}image2D a;\n\
             layout(binding = 1, {layout}) uniform {kind}imageBuffer b;\n\
             layout(binding = 2, std430) buffer B {{ {ty} v[]; }};\n\
             void main() {{\n\
               uint n = gl_GlobalInvocationID.x; {ty} k = {ty}((n * 2654435761u) >> 7);\n\
               imageAtomicAdd(a, ivec2(0, 0), k); imageAtomicMin(a, ivec2(1, 0), k); imageAtomicMax(a, ivec2(2, 1), k);\n\
               imageAtomicAnd(a, ivec2(3, 2), k | 0xff); imageAtomicOr(a, ivec2(4, 3), k & 0x5555);\n\
               imageAtomicXor(a, ivec2(5, 5), k); imageAtomicExchange(a, ivec2(6, 7), {ty}(7));\n\
               imageAtomicCompSwap(a, ivec2(7, 6), imageLoad(a, ivec2(7, 6)).x, {ty}(9));\n\
               imageAtomicAdd(b, int(n % 5u), {ty}(1)); v[n] = imageAtomicOr(b, int(n % 5u) + 8, {ty}(0));\n\
               imageAtomicAdd(a, ivec2(n + 8u, 8), {ty}(n)); imageAtomicAdd(a, ivec2(-1, 2), {ty}(1));\n\
             }}"
        );
        let zeros = Resource::Texels(true, format, vec![0; 64]);
        let storage = Resource::Storage(format, Shape::flat(40, 12));
        Case::new(format!("image atomics {layout}"), source, vec![storage, zeros, Resource::zeros(256)])
            .groups([4, 1, 1])
    })
}

/// Images whose format a kernel does not name where it writes them.
fn unnamed() -> impl Iterator<Item = Case> {
    [(vk::Format::R8G8B8A8_UNORM, "rgba8"), (vk::Format::R16G16_SFLOAT, "rg16f")].into_iter().map(|(format, name)| {
        let source = format!(
            "layout(local_size_x = 8, local_size_y = 8) in;\n\
             layout(binding = 0, {name}) uniform image2D a;\n\
             layout(binding = 1) uniform writeonly image2D b;\n\
             void main() {{ ivec2 p = ivec2(gl_GlobalInvocationID.xy); imageStore(b, p.yx, imageLoad(a, p)); }}"
        );
        let image = Resource::Storage(format, Shape::flat(16, 16));
        Case::new(format!("unnamed {name}"), source, vec![image.clone(), image]).groups([2, 2, 1])
    })
}

//! Kernels that the QPUs can draw: every invocation writes a texel, or a word of a buffer, at its own place.

use ash::vk;

use super::case::Case;
use super::resource::{Look, Resource, Shape};

const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// What each name of a picture begins with.
pub const PREFIX: &str = "picture";

/// Every case.
pub(super) fn all() -> Vec<Case> {
    sizes().chain(formats()).chain(layers()).chain(sources()).chain(buffers()).collect()
}

fn picture(name: &str, source: impl Into<String>, resources: Vec<Resource>) -> Case {
    Case::new(format!("{PREFIX} {name}"), source, resources)
}

/// Images of every edge that tiles and workgroups can have, with dispatches that cover all of them, more, or less.
fn sizes() -> impl Iterator<Item = Case> {
    let sizes = [[1, 1], [64, 64], [63, 65], [100, 37], [128, 192], [3, 130], [2048, 2]];
    let guards = [
        ("plain", ""),
        ("bounded", "if (any(greaterThanEqual(p, imageSize(dst)))) return;"),
        ("pushed", "if (p.x >= size.x || p.y >= size.y) return;"),
        ("odd", "if ((p.x * 7 + p.y * 3) % 5 == 1) return;"),
    ];
    sizes.into_iter().flat_map(move |[width, height]: [u32; 2]| {
        guards.into_iter().map(move |(name, guard)| {
            let source = format!(
                "layout(local_size_x = 8, local_size_y = 4) in;\n\
                 layout(binding = 0, r32ui) uniform writeonly uimage2D dst;\n\
                 layout(push_constant) uniform P {{ ivec2 size; uint seed; }};\n\
                 void main() {{\n\
                   ivec2 p = ivec2(gl_GlobalInvocationID.xy);\n\
                   {guard}\n\
                   uint h = (uint(p.x) * 2654435761u ^ uint(p.y) * 2246822519u) + seed;\n\
                   h ^= gl_LocalInvocationIndex << 8 | gl_WorkGroupID.y << 16;\n\
                   imageStore(dst, p, uvec4((h ^ h >> 15) / (gl_NumWorkGroups.x + 2u)));\n\
                 }}"
            );
            let image = Resource::Storage(vk::Format::R32_UINT, Shape::flat(width, height));
            let mut case = picture(&format!("{width}x{height} {name}"), source, vec![image]);
            // Less than the image, unless it is but a texel.
            case.push = vec![width - width / 3, height - height / 4, 12345];
            case.groups([width.div_ceil(8), height.div_ceil(4), 1])
        })
    })
}

/// Formats of 32-bit texels.
fn formats() -> impl Iterator<Item = Case> {
    let formats = [
        (RGBA, "rgba8", "", "vec4(p.x, p.y, 255 - p.x, 7 * p.x) / 255.0"),
        (vk::Format::R8G8B8A8_UINT, "rgba8ui", "u", "uvec4(p, p.yx) & 255u"),
        (vk::Format::R8G8B8A8_SINT, "rgba8i", "i", "ivec4(p - 20, 90 - p.yx)"),
        (vk::Format::R32_SINT, "r32i", "i", "ivec4(p.x * p.y * -77777)"),
        (vk::Format::R32_SFLOAT, "r32f", "", "vec4(float(p.x) * 0.25 - float(p.y) * 8.0)"),
        (vk::Format::R16G16_SFLOAT, "rg16f", "", "vec4(float(p.x) * 0.5, -1.0 - float(p.y), 0.0, 0.0)"),
        (vk::Format::R16G16_UINT, "rg16ui", "u", "uvec4(p * 600, 0u, 0u)"),
        (vk::Format::R16G16_SINT, "rg16i", "i", "ivec4(p * -300, 0, 0)"),
        (vk::Format::A2B10G10R10_UINT_PACK32, "rgb10_a2ui", "u", "uvec4(p * 10, p.x + p.y, p.x & 3)"),
    ];
    formats.into_iter().map(|(format, layout, kind, color)| {
        let source = format!(
            "layout(local_size_x = 16, local_size_y = 2) in;\n\
             layout(binding = 0, {layout}) uniform writeonly {kind}image2D dst;\n\
             void main() {{\n\
               ivec2 p = ivec2(gl_GlobalInvocationID.xy);\n\
               imageStore(dst, p, {color});\n\
             }}"
        );
        let image = Resource::Storage(format, Shape::flat(70, 66));
        picture(&format!("format {layout}"), source, vec![image]).groups([5, 33, 1])
    })
}

/// Layers of arrays, slices of volumes, faces of cubes, and lines.
fn layers() -> impl Iterator<Item = Case> {
    use vk::ImageViewType as Type;
    let shapes = [
        ("1D", Type::TYPE_1D, [200, 1, 1], 1, "int(p.x)"),
        ("2DArray", Type::TYPE_2D_ARRAY, [70, 20, 1], 5, "ivec3(p)"),
        ("3D", Type::TYPE_3D, [66, 20, 7], 1, "ivec3(p)"),
        ("Cube", Type::CUBE, [33, 33, 1], 6, "ivec3(p)"),
    ];
    shapes.into_iter().map(|(name, ty, size, layers, place)| {
        let source = format!(
            "layout(local_size_x = 8) in;\n\
             layout(binding = 0, r32ui) uniform writeonly uimage{name} dst;\n\
             void main() {{\n\
               uvec3 p = gl_GlobalInvocationID;\n\
               imageStore(dst, {place}, uvec4(p.x + 1000u * p.y + 1000000u * p.z + gl_NumWorkGroups.z));\n\
             }}"
        );
        let shape = Shape { ty, size, layers, levels: 1 };
        let image = Resource::Storage(vk::Format::R32_UINT, shape);
        let groups = [size[0].div_ceil(8), size[1], size[2].max(layers)];
        picture(&format!("shape {name}"), source, vec![image]).groups(groups)
    })
}

/// What kernels read: images of every way, buffers of every kind.
fn sources() -> impl Iterator<Item = Case> {
    let words: Vec<u32> = (0..300u32).map(|n| n.wrapping_mul(2_654_435_761)).collect();
    let uniform = words.iter().flat_map(|word| word.to_le_bytes()).take(1024).collect();
    let flat = || Resource::Storage(vk::Format::R32_UINT, Shape::flat(90, 70));
    let buffers = picture(
        "of buffers",
        "layout(local_size_x = 8, local_size_y = 8) in;\n\
         layout(binding = 0, r32ui) uniform writeonly uimage2D dst;\n\
         layout(binding = 1, std430) readonly buffer B { uint b[]; };\n\
         layout(binding = 2, std140) uniform U { uvec4 u[64]; };\n\
         layout(binding = 3) uniform usamplerBuffer t;\n\
         void main() {\n\
           uvec2 p = gl_GlobalInvocationID.xy;\n\
           if (p.x >= b.length() || p.y >= u[0].x + 9999u) return;\n\
           uint sum = b[(p.x * 3u + p.y) % 300u] + b[7] + u[(p.x ^ p.y) & 63u].y + texelFetch(t, int(p.y)).x;\n\
           for (uint n = 0u; n < p.x % 5u; n++) sum = sum * 31u + b[n + p.y];\n\
           imageStore(dst, ivec2(p), uvec4(sum));\n\
         }",
        vec![
            flat(),
            Resource::words(&words),
            Resource::Buffer(vk::DescriptorType::UNIFORM_BUFFER, uniform, None),
            Resource::Texels(false, vk::Format::R32_UINT, words.iter().flat_map(|w| w.to_le_bytes()).collect()),
        ],
    )
    .groups([12, 9, 1]);
    let image = picture(
        "of a storage image",
        "layout(local_size_x = 16, local_size_y = 16) in;\n\
         layout(binding = 0, r32ui) uniform writeonly uimage2D dst;\n\
         layout(binding = 1, r32ui) uniform readonly uimage2D src;\n\
         void main() {\n\
           ivec2 p = ivec2(gl_GlobalInvocationID.xy), last = imageSize(src) - 1;\n\
           uint sum = 0u;\n\
           for (int y = -1; y <= 1; y++) for (int x = -1; x <= 1; x++)\n\
             sum += imageLoad(src, clamp(p + ivec2(x, y), ivec2(0), last)).x >> (x + y + 2);\n\
           imageStore(dst, p, uvec4(sum));\n\
         }",
        vec![flat(), Resource::Storage(vk::Format::R32_UINT, Shape::flat(90, 70))],
    )
    .groups([6, 5, 1]);
    let look = Look { filter: vk::Filter::NEAREST, ..Look::default() };
    let sampled = picture(
        "of a sampled image",
        "layout(local_size_x = 16, local_size_y = 16) in;\n\
         layout(binding = 0, rgba8) uniform writeonly image2D dst;\n\
         layout(binding = 1) uniform sampler2D src;\n\
         void main() {\n\
           ivec2 p = ivec2(gl_GlobalInvocationID.xy);\n\
           vec2 at = (vec2(p) + 0.5) / vec2(imageSize(dst));\n\
           imageStore(dst, p, textureLod(src, at.yx, 0.0).gbra);\n\
         }",
        vec![
            Resource::Storage(RGBA, Shape::flat(80, 80)),
            Resource::sampled(RGBA, Shape::flat(16, 16), look),
        ],
    )
    .groups([5, 5, 1]);
    [buffers, image, sampled].into_iter()
}

/// Words of buffers, in a line and in rows.
fn buffers() -> impl Iterator<Item = Case> {
    let source = |guard: &str| {
        format!(
            "layout(local_size_x = 64) in;\n\
             layout(binding = 0, std430) readonly buffer A {{ uint a[]; }};\n\
             layout(binding = 1, std430) writeonly buffer B {{ uint head[4]; uint b[]; }};\n\
             layout(push_constant) uniform P {{ uint count; }};\n\
             void main() {{\n\
               uint n = gl_GlobalInvocationID.x;\n\
               {guard}\n\
               b[n] = (a[n % 1000u] ^ n * 77u) + gl_WorkGroupID.x * gl_NumWorkGroups.x;\n\
             }}"
        )
    };
    let words: Vec<u32> = (0..1000u32).map(|n| n.wrapping_mul(2_246_822_519)).collect();
    let guard = "if (n >= count) return;";
    // Words of the buffer, workgroups, and the guard's number.
    let lines = [
        (8192, 128, "", 0),
        (10_004, 157, guard, 9_999),
        (5000, 100, guard, 6000),
        (140_000, 2180, guard, 139_501),
    ];
    let lines = lines.into_iter().map(move |(length, groups, guard, count)| {
        let resources = vec![Resource::words(&words), Resource::zeros(length)];
        let case =
            Case { push: vec![count], ..picture(&format!("line of {length}"), source(guard), resources) };
        case.groups([groups, 1, 1])
    });
    let rows = [("width", 128, 16), ("gl_NumWorkGroups.x * 8u", 192, 24)];
    let rows = (0..).zip(rows).map(|(number, (width, row, groups)): (u32, (&str, u32, u32))| {
        let source = format!(
            "layout(local_size_x = 8, local_size_y = 8) in;\n\
             layout(binding = 0, std430) writeonly buffer B {{ float b[]; }};\n\
             layout(push_constant) uniform P {{ uint width, height; }};\n\
             void main() {{\n\
               uvec2 p = gl_GlobalInvocationID.xy;\n\
               if (p.y >= height) return;\n\
               b[p.y * {width} + p.x] = float(p.x) * 0.5 + float(p.y) * 1024.0;\n\
             }}"
        );
        let case = picture(&format!("rows {number}"), source, vec![Resource::zeros(row as usize * 150)]);
        Case { push: vec![row, 149], ..case }.groups([groups, 19, 1])
    });
    lines.chain(rows)
}

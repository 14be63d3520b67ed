//! Kernels that look at images through samplers.

use ash::vk;

use super::case::Case;
use super::resource::{Look, Resource, Shape, texels};

const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// What filters of 8-bit texels may differ by: drivers weigh them with eight bits.
const FILTERED: f32 = 0.02;
/// What decoding may differ by.
const DECODED: f32 = 1e-5;

/// Every case.
pub(super) fn all() -> Vec<Case> {
    wraps().chain(formats()).chain(shapes()).chain(seams()).chain(details()).chain(others()).collect()
}

/// A kernel that looks at 256 places with `look`, an expression of `p` (-1.5 to 2.5), `n` and `o`, and the sampler `t`.
fn kernel(sampler: &str, look: &str, result: &str) -> String {
    format!(
        "layout(local_size_x = 64) in;\n\
         layout(binding = 0) uniform {sampler} t;\n\
         layout(binding = 1, std430) buffer B {{ {result} b[]; }};\n\
         void main() {{\n\
           uint n = gl_GlobalInvocationID.x;\n\
           uvec3 h = (uvec3(n) * uvec3(2654435761u, 2246822519u, 3266489917u)) >> 16;\n\
           vec3 p = vec3(h & 4095u) / 1024.0 - 1.49;\n\
           b[n] = {look};\n\
         }}"
    )
}

fn case(name: String, sampler: &str, look: &str, result: &str, resource: Resource) -> Case {
    Case::new(name, kernel(sampler, look, result), vec![resource, Resource::zeros(1024)]).groups([4, 1, 1])
}

fn wraps() -> impl Iterator<Item = Case> {
    let wraps = [
        vk::SamplerAddressMode::REPEAT,
        vk::SamplerAddressMode::MIRRORED_REPEAT,
        vk::SamplerAddressMode::CLAMP_TO_EDGE,
        vk::SamplerAddressMode::CLAMP_TO_BORDER,
        vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
    ];
    let filters = [vk::Filter::NEAREST, vk::Filter::LINEAR];
    wraps.into_iter().flat_map(move |wrap| {
        filters.into_iter().map(move |filter| {
            let look = Look { filter, wrap, border: vk::BorderColor::FLOAT_OPAQUE_WHITE, ..Look::default() };
            let resource = Resource::sampled(RGBA, Shape::flat(19, 33), look);
            let name = format!("wrap {wrap:?} {filter:?}");
            case(name, "sampler2D", "textureLod(t, p.xy, 0.0)", "vec4", resource).floats(FILTERED)
        })
    })
}

fn formats() -> impl Iterator<Item = Case> {
    let floats = [
        vk::Format::B8G8R8A8_UNORM,
        vk::Format::R8G8B8A8_SRGB,
        vk::Format::R5G6B5_UNORM_PACK16,
        vk::Format::A1R5G5B5_UNORM_PACK16,
        vk::Format::R8_UNORM,
        vk::Format::R8G8_SNORM,
        vk::Format::A2B10G10R10_UNORM_PACK32,
        vk::Format::R16_SFLOAT,
        vk::Format::R16G16B16A16_SFLOAT,
        vk::Format::R32G32B32A32_SFLOAT,
        vk::Format::B10G11R11_UFLOAT_PACK32,
        vk::Format::E5B9G9R9_UFLOAT_PACK32,
        vk::Format::D16_UNORM,
        vk::Format::D32_SFLOAT,
    ];
    let floats = floats.into_iter().map(|format| {
        let resource = Resource::sampled(format, Shape::flat(21, 13), Look::default());
        let fetch = "texelFetch(t, ivec2(n % 21u, n / 21u), 0)";
        // Expanded 5-bit fields are rounded to bytes, and llvmpipe decodes sRGB by a polynomial.
        let rough = [vk::Format::A1R5G5B5_UNORM_PACK16, vk::Format::R8G8B8A8_SRGB].contains(&format);
        let bound = if rough { 0.003 } else { DECODED };
        case(format!("format {format:?}"), "sampler2D", fetch, "vec4", resource).floats(bound)
    });
    let integers = [
        (vk::Format::R8_UINT, "u"),
        (vk::Format::R16G16_SINT, "i"),
        (vk::Format::R32G32B32A32_UINT, "u"),
        (vk::Format::A2B10G10R10_UINT_PACK32, "u"),
    ];
    let own = vk::BorderColor::FLOAT_CUSTOM_EXT;
    let look = Look { wrap: vk::SamplerAddressMode::CLAMP_TO_BORDER, border: own, ..Look::default() };
    let borders = [
        vk::Format::B8G8R8A8_UNORM,
        vk::Format::R8G8B8A8_SRGB,
        vk::Format::R8G8_SNORM,
        vk::Format::R16G16B16A16_SFLOAT,
        vk::Format::R32_SFLOAT,
        vk::Format::D16_UNORM,
    ];
    let borders = borders.into_iter().map(move |format| {
        let resource = Resource::sampled(format, Shape::flat(21, 13), look);
        let bound = if format == vk::Format::R8G8B8A8_SRGB { 0.003 } else { DECODED };
        let name = format!("border {format:?}");
        case(name, "sampler2D", "textureLod(t, p.xy, 0.0)", "vec4", resource).floats(bound)
    });
    floats.chain(borders).chain(integers.into_iter().map(|(format, kind)| {
        let look = Look {
            wrap: vk::SamplerAddressMode::CLAMP_TO_BORDER,
            border: vk::BorderColor::INT_CUSTOM_EXT,
            ..Look::default()
        };
        let resource = Resource::sampled(format, Shape::flat(21, 13), look);
        let (sampler, result) = (format!("{kind}sampler2D"), format!("{kind}vec4"));
        case(format!("format {format:?}"), &sampler, "textureLod(t, p.xy, 0.0)", &result, resource)
    }))
}

fn shapes() -> impl Iterator<Item = Case> {
    use vk::ImageViewType as Type;
    let shapes = [
        ("1D", Type::TYPE_1D, [40, 1, 1], 1, "p.x"),
        ("1DArray", Type::TYPE_1D_ARRAY, [40, 1, 1], 5, "vec2(p.x, p.y * 4.0)"),
        ("2DArray", Type::TYPE_2D_ARRAY, [20, 24, 1], 3, "vec3(p.xy, p.z * 2.0)"),
        ("3D", Type::TYPE_3D, [18, 20, 7], 1, "p"),
        ("Cube", Type::CUBE, [16, 16, 1], 6, "p - vec3(0.5, 0.51, 0.523)"),
        ("CubeArray", Type::CUBE_ARRAY, [12, 12, 1], 12, "vec4(p - vec3(0.5, 0.51, 0.523), p.x)"),
    ];
    shapes.into_iter().flat_map(|(name, ty, size, layers, place)| {
        [vk::Filter::NEAREST, vk::Filter::LINEAR].into_iter().map(move |filter| {
            let shape = Shape { ty, size, layers, levels: 3 };
            let look = Look { filter, wrap: vk::SamplerAddressMode::REPEAT, ..Look::default() };
            let expression = format!("textureLod(t, {place}, float(n % 3u))");
            let resource = Resource::sampled(RGBA, shape, look);
            case(
                format!("sampled {name} {filter:?}"),
                &format!("sampler{name}"),
                &expression,
                "vec4",
                resource,
            )
            .floats(FILTERED)
        })
    })
}

/// A cube whose faces end at their edges, seen all over one of them: averages of four texels by hand, as lavapipe clamps whatever
/// the sampler says.
fn seams() -> impl Iterator<Item = Case> {
    use vk::SamplerAddressMode as Wrap;
    /// Texels along an edge.
    const EDGE: i32 = 4;
    /// The face +Z.
    const FACE: i32 = 4;
    let shape =
        Shape { ty: vk::ImageViewType::CUBE, size: [EDGE as u32, EDGE as u32, 1], layers: 6, levels: 1 };
    let wraps = [Wrap::REPEAT, Wrap::MIRRORED_REPEAT, Wrap::CLAMP_TO_EDGE, Wrap::CLAMP_TO_BORDER];
    wraps.into_iter().map(move |wrap| {
        let all = texels(RGBA, shape.layers * (EDGE * EDGE) as u32, 0);
        let red = |x: i32, y: i32| {
            let [x, y] = match wrap {
                Wrap::CLAMP_TO_BORDER if x.min(y) < 0 || x.max(y) >= EDGE => return 1.0,
                Wrap::REPEAT => [x, y].map(|c| c.rem_euclid(EDGE)),
                _ => [x, y].map(|c| c.clamp(0, EDGE - 1)),
            };
            f32::from(all[4 * ((FACE * EDGE + y) * EDGE + x) as usize]) / 255.0
        };
        let color = |n: i32| {
            // Sixteen places along each edge, the first of them an eighth of a texel from it.
            let [x, y] = [n % 16, n / 16].map(|c| (c as f32 + 0.5) / 4.0 - 0.5);
            let ([left, top], [right, low]) = ([x, y].map(f32::floor), [x.fract(), y.fract()].map(|part| part.rem_euclid(1.0)));
            let (left, top) = (left as i32, top as i32);
            let row = |y| red(left, y) * (1.0 - right) + red(left + 1, y) * right;
            row(top) * (1.0 - low) + row(top + 1) * low
        };
        let words = (0..1024).map(|n| if n < 256 { color(n).to_bits() } else { 0 });
        let expected = Some(words.flat_map(u32::to_le_bytes).collect());
        let border = vk::BorderColor::FLOAT_OPAQUE_WHITE;
        let look = Look { filter: vk::Filter::LINEAR, wrap, border, seams: true, ..Look::default() };
        let place = "textureLod(t, vec3((vec2(n & 15u, n >> 4) + 0.5) * vec2(1.0, -1.0) + vec2(-8.0, 8.0), 8.0), 0.0).x";
        let resource = Resource::sampled(RGBA, shape, look);
        let case = case(format!("seams {wrap:?}"), "samplerCube", place, "float", resource);
        Case { expected, ..case.floats(1e-5) }
    })
}

/// Levels of detail.
fn details() -> impl Iterator<Item = Case> {
    let shape = Shape { levels: 5, ..Shape::flat(32, 16) };
    // Not halfway between levels, where drivers may choose either.
    let lod = "textureLod(t, p.xy, p.z * 1.7 + 0.013)";
    let grad = "textureGrad(t, p.xy, vec2(p.z * 0.11, 0.01), vec2(0.003, 0.07))";
    let mips = [vk::SamplerMipmapMode::NEAREST, vk::SamplerMipmapMode::LINEAR];
    let by_mode = mips.into_iter().flat_map(move |mip| {
        [("lod", lod, 0.0, [0.0, 16.0]), ("clamped", lod, 0.0, [0.6, 2.3]), ("bias", lod, 1.3, [0.0, 16.0])]
            .map(|(name, expression, bias, lods)| {
                let look = Look { filter: vk::Filter::LINEAR, mip, bias, lods, ..Look::default() };
                let resource = Resource::sampled(RGBA, shape, look);
                case(format!("{name} {mip:?}"), "sampler2D", expression, "vec4", resource).floats(FILTERED)
            })
    });
    let look = Look {
        filter: vk::Filter::LINEAR,
        mip: vk::SamplerMipmapMode::LINEAR,
        wrap: vk::SamplerAddressMode::REPEAT,
        ..Look::default()
    };
    // Drivers may estimate lengths and logarithms of gradients.
    let grad = case("gradients".into(), "sampler2D", grad, "vec4", Resource::sampled(RGBA, shape, look));
    by_mode.chain([grad.floats(0.06), anisotropic()])
}

/// Footprints one texel wide and seven texels long: averages of seven texels of the first level, whatever the others hold.
fn anisotropic() -> Case {
    const EDGE: u32 = 32;
    let look = Look { wrap: vk::SamplerAddressMode::REPEAT, anisotropy: 16.0, ..Look::default() };
    let shape = Shape { levels: 4, ..Shape::flat(EDGE, EDGE) };
    let grad = "textureGrad(t, (vec2(n & 31u, n >> 5) + 0.5) / 32.0, vec2(1.0, 0.0) / 32.0, vec2(0.0, 7.0) / 32.0).x";
    let first = texels(RGBA, EDGE * EDGE, 0);
    let red = |x: u32, y: u32| f32::from(first[4 * (y % EDGE * EDGE + x) as usize]) / 255.0;
    let average = |n: u32| (0..7).map(|k| red(n % EDGE, n / EDGE + EDGE + k - 3)).sum::<f32>() / 7.0;
    let words = (0..1024).map(|n| if n < 256 { average(n).to_bits() } else { 0 });
    let expected = Some(words.flat_map(u32::to_le_bytes).collect());
    let case = case("anisotropic".into(), "sampler2D", grad, "float", Resource::sampled(RGBA, shape, look))
        .floats(1e-5);
    Case { expected, ..case }
}

fn others() -> impl Iterator<Item = Case> {
    let linear = Look { filter: vk::Filter::LINEAR, ..Look::default() };
    let repeat = Look { wrap: vk::SamplerAddressMode::REPEAT, ..linear };
    let flat = Shape::flat(19, 33);
    let panels = Shape { levels: 2, ..Shape::flat(6001, 3) };
    let plain = |name: &str, look: &str, resource| case(name.into(), "sampler2D", look, "vec4", resource);
    let shadow = Look { compare: Some(vk::CompareOp::LESS), ..Look::default() };
    let swizzled = vk::ComponentMapping {
        r: vk::ComponentSwizzle::B,
        g: vk::ComponentSwizzle::ONE,
        b: vk::ComponentSwizzle::R,
        a: vk::ComponentSwizzle::ZERO,
    };
    let texels = Look { unnormalized: true, lods: [0.0, 0.0], ..linear };
    let separate = "layout(local_size_x = 64) in;\n\
        layout(binding = 0) uniform texture2D t;\n\
        layout(binding = 1) uniform sampler s;\n\
        layout(binding = 2, std430) buffer B { vec4 b[]; };\n\
        void main() { uint n = gl_GlobalInvocationID.x; b[n] = textureLod(sampler2D(t, s), vec2(n, n * 3u) / 100.0, 0.0); }";
    [
        plain(
            "offset",
            "textureLodOffset(t, p.xy, 0.0, ivec2(-3, 4))",
            Resource::sampled(RGBA, flat, repeat),
        )
        .floats(FILTERED),
        plain(
            "fetch offset",
            "texelFetchOffset(t, ivec2(4 + n % 11u, 4 + n / 11u), 0, ivec2(-4, 3))",
            Resource::sampled(RGBA, flat, repeat),
        )
        .floats(DECODED),
        plain("panels", "textureLod(t, p.xy, 0.0)", Resource::sampled(RGBA, panels, repeat)).floats(FILTERED),
        plain("folded", "textureLod(t, p.xy, 0.0)", Resource::sampled(RGBA, Shape::flat(6001, 3), repeat))
            .floats(FILTERED),
        plain("gather", "textureGather(t, p.xy, 2)", Resource::sampled(RGBA, flat, repeat)).floats(DECODED),
        plain(
            "gather offset",
            "textureGatherOffset(t, p.xy, ivec2(2, -5), 1)",
            Resource::sampled(RGBA, flat, repeat),
        )
        .floats(DECODED),
        plain(
            "swizzle",
            "textureLod(t, p.xy, 0.0)",
            Resource::Sampled(RGBA, flat, Look::default(), swizzled),
        )
        .floats(DECODED),
        plain(
            "swizzled gather",
            "textureGather(t, p.xy, 0)",
            Resource::Sampled(RGBA, flat, repeat, swizzled),
        )
        .floats(DECODED),
        plain("unnormalized", "textureLod(t, p.xy * 12.0, 0.0)", Resource::sampled(RGBA, flat, texels))
            .floats(FILTERED),
        plain("projected", "textureProjLod(t, vec3(p.xy, 1.7), 0.0)", Resource::sampled(RGBA, flat, linear))
            .floats(FILTERED),
        case(
            "shadow".into(),
            "sampler2DShadow",
            "textureLod(t, vec3(p.xy, p.z * 0.4), 0.0)",
            "float",
            Resource::sampled(vk::Format::D16_UNORM, flat, shadow),
        ),
        case(
            "shadow gather".into(),
            "sampler2DShadow",
            "textureGather(t, p.xy, p.z * 0.4)",
            "vec4",
            Resource::sampled(vk::Format::D16_UNORM, flat, shadow),
        ),
        case(
            "sizes".into(),
            "sampler2DArray",
            "vec4(textureSize(t, int(n / 64u)), textureQueryLevels(t))",
            "vec4",
            Resource::sampled(
                RGBA,
                Shape { ty: vk::ImageViewType::TYPE_2D_ARRAY, layers: 3, levels: 4, ..flat },
                linear,
            ),
        ),
        Case::new(
            "separate",
            separate,
            vec![Resource::Image(RGBA, flat), Resource::Sampler(linear), Resource::zeros(512)],
        )
        .groups([2, 1, 1])
        .floats(FILTERED),
    ]
    .into_iter()
}

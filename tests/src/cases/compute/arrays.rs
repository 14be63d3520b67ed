//! Kernels that index arrays of descriptors, by numbers that are the same for all invocations and by numbers that are not.

use ash::vk;

use super::case::Case;
use super::resource::{Look, Resource, Shape, texels};
use crate::hash::hash;

const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;
const UNIFORM: vk::DescriptorType = vk::DescriptorType::UNIFORM_BUFFER;

/// The constant by which kernels go without indexing.
const BRANCHES: u32 = 40;

/// What filters of 8-bit texels may differ by: drivers weigh them with eight bits.
const FILTERED: f32 = 0.02;

/// Every case.
pub(super) fn all() -> Vec<Case> {
    // One more and one less than a power of two, and one that is it.
    let mut cases: Vec<Case> = [1, 3, 4, 5].map(buffers).into();
    cases.extend([uniforms(), textures(), samplers(), storage_images(), texel_buffers(), passed_on()]);
    cases
}

fn noise(seed: u32, words: u32) -> Vec<u32> {
    (0..words).map(|n| hash(&[seed, n])).collect()
}

fn each(count: u32, make: impl Fn(u32) -> Resource) -> Resource {
    Resource::Array((0..count).map(make).collect())
}

/// A kernel of two workgroups of 32. The first push constants are indices that all invocations share; `BRANCHES` is true on
/// devices that cannot index such arrays, which then has to be done by other words.
fn kernel(declarations: &str, body: &str) -> String {
    format!(
        "#extension GL_EXT_nonuniform_qualifier : require\n\
         layout(local_size_x = 32) in;\n\
         layout(constant_id = {BRANCHES}) const bool BRANCHES = false;\n\
         layout(push_constant) uniform Push {{ uint all; uint other; }} push;\n\
         {declarations}\n\
         void main() {{ uint n = gl_GlobalInvocationID.x; {body} }}"
    )
}

fn case(name: impl Into<String>, declarations: &str, body: &str, resources: Vec<Resource>) -> Case {
    let case = Case::new(name, kernel(declarations, body), resources).groups([2, 1, 1]);
    Case { push: vec![2, 1], branches: Some(BRANCHES), ..case }
}

/// A statement in which `$` stands for an element of `array`, one of `count`.
fn with(array: &str, count: u32, index: &str, statement: &str) -> String {
    let cases: String = (0..count)
        .map(|number| {
            format!("case {number}u: {} break; ", statement.replace('$', &format!("{array}[{number}]")))
        })
        .collect();
    // Indices that all invocations share need not say so.
    let element = match index.starts_with("push.") {
        true => format!("{array}[{index}]"),
        false => format!("{array}[nonuniformEXT({index})]"),
    };
    format!(
        "if (BRANCHES) {{ switch ({index}) {{ {cases} }} }} else {{ {} }}\n",
        statement.replace('$', &element)
    )
}

/// Loads, stores, lengths and atomics.
fn buffers(count: u32) -> Case {
    let declarations = format!(
        "layout(binding = 0, std430) buffer S {{ uint first; uvec4 words[]; }} s[{count}];\n\
         layout(binding = 1, std430) buffer R {{ uint r[]; }};\n\
         const uint COUNT = {count}u;"
    );
    let body = [
        "uint own = (n * 7u) % COUNT, sum = 0u;\n".into(),
        with(
            "s",
            count,
            "own",
            "{ uvec4 w = $.words[n & 7u]; sum += w.x + 3u * w.w + uint($.words.length()); }",
        ),
        with("s", count, "push.all", "sum += $.words[n & 3u][n & 1u];"),
        "r[n] = sum; barrier();\n".into(),
        with("s", count, "own", "atomicAdd($.first, n);"),
        with("s", count, "own", "if ((n & 1u) == 0u) $.words[8u + n / 8u][n / 2u & 3u] = n;"),
    ];
    let arrays = each(count, |element| Resource::words(&noise(element, 4 + 64 + 4 * element)));
    let resources = vec![arrays, Resource::zeros(64)];
    let name = format!("array of {count} buffers");
    Case { push: vec![2 % count, 0], ..case(name, &declarations, &body.concat(), resources) }
}

/// Members at constant and other places, and an array in the block.
fn uniforms() -> Case {
    let declarations = "layout(binding = 0, std140) uniform U { uvec4 a; uvec4 b[4]; mat4 m; } u[6];\n\
        layout(binding = 1, std430) buffer R { uvec4 r[]; };";
    let body = [
        "uint k = n % 6u; uvec4 sum = uvec4(0u);\n".into(),
        with("u", 6, "k", "sum += $.a;"),
        with("u", 6, "push.all", "sum += $.b[n & 3u];"),
        with("u", 6, "3u + n % 3u", "sum += $.b[2];"),
        with("u", 6, "k", "sum += uvec4($.m * vec4(1.0, 2.0, 3.0, 4.0)) + $.b[n >> 4];"),
        "r[n] = sum;".into(),
    ];
    let blocks = each(6, |element| {
        let matrix = (0..16).map(|n| (((element * 16 + n) as f32) * 0.25).to_bits());
        let words: Vec<u32> = noise(90 + element, 20).into_iter().chain(matrix).collect();
        Resource::Buffer(UNIFORM, words.into_iter().flat_map(u32::to_le_bytes).collect(), None)
    });
    case("array of uniform buffers", declarations, &body.concat(), vec![blocks, Resource::zeros(256)])
}

/// Of different sizes and samplers.
fn textures() -> Case {
    let declarations = "layout(binding = 0) uniform sampler2D t[5];\n\
        layout(binding = 1, std430) buffer R { vec4 r[]; };";
    let body = [
        "uint own = n % 5u; vec2 p = (vec2(n & 7u, n >> 3) + 0.37) / 5.3; vec4 sum = vec4(0.0);\n".into(),
        with("t", 5, "own", "sum += textureLod($, p, 0.0) + texelFetch($, ivec2(n & 3u, 1), 0);"),
        with("t", 5, "push.all", "sum += 2.0 * textureLod($, p.yx, 0.0);"),
        with("t", 5, "own", "sum += float(textureSize($, 0).x);"),
        with("t", 5, "push.other", "sum += textureGather($, p, 1);"),
        "r[n] = sum;".into(),
    ];
    let looks = each(5, |element| {
        let filter = if element % 2 == 0 { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
        let wrap = vk::SamplerAddressMode::REPEAT;
        Resource::sampled(RGBA, Shape::flat(8 + 3 * element, 5), Look { filter, wrap, ..Look::default() })
    });
    case("array of textures", declarations, &body.concat(), vec![looks, Resource::zeros(256)])
        .floats(FILTERED)
}

/// Images and samplers that are bound apart and have indices of their own.
fn samplers() -> Case {
    let declarations = "layout(binding = 0) uniform texture2D t[3];\n\
        layout(binding = 1) uniform sampler s[2];\n\
        layout(binding = 2, std430) buffer R { vec4 r[]; };";
    let both = |image: &str, sampler: &str| {
        let look = with("t", 3, image, "sum += textureLod(sampler2D($, #), p, 0.0);").replace('#', "$");
        with("s", 2, sampler, &look)
    };
    let body = [
        "vec2 p = vec2(n & 7u, n >> 3) / 6.0 - 0.3; vec4 sum = vec4(0.0);\n\
         for (uint k = 0u; k < 3u; k++) { if (k != n % 4u) {\n"
            .into(),
        both("(k + n) % 3u", "n & 1u"),
        "} else {".into(),
        both("k", "push.other"),
        "} } r[n] = sum;".into(),
    ];
    let images = each(3, |element| Resource::Image(RGBA, Shape::flat(7 + element, 9)));
    let wraps = [vk::SamplerAddressMode::REPEAT, vk::SamplerAddressMode::MIRRORED_REPEAT];
    let looks =
        wraps.map(|wrap| Resource::Sampler(Look { filter: vk::Filter::LINEAR, wrap, ..Look::default() }));
    let resources = vec![images, Resource::Array(looks.into()), Resource::zeros(256)];
    case("arrays of images and samplers", declarations, &body.concat(), resources).floats(2.0 * FILTERED)
}

fn storage_images() -> Case {
    let declarations = "layout(binding = 0, r32ui) uniform uimage2D i[3];\n\
        layout(binding = 1, std430) buffer R { uint r[]; };";
    // Each invocation has a texel of its own in each image.
    let body = [
        "uint own = n % 3u; ivec2 p = ivec2(n & 7u, n >> 3); uint sum = 0u;\n".into(),
        with("i", 3, "own", "sum += imageAtomicAdd($, p, n * 5u);"),
        with("i", 3, "(own + 1u) % 3u", "imageStore($, p, uvec4(n));"),
        with("i", 3, "own", "sum += imageLoad($, p).x + uint(imageSize($).x);"),
        with("i", 3, "push.all", "sum += imageLoad($, p).x;"),
        "r[n] = sum;".into(),
    ];
    let images = each(3, |element| Resource::Storage(vk::Format::R32_UINT, Shape::flat(8 + element, 8)));
    case("array of storage images", declarations, &body.concat(), vec![images, Resource::zeros(64)])
}

fn texel_buffers() -> Case {
    let declarations = "layout(binding = 0) uniform usamplerBuffer t[4];\n\
        layout(binding = 1, r32ui) uniform uimageBuffer w[3];";
    let body = [
        "uint own = n & 3u, v = 0u;\n".into(),
        with("t", 4, "own", "v += texelFetch($, int(n >> 2)).x + uint(textureSize($));"),
        with("t", 4, "push.all", "v += texelFetch($, int(n & 15u)).x;"),
        with("w", 3, "n % 3u", "imageStore($, int(n), uvec4(v));"),
        with("w", 3, "push.other", "imageAtomicXor($, int(64u + (n & 7u)), v);"),
    ];
    let of = |written, seed: u32, count| {
        Resource::Texels(written, vk::Format::R32_UINT, texels(vk::Format::R32_UINT, count, seed))
    };
    let resources = vec![
        each(4, |element| of(false, element, 16 + element)),
        each(3, |element| of(true, 9 + element, 80)),
    ];
    case("arrays of texel buffers", declarations, &body.concat(), resources)
}

/// Elements that functions are given, which leave early.
fn passed_on() -> Case {
    let declarations = "layout(binding = 0) uniform sampler2D t[4];\n\
        layout(binding = 1, std430) buffer R { vec4 r[]; };\n\
        vec4 look(sampler2D s, vec2 p) {\n\
          if (p.x > 0.8) return vec4(p, 0.0, 1.0);\n\
          return textureLod(s, p, 0.0) + texelFetch(s, ivec2(1, 2), 0);\n\
        }";
    let body = [
        "vec2 p = vec2(n & 7u, n >> 3) / 8.0; vec4 sum = vec4(0.0);\n\
         for (uint k = 0u; k < 4u; k++) { if (p.y > 0.9) break;\n"
            .into(),
        with("t", 4, "k", "sum += look($, p);"),
        "}\n".into(),
        with("t", 4, "push.all", "sum -= look($, p.yx);"),
        "r[n] = sum;".into(),
    ];
    let looks = each(4, |element| Resource::sampled(RGBA, Shape::flat(5 + element, 5), Look::default()));
    case("elements as arguments", declarations, &body.concat(), vec![looks, Resource::zeros(256)])
        .floats(FILTERED)
}

//! Kernels on buffers: storage, shared memory, atomics, and how dispatches get their parameters.

use ash::vk;

use super::case::{Case, Start};
use super::resource::Resource;
use crate::hash::hash;

const UNIFORM: vk::DescriptorType = vk::DescriptorType::UNIFORM_BUFFER;
const UNIFORM_DYNAMIC: vk::DescriptorType = vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC;
const STORAGE: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;
const STORAGE_DYNAMIC: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER_DYNAMIC;

fn noise(count: u32) -> Vec<u32> {
    (0..count).map(|n| hash(&[n, 77])).collect()
}

fn floats(count: u32) -> Vec<u32> {
    noise(count).into_iter().map(|word| ((word & 0xffff) as f32 / 4096.0 - 8.0).to_bits()).collect()
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Every case.
pub(super) fn all() -> Vec<Case> {
    [plain(), parameters(), together(), outside()].into_iter().flatten().collect()
}

fn plain() -> Vec<Case> {
    let places = "layout(local_size_x = 5, local_size_y = 3, local_size_z = 2) in;\n\
        layout(binding = 0, std430) buffer B { uvec4 b[]; };\n\
        void main() {\n\
          uvec3 n = gl_NumWorkGroups * gl_WorkGroupSize, g = gl_GlobalInvocationID;\n\
          b[g.x + n.x * (g.y + n.y * g.z)] = uvec4(gl_LocalInvocationIndex, gl_WorkGroupID.x + 16u * gl_WorkGroupID.y\n\
            + 256u * gl_WorkGroupID.z, gl_LocalInvocationID.x + 16u * gl_LocalInvocationID.y, n.x + n.y * n.z);\n\
        }";
    let arithmetic = "layout(local_size_x = 64) in;\n\
        layout(binding = 0, std430) readonly buffer A { vec4 a[]; };\n\
        layout(binding = 1, std430) writeonly buffer B { vec4 b[]; };\n\
        void main() {\n\
          uint n = gl_GlobalInvocationID.x;\n\
          vec4 v = a[n], w = a[n ^ 1u];\n\
          float sum = 0.0;\n\
          for (int k = 0; k < int(n % 11u); k++) { if (a[k].x > 0.0) sum += a[k].y; else sum -= 0.5; if (sum > 9.0) break; }\n\
          b[n] = vec4(v.x * w.y + v.z, v.y / (1.0 + abs(w.x)), sqrt(abs(v.w)), sum);\n\
        }";
    // Numbers whose bits are the same everywhere: eighths of turns, in steps.
    let infinite = "layout(local_size_x = 16) in;\n\
        layout(binding = 0, std430) readonly buffer A { float a[]; };\n\
        layout(binding = 1, std430) writeonly buffer B { float b[]; };\n\
        void main() {\n\
          uint n = gl_LocalInvocationIndex;\n\
          b[n] = round(atan(a[n & 3u], a[n >> 2]) * 1.2732395 * 64.0) / 64.0;\n\
        }";
    let infinities = [f32::INFINITY, f32::NEG_INFINITY, 1.0, -3.0].map(f32::to_bits);
    let elements = "layout(local_size_x = 4) in;\n\
        struct S { vec3 v; float f; uint u[3]; };\n\
        layout(binding = 0, std430) buffer A { uint count; S s[]; };\n\
        void main() {\n\
          uint n = gl_LocalInvocationIndex;\n\
          if (n == 0u) count = s.length();\n\
          s[n].v.yz = s[n].v.zy; s[n].u[n % 3u] += n;\n\
        }";
    vec![
        Case::new("places", places, vec![Resource::zeros(4 * 5 * 3 * 2 * 24)]).groups([2, 3, 4]),
        Case::new("infinite", infinite, vec![Resource::words(&infinities), Resource::zeros(16)]),
        Case::new("arithmetic", arithmetic, vec![Resource::words(&floats(1024)), Resource::zeros(1024)])
            .groups([4, 1, 1])
            .floats(1e-6),
        Case::new("structures", elements, vec![Resource::words(&noise(4 + 8 * 4))]),
        Case::new(
            "many groups",
            "layout(local_size_x = 1) in;\n\
            layout(binding = 0, std430) buffer B { uint n, x; };\n\
            void main() { atomicAdd(n, 1u); atomicMax(x, gl_WorkGroupID.x); }",
            vec![Resource::zeros(2)],
        )
        .groups([65535, 1, 1]),
        Case::new(
            "no groups",
            "layout(local_size_x = 8) in;\n\
            layout(binding = 0, std430) buffer B { uint b[]; };\n\
            void main() { b[gl_LocalInvocationIndex] = 1u; }",
            vec![Resource::zeros(8)],
        )
        .groups([4, 0, 1]),
        Case::new(
            "functions and arrays",
            "layout(local_size_x = 16) in;\n\
            layout(binding = 0, std430) buffer B { uint b[]; };\n\
            uint f(inout uint x, uint n) { x = x * 5u + n; if (x > 1000u) return x - 1000u; return x; }\n\
            void main() {\n\
              uint n = gl_LocalInvocationIndex, x = n, t[8];\n\
              for (uint k = 0u; k < 8u; k++) t[(k * 3u + n) & 7u] = f(x, k);\n\
              uint s = 0u; for (uint k = 0u; k < n; k++) s += t[(s + k) & 7u];\n\
              switch (n & 3u) { case 0u: s += 1u; case 1u: s ^= 0x55u; break; case 2u: s = ~s; break; default: s >>= 1; }\n\
              b[n] = s;\n\
            }",
            vec![Resource::zeros(16)],
        ),
    ]
}

/// Parameters of kernels and of dispatches.
fn parameters() -> Vec<Case> {
    let push = "layout(local_size_x = 4) in;\n\
        layout(push_constant) uniform P { uvec4 a; uint c[4]; } p;\n\
        layout(binding = 0, std430) buffer B { uint b[]; };\n\
        void main() { uint n = gl_LocalInvocationIndex; b[n] = p.a[n] + p.c[3u - n]; }";
    let special = "layout(local_size_x_id = 3, local_size_y = 2) in;\n\
        layout(constant_id = 3) const uint COUNT = 1u;\n\
        layout(constant_id = 5) const float SCALE = 1.0;\n\
        layout(constant_id = 7) const bool ODD = false;\n\
        layout(binding = 0, std430) buffer B { float b[]; };\n\
        shared float s[COUNT * 2u];\n\
        void main() {\n\
          uint n = gl_LocalInvocationIndex; s[n] = float(n) * SCALE; barrier();\n\
          b[n] = s[2u * gl_WorkGroupSize.x - 1u - n] + (ODD ? 0.5 : 0.0);\n\
        }";
    let dynamic = "layout(local_size_x = 4) in;\n\
        layout(binding = 0, std140) uniform U { uvec4 u; };\n\
        layout(binding = 1, std430) readonly buffer A { uint a[]; };\n\
        layout(binding = 2, std430) buffer B { uint b[]; };\n\
        layout(binding = 3, std140) uniform V { uvec4 v[]; };\n\
        void main() { uint n = gl_LocalInvocationIndex; b[n] = u[n] ^ a[n] ^ v[1][n] + a.length() + b.length(); }";
    let dynamic = dynamic.replace("uvec4 v[];", "uvec4 v[2];");
    let buffer = |ty, words: &[u32], range| Resource::Buffer(ty, bytes(words), range);
    let indirect = "layout(local_size_x = 2) in;\n\
        layout(binding = 0, std430) buffer B { uint b[]; };\n\
        layout(binding = 1, std430) buffer I { uint i[]; };\n\
        void main() { uvec3 n = gl_NumWorkGroups; atomicAdd(b[0], 1u); b[1] = n.x + 256u * n.y + 65536u * n.z; i[5] = 0u; }";
    vec![
        Case {
            push: (1..9).map(|n| n * 0x0101_0101).collect(),
            ..Case::new("push constants", push, vec![Resource::zeros(4)])
        },
        Case {
            specialization: vec![(3, 6), (5, 0.25f32.to_bits()), (7, 1)],
            ..Case::new("specialisation", special, vec![Resource::zeros(12)])
        },
        Case {
            offsets: vec![256, 512, 256],
            ..Case::new(
                "dynamic offsets",
                dynamic,
                vec![
                    buffer(UNIFORM_DYNAMIC, &noise(128), Some([0, 64])),
                    buffer(STORAGE_DYNAMIC, &noise(256), Some([0, 256])),
                    buffer(STORAGE_DYNAMIC, &noise(256), Some([256, 64])),
                    buffer(UNIFORM, &noise(256), Some([512, 32])),
                ],
            )
        },
        Case {
            starts: vec![Start::Indirect(1, 4), Start::Indirect(1, 16), Start::Groups([1, 1, 1])],
            ..Case::new(
                "indirect",
                indirect,
                vec![Resource::zeros(2), Resource::words(&[9, 3, 2, 4, 5, 7, 1, 0])],
            )
        },
        Case {
            starts: vec![Start::Secondary([3, 1, 1]), Start::Groups([2, 1, 1]), Start::Secondary([1, 4, 1])],
            ..Case::new("secondary", indirect, vec![Resource::zeros(2), Resource::zeros(8)])
        },
    ]
}

/// Kernels whose invocations work together.
fn together() -> Vec<Case> {
    let prefix = "layout(local_size_x = 256) in;\n\
        layout(binding = 0, std430) buffer B { uint b[]; };\n\
        shared uint s[256];\n\
        void main() {\n\
          uint n = gl_LocalInvocationIndex;\n\
          s[n] = b[gl_GlobalInvocationID.x] & 0xffu;\n\
          for (uint step = 1u; step < 256u; step *= 2u) {\n\
            barrier(); uint v = n >= step ? s[n - step] : 0u; barrier(); s[n] += v;\n\
          }\n\
          b[gl_GlobalInvocationID.x] = s[n];\n\
        }";
    let matrix = "layout(local_size_x = 8, local_size_y = 8) in;\n\
        layout(binding = 0, std430) readonly buffer A { float a[]; };\n\
        layout(binding = 1, std430) buffer B { float b[]; };\n\
        shared float s[8][9], t[8][9];\n\
        void main() {\n\
          uvec2 g = gl_GlobalInvocationID.xy, l = gl_LocalInvocationID.xy; float sum = 0.0;\n\
          for (uint k = 0u; k < 32u; k += 8u) {\n\
            s[l.y][l.x] = a[g.y * 32u + k + l.x]; t[l.y][l.x] = a[(k + l.y) * 32u + g.x]; barrier();\n\
            for (uint n = 0u; n < 8u; n++) sum += s[l.y][n] * t[n][l.x];\n\
            barrier();\n\
          }\n\
          b[g.y * 32u + g.x] = sum;\n\
        }";
    let atomics = "layout(local_size_x = 64) in;\n\
        layout(binding = 0, std430) buffer A { uint a[]; };\n\
        layout(binding = 1, std430) buffer U { uint u[12]; int i[4]; };\n\
        shared uint total;\n\
        void main() {\n\
          uint v = a[gl_GlobalInvocationID.x];\n\
          if (gl_LocalInvocationIndex == 0u) total = 0u;\n\
          barrier(); atomicAdd(total, v & 7u); barrier();\n\
          if (gl_LocalInvocationIndex == 5u) atomicAdd(u[0], total);\n\
          atomicAdd(u[1 + (v & 3u)], 1u); atomicMin(u[5], v); atomicMax(u[6], v); atomicAnd(u[7], v | 0xff00u);\n\
          atomicOr(u[8], v & 0x1111u); atomicXor(u[9], v); atomicMin(i[0], int(v)); atomicMax(i[1], int(v));\n\
          atomicCompSwap(u[10], 0u, 7u); atomicCompSwap(u[10], 9u, 8u);\n\
          atomicExchange(u[11], 3u);\n\
        }";
    vec![
        Case::new("prefix sums", prefix, vec![Resource::words(&noise(1024))]).groups([4, 1, 1]),
        Case::new("matrix product", matrix, vec![Resource::words(&floats(1024)), Resource::zeros(1024)])
            .groups([4, 4, 1])
            .floats(1e-4),
        Case::new(
            "atomics",
            atomics,
            vec![Resource::words(&noise(1024)), {
                let mut words = vec![0; 16];
                (words[5], words[7]) = (u32::MAX, u32::MAX);
                Resource::words(&words)
            }],
        )
        .groups([16, 1, 1]),
    ]
}

/// What only our driver is asked: nothing may be touched, and reads are 0.
fn outside() -> Vec<Case> {
    let beyond = "layout(local_size_x = 4) in;\n\
        layout(binding = 0, std430) buffer A { uint a[]; };\n\
        layout(binding = 1, std430) buffer B { uint b[]; };\n\
        layout(binding = 2, std140) uniform U { uvec4 u[64]; };\n\
        void main() {\n\
          uint n = gl_LocalInvocationIndex, k = n * 0x10000001u + 2u;\n\
          b[n] = a[k] + u[n + 1u].x + 1u; a[k + 2u] = 9u; a[k + 0x10000000u] = 9u; atomicAdd(a[k + 2u], 1u);\n\
        }";
    let unwritten = "layout(local_size_x = 4) in;\n\
        layout(binding = 0, std430) buffer B { uint b[]; };\n\
        layout(binding = 1, std430) buffer S { uint s[]; };\n\
        layout(binding = 2, std140) uniform U { uvec4 u; };\n\
        layout(binding = 3) uniform sampler2D t;\n\
        layout(binding = 4, rgba8ui) uniform uimage2D i;\n\
        layout(binding = 5) uniform usamplerBuffer tb;\n\
        layout(binding = 6, r32ui) uniform uimageBuffer ib;\n\
        void main() {\n\
          uint n = gl_LocalInvocationIndex;\n\
          s[n] = 7u; imageStore(i, ivec2(n), uvec4(1u)); imageStore(ib, int(n), uvec4(1u)); imageAtomicAdd(ib, 0, 3u);\n\
          vec4 c = textureLod(t, vec2(0.5), 0.0) + texelFetch(t, ivec2(n), 0);\n\
          uvec4 k = imageLoad(i, ivec2(n)) + texelFetch(tb, int(n)) + imageLoad(ib, int(n)) + u;\n\
          b[n] = 1u + s[n] + k.x + k.y + uint(c.x) + uint(textureSize(t, 0).x + imageSize(i).y + textureSize(tb))\n\
            + uint(s.length());\n\
        }";
    let types = [
        STORAGE,
        UNIFORM,
        vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        vk::DescriptorType::STORAGE_IMAGE,
        vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
        vk::DescriptorType::STORAGE_TEXEL_BUFFER,
    ];
    let mut resources = vec![Resource::zeros(4)];
    resources.extend(types.map(Resource::Unwritten));
    vec![
        Case {
            // Words 0 to 3 are bound, so only invocation 0 finds a word, and loses its store to word 4.
            expected: Some(bytes(&[[1, 2, 3, 4, 5, 6, 7, 8].as_slice(), &[4, 1, 1, 1], &[7; 64]].concat())),
            ..Case::new(
                "out of bounds",
                beyond,
                vec![
                    Resource::Buffer(STORAGE, bytes(&[1, 2, 3, 4, 5, 6, 7, 8]), Some([0, 16])),
                    Resource::zeros(4),
                    Resource::Buffer(UNIFORM, bytes(&[7; 64]), Some([0, 16])),
                ],
            )
        },
        Case { expected: Some(bytes(&[1; 4])), ..Case::new("unwritten", unwritten, resources) },
        // Each workgroup leaves something behind that the next one must not find.
        Case {
            expected: Some(bytes(&(0..16).map(|n| 100 * n).collect::<Vec<_>>())),
            ..Case::new(
                "shared zeros",
                "#extension GL_EXT_null_initializer : require\n\
                layout(local_size_x = 4) in;\n\
                layout(binding = 0, std430) buffer B { uint b[]; };\n\
                shared uint words[16] = { };\n\
                void main() {\n\
                  uint n = gl_LocalInvocationIndex, sum = 0u;\n\
                  for (uint i = 0u; i < 16u; i++) sum += words[i];\n\
                  barrier();\n\
                  for (uint i = n; i < 16u; i += 4u) words[i] = 1u + gl_WorkGroupID.x;\n\
                  barrier();\n\
                  b[gl_GlobalInvocationID.x] = sum + words[15u - n] * 0u + gl_GlobalInvocationID.x * 100u;\n\
                }",
                vec![Resource::zeros(16)],
            )
            .groups([4, 1, 1])
        },
    ]
}

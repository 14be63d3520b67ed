//! Kernels whose invocations ask each other within their subgroups: all together, in branches, in loops that they leave one by
//! one, and where a workgroup's last subgroup is not full. The other driver's subgroups must be as large.
//!
//! Lavapipe (Mesa 22.3) rounds gl_NumSubgroups down, has no clusters, and its compiler fails on shuffles in vectors of four: the
//! compiler's tests hold these against a model.

use super::case::Case;
use super::resource::Resource;
use crate::hash::hash;

/// Workgroups of a case.
const GROUPS: u32 = 3;

/// Where a kernel's operations stand, as GLSL around `OPERATIONS`.
const SURROUNDINGS: [(&str, &str); 4] = [
    ("together", "OPERATIONS"),
    ("branches", "if (n % 3u == 0u) { OPERATIONS } else if ((n & 4u) != 0u) { n ^= 0x155u; OPERATIONS }"),
    (
        "loop",
        "for (uint i = 0u; i < n % 6u; i++) { if (i == 2u && (n & 1u) != 0u) continue; n += i * 7u; OPERATIONS }",
    ),
    (
        "switch",
        "switch (n % 4u) { case 0u: n += 5u; case 1u: { OPERATIONS break; } case 2u: return; default: n *= 3u; { OPERATIONS } }",
    ),
];

/// Workgroup sizes: full subgroups, and one of two invocations at the end.
const SIZES: [[u32; 2]; 2] = [[8, 4], [10, 1]];

fn kernel(size: [u32; 2], around: &str, operations: &str) -> String {
    let [x, y] = size;
    let extensions = ["basic", "vote", "arithmetic", "ballot", "quad"];
    let extensions: String =
        extensions.map(|name| format!("#extension GL_KHR_shader_subgroup_{name} : require\n")).concat();
    format!(
        "{extensions}layout(local_size_x = {x}, local_size_y = {y}) in;\n\
        layout(binding = 0, std430) readonly buffer A {{ uint a[]; }};\n\
        layout(binding = 1, std430) buffer B {{ uint b[]; }};\n\
        uint sum = 0u;\n\
        void see(uint word) {{ sum = (sum << 5 | sum >> 27) + word; }}\n\
        void see(int number) {{ see(uint(number)); }}\n\
        void see(bool truth) {{ see(uint(truth)); }}\n\
        void see(float number) {{ see(floatBitsToUint(number)); }}\n\
        void main() {{\n\
          uint at = gl_WorkGroupID.x * {x}u * {y}u + gl_LocalInvocationIndex, own = gl_SubgroupInvocationID;\n\
          uint n = a[at];\n\
          b[2u * at] = gl_SubgroupID + 16u * own + 64u * gl_SubgroupSize;\n\
          {}\n\
          b[2u * at + 1u] = sum;\n\
        }}",
        around.replace("OPERATIONS", operations)
    )
}

/// All of a kind of operation, of every type.
fn operations() -> Vec<(&'static str, String)> {
    let small = "float(n % 16u)";
    let numbers = ["n", "int(n) - 300", small];
    let of = |names: &[&str], values: &[&str]| -> String {
        let kinds = ["subgroup", "subgroupInclusive", "subgroupExclusive"];
        let all = names.iter().flat_map(|name| values.iter().map(move |value| (name, value)));
        all.flat_map(|(name, value)| kinds.map(|kind| format!("see({kind}{name}({value}));"))).collect()
    };
    let votes = "see(subgroupElect()); see(subgroupAll((n & 2u) != 0u)); see(subgroupAny((n & 2u) != 0u));\
        see(subgroupAllEqual(n & 32u)); see(subgroupAllEqual(vec2(n & 1u, 0.5))); see(subgroupAllEqual((n & 8u) != 0u));";
    let ballots = "uvec4 v = subgroupBallot((n & 1u) != 0u); see(v.x | v.y | v.z | v.w); see(subgroupInverseBallot(v));\
        see(subgroupBallotBitExtract(v, 1u)); see(subgroupBallotBitExtract(v, n & 1u)); see(subgroupBallotBitCount(v));\
        see(subgroupBallotInclusiveBitCount(v)); see(subgroupBallotExclusiveBitCount(v));\
        if (v.x != 0u) { see(subgroupBallotFindLSB(v)); see(subgroupBallotFindMSB(v)); }\
        see(gl_SubgroupEqMask.x ^ gl_SubgroupGeMask.x << 1 ^ gl_SubgroupGtMask.x << 2);\
        see(gl_SubgroupLeMask.x ^ gl_SubgroupLtMask.x << 1);";
    let broadcasts = "see(subgroupBroadcastFirst(n)); see(subgroupBroadcastFirst(vec2(n, 1.0)).x);\
        see(subgroupBroadcastFirst((n & 64u) != 0u)); uvec4 v = subgroupBallot(true);\
        if ((v.x & 1u) != 0u) see(subgroupBroadcast(n, 0)); if ((v.x & 2u) != 0u) see(subgroupBroadcast(float(n), 1));";
    let quads = "uvec4 v = subgroupBallot(true); if (v.x == 15u) { see(subgroupQuadBroadcast(n, 2)); see(subgroupBroadcast(n, 3));\
        see(subgroupQuadSwapHorizontal(n)); see(subgroupQuadSwapVertical(float(n))); see(subgroupQuadSwapDiagonal(n)); }";
    vec![
        ("votes", votes.into()),
        ("ballots", ballots.into()),
        ("broadcasts", broadcasts.into()),
        ("quads", quads.into()),
        ("sums", of(&["Add", "Min", "Max"], &numbers)),
        ("products", of(&["Mul"], &["n", "float(1u + n % 3u)"])),
        ("bits", of(&["And", "Or", "Xor"], &["n", "(n & 16u) != 0u"])),
    ]
}

/// Every case.
pub(super) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for (place, around) in SURROUNDINGS {
        for (what, operations) in operations() {
            for size in SIZES {
                let [x, y] = size;
                let invocations = GROUPS * x * y;
                let words: Vec<u32> = (0..invocations).map(|n| hash(&[n, 5]) % 600).collect();
                let resources = vec![Resource::words(&words), Resource::zeros(2 * invocations as usize)];
                let source = kernel(size, around, &operations);
                let name = format!("subgroup {what} {place} {x}x{y}");
                cases.push(Case::new(name, source, resources).groups([GROUPS, 1, 1]).version_1_1());
            }
        }
    }
    cases
}

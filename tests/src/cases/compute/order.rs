//! What orders the stores of one invocation and the loads of another: the memory model of Vulkan 1.2.

use ash::vk;

use super::case::Case;
use super::resource::{Resource, Shape};
use crate::hash::hash;

/// Asks for that memory model, in which accesses that others see say so.
const MODEL: &str = "#extension GL_KHR_memory_scope_semantics : require\n#pragma use_vulkan_memory_model\n";

/// Every case.
pub(super) fn all() -> Vec<Case> {
    vec![last_group(), exchange(), texels(), flags()]
}

fn case(name: &str, source: &str, resources: Vec<Resource>) -> Case {
    Case::new(format!("memory model, {name}"), format!("{MODEL}{source}"), resources).version_1_1()
}

/// Workgroups leave what they have, and the one that counts last sums up what all left.
fn last_group() -> Case {
    let source = "layout(local_size_x = 32) in;\n\
        layout(binding = 0, std430) nonprivate buffer A { uint parts[64]; };\n\
        layout(binding = 1, std430) buffer B { uint arrived, sum, last; };\n\
        layout(binding = 2, std430) readonly buffer C { uint words[]; };\n\
        shared uint part; shared bool isLast;\n\
        void main() {\n\
          uint n = gl_LocalInvocationIndex, group = gl_WorkGroupID.x;\n\
          if (n == 0u) atomicStore(part, 0u, gl_ScopeWorkgroup, 0, 0);\n\
          controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);\n\
          atomicAdd(part, words[group * 32u + n], gl_ScopeWorkgroup, 0, 0);\n\
          controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);\n\
          if (n == 0u) {\n\
            parts[group] = atomicLoad(part, gl_ScopeWorkgroup, 0, 0);\n\
            uint before = atomicAdd(arrived, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer,\n\
              gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);\n\
            isLast = before + 1u == gl_NumWorkGroups.x;\n\
          }\n\
          controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);\n\
          if (isLast && n == 0u) { for (uint k = 0u; k < 64u; k++) sum += parts[k]; last = 1u; }\n\
        }";
    let words: Vec<u32> = (0..64 * 32).map(|n| hash(&[n, 3])).collect();
    let resources = vec![Resource::zeros(64), Resource::zeros(3), Resource::words(&words)];
    case("last group", source, resources).groups([64, 1, 1])
}

/// Each invocation takes what its neighbours left before the barrier, in shared memory and in a buffer.
fn exchange() -> Case {
    let source = "layout(local_size_x = 64) in;\n\
        layout(binding = 0, std430) workgroupcoherent buffer A { uint a[]; };\n\
        layout(binding = 1, std430) buffer B { uvec2 b[]; };\n\
        shared uint s[64];\n\
        void main() {\n\
          uint n = gl_LocalInvocationIndex, at = gl_WorkGroupID.x * 64u;\n\
          for (uint k = 1u; k < 8u; k++) {\n\
            uint x = a[at + ((n + k) & 63u)];\n\
            s[n] = x * k;\n\
            memoryBarrier(gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);\n\
            controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);\n\
            a[at + n] = s[n ^ k] + 1u;\n\
            controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,\n\
              gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);\n\
          }\n\
          b[at + n] = uvec2(a[at + n], s[63u - n]);\n\
        }";
    let words: Vec<u32> = (0..256).map(|n| hash(&[n, 5])).collect();
    case("exchange", source, vec![Resource::words(&words), Resource::zeros(512)]).groups([4, 1, 1])
}

/// The same by texels.
fn texels() -> Case {
    let source = "layout(local_size_x = 8, local_size_y = 8) in;\n\
        layout(binding = 0, r32ui) uniform workgroupcoherent uimage2D a;\n\
        layout(binding = 1, r32ui) uniform volatile uimage2D c;\n\
        layout(binding = 2, std430) buffer B { uint b[]; };\n\
        void main() {\n\
          ivec2 p = ivec2(gl_LocalInvocationID.xy);\n\
          imageStore(a, p, uvec4(p.x * 16 + p.y));\n\
          imageStore(c, p, uvec4(p.y * 3));\n\
          controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsImage,\n\
            gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);\n\
          uint x = imageLoad(a, p.yx ^ 1).x;\n\
          x += imageAtomicAdd(c, ivec2(7) - p, 0x100u, gl_ScopeDevice, gl_StorageSemanticsImage,\n\
            gl_SemanticsAcquireRelease | gl_SemanticsVolatile) << 8;\n\
          b[p.y * 8 + p.x] = x;\n\
        }";
    let image = || Resource::Storage(vk::Format::R32_UINT, Shape::flat(8, 8));
    case("texels", source, vec![image(), image(), Resource::zeros(64)])
}

/// What one invocation publishes with a flag, another one that sees the flag sees, too.
fn flags() -> Case {
    let source = "layout(local_size_x = 1) in;\n\
        layout(binding = 0, std430) nonprivate buffer A { uint data[256]; };\n\
        layout(binding = 1, std430) buffer F { uint flags[256]; };\n\
        layout(binding = 2, std430) buffer B { uint torn; };\n\
        void main() {\n\
          uint n = gl_WorkGroupID.x & 255u;\n\
          if (gl_WorkGroupID.x < 256u) {\n\
            data[n] = n + 1u;\n\
            memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable);\n\
            atomicStore(flags[n], 1u, gl_ScopeDevice, 0, 0);\n\
          } else if (atomicLoad(flags[n], gl_ScopeDevice, 0, 0) != 0u) {\n\
            memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible);\n\
            if (data[n] != n + 1u) atomicAdd(torn, 1u, gl_ScopeDevice, 0, 0);\n\
          }\n\
        }";
    let resources = vec![Resource::zeros(256), Resource::zeros(256), Resource::zeros(1)];
    case("flags", source, resources).groups([512, 1, 1])
}

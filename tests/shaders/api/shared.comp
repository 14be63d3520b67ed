#version 450
// Turns each group's words around in shared memory.
layout(local_size_x_id = 1) in;
layout(push_constant) uniform P { vec4 rect; vec4 color; uvec4 words; float depth; uint add; };
layout(set = 0, binding = 0, std430) buffer B { uint b[]; };
layout(set = 0, binding = 1) uniform usamplerBuffer texels;
shared uint group[gl_WorkGroupSize.x];

void main()
{
    uint i = gl_GlobalInvocationID.x;
    bool mine = i < uint(b.length()) && gl_GlobalInvocationID.yz == uvec2(0);
    group[gl_LocalInvocationID.x] = mine ? b[i] : 0u;
    barrier();
    uint other = group[gl_WorkGroupSize.x - 1u - gl_LocalInvocationID.x];
    if (mine)
        b[i] = other + texelFetch(texels, int(i) % textureSize(texels)).x * add;
}

#version 450
// Multiplies and adds whole numbers in a buffer.
layout(local_size_x_id = 1) in;
layout(push_constant) uniform P { vec4 rect; vec4 color; uvec4 words; float depth; uint add; };
layout(set = 0, binding = 0, std430) buffer B { uint b[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x + 7u * gl_GlobalInvocationID.y + 13u * gl_GlobalInvocationID.z;
    if (i < uint(b.length()) && gl_GlobalInvocationID.yz == uvec2(0))
        b[i] = b[i] * 3u + add + i;
}

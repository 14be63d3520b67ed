#version 450
// Mixes a buffer and uniform words into another buffer.
layout(local_size_x_id = 1) in;
layout(push_constant) uniform P { vec4 rect; vec4 color; uvec4 words; float depth; uint add; };
layout(set = 0, binding = 0, std430) buffer B { uint b[]; };
layout(set = 0, binding = 1, std430) readonly buffer C { uint c[]; };
layout(set = 0, binding = 2) uniform U { uvec4 u[2]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i < uint(b.length()) && i < uint(c.length()) && gl_GlobalInvocationID.yz == uvec2(0))
        b[i] = (c[i] ^ u[i & 1u].x) + (u[0].y >> (i & 31u)) + add;
}

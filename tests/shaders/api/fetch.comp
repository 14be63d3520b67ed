#version 450
// Adds up texels.
layout(local_size_x_id = 1) in;
layout(push_constant) uniform P { vec4 rect; vec4 color; uvec4 words; float depth; uint add; };
layout(set = 0, binding = 0, std430) buffer B { uint b[]; };
layout(set = 0, binding = 1) uniform usampler2D image;

void main()
{
    uint i = gl_GlobalInvocationID.x;
    ivec2 size = textureSize(image, 0);
    ivec2 at = ivec2(int(i) % size.x, int(i) / size.x % size.y);
    if (i < uint(b.length()) && gl_GlobalInvocationID.yz == uvec2(0))
        b[i] += texelFetch(image, at, 0).x ^ add;
}

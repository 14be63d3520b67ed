#version 450
// Counts up the texels of an image.
layout(local_size_x_id = 1) in;
layout(push_constant) uniform P { vec4 rect; vec4 color; uvec4 words; float depth; uint add; };
layout(set = 0, binding = 0, r32ui) uniform uimage2D image;

void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (all(lessThan(at, imageSize(image))) && gl_GlobalInvocationID.z == 0u)
        imageStore(image, at, imageLoad(image, at) + uvec4(add + uint(at.x) * 5u));
}

#version 450
layout(push_constant) uniform P { vec4 rect; vec4 color; uvec4 words; float depth; uint add; };
layout(set = 0, binding = 0) uniform sampler2D image;
layout(location = 0) out vec4 result;

void main()
{
    ivec2 size = textureSize(image, 0);
    result = texelFetch(image, ivec2(gl_FragCoord.xy) % size, 0);
}

#version 450
layout(push_constant) uniform P { vec4 rect; vec4 color; uvec4 words; float depth; uint add; };
layout(location = 0) out vec4 result;
layout(location = 1) out vec4 other;

void main()
{
    result = color;
    other = color.wzyx;
}

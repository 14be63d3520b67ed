#version 450
layout(push_constant) uniform P { vec4 rect; vec4 color; uvec4 words; float depth; uint add; };
layout(location = 0) out uvec4 result;

void main()
{
    result = words;
}

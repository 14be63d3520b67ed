#version 450
// Zeros and ones by a uniform buffer.
layout(push_constant) uniform P { vec4 rect; vec4 color; uvec4 words; float depth; uint add; };
layout(set = 0, binding = 0) uniform U { uvec4 u[2]; };
layout(location = 0) out vec4 result;

void main()
{
    result = vec4((u[1] ^ u[0].x) & 1u);
}

#version 450
// Vertices from a buffer: half words, as coordinates between -1 and 1.
layout(push_constant) uniform P { vec4 rect; vec4 color; uvec4 words; float depth; uint add; };
layout(location = 0) in vec2 at;

void main()
{
    gl_Position = vec4(at, depth, 1.0);
    gl_PointSize = 1.0;
}

#version 450
// A rectangle, by the numbers of its vertices: two triangles of a list, or of a strip.
layout(push_constant) uniform P { vec4 rect; vec4 color; uvec4 words; float depth; uint add; };

void main()
{
    uint n = uint(gl_VertexIndex) % 6u;
    uint corner = n < 3u ? n : n == 3u ? 2u : n == 4u ? 1u : 3u;
    vec2 at = vec2((corner & 1u) == 0u ? rect.x : rect.z, corner < 2u ? rect.y : rect.w);
    gl_Position = vec4(at, depth, 1.0);
    gl_PointSize = 1.0;
}

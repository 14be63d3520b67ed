#version 450
// The spinning cube's way of fetching vertices: no attributes, a uniform array indexed by gl_VertexIndex.
layout(std140, set = 0, binding = 0) uniform Cube {
    mat4 mvp;
    vec4 position[36];
    vec4 attrib[36];
} cube;
layout(location = 0) out vec4 v_uv;
layout(location = 1) out vec3 v_pos;

void main()
{
    v_uv = cube.attrib[gl_VertexIndex];
    gl_Position = cube.mvp * cube.position[gl_VertexIndex];
    v_pos = gl_Position.xyz;
}

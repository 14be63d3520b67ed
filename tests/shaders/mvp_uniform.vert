#version 450
// A matrix per draw by a uniform buffer, and what quad.frag reads.
layout(location = 0) in vec4 a_pos;
layout(location = 1) in vec2 a_uv;
layout(location = 0) out vec2 v_uv;
layout(std140, set = 1, binding = 0) uniform Matrix { mat4 mvp; } matrix;

void main()
{
    v_uv = a_uv;
    gl_Position = matrix.mvp * a_pos;
}

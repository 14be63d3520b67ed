#version 450
// A matrix per draw by push constants, and what quad.frag reads.
layout(location = 0) in vec4 a_pos;
layout(location = 1) in vec2 a_uv;
layout(location = 0) out vec2 v_uv;
layout(push_constant) uniform Push { mat4 mvp; } push;

void main()
{
    v_uv = a_uv;
    gl_Position = push.mvp * a_pos;
}

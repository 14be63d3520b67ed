#version 450
// A textured quad whose w varies, so that interpolation must be perspective-correct.
layout(location = 0) in vec4 a_pos;
layout(location = 1) in vec2 a_uv;
layout(location = 0) out vec2 v_uv;

void main()
{
    v_uv = a_uv;
    gl_Position = a_pos;
}

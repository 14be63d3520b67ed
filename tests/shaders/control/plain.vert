#version 450
layout(location = 0) in vec4 a_position;
layout(location = 1) in vec4 a_value;
layout(location = 0) out vec4 v_value;

void main()
{
    v_value = a_value;
    gl_Position = vec4(a_position.xyz, a_position.w + 2.0);
}

#version 450
// A position on the screen, whose W is the colour's alpha.
layout(location = 0) in vec3 a_pos;
layout(location = 1) in vec4 a_color;
layout(location = 0) out vec4 v_color;

void main()
{
    v_color = vec4(a_color.rgb, 1.0);
    gl_Position = vec4(a_pos, 1.0) * a_color.a;
}

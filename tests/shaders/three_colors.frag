#version 450
// Three colours from one: the colour, beyond 0 to 1, and turned.
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o_color;
layout(location = 1) out vec4 o_wide;
layout(location = 2) out vec4 o_turned;

void main()
{
    o_color = v_color;
    o_wide = v_color * 1.5 - 0.25;
    o_turned = v_color.brga;
}

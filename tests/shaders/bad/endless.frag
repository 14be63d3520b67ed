#version 450
// Never ends where the colour has no red.
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o_color;

void main()
{
    float x = 0.0;
    while (x < 1.0)
        x += v_color.r;
    o_color = vec4(x, v_color.gba);
}

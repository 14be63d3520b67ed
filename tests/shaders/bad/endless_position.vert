#version 450
// Its place comes from a loop that never ends where the colour has no red: binning does not end.
layout(location = 0) in vec3 a_pos;
layout(location = 1) in vec4 a_color;
layout(location = 0) out vec4 v_color;

void main()
{
    float x = 0.0;
    while (x < 1.0)
        x += a_color.r;
    v_color = a_color;
    gl_Position = vec4(a_pos * x, 1.0);
}

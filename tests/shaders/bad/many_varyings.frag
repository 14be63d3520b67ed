#version 450
layout(location = 0) in vec4 v[9];
layout(location = 0) out vec4 o_color;

void main()
{
    o_color = v[0] + v[1] * v[2] + v[3] * v[4] + v[5] * v[6] + v[7] * v[8];
}

#version 450
// Sixty-four words of attributes: the chip fetches sixty-three for a vertex.
layout(location = 0) in vec4 attributes[16];
layout(location = 0) out vec4 v_color;

void main()
{
    vec4 sum = vec4(0.0);
    for (int i = 0; i < 16; i++)
        sum += attributes[i] * float(i + 1);
    v_color = sum;
    gl_Position = vec4(sum.xy, 0.0, 1.0);
}

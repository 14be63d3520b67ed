#version 450
// Thirty-six scalar varyings: the chip has thirty-two.
layout(location = 0) out vec4 v[9];

void main()
{
    for (int i = 0; i < 9; i++)
        v[i] = vec4(1.0, 2.0, 3.0, 4.0) * float(i + gl_VertexIndex);
    gl_Position = vec4(0.0, 0.0, 0.0, 1.0);
}

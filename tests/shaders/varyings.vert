#version 450
// All components that stages may share beside a position: in perspective, flat and straight on the screen.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 curved[9];
layout(location = 9) flat out uvec4 numbers[3];
layout(location = 12) noperspective out vec4 straight[4];
layout(location = 16) out vec4 more[15];

// A sum of its own for every component.
vec4 mixed(int at)
{
    vec4 n = vec4(4 * at, 4 * at + 1, 4 * at + 2, 4 * at + 3);
    vec4 sum = color.r * fract(n * 0.37) + color.g * fract(n * 0.71) + color.b * fract(n * 0.53);
    return sum + position.x * fract(n * 0.29) * 0.2 + 0.05 * float(gl_InstanceIndex);
}

void main()
{
    gl_Position = vec4(position, 1.0 + 0.5 * position.z);
    gl_PointSize = 9.0;
    for (int i = 0; i < 9; ++i)
        curved[i] = mixed(i);
    for (int i = 0; i < 3; ++i)
        numbers[i] = uvec4((1.0 + mixed(9 + i)) * 1000.0) + uint(gl_VertexIndex);
    for (int i = 0; i < 4; ++i)
        straight[i] = mixed(12 + i);
    for (int i = 0; i < 15; ++i)
        more[i] = mixed(16 + i);
}

#version 450
// Weighs as many components as there may be, each otherwise.
layout(location = 0) in vec4 curved[9];
layout(location = 9) flat in uvec4 numbers[3];
layout(location = 12) noperspective in vec4 straight[4];
layout(location = 16) in vec4 more[15];
layout(location = 0) out vec4 result;

float weighed(vec4 value, int at)
{
    return dot(value, fract(vec4(0.13, 0.41, 0.67, 0.89) + 0.23 * float(at)));
}

void main()
{
    float sums[4] = float[4](0.0, 0.0, 0.0, 0.0);
    for (int i = 0; i < 9; ++i)
        sums[0] += weighed(curved[i], i);
    for (int i = 0; i < 3; ++i)
        sums[1] += weighed(vec4(numbers[i] % 256u) / 255.0, i);
    for (int i = 0; i < 4; ++i)
        sums[2] += weighed(straight[i], i);
    for (int i = 0; i < 15; ++i)
        sums[3] += weighed(more[i], i);
    result = vec4(sums[0] / 16.0, sums[1] / 7.0, sums[2] / 16.0 + sums[3] / 56.0, 1.0);
}

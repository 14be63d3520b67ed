#version 450
// Specialization constants and what is computed from them.
layout(constant_id = 0) const int COUNT = 3;
layout(constant_id = 1) const float SCALE = 0.5;
layout(constant_id = 5) const bool FLIP = false;
layout(constant_id = 7) const uint BITS = 0x0f0fu;
const int TWICE = COUNT * 2 + 1;
layout(location = 0) in flat int x;
layout(location = 0) out vec4 o[2];

void main()
{
    float list[TWICE];
    for (int i = 0; i < TWICE; i++)
        list[i] = float(i * i) * SCALE;
    float sum = 0.0;
    for (int i = 0; i < TWICE; i++)
        sum += list[(i + x) % TWICE] * float(i);
    o[0] = vec4(sum, list[TWICE - 1], float(TWICE), FLIP ? -1.0 : 1.0);
    const uvec2 pair = uvec2(BITS, BITS >> 4);
    o[1] = vec4(float(pair.x & 0xffu), float(pair.y), float(COUNT > 4 ? 1 : 0), float(-COUNT / 2));
}

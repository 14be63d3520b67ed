#version 450
// Packing with denormals and NaNs, and comparisons of NaNs.
layout(local_size_x = 16) in;

layout(std430, set = 0, binding = 0) buffer In { vec4 values[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint words[][8]; };

void main() {
    uint n = gl_LocalInvocationIndex;
    vec4 v = values[n];
    words[n][0] = packHalf2x16(v.xy);
    words[n][1] = packUnorm4x8(v);
    words[n][2] = floatBitsToUint(unpackHalf2x16(floatBitsToUint(v.z)).x);
    words[n][3] = floatBitsToUint(unpackHalf2x16(floatBitsToUint(v.z)).y);
    words[n][4] = floatBitsToUint(unpackUnorm4x8(floatBitsToUint(v.w)).z);
    words[n][5] = (v.x != v.y ? 1u : 0u) | (v.x == v.y ? 2u : 0u) | (v.x < v.y ? 4u : 0u) | (!(v.x >= v.y) ? 8u : 0u);
    words[n][6] = floatBitsToUint(v.x + 0.0) ^ floatBitsToUint(v.x * 0.0);
    words[n][7] = floatBitsToUint(v.y / 3.0) + floatBitsToUint(-(v.x - v.y)) + floatBitsToUint(max(abs(v.x), abs(v.y)));
}

#version 450
// Packing and unpacking.
layout(location = 0) in flat vec4 v;
layout(location = 1) in flat int w;
layout(location = 0) out ivec4 o[2];
layout(location = 2) out vec4 f[5];

void main()
{
    o[0] = ivec4(packUnorm4x8(v), packSnorm4x8(v), packUnorm2x16(v.xy), packSnorm2x16(v.xy));
    o[1] = ivec4(packHalf2x16(v.xy * 100.0), packHalf2x16(v.zw * 0.001), 0, 0);
    uint u = uint(w);
    f[0] = unpackUnorm4x8(u);
    f[1] = unpackSnorm4x8(u);
    f[2] = vec4(unpackUnorm2x16(u), unpackSnorm2x16(u));
    f[3] = vec4(unpackHalf2x16(u), 0.0, 0.0);
    f[4] = vec4(unpackHalf2x16(packHalf2x16(v.xy)), 0.0, 0.0);
}

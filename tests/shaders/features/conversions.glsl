// Conversions and packing. Floats that come from or become integers are exact, or lie away from where rounding turns over.

//# int_to_float word
uint g(uint a, uint b, uint c) { return floatBitsToUint(float(int(a << 8) >> 8)) ^ floatBitsToUint(float(b >> 8)) * 3u; }

//# uint_to_float_large word
uint g(uint a, uint b, uint c) { return floatBitsToUint(float(a & 0xffffff00u)) ^ floatBitsToUint(float(int(b & 0xffffff00u))) * 3u; }

//# float_to_int word
uint g(uint a, uint b, uint c) { float x = float(int(a << 8) >> 8); return uint(int(x * 0.0625)) ^ uint(int(x * 32.0)) * 3u; }

//# float_to_uint word
uint g(uint a, uint b, uint c) { float x = float(a >> 8); return uint(x * 0.0625) ^ uint(x * 128.0) * 3u ^ uint(x * 256.0); }

//# bool_conversions word
uint g(uint a, uint b, uint c) {
    bool x = bool(a & 1u), y = bool(int(b & 6u)), z = bool(float(c & 3u));
    return uint(x) | uint(int(y)) << 3 | uint(float(z)) << 9 | uint(x != z) << 17 | uint(x && y || !z) << 25;
}

//# bit_casts word
uint g(uint a, uint b, uint c) {
    float f = uintBitsToFloat(a & 0x007fffffu | 0x3f800000u);
    float h = intBitsToFloat(int(b & 0x007fffffu | 0xc0000000u));
    return floatBitsToUint(-f) ^ uint(floatBitsToInt(abs(h))) * 3u ^ floatBitsToUint(f >= 1.5 ? h : f);
}

//# pack_unorm_4x8 word
uint g(uint a, uint b, uint c) { vec4 n = vec4(uvec4(a, b, c, a + b) & 255u); return packUnorm4x8((n + 0.25) / 255.0) ^ packUnorm4x8(n / 64.0 - 1.002); }

//# pack_snorm_4x8 word
uint g(uint a, uint b, uint c) { vec4 n = vec4(uvec4(a, b, c, a + b) & 255u) - 128.0; return packSnorm4x8((n + 0.25) / 127.0) ^ packSnorm4x8(n / 31.03); }

//# pack_unorm_2x16 word
uint g(uint a, uint b, uint c) { vec2 n = vec2(uvec2(a, b) & 65535u); return packUnorm2x16((n + 0.25) / 65535.0); }

//# pack_snorm_2x16 word
uint g(uint a, uint b, uint c) { vec2 n = vec2(uvec2(a, b) & 65535u) - 32768.0; return packSnorm2x16((n + 0.25) / 32767.0); }

//# pack_half_2x16 word
uint g(uint a, uint b, uint c) { vec2 n = vec2(ivec2(a, b) << 21 >> 21) * exp2(float(int(c % 16u) - 13)); return packHalf2x16(n); }

//# unpack_unorm_4x8
vec4 f(vec2 p) { return unpackUnorm4x8(operand(0u)).wzyx; }

//# unpack_snorm_4x8
vec4 f(vec2 p) { return unpackSnorm4x8(operand(0u)) * 0.5 + 0.5; }

//# unpack_unorm_2x16
vec4 f(vec2 p) { return vec4(unpackUnorm2x16(operand(0u)), unpackUnorm2x16(operand(1u))); }

//# unpack_snorm_2x16
vec4 f(vec2 p) { return vec4(unpackSnorm2x16(operand(0u)), unpackSnorm2x16(operand(1u))) * 0.5 + 0.5; }

//# unpack_half_2x16
vec4 f(vec2 p) { uint h = operand(0u) & 0x83ff83ffu | 0x34003800u; return vec4(unpackHalf2x16(h), unpackHalf2x16(h ^ 0x80008000u)) * 0.5 + 0.5; }

//# pack_round_trips word
uint g(uint a, uint b, uint c) {
    uint h = packHalf2x16(unpackHalf2x16(a & 0xbfffbfffu | 0x04000400u));
    return packUnorm4x8(unpackUnorm4x8(a)) ^ packUnorm2x16(unpackUnorm2x16(b)) * 3u ^ packSnorm2x16(unpackSnorm2x16(c | 0x10001u)) * 5u ^ h * 7u;
}

// Integer operations on operands of every magnitude. `word g(a, b, c)` is shown as the four bytes of its result.

//# add_sub word
uint g(uint a, uint b, uint c) { return a + b - c * 2u + (a - c); }

//# multiply word
uint g(uint a, uint b, uint c) { return a * b ^ uint(int(c) * int(a)); }

//# multiply_constants word
uint g(uint a, uint b, uint c) { return a * 3u ^ b * 16u ^ c * 0xfffffffbu ^ a * 1000003u ^ uint(int(b) * -7); }

//# divide_unsigned word
uint g(uint a, uint b, uint c) { return a / (b | 1u) * 31u + b / (c | 1u); }

//# remainder_unsigned word
uint g(uint a, uint b, uint c) { return a % (b | 1u) * 31u + b % (c | 1u); }

//# divide_signed word
uint g(uint a, uint b, uint c) { int d = int(b >> 1) | 1; return uint(int(a) / d) * 31u + uint(int(c) / -d); }

// Signed remainders of operands that are not negative: elsewhere lavapipe computes OpSRem for OpSMod
// (`shaders/tests/spirv_arithmetic.rs` has the others).

//# remainder_signed word
uint g(uint a, uint b, uint c) { int d = int(b >> 1) | 1; return uint(int(a >> 1) % d) * 31u + uint(int(c >> 1) % (d >> 3 | 1)); }

//# divide_by_constants word
uint g(uint a, uint b, uint c) {
    return a / 3u + a / 7u * 3u + a / 10u * 5u + a / 16u * 7u + b / 0x80000001u + uint(int(c) / 5) + uint(int(c) / -3) + uint(int(b) / 8);
}

//# remainder_by_constants word
uint g(uint a, uint b, uint c) { return a % 3u + a % 10u * 3u + a % 16u * 40u + uint(int(b >> 1) % 7) * 700u + c % 0x10001u * 5000u; }

//# shift_left word
uint g(uint a, uint b, uint c) { return (a << (b & 31u)) ^ (c << 3) ^ uint(int(c) << int(a & 31u)); }

//# shift_right_logical word
uint g(uint a, uint b, uint c) { return (a >> (b & 31u)) ^ (c >> 5); }

//# shift_right_arithmetic word
uint g(uint a, uint b, uint c) { return uint(int(a) >> int(b & 31u)) ^ uint(int(c) >> 7); }

//# bitwise word
uint g(uint a, uint b, uint c) { return (a & b) ^ (~c | a) ^ (a ^ c); }

//# negate_abs_sign word
uint g(uint a, uint b, uint c) { return uint(-int(a)) ^ uint(abs(int(b))) ^ uint(sign(int(c))) << 7; }

//# min_max_signed word
uint g(uint a, uint b, uint c) { return uint(min(int(a), int(b))) * 3u + uint(max(int(b), int(c))); }

//# min_max_unsigned word
uint g(uint a, uint b, uint c) { return min(a, b) * 3u + max(b, c); }

//# clamp_integers word
uint g(uint a, uint b, uint c) { return uint(clamp(int(a), -1000, int(b & 0xffffu))) + clamp(c, b & 255u, 0x80000000u); }

//# compare_signed word
uint g(uint a, uint b, uint c) {
    int x = int(a), y = int(b), z = int(c);
    uint r = 0u;
    if (x < y) r |= 1u;
    if (x <= z) r |= 2u;
    if (y > z) r |= 4u;
    if (y >= x) r |= 8u;
    if (x == z) r |= 16u;
    if (x != y) r |= 32u;
    if (x < 0) r |= 64u;
    if (z >= -5) r |= 128u;
    return r * 0x01010101u;
}

//# compare_unsigned word
uint g(uint a, uint b, uint c) {
    uint r = 0u;
    if (a < b) r |= 1u;
    if (a <= c) r |= 2u;
    if (b > c) r |= 4u;
    if (b >= a) r |= 8u;
    if (a == c) r |= 16u;
    if (a != b) r |= 32u;
    if (a < 0x80000000u) r |= 64u;
    if (c > 5u) r |= 128u;
    return r * 0x01010101u;
}

//# bit_count word
uint g(uint a, uint b, uint c) { return uint(bitCount(a)) + uint(bitCount(int(b))) * 64u + uint(bitCount(c & 0xffu)) * 65536u; }

//# find_lsb word
uint g(uint a, uint b, uint c) { return uint(findLSB(a)) ^ uint(findLSB(int(b << 16))) << 8 ^ uint(findLSB(c & 0xf00u)) << 16; }

//# find_msb_unsigned word
uint g(uint a, uint b, uint c) { return uint(findMSB(a)) ^ uint(findMSB(b)) << 8 ^ uint(findMSB(c & 3u)) << 16; }

//# find_msb_signed word
uint g(uint a, uint b, uint c) { return uint(findMSB(int(a))) ^ uint(findMSB(-int(b))) << 8 ^ uint(findMSB(int(c & 1u) - 1)) << 16; }

//# bitfield_reverse word
uint g(uint a, uint b, uint c) { return bitfieldReverse(a) + bitfieldReverse(b ^ c) * 3u; }

//# bitfield_extract_unsigned word
uint g(uint a, uint b, uint c) {
    int o = int(b % 33u);
    int n = int(c % uint(33 - o));
    return bitfieldExtract(a, o, n) + bitfieldExtract(a, 5, 9) * 3u + bitfieldExtract(b, 0, 32);
}

//# bitfield_extract_signed word
uint g(uint a, uint b, uint c) {
    int o = int(b % 33u);
    int n = int(c % uint(33 - o));
    return uint(bitfieldExtract(int(a), o, n)) + uint(bitfieldExtract(int(a), 5, 9)) * 3u;
}

//# bitfield_insert word
uint g(uint a, uint b, uint c) {
    int o = int(b % 33u);
    int n = int(c % uint(33 - o));
    return bitfieldInsert(a, c, o, n) + bitfieldInsert(a, b, 8, 16) * 3u + uint(bitfieldInsert(int(c), int(a), 3, 2));
}

//# add_with_carry word
uint g(uint a, uint b, uint c) { uint k; uint s = uaddCarry(a, b, k); uint l; uint t = uaddCarry(s, c << 4, l); return t ^ k << 5 ^ l << 9; }

//# subtract_with_borrow word
uint g(uint a, uint b, uint c) { uint k; uint s = usubBorrow(a, b, k); uint l; uint t = usubBorrow(s, c, l); return t ^ k << 5 ^ l << 9; }

//# multiply_extended_unsigned word
uint g(uint a, uint b, uint c) { uint h, l; umulExtended(a, b, h, l); uint i, m; umulExtended(c, a | 0xff000000u, i, m); return h ^ l * 3u ^ i * 5u ^ m * 7u; }

//# multiply_extended_signed word
uint g(uint a, uint b, uint c) { int h, l; imulExtended(int(a), -int(b), h, l); int i, m; imulExtended(int(c), int(a), i, m); return uint(h ^ l * 3 ^ i * 5 ^ m * 7); }

//# integer_vectors word
uint g(uint a, uint b, uint c) {
    uvec4 v = uvec4(a, b, c, a ^ b) * uvec4(1u, 3u, 5u, 7u) + a;
    ivec3 w = ivec3(v.wzy) >> ivec3(1, 2, 3);
    v.xyz ^= uvec3(w);
    v <<= uvec4(1u, 0u, 2u, 3u);
    return v.x ^ v.y + v.z * v.w;
}

//# increments_of_variables word
uint g(uint a, uint b, uint c) { uint x = a++ + ++b; uint y = c-- - --a; return x ^ y * 3u ^ a * 5u ^ b * 7u ^ c * 11u; }

//# wide_hash word
uint g(uint a, uint b, uint c) {
    for (int n = 0; n < 6; n++) { a = (a ^ b >> 3) * 0x85ebca6bu; b = (b << 5 | b >> 27) + a; c ^= a % 97u + b / 89u; }
    return a ^ b ^ c;
}

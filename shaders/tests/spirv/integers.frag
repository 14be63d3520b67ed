#version 450
// Integer arithmetic, bits, conversions, comparisons.
layout(location = 0) in flat int a;
layout(location = 1) in flat int b;
layout(location = 2) in flat float f;
layout(location = 0) out ivec4 o[14];

void main()
{
    uint u = uint(a), v = uint(b);
    o[0] = ivec4(a + b, a - b, a * b, -a);
    o[1] = ivec4(a / b, a % b, int(u / v), int(u % v));
    o[2] = ivec4(a << (b & 31), a >> (b & 31), int(u >> (v & 31u)), ~a);
    o[3] = ivec4(a & b, a | b, a ^ b, abs(a));
    o[4] = ivec4(min(a, b), max(a, b), int(min(u, v)), int(max(u, v)));
    o[5] = ivec4(sign(a), clamp(a, -7, 100), bitCount(a), bitfieldReverse(a));
    o[6] = ivec4(findLSB(a), findMSB(a), findMSB(u), bitfieldInsert(a, b, 5, 9));
    o[7] = ivec4(bitfieldExtract(a, 3, 7), int(bitfieldExtract(u, 3, 7)), bitfieldExtract(a, 0, 32), bitfieldInsert(a, b, 0, 32));
    uint carry, borrow, high, low;
    uint sum = uaddCarry(u, v, carry);
    uint difference = usubBorrow(u, v, borrow);
    o[8] = ivec4(sum, carry, difference, borrow);
    umulExtended(u, v, high, low);
    int shigh, slow;
    imulExtended(a, b, shigh, slow);
    o[9] = ivec4(high, low, shigh, slow);
    o[10] = ivec4(int(f), int(uint(abs(f))), floatBitsToInt(float(a)), floatBitsToInt(float(u)));
    o[11] = ivec4(a < b, a <= b, u < v, u >= v);
    o[12] = ivec4(a == b, a != b, a > b, bool(a));
    o[13] = ivec4(a / 8, a % 8, int(u / 16u), a * 6);
}

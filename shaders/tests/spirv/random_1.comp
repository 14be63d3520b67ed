#version 450
// A generated program.
layout(local_size_x = 24) in;
layout(std430, set = 0, binding = 0) buffer Data { int data[]; };
shared int count[8];
shared int kept[24];
int ga = 7;
int pile[40];
const int table[70] = int[](-845, -292, 225, 730, 240, -409, -823, 45, 899, -296, -196, -150, -962, 994, -934, -788, 735, -90, 335, -540, 644, -285, -825, 19, -326, 878, 244, 110, -141, 712, 495, -592, -85, -651, -551, -112, 605, -165, 380, 623, 400, 152, 72, -598, 113, 380, -135, -389, -431, 48, 536, -550, 676, -159, 963, 609, -33, 56, -706, 540, -372, 549, -388, 202, 449, 321, -35, -187, 681, 265);
int lane;
int f0(int p00, int p01) {
    int a1[16];
    int i2 = min(pile[((p00) & 0x7fffffff) % 40], ((ga) * (0)));
    for (int i = 0; i < 16; ++i) { a1[i] = i2 + i * 3; }
    { int t3 = ((((data[(lane * 8 + ((0) & 7))]) * (((lane) | (lane))))) & 0x7fffffff) % 16; int t3v = p00; a1[t3] = t3v; }
    ga = ((data[(lane * 8 + ((2) & 7))]) | (((((ga) & (0))) << (((((p00) == (lane)) ? (ga) : (p01))) & 7))));
    int v4 = data[(lane * 8 + (((((((7) == (lane)) ? (lane) : (3))) + (((p00) >> ((31) & 7))))) & 7))];
    return p01;
}
void main() {
    lane = int(gl_LocalInvocationIndex);
    for (int i = 0; i < 40; ++i) { pile[i] = i * 5 - lane; }
    if (lane < 8) { count[lane] = lane; }
    barrier();
    int v5 = pile[(((-77)) & 0x7fffffff) % 40];
    int a6[16];
    int i7 = 7;
    for (int i = 0; i < 16; ++i) { a6[i] = i7 + i * 3; }
    int v8 = pile[((f0(a6[((lane) & 0x7fffffff) % 16], (((v5) <= (1)) ? (7) : (lane)))) & 0x7fffffff) % 40];
    kept[lane] = pile[((v5) & 0x7fffffff) % 40];
    barrier();
    int s9 = kept[(lane + 1) % 24] + count[lane % 8];
    barrier();
    v8 = pile[(((((table[((ga) & 0x7fffffff) % 70]) != (data[(lane * 8 + ((ga) & 7))])) ? (((v8) & (lane))) : (v8))) & 0x7fffffff) % 40];
    if ((a6[((table[((3) & 0x7fffffff) % 70]) & 0x7fffffff) % 16]) == (((v8) & ((((1) < (ga)) ? (s9) : (s9)))))) {
        ga = v5;
    } else {
        for (int i10 = 0; i10 < 1; ++i10) {
            { int t11 = lane * 8 + ((100) & 7); data[t11] = ((max(ga, i10)) << ((pile[((5) & 0x7fffffff) % 40]) & 7)); }
        }
        { int t12 = lane * 8 + ((table[((ga) & 0x7fffffff) % 70]) & 7); data[t12] = f0(((7) ^ (ga)), v5); }
        ga = pile[((s9) & 0x7fffffff) % 40];
        atomicAdd(count[((v5) & 0x7fffffff) % 8], ((s9) & (v8)));
    }
    { int t13 = lane * 8 + ((min(ga, ga)) & 7); data[t13] = s9; }
    int i14n = (s9) & 7;
    for (int i14 = 0; i14 < i14n; ++i14) {
        if ((pile[((s9) & 0x7fffffff) % 40]) < (ga)) {
            v8 = ((31) ^ (((lane) & (a6[((s9) & 0x7fffffff) % 16]))));
        }
        v8 = ((pile[((ga) & 0x7fffffff) % 40]) - ((((data[(lane * 8 + ((7) & 7))]) > (((lane) + (s9)))) ? ((-1)) : (a6[((v5) & 0x7fffffff) % 16]))));
    }
    { int t15 = ((f0(100, s9)) & 0x7fffffff) % 16; int t15v = a6[((7) & 0x7fffffff) % 16]; a6[t15] = t15v; }
    ++s9;
    kept[lane] = 7;
    barrier();
    int s16 = kept[(lane + 2) % 24] + count[lane % 8];
    barrier();
    s9 = (((pile[((table[((s9) & 0x7fffffff) % 70]) & 0x7fffffff) % 40]) < (lane)) ? (ga) : (data[(lane * 8 + ((ga) & 7))]));
    if ((ga) == (((((s16) + (lane))) & (table[((100) & 0x7fffffff) % 70])))) {
        { int t17 = ((3) & 0x7fffffff) % 40; int t17v = pile[((data[(lane * 8 + ((v5) & 7))]) & 0x7fffffff) % 40]; pile[t17] = t17v; }
        int v18 = data[(lane * 8 + ((((min(v5, 100)) * (((lane) ^ (5))))) & 7))];
        int v19 = table[((table[((v5) & 0x7fffffff) % 70]) & 0x7fffffff) % 70];
    } else {
        int i20n = (pile[((v5) & 0x7fffffff) % 40]) & 7;
        for (int i20 = 0; i20 < i20n; ++i20) {
            ++s9;
        }
        v8 = (((((((v5) != (lane)) ? (ga) : (v5))) << ((((5) >> ((v5) & 7))) & 7))) << ((s9) & 7));
        ga = ((lane) + (ga));
    }
    s9 = data[(lane * 8 + ((((table[((s16) & 0x7fffffff) % 70]) | (7))) & 7))];
    ++v5;
    v5 = (((((((((-1)) < (lane)) ? (3) : (lane))) == (max(0, 0))) ? (31) : (table[((31) & 0x7fffffff) % 70]))) ^ ((((3) != (((lane) | (v8)))) ? (data[(lane * 8 + ((2) & 7))]) : (((((-1)) > (3)) ? (v5) : (s16))))));
    kept[lane] = a6[((v5) & 0x7fffffff) % 16];
    barrier();
    int s21 = kept[(lane + 3) % 24] + count[lane % 8];
    barrier();
    data[lane * 8] ^= ga ^ v5 ^ v8 ^ s9 ^ s16 ^ s21;
    for (int i = 0; i < 40; ++i) { data[lane * 8 + 1] += pile[i] * (i + 1); }
}

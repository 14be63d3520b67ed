#version 450
// A generated program.
layout(local_size_x = 24) in;
layout(std430, set = 0, binding = 0) buffer Data { int data[]; };
shared int count[8];
shared int kept[24];
int ga = 7;
int pile[40];
const int table[70] = int[](-314, 537, -731, 530, -303, 771, -685, -415, -116, 977, -484, 160, -874, 530, 76, 546, 767, 903, 638, -439, 337, -250, 649, 469, 883, 198, 906, 536, -802, -254, -983, 956, 52, -977, -803, 478, 14, -233, 497, -949, -302, 382, 16, -895, -953, -520, -335, -839, -679, -303, -664, 157, -850, -21, 732, -261, -830, -398, -671, 180, -843, 380, 862, -734, 117, 497, 684, -98, 991, 669);
int lane;
int f0(int p00, int p01, inout int arr[16]) {
    int v1 = ((data[(lane * 8 + ((((lane) - (ga))) & 7))]) >> ((data[(lane * 8 + ((((ga) | (lane))) & 7))]) & 7));
    if ((2) > (p01)) { return ((((((v1) < (p01)) ? (v1) : (p00))) < ((((lane) > (v1)) ? (p01) : (p01)))) ? (p00) : ((((lane) < (p00)) ? (p01) : (lane)))); }
    int a2[4];
    int i3 = data[(lane * 8 + ((min(v1, v1)) & 7))];
    for (int i = 0; i < 4; ++i) { a2[i] = i3 + i * 3; }
    if ((((3) & (100))) <= (((31) << ((v1) & 7)))) { return table[((p00) & 0x7fffffff) % 70]; }
    if ((((p00) | (((7) + (1))))) != (a2[((data[(lane * 8 + ((p01) & 7))]) & 0x7fffffff) % 4])) {
        ga = p01;
    } else {
        if ((data[(lane * 8 + ((lane) & 7))]) > (v1)) {
            p01 = ((arr[(((-77)) & 0x7fffffff) % 16]) ^ (pile[((((p00) << ((7) & 7))) & 0x7fffffff) % 40]));
        } else {
            v1 = pile[((data[(lane * 8 + ((a2[((31) & 0x7fffffff) % 4]) & 7))]) & 0x7fffffff) % 40];
            if ((arr[((ga) & 0x7fffffff) % 16]) != (((lane) & (5)))) { return p00; }
        }
        for (int i4 = 0; i4 < 3; ++i4) {
            v1 = ((a2[(((((-1)) * (3))) & 0x7fffffff) % 4]) ^ ((((ga) <= (31)) ? (a2[((p01) & 0x7fffffff) % 4]) : (((p01) << ((i4) & 7))))));
            ga = v1;
            ga = 2;
        }
        { int t5 = lane * 8 + ((((2) - (ga))) & 7); data[t5] = p00; }
    }
    return data[(lane * 8 + ((100) & 7))];
}
int f1(int p10, int p11, inout int arr[16]) {
    ga = max(data[(lane * 8 + ((((p11) | (p10))) & 7))], arr[((min(ga, 100)) & 0x7fffffff) % 16]);
    { int t6 = ((ga) & 0x7fffffff) % 40; int t6v = ((min(ga, ga)) * ((-77))); pile[t6] = t6v; }
    { int t7 = lane * 8 + ((p11) & 7); data[t7] = data[(lane * 8 + ((((lane) | (p11))) & 7))]; }
    { int t8 = lane * 8 + ((ga) & 7); data[t8] = (((((ga) != (p11)) ? ((-1)) : (p10))) << (((((0) > (ga)) ? ((-1)) : (p11))) & 7)); }
    { int t9 = lane * 8 + ((ga) & 7); data[t9] = 2; }
    return (((-77)) >> ((((lane) << ((lane) & 7))) & 7));
}
void main() {
    lane = int(gl_LocalInvocationIndex);
    for (int i = 0; i < 40; ++i) { pile[i] = i * 5 - lane; }
    if (lane < 8) { count[lane] = lane; }
    barrier();
    if ((((((lane) + (lane))) >> ((((lane) << ((ga) & 7))) & 7))) != (pile[((ga) & 0x7fffffff) % 40])) {
        int a10[24];
        int i11 = table[((data[(lane * 8 + ((ga) & 7))]) & 0x7fffffff) % 70];
        for (int i = 0; i < 24; ++i) { a10[i] = i11 + i * 3; }
    }
    int v12 = data[(lane * 8 + ((ga) & 7))];
    if ((v12) != (pile[((data[(lane * 8 + ((lane) & 7))]) & 0x7fffffff) % 40])) {
        ga = table[((((data[(lane * 8 + ((v12) & 7))]) + (ga))) & 0x7fffffff) % 70];
        v12 = pile[((data[(lane * 8 + ((((1) & (lane))) & 7))]) & 0x7fffffff) % 40];
    } else {
        int a13[16];
        int i14 = pile[((ga) & 0x7fffffff) % 40];
        for (int i = 0; i < 16; ++i) { a13[i] = i14 + i * 3; }
        ga = (((((data[(lane * 8 + ((lane) & 7))]) - (((v12) << ((v12) & 7))))) < (data[(lane * 8 + ((pile[((lane) & 0x7fffffff) % 40]) & 7))])) ? ((((lane) == (31)) ? (((v12) & (3))) : (lane))) : ((((pile[(((-1)) & 0x7fffffff) % 40]) < (min(ga, 31))) ? (a13[((ga) & 0x7fffffff) % 16]) : (((lane) ^ (31))))));
        { int t15 = ((data[(lane * 8 + ((lane) & 7))]) & 0x7fffffff) % 40; int t15v = ((v12) + (((lane) | (lane)))); pile[t15] = t15v; }
        ++v12;
    }
    { int t16 = (((((data[(lane * 8 + ((ga) & 7))]) < (v12)) ? (pile[((v12) & 0x7fffffff) % 40]) : (lane))) & 0x7fffffff) % 40; int t16v = lane; pile[t16] = t16v; }
    kept[lane] = pile[((31) & 0x7fffffff) % 40];
    barrier();
    int s17 = kept[(lane + 1) % 24] + count[lane % 8];
    barrier();
    int v18 = s17;
    ga = table[((pile[((min(7, v18)) & 0x7fffffff) % 40]) & 0x7fffffff) % 70];
    { int t19 = lane * 8 + ((pile[((v18) & 0x7fffffff) % 40]) & 7); data[t19] = data[(lane * 8 + ((3) & 7))]; }
    kept[lane] = 7;
    barrier();
    int s20 = kept[(lane + 2) % 24] + count[lane % 8];
    barrier();
    data[lane * 8] ^= ga ^ v12 ^ s17 ^ v18 ^ s20;
    for (int i = 0; i < 40; ++i) { data[lane * 8 + 1] += pile[i] * (i + 1); }
}

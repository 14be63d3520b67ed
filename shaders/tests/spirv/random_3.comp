#version 450
// A generated program.
layout(local_size_x = 24) in;
layout(std430, set = 0, binding = 0) buffer Data { int data[]; };
shared int count[8];
shared int kept[24];
int ga = 7;
int pile[40];
const int table[70] = int[](-977, -30, 337, 71, -384, 572, 111, 906, -139, 448, -528, -807, -233, 266, -862, -310, 317, -477, 175, -576, -955, 554, 172, -569, -889, 903, 191, 140, -720, -213, 392, -938, 900, -682, -211, 847, -495, -618, -808, 259, -599, 144, -553, -91, -622, 461, -212, -743, 825, 373, -871, 597, -561, 75, 382, -631, -611, -641, -724, 125, 17, 506, 310, -261, -990, 346, 381, -929, 194, -245);
int lane;
int f0(int p00, inout int arr[16]) {
    atomicAdd(count[((arr[((data[(lane * 8 + ((p00) & 7))]) & 0x7fffffff) % 16]) & 0x7fffffff) % 8], data[(lane * 8 + ((lane) & 7))]);
    p00 = 2;
    return table[((data[(lane * 8 + ((5) & 7))]) & 0x7fffffff) % 70];
}
void main() {
    lane = int(gl_LocalInvocationIndex);
    for (int i = 0; i < 40; ++i) { pile[i] = i * 5 - lane; }
    if (lane < 8) { count[lane] = lane; }
    barrier();
    int v1 = (((((pile[((ga) & 0x7fffffff) % 40]) == ((((ga) > ((-77))) ? (0) : (ga)))) ? (5) : (((lane) * (lane))))) | (7));
    int a2[16];
    int i3 = min((-1), ((ga) & (v1)));
    for (int i = 0; i < 16; ++i) { a2[i] = i3 + i * 3; }
    int v4 = ((v1) - (max(max(ga, v1), ga)));
    int i5n = (((lane) ^ ((-77)))) & 7;
    for (int i5 = 0; i5 < i5n; ++i5) {
        { int t6 = ((table[((((v4) + (3))) & 0x7fffffff) % 70]) & 0x7fffffff) % 40; int t6v = ((((i5) & (v1))) << ((ga) & 7)); pile[t6] = t6v; }
        v4 = 3;
        ++ga;
    }
    ga = ((min(((v4) >> ((v4) & 7)), data[(lane * 8 + ((1) & 7))])) ^ (pile[(((((v4) != (5)) ? (lane) : (7))) & 0x7fffffff) % 40]));
    if ((v1) != (((pile[((100) & 0x7fffffff) % 40]) ^ (v1)))) {
        { int t7 = ((((min(ga, 2)) | ((-1)))) & 0x7fffffff) % 16; int t7v = 5; a2[t7] = t7v; }
        ga = data[(lane * 8 + ((table[((a2[((ga) & 0x7fffffff) % 16]) & 0x7fffffff) % 70]) & 7))];
        { int t8 = lane * 8 + ((((ga) + (2))) & 7); data[t8] = max(a2[((2) & 0x7fffffff) % 16], max(lane, 2)); }
        atomicAdd(count[((f0(pile[((v4) & 0x7fffffff) % 40], a2)) & 0x7fffffff) % 8], 2);
    } else {
        int v9 = ((v4) * (table[((min(ga, v4)) & 0x7fffffff) % 70]));
        for (int i10 = 0; i10 < 2; ++i10) {
            { int t11 = (((((((0) + (ga))) > (lane)) ? (((lane) * (100))) : (pile[((lane) & 0x7fffffff) % 40]))) & 0x7fffffff) % 40; int t11v = v1; pile[t11] = t11v; }
            { int t12 = (((((((ga) > (v4)) ? (ga) : (lane))) - (((v1) + (v4))))) & 0x7fffffff) % 40; int t12v = pile[((pile[((ga) & 0x7fffffff) % 40]) & 0x7fffffff) % 40]; pile[t12] = t12v; }
            if ((table[((pile[((31) & 0x7fffffff) % 40]) & 0x7fffffff) % 70]) == (max(a2[((v4) & 0x7fffffff) % 16], 0))) {
                if ((v9) != (table[((lane) & 0x7fffffff) % 70])) { continue; }
                v1 = data[(lane * 8 + ((pile[((table[((ga) & 0x7fffffff) % 70]) & 0x7fffffff) % 40]) & 7))];
            } else {
                if ((f0(v1, a2)) > (max(2, 1))) { break; }
                v9 = data[(lane * 8 + ((((i10) | (a2[((ga) & 0x7fffffff) % 16]))) & 7))];
            }
            for (int i13 = 0; i13 < 5; ++i13) {
                if ((table[((v1) & 0x7fffffff) % 70]) <= ((((1) != (v9)) ? (i13) : ((-1))))) { break; }
                atomicAdd(count[((f0(data[(lane * 8 + ((v4) & 7))], a2)) & 0x7fffffff) % 8], (((7) <= (ga)) ? (i13) : (1)));
                if ((a2[((i10) & 0x7fffffff) % 16]) > (table[((v9) & 0x7fffffff) % 70])) { break; }
                ga = ((((max(v1, v1)) | (((i10) & (31))))) >> ((data[(lane * 8 + ((((i10) + (i10))) & 7))]) & 7));
            }
        }
        ++v9;
    }
    { int t14 = lane * 8 + ((((7) ^ (7))) & 7); data[t14] = a2[((v4) & 0x7fffffff) % 16]; }
    kept[lane] = f0(100, a2);
    barrier();
    int s15 = kept[(lane + 1) % 24] + count[lane % 8];
    barrier();
    { int t16 = lane * 8 + ((v4) & 7); data[t16] = (((((ga) > (s15)) ? (lane) : (v1))) - ((((lane) > (0)) ? (2) : (lane)))); }
    s15 = a2[((((s15) * (min(7, v1)))) & 0x7fffffff) % 16];
    int v17 = ga;
    atomicAdd(count[((((f0((-77), a2)) + (v1))) & 0x7fffffff) % 8], table[((v1) & 0x7fffffff) % 70]);
    if ((max(3, s15)) > (1)) {
        ++v4;
        { int t18 = ((table[((lane) & 0x7fffffff) % 70]) & 0x7fffffff) % 40; int t18v = v1; pile[t18] = t18v; }
        { int t19 = lane * 8 + ((v17) & 7); data[t19] = lane; }
        ga = f0(v17, a2);
    }
    kept[lane] = f0((-1), a2);
    barrier();
    int s20 = kept[(lane + 2) % 24] + count[lane % 8];
    barrier();
    data[lane * 8] ^= ga ^ v1 ^ v4 ^ s15 ^ v17 ^ s20;
    for (int i = 0; i < 40; ++i) { data[lane * 8 + 1] += pile[i] * (i + 1); }
}

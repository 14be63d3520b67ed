#version 450
// A generated program.
layout(local_size_x = 24) in;
layout(std430, set = 0, binding = 0) buffer Data { int data[]; };
shared int count[8];
shared int kept[24];
int ga = 7;
int pile[40];
const int table[5] = int[](165, 735, 643, 564, -871);
int lane;
int f0(int p00, inout int arr[16]) {
    { int t1 = ((((data[(lane * 8 + ((p00) & 7))]) - (((3) + (7))))) & 0x7fffffff) % 16; int t1v = 100; arr[t1] = t1v; }
    int v2 = ((((data[(lane * 8 + ((p00) & 7))]) + (3))) & (((((p00) << ((p00) & 7))) | (((p00) - (p00))))));
    int i3n = ((((v2) != (lane)) ? (v2) : (p00))) & 7;
    for (int i3 = 0; i3 < i3n; ++i3) {
        { int t4 = ((min(((0) ^ (i3)), table[((100) & 0x7fffffff) % 5])) & 0x7fffffff) % 40; int t4v = 3; pile[t4] = t4v; }
    }
    v2 = arr[((data[(lane * 8 + ((pile[((ga) & 0x7fffffff) % 40]) & 7))]) & 0x7fffffff) % 16];
    { int t5 = lane * 8 + ((table[((7) & 0x7fffffff) % 5]) & 7); data[t5] = table[((v2) & 0x7fffffff) % 5]; }
    return ((arr[((3) & 0x7fffffff) % 16]) << (((((1) < (ga)) ? (lane) : (ga))) & 7));
}
int f1(int p10, inout int arr[16]) {
    ga = 2;
    if (((((arr[((5) & 0x7fffffff) % 16]) > (arr[((5) & 0x7fffffff) % 16])) ? (max(lane, 2)) : (f0(100, arr)))) > (ga)) {
        if ((f0(0, arr)) <= (5)) {
            { int t6 = lane * 8 + ((lane) & 7); data[t6] = table[((ga) & 0x7fffffff) % 5]; }
            int a7[4];
            int i8 = arr[((ga) & 0x7fffffff) % 16];
            for (int i = 0; i < 4; ++i) { a7[i] = i8 + i * 3; }
            atomicAdd(count[((data[(lane * 8 + ((((ga) << ((ga) & 7))) & 7))]) & 0x7fffffff) % 8], 7);
            if ((table[((ga) & 0x7fffffff) % 5]) <= ((((ga) != (p10)) ? (lane) : (2)))) { return ((arr[((ga) & 0x7fffffff) % 16]) & (pile[((p10) & 0x7fffffff) % 40])); }
        }
        if ((data[(lane * 8 + ((table[((ga) & 0x7fffffff) % 5]) & 7))]) <= (lane)) {
            int v9 = table[((((table[((5) & 0x7fffffff) % 5]) - (arr[((ga) & 0x7fffffff) % 16]))) & 0x7fffffff) % 5];
            if ((5) != (lane)) { return lane; }
            int a10[24];
            int i11 = ga;
            for (int i = 0; i < 24; ++i) { a10[i] = i11 + i * 3; }
        } else {
            { int t12 = ((min(((ga) | (lane)), ga)) & 0x7fffffff) % 16; int t12v = ((f0(7, arr)) ^ ((-77))); arr[t12] = t12v; }
        }
        for (int i13 = 0; i13 < 1; ++i13) {
            if ((((p10) >> ((p10) & 7))) == ((-77))) { break; }
        }
    } else {
        ga = ((lane) << (((((((ga) > (lane)) ? (p10) : (2))) + (((p10) ^ (lane))))) & 7));
    }
    { int t14 = lane * 8 + ((((p10) ^ (p10))) & 7); data[t14] = ((lane) & (lane)); }
    return pile[((((p10) >> ((lane) & 7))) & 0x7fffffff) % 40];
}
void main() {
    lane = int(gl_LocalInvocationIndex);
    for (int i = 0; i < 40; ++i) { pile[i] = i * 5 - lane; }
    if (lane < 8) { count[lane] = lane; }
    barrier();
    int a15[24];
    int i16 = ga;
    for (int i = 0; i < 24; ++i) { a15[i] = i16 + i * 3; }
    ++ga;
    int v17 = pile[((table[((ga) & 0x7fffffff) % 5]) & 0x7fffffff) % 40];
    { int t18 = ((31) & 0x7fffffff) % 24; int t18v = v17; a15[t18] = t18v; }
    switch ((((ga) & (((v17) << ((3) & 7))))) & 7) {
    case 0: {
        int a19[16];
        int i20 = a15[((((ga) ^ (v17))) & 0x7fffffff) % 24];
        for (int i = 0; i < 16; ++i) { a19[i] = i20 + i * 3; }
        ++v17;
        int a21[16];
        int i22 = f0(data[(lane * 8 + ((ga) & 7))], a19);
        for (int i = 0; i < 16; ++i) { a21[i] = i22 + i * 3; }
    }
        break;
    case 4: {
        { int t23 = lane * 8 + ((1) & 7); data[t23] = pile[((((v17) * (3))) & 0x7fffffff) % 40]; }
    }
        break;
    default: {
        ++v17;
        { int t24 = ((3) & 0x7fffffff) % 24; int t24v = data[(lane * 8 + ((table[((lane) & 0x7fffffff) % 5]) & 7))]; a15[t24] = t24v; }
        for (int i25 = 0; i25 < 1; ++i25) {
            v17 = ((((table[((ga) & 0x7fffffff) % 5]) * (table[((1) & 0x7fffffff) % 5]))) >> ((((v17) + (((v17) * (v17))))) & 7));
            int v26 = i25;
        }
        ++ga;
    }
    }
    kept[lane] = ((v17) >> ((v17) & 7));
    barrier();
    int s27 = kept[(lane + 1) % 24] + count[lane % 8];
    barrier();
    { int t28 = ((pile[(((((v17) != (lane)) ? (5) : (ga))) & 0x7fffffff) % 40]) & 0x7fffffff) % 40; int t28v = (((((lane) | ((-1)))) == (min(v17, lane))) ? (data[(lane * 8 + ((v17) & 7))]) : (ga)); pile[t28] = t28v; }
    { int t29 = lane * 8 + ((((v17) - (7))) & 7); data[t29] = pile[((min(lane, v17)) & 0x7fffffff) % 40]; }
    s27 = ga;
    { int t30 = ((((((lane) | (s27))) ^ (a15[((5) & 0x7fffffff) % 24]))) & 0x7fffffff) % 24; int t30v = ga; a15[t30] = t30v; }
    kept[lane] = max(ga, 100);
    barrier();
    int s31 = kept[(lane + 2) % 24] + count[lane % 8];
    barrier();
    int a32[16];
    int i33 = ((a15[((v17) & 0x7fffffff) % 24]) >> ((7) & 7));
    for (int i = 0; i < 16; ++i) { a32[i] = i33 + i * 3; }
    { int t34 = ((((ga) + (((s31) >> ((v17) & 7))))) & 0x7fffffff) % 40; int t34v = lane; pile[t34] = t34v; }
    v17 = data[(lane * 8 + ((pile[((((s31) & (v17))) & 0x7fffffff) % 40]) & 7))];
    ga = ((s27) - (a15[((((ga) | ((-1)))) & 0x7fffffff) % 24]));
    kept[lane] = lane;
    barrier();
    int s35 = kept[(lane + 3) % 24] + count[lane % 8];
    barrier();
    data[lane * 8] ^= ga ^ v17 ^ s27 ^ s31 ^ s35;
    for (int i = 0; i < 40; ++i) { data[lane * 8 + 1] += pile[i] * (i + 1); }
}

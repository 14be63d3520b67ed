#version 450
// Branches, loops, switches and functions that leave early.
layout(location = 0) in flat int n;
layout(location = 0) out ivec4 o[4];

int early(int x)
{
    if (x < 3)
        return x * 2;
    for (int i = 0; i < 10; i++) {
        if (i == x)
            return 100 + i;
        if (i * i > 40 + x)
            break;
    }
    return -x;
}

int nested(int x)
{
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        if ((x & 1) != 0 && i == 2)
            continue;
        for (int j = 0; j < 4; j++) {
            if (j == (x & 3))
                continue;
            if (i * j == x)
                return sum + 1000;
            if (i + j > x)
                break;
            sum += i * 7 + j;
        }
        if (sum > 60)
            break;
        sum += 1;
    }
    return sum;
}

int choose(int x)
{
    int r = 1;
    switch (x) {
    case 0:
        r = 5;
        break;
    case 1:
    case 2:
        r += 10;
    case 3:
        r *= 3;
        if (x == 2)
            break;
        r += 1;
    case 4:
        return r + 50;
    case 9:
        r = -1;
    default:
        r += x;
    }
    return r;
}

void bump(inout int x, out int twice)
{
    x += 3;
    twice = x * 2;
}

int global_count = 7;

void count()
{
    global_count = global_count * 3 + 1;
    if ((n & 4) != 0)
        return;
    global_count -= 2;
}

void main()
{
    o[0] = ivec4(early(n), nested(n), choose(n), choose(n - 3));
    int a = n, b;
    bump(a, b);
    int w = n;
    do {
        w = w * 2 + 1;
        if (w > 1000)
            break;
    } while (w < 100);
    int k = 0;
    while (true) {
        k += 1;
        if (k >= n)
            break;
        if ((k & 1) == 0)
            continue;
        k += 1;
    }
    o[1] = ivec4(a, b, w, k);
    int t = 0;
    for (int i = 0; i < 6; i++) {
        switch (i) {
        case 1:
            continue;
        case 4:
            t += 100;
            break;
        default:
            if (n == i)
                t += 1000;
            t += i;
        }
        count();
        t += 10;
    }
    o[2] = ivec4(t, global_count, 0, 0);
    int v[5] = int[](3, 1, 4, 1, 5);
    v[n % 5] += n;
    int s = 0;
    for (int i = 0; i < 5; i++)
        s = s * 10 + v[i];
    o[3] = ivec4(s, v[(n + 2) % 5], 0, 0);
    if (n == 11)
        discard;
    if (n > 12) {
        o[3].z = 1;
        if (n == 14)
            discard;
        o[3].w = 2;
        return;
    }
    o[3].z = 3;
}

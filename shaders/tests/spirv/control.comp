#version 450
// Loops without a bound, early returns and stores on the way, switches in switches, barriers between.
layout(local_size_x = 20) in;

layout(std430, set = 0, binding = 0) buffer Out { int results[][4]; };
layout(std430, set = 0, binding = 1) buffer Log { int count; int entries[]; } log_;

int collatz(uint n) {
    int steps = 0;
    while (n != 1) {
        n = (n & 1) != 0 ? 3 * n + 1 : n / 2;
        ++steps;
    }
    return steps;
}

int find(int n) {
    for (int i = 0; ; ++i) {
        if (i * i > 3 * n) {
            return i;
        }
        if (i == 5 && n > 8) {
            // A store on a way that only some take.
            log_.entries[40 + n] = n;
            return -i;
        }
        for (int j = 0; j < i; ++j) {
            if (i * j == n) {
                return 100 * i + j;
            }
        }
    }
}

int choose(int a, int b) {
    int x = 0;
    switch (a) {
    case 0:
        switch (b) {
        case 1: x = 1; break;
        case 2: x = 2;
        default: x += 10; return x;
        }
        x += 100;
        break;
    case 1:
    case 2:
        x = 5;
        if (b == 0) {
            break;
        }
    case 3:
        log_.entries[60 + a * 4 + b] = x;
        x += 1000;
        break;
    default:
        return -1;
    }
    return x + b;
}

void main() {
    int n = int(gl_LocalInvocationIndex);
    results[n][0] = collatz(uint(n) + 1);
    results[n][1] = find(n);
    results[n][2] = choose(n / 4, n % 4);
    if (n % 5 == 3) {
        return;
    }
    if (n % 2 == 0) {
        int slot = atomicAdd(log_.count, 1);
        log_.entries[slot] = n;
    } else {
        results[n][3] = 7;
    }
    results[n][3] += n;
}

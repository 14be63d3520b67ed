#version 450
// Arrays of one's own with any index, tables, structures, copies, pointers passed on.
layout(local_size_x = 8) in;

struct Item { vec3 place; int kind; mat2 turn; bool used; };
struct Stored { vec3 place; int kind; mat2 turn; };

layout(std430, set = 0, binding = 0) buffer In { int numbers[]; };
layout(std430, set = 0, binding = 1) buffer Out { int results[][8]; };
layout(std430, set = 0, binding = 2) buffer Items {
    layout(row_major) mat3 rows;
    mat3x2 columns;
    Stored items[];
};

const int squares[40] = int[](0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225, 256, 289, 324, 361,
    400, 441, 484, 529, 576, 625, 676, 729, 784, 841, 900, 961, 1024, 1089, 1156, 1225, 1296, 1369, 1444, 1521);

int stack[64];
int depth = 0;
int start[20] = int[](5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
shared Item kept[8];

void push(int value) {
    stack[depth] = value;
    ++depth;
}

int pop() {
    return stack[--depth];
}

void sort(inout int values[20], int count) {
    for (int i = 1; i < count; ++i) {
        for (int j = i; j > 0 && values[j - 1] > values[j]; --j) {
            int swap = values[j];
            values[j] = values[j - 1];
            values[j - 1] = swap;
        }
    }
}

int third(int values[20], int at) {
    values[at] += 1;
    return values[at] * 3;
}

void main() {
    int n = int(gl_LocalInvocationIndex);
    int seed = numbers[n];
    // A depth-first walk with a stack.
    push(seed % 7 + 3);
    int visited = 0;
    while (depth > 0) {
        int node = pop();
        visited += node;
        if (node > 1) {
            push(node / 2);
            push(node - 2);
        }
    }
    int local[20] = start;
    for (int i = 0; i < 20; ++i) {
        local[i] = (local[i] * seed + i) % 31;
    }
    int tripled = third(local, n + 2);
    sort(local, 12 + n);
    Item item;
    item.place = vec3(n, n * 2, n * 3);
    item.kind = seed;
    item.turn = mat2(n, 1, 2, 3);
    item.used = n % 3 == 0;
    kept[n] = item;
    barrier();
    Item other = kept[(n + 1) % 8];
    barrier();
    kept[n].place[n % 3] = 100.0;
    kept[n].turn[n & 1][1] = float(-n);
    items[n].place = other.place * rows;
    items[n].kind = other.used ? other.kind : -1;
    items[n].turn = kept[n].turn;
    items[n + 8] = items[n];
    items[n + 8].turn[n & 1].x = columns[n % 3][n & 1];
    barrier();
    if (n < 3) {
        rows[n % 3][(n + 1) % 3] += 10.0;
    }
    results[n][0] = visited;
    results[n][1] = local[n];
    results[n][2] = local[11 + n];
    results[n][3] = squares[(seed + n) % 40];
    results[n][4] = tripled;
    results[n][5] = int(kept[n].place.x + kept[n].place.y + kept[n].place.z);
    results[n][6] = results.length();
    results[n][7] = items.length() + (kept[(n + 3) % 8].used ? 1000 : 0);
}

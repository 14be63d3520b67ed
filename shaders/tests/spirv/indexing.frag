#version 450
// Dynamic indices into everything: matrices, their columns, vectors, arrays of arrays, structures in arrays, outputs.
struct Part { vec3 v; float a[2][3]; mat2x3 m; };
layout(location = 0) flat in ivec4 at;
layout(location = 1) flat in float f[3];
layout(location = 4) flat in mat2 mat_in;
layout(location = 0) out vec4 o0;
layout(location = 1) out float o[4];
Part parts[2];
const float table[2][2] = float[2][2](float[2](1.0, 2.0), float[2](3.0, 4.0));
float pick(in Part p, int i, int j) { return p.a[i][j]; }
void put(inout float a[2][3], int i, int j, float x) { a[i][j] += x; }
void main() {
    int i = at.x & 1, j = at.y % 3, k = at.z & 3;
    for (int n = 0; n < 2; n++) {
        parts[n].v = vec3(n, n + 1, n + 2);
        for (int x = 0; x < 2; x++)
            for (int y = 0; y < 3; y++)
                parts[n].a[x][y] = float(100 * n + 10 * x + y);
        parts[n].m = mat2x3(1, 2, 3, 4, 5, 6) * float(n + 1);
    }
    parts[i].v[j] = 50.0;
    put(parts[i].a, 1, j, 1000.0);
    Part copy = parts[i];
    copy.m[i][j] = -1.0;
    mat2x3 m = copy.m;
    m[1 - i].yx = vec2(7, 8);
    o0 = vec4(copy.v[j] + parts[1 - i].v[j], pick(copy, 1, j), m[i][j] + m[1 - i].x, table[i][k & 1]);
    for (int n = 0; n < 4; n++) o[n] = float(n);
    o[k] += f[j] + mat_in[i][k & 1];
    o[(k + 1) & 3] *= 2.0;
}

// Relations, vectors, matrices, arrays and structures.

//# vector_relations
vec4 f(vec2 p) {
    vec3 a = vec3(p, 0.5), b = vec3(p.yx, 0.501);
    bvec3 l = lessThan(a, b), e = equal(a, vec3(p.x)), n = notEqual(a, b), g = greaterThanEqual(a, b);
    return vec4(any(l) ? 0.9 : 0.1, all(n) ? 0.8 : 0.2, float(e.x) * 0.5 + float(not(g).y) * 0.4, float(lessThanEqual(a, b).z));
}

//# integer_vector_relations word
uint g(uint a, uint b, uint c) {
    uvec4 v = uvec4(a, b, c, a), w = uvec4(b, c, a, a);
    bvec4 l = lessThan(v, w), m = greaterThan(ivec4(v), ivec4(w)), e = equal(v, w);
    uvec4 bits = uvec4(l) + uvec4(m) * 2u + uvec4(e) * 4u;
    return bits.x | bits.y << 8 | bits.z << 16 | bits.w << 24;
}

//# float_comparisons
vec4 f(vec2 p) {
    float r = 0.0;
    if (p.x < p.y) r += 0.1;
    if (p.x <= 0.5) r += 0.1;
    if (p.y > 0.25) r += 0.2;
    if (p.y >= p.x) r += 0.2;
    return vec4(r, p.x == p.y ? 1.0 : 0.0, p.x != p.y ? 0.5 : 0.0, !(p.x < p.y) ? 0.3 : 0.6);
}

//# whole_vector_equality
vec4 f(vec2 p) { ivec2 i = ivec2(p * 4.0); return vec4(i == ivec2(1, 2) ? 1.0 : 0.2, i != ivec2(3, 3) ? 0.4 : 0.9, vec2(i) == p.yx ? 1.0 : 0.0, 1.0); }

//# logic
vec4 f(vec2 p) {
    bool a = p.x > 0.3, b = p.y > 0.6, c = p.x + p.y > 1.0;
    return vec4(a && b ? 0.9 : 0.1, a || c ? 0.8 : 0.2, a ^^ b ? 0.7 : 0.3, !(a == c) ? 0.6 : 0.4);
}

//# short_circuits word
uint calls;
bool touch(uint bit, bool answer) { calls |= bit; return answer; }
uint g(uint a, uint b, uint c) {
    calls = 0u;
    bool x = touch(1u, (a & 1u) != 0u) && touch(2u, (b & 1u) != 0u) || touch(4u, (c & 1u) != 0u) && !touch(8u, a > b);
    uint r = x ? (touch(16u, b > c) ? 3u : 5u) : 7u;
    return calls | r << 8;
}

//# swizzles
vec4 f(vec2 p) { vec4 a = p.xyyx * vec4(1.0, 0.9, 0.8, 0.7); vec3 b = a.zyx + a.www * 0.1; return b.brgb.wzyx * vec4(1.0, 0.5, 0.25, 1.0); }

//# swizzled_stores
vec4 f(vec2 p) { vec4 a = vec4(0.1); a.zx = p; a.w += p.y; a.yw *= vec2(2.0, 0.5); vec3 b = a.xyz; b.xy = b.yx; a.xyz = b; return a; }

//# dynamic_components
vec4 f(vec2 p) { ivec2 i = ivec2(p * 64.0); vec4 a = vec4(0.2, 0.4, 0.6, 0.8); a[i.x & 3] = p.y; a[3 - (i.y & 3)] += 0.1; return vec4(a[i.x & 3], a[i.y & 3], a[(i.x + i.y) & 3], a.w); }

//# constructors
vec4 f(vec2 p) { vec4 a = vec4(p, vec2(0.25)); vec3 b = vec3(vec4(p, p)); ivec3 c = ivec3(vec3(p * 7.0, 3.9)); return vec4(a.zx, b.z, float(c.x + c.y + c.z) / 16.0) + vec4(bvec4(p.x > 0.5)) * 0.05; }

//# matrix_vector
vec4 f(vec2 p) { mat4 m = mat4(0.5, 0.1, 0.0, 0.2, 0.2, 0.4, 0.1, 0.0, 0.1, 0.2, 0.3, 0.1, 0.05, 0.1, 0.2, 0.5); return m * vec4(p, 0.5, 0.3) * 0.6 + vec4(p, 0.2, 0.7) * m * 0.4; }

//# matrix_matrix
vec4 f(vec2 p) { mat3 a = mat3(p, 0.2, 0.3, p, 0.1, 0.2, 0.5), b = mat3(0.5, 0.2, p, 0.1, 0.6, 0.3, p); mat3 c = a * b; return vec4(c[0] * 0.5, c[1][2] + c[2][0] * 0.2); }

//# matrix_shapes
vec4 f(vec2 p) { mat2x3 a = mat2x3(p, 0.1, 0.2, p); mat3x2 b = mat3x2(p, 0.3, 0.4, p); mat2 c = b * a; mat3 d = a * b; mat4x2 e = mat4x2(p, p, p, p); return vec4(c[0], d[2][1], (e * vec4(0.1, 0.2, 0.3, 0.4)).y) * 0.7; }

//# matrix_arithmetic
vec4 f(vec2 p) { mat2 a = mat2(p, p.yx), b = mat2(0.5); a += b; a *= 0.5; a -= mat2(0.1, 0.0, 0.0, 0.1); mat2 c = matrixCompMult(a, mat2(0.9, 0.8, 0.7, 0.6)) / 0.9; c = -c * -1.0; return vec4(c[0], c[1]); }

//# transpose_outer_product
vec4 f(vec2 p) { mat3x2 o = outerProduct(p, vec3(0.2, 0.5, 0.9)); mat2x3 t = transpose(o); return vec4(t[0], o[2][1]); }

//# matrix_constructors
vec4 f(vec2 p) { mat4 a = mat4(mat2(p, p.yx)); mat3 b = mat3(a); mat2 c = mat2(mat3(0.7)); return vec4(a[0].xy + a[2].zw * 0.1, b[1].y + b[2].z * 0.1, c[1].y * a[3][3]); }

//# matrix_columns
vec4 f(vec2 p) { ivec2 i = ivec2(p * 8.0); mat4 m = mat4(1.0, 0.5, 0.2, 0.1, 0.3, 0.9, 0.6, 0.0, 0.2, 0.4, 0.8, 0.7, 0.1, 0.3, 0.5, 1.0); m[i.x & 3] = vec4(p, 0.5, 1.0); m[1][i.y & 3] = 0.25; return m[i.y & 3]; }

//# matrix_equality
vec4 f(vec2 p) { mat2 a = mat2(floor(p * 2.0), 1.0, 0.0), b = mat2(1.0, 0.0, 1.0, 0.0); return vec4(a == b ? 0.9 : 0.1, a != b ? 0.2 : 0.7, 0.0, 1.0); }

//# array_dynamic word
uint g(uint a, uint b, uint c) { uint t[7]; for (int n = 0; n < 7; n++) t[n] = a * uint(n) ^ b; t[b % 7u] += c; t[c % 7u] ^= a; return t[a % 7u] + t[3] * 3u + t[b % 7u] * 5u; }

//# array_of_arrays word
uint g(uint a, uint b, uint c) { uint t[3][4]; for (uint y = 0u; y < 3u; y++) for (uint x = 0u; x < 4u; x++) t[y][x] = a + y * 10u + x; t[b % 3u][c % 4u] = b; uint row[4] = t[a % 3u]; return row[b % 4u] ^ t[1][c % 4u] << 3; }

//# array_constant_table
const float table[9] = float[](0.1, 0.9, 0.3, 0.7, 0.5, 0.2, 0.8, 0.4, 0.6);
vec4 f(vec2 p) { ivec2 i = ivec2(p * 27.0); return vec4(table[i.x % 9], table[i.y % 9], table[(i.x + i.y) % 9], table[4]); }

//# array_of_vectors
vec4 f(vec2 p) { vec3 t[4] = vec3[4](vec3(p, 0.1), vec3(0.2, p), vec3(p.yx, 0.5), vec3(0.6)); int i = int(p.x * 31.0) & 3; t[i].y *= 0.5; t[3 - i].xz += vec2(0.1); return vec4(t[i].zyx, t[(i + 1) & 3].x); }

//# array_parameters word
uint total(uint t[5]) { uint s = 0u; for (int n = 0; n < 5; n++) s = s * 7u + t[n]; return s; }
void fill(out uint t[5], uint k) { for (int n = 0; n < 5; n++) t[n] = k >> n; }
void twist(inout uint t[5], uint i) { uint h = t[0]; t[0] = t[i]; t[i] = h; }
uint g(uint a, uint b, uint c) { uint t[5]; fill(t, a); twist(t, b % 5u); return total(t) ^ c; }

//# array_equality word
uint g(uint a, uint b, uint c) { uint x[2] = uint[](a & 1u, b & 1u), y[2] = uint[](b & 1u, c & 1u); return (x == y ? 200u : 10u) | (x != y ? 5u : 9u) << 8; }

//# structures
struct Inner { vec2 a; float b; };
struct Outer { Inner inner[2]; vec3 c; mat2 m; int n; };
Outer make(vec2 p) { Outer o; o.inner[0] = Inner(p, 0.2); o.inner[1].a = p.yx * 0.5; o.inner[1].b = 0.7; o.c = vec3(p, 0.3); o.m = mat2(p, 0.4, 0.6); o.n = int(p.x * 8.0); return o; }
vec4 f(vec2 p) { Outer o = make(p); Outer q = o; q.inner[o.n & 1].a.x += 0.25; q.c.yz = o.m * p; return vec4(q.inner[o.n & 1].a, q.c.z * 0.6, o.inner[(o.n + 1) & 1].b); }

//# array_of_structures word
struct Item { uint key; uvec2 value; bool live; };
uint g(uint a, uint b, uint c) {
    Item items[4];
    for (uint n = 0u; n < 4u; n++) items[n] = Item(a >> n, uvec2(b, c) + n, (a >> n & 1u) != 0u);
    items[b & 3u].value.y = 77u;
    items[c & 3u].live = true;
    uint r = 0u;
    for (uint n = 0u; n < 4u; n++) if (items[n].live) r = r * 31u + items[n].value[n & 1u] + items[n].key;
    return r;
}

//# structure_equality word
struct S { uvec2 a; bool b; };
uint g(uint a, uint b, uint c) { S x = S(uvec2(a & 1u, b & 1u), true), y = S(uvec2(c & 1u), (a & 2u) == 0u); return x == y ? 150u : 30u; }

//# out_parameters
void split(float x, out float whole, inout float part, const in float scale) { whole = floor(x * scale); part += x * scale - whole; }
vec4 f(vec2 p) { float w, r = 0.25; split(p.x, w, r, 4.0); vec4 v = vec4(0.5); split(p.y, v.z, v.x, 3.0); return vec4(w * 0.25, r * 0.7, v.zx * 0.3); }

//# overloads
float pick(float a) { return a; }
float pick(vec2 a) { return a.y; }
float pick(int a) { return float(a) / 8.0; }
vec4 f(vec2 p) { return vec4(pick(p.x), pick(p), pick(int(p.x * 8.0)), 1.0); }

//# globals
float state = 0.125;
void advance(float x) { state = state * 0.5 + x * 0.5; }
vec4 f(vec2 p) { advance(p.x); float a = state; advance(p.y); return vec4(a, state, state - a * 0.5, 1.0); }

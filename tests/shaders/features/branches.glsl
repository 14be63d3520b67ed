// Long arms of ifs, which are jumped over where no element of a batch takes them. Conditions are the same in all elements
// (`ints` is a uniform buffer), differ between batches, or differ inside of quads.
// ints: (7, 14, 5, 12), (3, 10, 1, 8), (15, 6, 13, 4), (11, 2, 9, 0), and again from the start.
#define column int(gl_FragCoord.x)
#define row int(gl_FragCoord.y)
#define STEP(k) x += k; x ^= x << 3; x ^= x >> 5;
#define STEPS(k) STEP(k) STEP(k * 3u + 1u) STEP(k * 5u + 2u) STEP(k * 7u + 3u)
uint arm(uint x, uint k) { STEPS(k) STEPS(k + 40u) STEPS(k + 80u) return x; }
uint long_arm(uint x, uint k) { return arm(arm(x, k), k + 9u); }
#define TURN(k) y = fract(y * 3.0 + k * 0.015625);
#define TURNS(k) TURN(k) TURN(k + 4.0) TURN(k + 9.0) TURN(k + 15.0) TURN(k + 7.0)
float float_arm(float y, float k) { TURNS(k) TURNS(k + 2.0) return y; }
float long_float_arm(float y, float k) { return float_arm(float_arm(y, k), k + 3.0); }

//# uniform_taken word
uint g(uint a, uint b, uint c) { uint r = a; if (ints[0].x == 7) r = arm(a ^ b, 11u); return r + c; }

//# uniform_not_taken word
uint g(uint a, uint b, uint c) { uint r = a; if (ints[0].x == 8) r = arm(a ^ b, 11u); return r + c; }

//# uniform_first_of_two word
uint g(uint a, uint b, uint c) { uint r; if (ints[0].y > 10) r = arm(a, 3u); else r = arm(b, 18u); return r ^ c; }

//# uniform_second_of_two word
uint g(uint a, uint b, uint c) { uint r; if (ints[0].y < 10) r = arm(a, 3u); else r = arm(b, 18u); return r ^ c; }

//# uniform_otherwise_only word
uint g(uint a, uint b, uint c) { uint r = a, s = b; if (ints[0].y < 10) r = c; else { r = arm(b, 21u); } if (ints[0].y > 10) s = a; else s = arm(c, 22u); return r + s * 3u; }

//# uniform_comparisons word
uint g(uint a, uint b, uint c) { uvec4 n = uvec4(ints[1]); ivec4 m = ints[0] - 9; uint r = c; if (n.x < n.y) r = arm(r, 1u); if (n.w <= n.x) r = arm(r, 2u); if (m.x < m.z) r = arm(r, 3u); if (m.z <= m.x) r = arm(r, 4u); if (n.x != n.y) r = arm(r, 5u); if (m.x < 0) r = arm(r, 6u); if (n.x - 4u > n.y) r = arm(r, 7u); return r ^ a ^ b; }

//# uniform_nested word
uint g(uint a, uint b, uint c) {
    uint r = a;
    if (ints[0].x > 3) { r = arm(r, 1u); if (ints[1].x > 3) { r = arm(r + c, 2u); if (ints[2].x > 3) r = arm(r, 3u); } else { r = arm(r ^ b, 4u); if (ints[2].y > 3) r = arm(r, 5u); r = arm(r, 6u); } r += b; }
    else { r = arm(b, 7u); if (ints[1].x > 3) r = arm(r, 8u); }
    return r ^ c;
}

//# uniform_else_if_chain word
uint way(uint x, int n) { uint r; if (n == 14) r = arm(x, 1u); else if (n == 3) r = arm(x, 2u); else if (n == 8) r = arm(x, 3u); else if (n > 12) r = arm(x, 4u); else if (n == 6) r = arm(x, 5u); else if (n == 2) r = arm(x, 6u); else r = arm(x, 7u); return r; }
uint g(uint a, uint b, uint c) { return way(a, ints[1].w) ^ way(b, ints[3].y) * 3u ^ way(c, ints[3].w) * 5u; }

//# uniform_switch word
uint way(uint x, int n) { uint r = x; switch (n) { case 3: r = arm(r, 1u); case 8: r = arm(r, 2u); break; case 14: r = arm(r, 3u); default: r = arm(r, 4u); case 2: r = arm(r, 5u); break; case 5: r = 9u; } return r; }
uint g(uint a, uint b, uint c) { return way(a, ints[1].x) ^ way(b, ints[0].z + ints[3].z) * 3u ^ way(c, ints[3].y) * 5u; }

//# uniform_conditions_joined word
uint g(uint a, uint b, uint c) { bool p = ints[0].x > 3, q = ints[1].x > 3; uint r = a; if (p && q) r = arm(r, 1u); if (p || q) r = arm(r, 2u); if (p != q) r = arm(r ^ b, 3u); if (!p || q) r = arm(r + c, 4u); return r; }

//# same_in_every_batch word
uint g(uint a, uint b, uint c) { uint r = a; if (column < 100) r = long_arm(b, 5u); if (row > 100) r = long_arm(c, 6u); if (column > 100) r = long_arm(r, 7u); else r = long_arm(r, 8u); return r; }

//# differs_between_batches word
uint g(uint a, uint b, uint c) { uint r = a; if ((column & 16) != 0) r = long_arm(b, 5u); if ((row & 16) != 0) r = long_arm(r, 6u); else r = long_arm(r ^ c, 7u); return r; }

//# checkerboard word
uint g(uint a, uint b, uint c) { uint r = a; if ((column + row & 1) != 0) r = long_arm(b, 5u); return r + c; }

//# checkerboard_of_two word
uint g(uint a, uint b, uint c) { uint r, s; if ((column + row & 1) != 0) { r = long_arm(a, 5u); s = r + b; } else { r = long_arm(b, 6u); s = c; } return r ^ s * 3u; }

//# edge_through_quads
vec4 f(vec2 p) { float r = p.x, s = p.y; if (p.x * 3.0 + p.y < 1.7) { r = long_float_arm(p.y, 5.0); s = float_arm(p.x, 1.0); } else s = long_float_arm(p.x, 8.0); return vec4(r, s, p); }

//# per_element word
uint g(uint a, uint b, uint c) { uint r; if (a < b) r = long_arm(c, 1u); else if ((a & 1u) != 0u) r = long_arm(a, 2u); else if (int(b) > int(c)) r = long_arm(b, 3u); else r = c; return r; }

//# few_elements word
uint g(uint a, uint b, uint c) { uint r = b; if (column == 37 && row % 9 == 4) r = long_arm(c, 1u); if (column * 64 + row == 1234) r = long_arm(r, 2u); return r ^ a; }

//# divergent_in_uniform word
uint g(uint a, uint b, uint c) { uint r = a; if (ints[0].x > 3) { r = arm(r, 1u); if (a < b) r = long_arm(r, 2u); else r = long_arm(c, 3u); } else { if (b < c) r = long_arm(b, 4u); } if (ints[1].x > 3) { if (c < a) r = long_arm(r, 5u); r = arm(r, 6u); } return r ^ c; }

//# uniform_in_divergent word
uint g(uint a, uint b, uint c) { uint r = a; if (row < 19) { if (ints[0].x > 3) r = long_arm(r, 1u); else r = long_arm(b, 2u); r += c; } else { if (ints[1].x > 3) r = long_arm(r, 3u); else r = long_arm(c, 4u); } if ((column & 12) != 0 && ints[1].y > 3) r = long_arm(r, 5u); return r ^ b; }

//# divergent_nested word
uint g(uint a, uint b, uint c) { uint r = c; if ((column & 32) != 0) { r = long_arm(r, 1u); if ((row & 8) != 0) { r = long_arm(r ^ a, 2u); if ((column & 3) != 0) r = long_arm(r, 3u); else r = long_arm(b, 4u); } } else if (column + row < 50) r = long_arm(a, 5u); return r; }

//# conditions_of_one_value word
uint g(uint a, uint b, uint c) { int n = ints[1].y; uint r = a; if (n > 3) r = arm(r, 1u); if (n > 12) r = arm(r, 2u); if (n == 10) r = arm(r + b, 3u); if ((n & 1) != 0) r = arm(r, 4u); else r ^= c; uint m = a & 48u; if (m == 16u) r = long_arm(r, 5u); if (m == 32u) r = long_arm(r, 6u); if (m < 20u) r = long_arm(r, 7u); return r; }

//# condition_of_an_arm word
uint g(uint a, uint b, uint c) { uint r = a, n = 0u; if (ints[0].x > 3) { r = arm(b, 1u); n = r; } if (n > 0x40000000u) r = long_arm(r, 2u); else n = c; bool odd = false; if (row < 40) { r = long_arm(r, 3u); odd = (r & 1u) != 0u; } if (odd) r = long_arm(n, 4u); return r; }

//# one_condition_twice word
uint g(uint a, uint b, uint c) { bool p = ints[0].x > 3, q = a < b; uint r = a; if (p) r = arm(r, 1u); if (q) r = long_arm(r, 2u); r = r * 5u ^ c; if (p) r = arm(r, 3u); else r = arm(b, 4u); r += c >> 3; if (q) r = long_arm(r, 5u); else r = long_arm(c, 6u); return r; }

//# opposite_conditions word
uint g(uint a, uint b, uint c) { int n = ints[1].x, m = ints[1].y; uint r = a, s = b, t = c; if (n < m) r = arm(r, 1u); if (!(n < m)) s = arm(s, 2u); if (n >= m) t = arm(t, 3u); else t = arm(r, 4u); if (n == m) r = arm(s, 5u); if (n != m) s = arm(t, 6u); if (m <= n) r = arm(r, 7u); if (m > n) r = arm(r, 8u); return r ^ s ^ t; }

//# opposite_conditions_per_element word
uint g(uint a, uint b, uint c) { uint r = a, s = b, t = c, n = b & 1u; if (a < b) r = long_arm(r, 1u); if (!(a < b)) s = long_arm(s, 2u); if (n == 0u) t = long_arm(t, 3u); if (n != 0u) t = long_arm(r, 4u); if (n == 0u) s = t + 1u; if (b > a) s ^= t; return r + s * 3u + t * 5u; }

//# opposite_conditions_of_floats
vec4 f(vec2 p) { float r = p.x, s = p.y, q = p.x; if (p.x < p.y) r = long_float_arm(p.y, 1.0); if (!(p.x < p.y)) s = long_float_arm(p.x, 2.0); if (p.y <= p.x) q = long_float_arm(q, 3.0); return vec4(r, s, q, 1.0); }

//# in_loop word
uint g(uint a, uint b, uint c) { uint r = a; for (int n = 0; n < ints[0].z; n++) { if ((n & 1) != 0) r = arm(r, 1u); else if (n == 2) r = arm(r ^ b, 2u); r += c; if (n == ints[1].x) r = arm(r, 3u); } return r; }

//# per_element_in_loop word
uint g(uint a, uint b, uint c) { uint r = a; for (int n = 0; n < ints[0].z; n++) { if ((b >> n & 3u) == 1u) r = long_arm(r, 1u); if ((column & 16 << (n & 1)) != 0) r = long_arm(r + c, 2u); else r ^= b; } return r; }

//# in_loop_per_element word
uint g(uint a, uint b, uint c) { uint r = 0u; for (uint n = 0u; n < (a & 7u); n++) { if (ints[1].x > 3) r = arm(r + b, 1u); else r = arm(r ^ c, 2u); if ((r & 1u) != 0u) r = long_arm(r, 3u); } return r; }

//# loop_in_uniform_arm word
uint g(uint a, uint b, uint c) { uint r = a; if (ints[0].x > 3) { r = arm(r, 1u); for (uint n = 0u; n < (b & 7u); n++) r = r * 3u + n; } else { for (int n = 0; n < ints[0].y; n++) r = arm(r, 2u); } if (ints[1].x > 3) { for (int n = 0; n < ints[0].y; n++) r = arm(r, 3u); r = arm(r, 4u); } return r ^ c; }

//# loop_in_divergent_arm word
uint g(uint a, uint b, uint c) { uint r = a; if (row < 30) { r = long_arm(r, 1u); for (uint n = 0u; n < (b & 3u); n++) r = r * 3u + n; r = long_arm(r, 2u); } else if (column < 30) { for (int n = 0; n < ints[1].x; n++) { if ((a >> n & 1u) != 0u) r = long_arm(r, 3u); } } return r ^ c; }

//# nested_loops_in_arms word
uint g(uint a, uint b, uint c) {
    uint r = a;
    if (ints[0].x > 3) { for (int y = 0; y < ints[1].x; y++) { if (y != 1) { for (uint x = 0u; x < (b & 3u); x++) { if ((r & 4u) != 0u) r = long_arm(r, 1u); r += x; } } r = arm(r ^ c, 2u); } }
    if (b < c) { for (int y = 0; y < ints[3].y; y++) { r = long_arm(r, 3u); for (int x = y; x < ints[3].y; x++) r = r * 5u + 1u; } }
    return r;
}

//# loop_without_iterations word
uint g(uint a, uint b, uint c) { uint r = a; int none = ints[3].w; if (ints[0].x > 3) r = arm(r, 1u); for (int n = 0; n < none; n++) r = arm(r, 2u); if (a < b) { r = long_arm(r, 3u); for (int n = 0; n < none; n++) r = arm(c, 4u); } while (none > int(c & 7u)) { r = long_arm(r, 5u); none--; } return r ^ c; }

//# breaks_in_arms word
uint g(uint a, uint b, uint c) { uint r = a; for (int n = 0; n < 9 + ints[3].w; n++) { if (n == ints[0].z) { r = arm(r, 1u); break; } if ((r & 7u) == 5u) { r = long_arm(r ^ b, 2u); if ((r & 3u) == 0u) break; r = long_arm(r, 3u); } if ((r & 3u) == 1u) { r = long_arm(r, 4u); continue; } r = r * 5u + c; } return r; }

//# returns_in_arms word
uint way(uint x, uint y) { if (ints[1].x > 3) { x = arm(x, 1u); return x + y; } if (x < y) { x = long_arm(x, 2u); if ((x & 1u) != 0u) return x; y = long_arm(x, 3u); } if (ints[1].x > 2) return arm(y, 4u); return arm(y, 5u); }
uint g(uint a, uint b, uint c) { return way(a, b) ^ way(b, c) * 3u; }

//# early_end_of_main whole
void main() {
    uint r = uint(column * 37 + row);
    color = unpackUnorm4x8(long_arm(r, 1u));
    if (column < 20) return;
    r = long_arm(r ^ 99u, 2u);
    color.rg = unpackUnorm4x8(r).xy;
    if ((row & 8) != 0) { color.b = unpackUnorm4x8(long_arm(r, 3u)).z; if (row > 50) return; color.a = 0.5; }
    else color = unpackUnorm4x8(long_arm(r, 4u));
}

//# discard_in_uniform_arm word
uint g(uint a, uint b, uint c) { uint r = a; if (ints[0].x > 3) { r = arm(r ^ b, 1u); if ((r & 3u) == 0u) discard; r += c; } else { r = arm(r, 2u); if ((r & 3u) != 0u) discard; } if (ints[1].x > 3) { r = arm(r, 3u); if ((r & 1u) == 0u) discard; } return r; }

//# discard_in_divergent_arm word
uint g(uint a, uint b, uint c) { uint r = a; if ((column & 16) != 0) { r = long_arm(r ^ b, 1u); if ((r & 3u) == 0u) discard; r = long_arm(r, 2u); } else if (a < c) { discard; } else r = long_arm(c, 3u); return r; }

//# discard_in_front word
uint g(uint a, uint b, uint c) { uint r = a; if ((column >> 1 & 3) == 1) discard; if (row < 32) r = long_arm(r, 1u); else r = long_arm(b, 2u); if ((r & 15u) == 3u) discard; if (ints[0].x > 3) r = arm(r + c, 3u); return r; }

//# derivatives_in_uniform_arms
vec4 f(vec2 p) { vec4 r = vec4(p, p); if (ints[0].x > 3) { float x = p.x * p.x; r.x = dFdx(x) * 24.0; x = x * x + p.x * 0.25; x = x * x + p.x * 0.5; x = x * (1.5 - x) + p.x * 0.125; x = x * x * 0.5 + p.x * 0.25; x = x * (1.25 - x); r.y = fwidth(x) * 16.0; x = x * x + 0.125; x = x * x + p.x * 0.5; x = x * (1.5 - x) + 0.0625; x = x * (1.75 - x); r.z = abs(dFdx(x)) * 16.0; } else { r = vec4(float_arm(p.x, 3.0), p.y, dFdy(p.y) * 20.0, 1.0); } if (ints[1].x > 3) r.w = fwidth(float_arm(p.y, 7.0)); return r; }

//# derivatives_behind_arms
vec4 f(vec2 p) { float s = p.x * p.x, t = p.y; if (column < 31) s = long_float_arm(p.x, 5.0) * 0.0625 + p.x; if (row > 24) t = long_float_arm(p.y, 9.0) * 0.125; return vec4(abs(dFdx(s)) * 2.0, abs(dFdy(t)) * 2.0, s, t); }

//# derivatives_in_arms_of_whole_quads
vec4 f(vec2 p) { float s = p.x; if ((column & 4) != 0) { float y = long_float_arm(p.x, 5.0); s = abs(dFdx(y)); } else { float y = long_float_arm(p.x, 11.0); s = fwidth(y) * 0.5; } return vec4(s, p, 1.0); }

//# dynamic_reads_in_arms word
layout(set = 0, binding = 0, std140) uniform F { vec4 values[16]; };
uint g(uint a, uint b, uint c) { uint r = a; if (ints[0].x > 3) { r = arm(r, 1u); r += uint(ints[r & 15u].x); r = arm(r ^ uint(values[b & 15u][c & 3u] * 64.0), 2u); } else { r = arm(b, 3u); r += uint(ints[r & 15u].y); r = arm(r, 4u); } return r; }

//# dynamic_reads_in_divergent_arms word
uint g(uint a, uint b, uint c) { uint r = a; if ((column & 16) != 0) { r = long_arm(r, 1u); r += uint(ints[r & 15u].x); r = long_arm(r ^ uint(ints[b & 15u][c & 3u]), 2u); } else if (a < b) { r = long_arm(b, 3u); r ^= uint(ints[r & 15u].y) << 9; } return r + uint(ints[r & 15u].w); }

//# several_results word
uint g(uint a, uint b, uint c) { uint r = a, s = b, t = c, u = a ^ c; if (ints[0].x > 3) { r = arm(r, 1u); s = arm(s, 2u); u = r + s; } else { s = arm(t, 3u); t = arm(s ^ r, 4u); } if (a < c) { t = long_arm(t, 5u); r ^= t; } else { u = long_arm(u, 6u); t += 3u; } return r + s * 3u + t * 5u + u * 7u; }

//# results_trade_places word
uint g(uint a, uint b, uint c) { if (ints[0].x > 3) { uint t = arm(a, 1u); a = b; b = c; c = t; } if (ints[1].x > 3) { uint t = a; a = c; c = arm(t, 2u); } if (a < b) { uint t = b; b = long_arm(a, 3u); a = c; c = t; } for (int n = 0; n < ints[1].x; n++) { if (n != 1) { uint t = a; a = b; b = arm(t, 4u); } } return a * 3u + b * 5u + c * 7u; }

//# results_that_are_constants word
uint g(uint a, uint b, uint c) { uint r = a, s = 7u, t = b; if (ints[0].x > 3) { r = 1000u; s = arm(a, 1u); } else { r = arm(b, 2u); s = 0x12345678u; } if (a < b) { s = 0u; t = long_arm(r, 3u); } else { s += 5u; t = 0xffffffffu; } uint u = 3u; if (ints[1].x > 3) u = arm(c, 4u); return r ^ s * 3u ^ t * 5u ^ u * 77u; }

//# results_that_are_truths word
uint g(uint a, uint b, uint c) { bool p = a < b, q = false; uint r = c; if (ints[0].x > 3) { r = arm(r, 1u); p = (r & 5u) == 1u; } else { r = arm(r, 2u); q = r < a; } if (a < c) { r = long_arm(r, 3u); q = (r & 1u) != 0u; } if (p) r = long_arm(r ^ b, 4u); return p ? (q ? r : a) : (q ? b : r * 3u); }

//# many_values_across_arms word
uint g(uint a, uint b, uint c) { uint v[14]; for (uint n = 0u; n < 14u; n++) v[n] = (a >> n) + (b << n) ^ c * (n + 1u); if (ints[0].x > 3) { v[3] = arm(v[2], 1u); v[9] = arm(v[8], 2u); } else v[4] = arm(v[5], 3u); if (a < b) { v[0] = long_arm(v[13], 4u); v[7] = v[0] ^ v[9]; } uint r = 0u; for (uint n = 0u; n < 14u; n++) r = r * 3u + v[13u - n]; return r; }

//# exact_floats exact
vec4 f(vec2 p) { float r = p.x, s = p.y; if (ints[0].x > 3) r = float_arm(p.x, 1.0); else r = float_arm(p.y, 2.0); if (ints[0].y < 3) s = float_arm(p.y, 3.0); else { s = float_arm(p.y, 4.0); r = 1.0 - r; } return vec4(r, s, p); }

//# exact_floats_per_element exact
layout(set = 0, binding = 0, std140) uniform F { vec4 values[16]; };
vec4 f(vec2 p) { vec2 q = p; if (p.x < values[0].y) q.x = long_float_arm(p.x, 1.0); else q.x = long_float_arm(p.y, 2.0); if (p.y >= values[0].z && p.x > 0.25) q = q.yx; else q.y = long_float_arm(q.y, 3.0); return vec4(q, p); }

//# varyings_in_arms exact
vec4 f(vec2 p) { vec2 q = vec2(floor(v * 64.0) + 0.5) / 64.0; float r = p.x; if (ints[0].x > 3) r = float_arm(q.y, 1.0); float s = p.y; if (p.x > 0.5) s = long_float_arm(q.x, 2.0); return vec4(r, s, q); }

//# vertex_stage_uniform stages exact
//vert
layout(set = 0, binding = 1, std140) uniform N { ivec4 n[4]; };
layout(location = 1) flat out uint a;
layout(location = 2) flat out uint b;
void main() { position(); uint r = uint(cell) * 0x01030507u, s = r; if (n[0].x > 3) r = arm(r, 1u); else r = arm(r, 2u); if (n[1].x > 3) s = arm(s, 3u); else if (n[1].y > 3) { s = arm(s, 4u); r += s; } a = r & 0x3fffffffu; b = s & 0x3fffffffu; }
//frag
layout(location = 1) flat in uint a;
layout(location = 2) flat in uint b;
void main() { color = unpackUnorm4x8(a ^ b << 2); }

//# vertex_stage_divergent stages exact
//vert
layout(location = 1) flat out uint a;
layout(location = 2) flat out uint b;
void main() { position(); uint r = uint(cell) * 0x01030507u, s = r; if (cell > 20) r = long_arm(r, 1u); else r = long_arm(r, 2u); if ((cell & 1) != 0) s = long_arm(s, 3u); if (cell > 100) s = long_arm(r, 4u); a = r & 0x3fffffffu; b = s & 0x3fffffffu; }
//frag
layout(location = 1) flat in uint a;
layout(location = 2) flat in uint b;
void main() { color = unpackUnorm4x8(a ^ b << 2); }

//# vertex_stage_positions stages
//vert
layout(set = 0, binding = 1, std140) uniform N { ivec4 n[4]; };
layout(location = 1) out vec2 a;
void main() { vec2 q = place; float y = place.x; if (n[0].x > 3) { TURNS(1.0) TURNS(2.0) q.x = place.x * 0.75 + (y < 0.5 ? 0.125 : 0.0); } if (cell > 30) { y = place.y; TURNS(3.0) TURNS(4.0) TURNS(5.0) TURNS(6.0) q.y = place.y * 0.5 + (y < 0.5 ? 0.25 : 0.0); } a = place.yx; gl_Position = vec4(q * 2.0 - 1.0, 0.0, 1.0); }
//frag
layout(location = 1) in vec2 a;
void main() { color = vec4(a, 0.5, 1.0); }

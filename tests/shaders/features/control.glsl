// Control flow; the elements of a batch take different ways almost everywhere.

//# if_else_chain word
uint g(uint a, uint b, uint c) { uint r; if (a < 100u) r = a; else if (b < 1000u) { r = b; if (c < b) r += c; } else if (a > c) r = a - c; else r = 9u; return r; }

//# nested_ifs word
uint g(uint a, uint b, uint c) { uint r = 1u; if ((a & 1u) != 0u) { r = 3u; if ((b & 1u) != 0u) { r *= a; if ((c & 1u) != 0u) r ^= 77u; else r += b; } r += 5u; } else { if ((c & 2u) != 0u) r = c; } return r; }

//# switch_plain word
uint g(uint a, uint b, uint c) { uint r = 2u; switch (a % 6u) { case 0u: r = b; break; case 1u: r = c * 3u; break; case 3u: r = a ^ b; break; case 4u: break; default: r = 99u; break; } return r; }

//# switch_fall_through word
uint g(uint a, uint b, uint c) { uint r = 1u; switch (int(a % 8u)) { case 0: r += b; case 1: r *= 3u; case 2: r ^= c; break; case 5: case 6: r = b - c; default: r += 7u; case 7: r <<= 1; } return r; }

//# switch_negative_labels word
uint g(uint a, uint b, uint c) { int s = int(a % 5u) - 2; switch (s) { case -2: return b; case -1: return c; case 0: return 5u; case 2147483647: return 6u; } return 7u + a; }

//# switch_nested word
uint g(uint a, uint b, uint c) { uint r = 0u; switch (a % 3u) { case 0u: switch (b % 3u) { case 0u: r = 1u; break; case 1u: r = 2u; default: r += 10u; } r += 100u; break; case 1u: r = c; default: r ^= 4096u; } return r; }

//# switch_in_loop word
uint g(uint a, uint b, uint c) { uint r = 0u; for (uint n = 0u; n < 9u; n++) { switch (a >> n & 3u) { case 0u: continue; case 1u: r += b; break; case 2u: r ^= c; default: r = r * 3u + n; } r += 1u; if (r > 0xf0000000u) break; } return r; }

//# loop_in_switch word
uint g(uint a, uint b, uint c) { uint r = a; switch (b & 3u) { case 0u: for (int n = 0; n < 4; n++) { if ((r & 1u) != 0u) break; r >>= 1; } break; case 1u: while (r > c) r = r / 2u - 1u; default: r += 3u; } return r; }

//# switch_with_returns word
uint way(uint a) { switch (a & 3u) { case 0u: return 10u; case 1u: if (a > 100u) return 20u; break; case 2u: return a; } return 30u; }
uint g(uint a, uint b, uint c) { return way(a) + way(b) * 100u + way(c) * 7u; }

//# loop_constant word
uint g(uint a, uint b, uint c) { uint r = a; for (int n = 0; n < 12; n++) r = r * 5u + (b >> n); for (int n = 10; n > 0; n -= 3) r ^= c << n; return r; }

//# loop_uniform_count word
uint g(uint a, uint b, uint c) { uint r = a; for (int n = 0; n < ints[1].x; n++) r = (r << 1 | r >> 31) + b; return r ^ c; }

//# loop_per_element word
uint g(uint a, uint b, uint c) { uint r = 0u; for (uint n = 0u; n < (a & 15u); n++) r = r * 3u + b; uint n = c & 7u; while (n != 0u) { r ^= n << n; n--; } return r; }

//# loop_do_while word
uint g(uint a, uint b, uint c) { uint r = a, n = 0u; do { r = r * 3u + 1u; n++; } while ((r & 7u) != 0u && n < 20u); return r + n; }

//# loop_endless_with_breaks word
uint g(uint a, uint b, uint c) { uint r = a, n = 0u; for (;;) { if (n > 12u) break; if ((r & 0x11u) == 0x11u) { r += 1000u; break; } r = (r >> 1) ^ (b >> n); n++; } return r * 16u + n; }

//# loop_nested word
uint g(uint a, uint b, uint c) { uint r = 0u; for (uint y = 0u; y < (a & 3u) + 1u; y++) { for (uint x = 0u; x < 5u; x++) { if (x == (b & 7u)) continue; if (x + y > (c & 7u)) break; r = r * 7u + x * 3u + y; } if (r > 0x40000000u) break; r += 1u; } return r; }

//# loop_three_deep word
uint g(uint a, uint b, uint c) { uint r = 1u; for (uint x = 0u; x < 3u; x++) for (uint y = x; y < 3u; y++) { uint z = 0u; while (z < (a >> x & 3u)) { r = r * 5u + x + y * z; z++; if ((r & 31u) == (b & 31u)) break; } } return r ^ c; }

//# loop_return word
uint find(uint a, uint b) { for (uint n = 0u; n < 16u; n++) { if ((a >> n & 3u) == (b & 3u)) return n; } return 99u; }
uint g(uint a, uint b, uint c) { return find(a, b) | find(b, c) << 8 | find(c, a) << 16; }

//# loop_nested_return word
uint find(uint a, uint b) { for (uint y = 0u; y < 4u; y++) { for (uint x = 0u; x < 4u; x++) { if ((a >> (y * 4u + x) & 7u) == 5u) return y * 16u + x; if ((b >> x & 15u) == 9u) break; } if (y > (b & 3u)) return 200u + y; } return 255u; }
uint g(uint a, uint b, uint c) { return find(a, b) | find(b, c) << 8 | find(c, a) << 16; }

//# loop_continue_with_step word
uint g(uint a, uint b, uint c) { uint r = 0u; for (uint n = 0u, k = 1u; n < 10u; n += 2u, k *= 3u) { if ((a & k) != 0u) continue; r += k ^ b; } return r + c; }

//# loop_carried_vectors word
uint g(uint a, uint b, uint c) { uvec3 v = uvec3(a, b, c); for (uint n = 0u; n < (c & 7u); n++) v = v.yzx * 3u + uvec3(n, 1u, v.x); return v.x ^ v.y ^ v.z; }

//# loop_swaps_values word
uint g(uint a, uint b, uint c) { for (uint n = 0u; n < (a & 7u); n++) { uint t = b; b = c; c = a; a = t; } return a * 3u + b * 5u + c * 7u; }

//# greatest_common_divisor word
uint g(uint a, uint b, uint c) { a &= 0xffffu; b &= 0xffffu; while (b != 0u) { uint t = a % b; a = b; b = t; } return a; }

//# collatz word
uint g(uint a, uint b, uint c) { uint x = (a & 63u) + 1u, n = 0u; while (x != 1u && n < 40u) { x = (x & 1u) != 0u ? x * 3u + 1u : x / 2u; n++; } return n | x << 8; }

//# early_returns word
uint way(uint a, uint b) { if (a < 16u) return 1u; uint r = a ^ b; if ((r & 1u) != 0u) { if (b > a) return r; r += 3u; } else return r * 2u; return r - 1u; }
uint g(uint a, uint b, uint c) { return way(a, b) + way(b, c) * 3u + way(c, a) * 5u; }

//# calls_in_branches word
uint mixer(uint a, uint n) { for (uint k = 0u; k < n; k++) a = a * 33u ^ a >> 7; return a; }
uint g(uint a, uint b, uint c) { uint r; if ((a & 1u) != 0u) r = mixer(a, b & 3u); else if ((a & 2u) != 0u) r = mixer(mixer(b, 2u), 1u); else r = c; return r; }

//# ternaries word
uint g(uint a, uint b, uint c) { return a > b ? (b > c ? a : c + 1u) : (a > c ? b * 3u : (c & 1u) != 0u ? 5u : c); }

//# early_end_of_main whole
void main() {
    color = vec4(0.25);
    if (gl_FragCoord.x < 20.0) return;
    color.r = 0.75;
    for (int n = 0; n < 10; n++) { if (gl_FragCoord.y < float(n * 6)) return; color.g = float(n) * 0.1; }
    color.b = 1.0;
}

//# discard_plain
vec4 f(vec2 p) { if (p.x + p.y < 0.7) discard; return vec4(p, 0.5, 1.0); }

//# discard_in_function
void punch(vec2 p) { if (length(p - 0.5) < 0.303) discard; }
vec4 f(vec2 p) { punch(p); punch(p + 0.35); return vec4(p.yx, 0.25, 1.0); }

//# discard_in_loop
vec4 f(vec2 p) { float s = 0.0; for (int n = 0; n < 6; n++) { if (p.x > 0.85 && n == 3) discard; if (s > p.y) break; s += p.x * 0.31; } return vec4(s, p.y, 0.0, 1.0); }

//# discard_then_work
vec4 f(vec2 p) { ivec2 i = ivec2(p * 64.0); if ((i.x + i.y) % 3 == 0) discard; float d = abs(dFdx(p.x)) * 32.0; return vec4(d, p, 1.0); }

//# discard_everything plain
vec4 f(vec2 p) { if (p.x >= 0.0) discard; return vec4(1.0); }

//# discard_after_return_path word
uint way(uint a) { if ((a & 3u) == 1u) return 7u; if ((a & 3u) == 2u) discard; return a; }
uint g(uint a, uint b, uint c) { uint r = way(a); return r == 7u ? b : r ^ c; }

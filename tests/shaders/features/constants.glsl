// Specialisation constants; `spec` gives those that are not left at their default.

//# specialisation_defaults plain whole
layout(constant_id = 0) const int a = 3;
layout(constant_id = 1) const float b = 0.25;
layout(constant_id = 2) const bool c = true;
layout(constant_id = 3) const uint d = 200u;
void main() { color = vec4(float(a) * 0.1, b, c ? 0.75 : 0.1, float(d) / 255.0); }

//# specialisation_set plain whole spec=0:7,1:0x3f000000,2:0,3:100
layout(constant_id = 0) const int a = 3;
layout(constant_id = 1) const float b = 0.25;
layout(constant_id = 2) const bool c = true;
layout(constant_id = 3) const uint d = 200u;
void main() { color = vec4(float(a) * 0.1, b, c ? 0.75 : 0.1, float(d) / 255.0); }

//# specialisation_operations plain whole spec=0:11,1:4
layout(constant_id = 0) const int a = 3;
layout(constant_id = 1) const uint b = 9u;
const int sum = a * 5 - 2, quotient = a / 2, rest = a % 4, shifted = a << 3 >> 1, inverted = ~a & 0xff, choice = a > 5 ? 40 : 80;
const uint bits = (b | 1u) ^ (b << 4), divided = 255u / b, mask = b & 12u;
const bool both = a > 3 && b < 5u, unequal = a != 11 || b == 4u;
void main() { color = vec4(float(sum + quotient), float(rest * 20 + shifted), float(inverted / 2 + choice), float(bits + divided + mask)) / 255.0 + (both && !unequal ? 0.1 : 0.05); }

//# specialisation_array_size whole spec=0:6
layout(constant_id = 0) const int count = 3;
void main() { float t[count * 2]; int i = int(gl_FragCoord.x); for (int n = 0; n < count * 2; n++) t[n] = float(n * n); color = vec4(t[i % (count * 2)] / 144.0, float(t.length()) / 16.0, t[count] / 64.0, 1.0); }

//# specialisation_composites plain whole spec=0:0x3f400000,1:2
layout(constant_id = 0) const float a = 0.25;
layout(constant_id = 1) const int b = 1;
const vec4 v = vec4(a, 0.5, a, 1.0);
const ivec2 w = ivec2(b, b + 3);
void main() { color = vec4(v.x, v[b] * 0.5, float(w.x * w.y) / 16.0, v.w); }

//# specialisation_control whole spec=0:2,1:5
layout(constant_id = 0) const int way = 0;
layout(constant_id = 1) const int rounds = 2;
void main() { vec2 p = gl_FragCoord.xy / 64.0; vec4 c = vec4(0.0); switch (way) { case 0: c = vec4(1.0); break; case 2: c.x = p.x; default: c.w = 0.5; } for (int n = 0; n < rounds; n++) c.y += p.y * 0.15; if (rounds == 5) c.z = p.x; color = c; }

//# constant_folding plain whole
const float a = sin(0.5) + sqrt(2.0) * 0.1, b = pow(0.5, 1.5), c = atan(0.3, 0.7);
const vec3 d = normalize(vec3(1.0, 2.0, 3.0));
const mat2 m = mat2(0.5, 0.2, 0.1, 0.4) * mat2(0.9, 0.1, 0.3, 0.8);
void main() { color = vec4(a, b + c * 0.5, d.y + m[1].x * 0.1, m[0].y); }

//# special_numbers word
uint g(uint a, uint b, uint c) { float big = 3e38, small = 2e-38; return floatBitsToUint(big) ^ floatBitsToUint(small) * 3u ^ uint(-2147483648) ^ 0xffffffffu * (a & 1u) ^ uint(0x7fffffff) * (b & 1u); }

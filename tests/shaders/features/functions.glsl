// The functions of GLSL.std.450 over `p`, which runs over (0, 1) in steps that floats hold exactly.

//# rounding
vec4 f(vec2 p) { vec2 x = (p - 0.5) * 15.9; return vec4(floor(x.x), ceil(x.y), trunc(x.x), fract(x.y) * 16.0 - 8.0) / 32.0 + 0.5; }

//# round_even
vec4 f(vec2 p) { vec4 x = vec4(floor(p * 64.0) * 0.5 - 16.0, p * 20.0 - 9.9); return vec4(roundEven(x.xy), roundEven(x.z), round(x.w)) / 64.0 + 0.5; }

//# fract_negative
vec4 f(vec2 p) { return fract(vec4(p * -3.0, p * 5.0 - 2.0)) * 0.9; }

//# abs_sign
vec4 f(vec2 p) { vec2 x = p * 2.0 - 1.0; return vec4(abs(x), sign(x) * 0.4 + 0.5); }

//# sign_of_zero word
uint g(uint a, uint b, uint c) { float x = float(int(a % 3u)) - 1.0; return uint(int(sign(x)) + 1) | uint(int(sign(x * 0.0)) + 1) << 8; }

//# radians_degrees
vec4 f(vec2 p) { return vec4(radians(p * 57.0), degrees(p * 0.0171)); }

//# sine
vec4 f(vec2 p) { return sin(vec4(p, p - 0.5) * 12.0) * 0.5 + 0.5; }

//# cosine
vec4 f(vec2 p) { return cos(vec4(p, p - 0.5) * 12.0) * 0.5 + 0.5; }

//# tangent
vec4 f(vec2 p) { return tan(vec4(p, p - 0.5)) * 0.5 + 0.25; }

//# arcsine
vec4 f(vec2 p) { return asin(vec4(p, p * 2.0 - 1.0)) * 0.3 + 0.5; }

//# arccosine
vec4 f(vec2 p) { return acos(vec4(p, p * 2.0 - 1.0)) * 0.3; }

//# arctangent
vec4 f(vec2 p) { return atan(vec4(p * 4.0, p * 30.0 - 15.0)) * 0.3 + 0.5; }

//# arctangent_of_two
vec4 f(vec2 p) { vec2 x = p * 2.0 - 1.0; return vec4(atan(x.y, x.x + 2.0), atan(x.x, x.y), atan(x.y, -x.x - 0.001), 1.0) * 0.15 + 0.5; }

//# hyperbolic
vec4 f(vec2 p) { vec2 x = p * 4.0 - 2.0; return vec4(sinh(x.x) * 0.1 + 0.5, cosh(x.y) * 0.2, tanh(x.x) * 0.4 + 0.5, tanh(x.y * 3.0) * 0.4 + 0.5); }

//# area_hyperbolic
vec4 f(vec2 p) { vec2 x = p * 1.9 - 0.95; return vec4(asinh(x.x * 8.0), acosh(1.0 + p.y * 4.0), atanh(x.x), asinh(x.y)) * 0.15 + 0.4; }

//# power
vec4 f(vec2 p) { return vec4(pow(p.x, 2.2), pow(p.y, 0.45), pow(p.x + 0.5, p.y * 3.0) * 0.25, pow(p.x, 5.0)); }

//# exponential
vec4 f(vec2 p) { return vec4(exp(-p * 4.0), exp2(p.x * 6.0 - 6.0), exp2(-p.y * 9.0)); }

//# logarithm
vec4 f(vec2 p) { return vec4(log(p.x), log2(p.y), log(p.y * 50.0), log2(p.x * 3.0 + 1.0)) * 0.08 + 0.5; }

//# square_root
vec4 f(vec2 p) { return vec4(sqrt(p.x), sqrt(p.y * 0.1), inversesqrt(p.x + 1.0), inversesqrt(p.y * 100.0 + 1.0)); }

//# square_root_of_zero word
uint g(uint a, uint b, uint c) { float n = float(a % 4u); return uint(sqrt(n * n) + 0.25) | uint(length(vec2(n, 0.0)) + 0.25) << 8; }

//# division
vec4 f(vec2 p) { return vec4(p.x / (p.y + 1.0), 0.25 / (p.x + 0.25), (p.y - 0.5) / (p.x - 1.5) + 0.5, p.x / 3.0); }

//# modf_parts
vec4 f(vec2 p) { float w, u; float r = modf(p.x * 7.0 - 3.0, w); float s = modf(p.y * -9.0, u); return vec4(r * 0.5 + 0.5, w * 0.1 + 0.5, s * -0.9, u * -0.1); }

//# min_max
vec4 f(vec2 p) { return vec4(min(p.x, p.y), max(p.x, p.y), min(p.x, 0.5), max(vec2(p.y), vec2(0.25, 0.75)).x); }

//# clamp
vec4 f(vec2 p) { return clamp(vec4(p * 3.0 - 1.0, p), vec4(0.0, 0.1, p.y, 0.3), vec4(1.0, 0.9, 1.0, 0.7)); }

//# mix
vec4 f(vec2 p) { return vec4(mix(0.2, 0.9, p.x), mix(p.y, p.x, 0.25), mix(p.x, p.y, p.x), mix(vec2(0.1), vec2(0.8), p).y); }

//# mix_of_bools
vec4 f(vec2 p) { return mix(vec4(p, p.yx), vec4(0.2, 0.4, 0.6, 0.8), greaterThan(vec4(p, p * 2.0), vec4(0.51, 0.26, 1.1, 0.7))); }

//# step
vec4 f(vec2 p) { return step(vec4(0.3, 0.6, p.y + 0.003, 0.5), vec4(p.x, p.y, p.x, 0.6)) * 0.8; }

//# smoothstep
vec4 f(vec2 p) { return vec4(smoothstep(0.2, 0.7, p.x), smoothstep(0.1, 0.2, p.y), smoothstep(0.9, 0.1, p.x), smoothstep(-1.0, 2.0, p.y)); }

//# fma
vec4 f(vec2 p) { return vec4(fma(p.x, 0.5, p.y * 0.25), fma(p.y, p.x, 0.1), fma(vec2(0.5), p, vec2(0.25))); }

//# frexp
vec4 f(vec2 p) { int e, h; float m = frexp(p.x * 100.0 + 0.001, e); float n = frexp(-p.y * 0.021, h); return vec4(m, float(e) * 0.05 + 0.5, -n, float(h) * 0.02 + 0.9); }

//# frexp_zero word
uint g(uint a, uint b, uint c) { int e; float m = frexp(uintBitsToFloat(a << 31), e); return floatBitsToUint(m) | uint(e); }

//# isnan_words word
uint g(uint a, uint b, uint c) {
    uint kind = a & 3u;
    uint magnitude = kind == 0u ? 0x7f800000u : kind == 1u ? 0x7fc00000u | (c & 0xffffu) : kind == 2u ? 0x7f7fffffu : 0u;
    float x = uintBitsToFloat(b << 31 | magnitude);
    return (isnan(x) ? 0xffu : 0u) | (isinf(x) ? 0xff00u : 0u) | kind << 16;
}

//# frexp_words word
uint g(uint a, uint b, uint c) { float x = float(int(a << 8) >> 8); int e; float m = frexp(x, e); return floatBitsToUint(m + 0.0) ^ uint(e) * 3u; }

//# ldexp_words word
uint g(uint a, uint b, uint c) { return floatBitsToUint(ldexp(float((a & 0xffffu) | 1u), int(b % 200u) - 110)); }

//# length_distance
vec4 f(vec2 p) { return vec4(length(p), distance(p, vec2(0.5)), length(vec3(p, 0.5)), distance(vec4(p, p), vec4(0.3))) * 0.6; }

//# length_of_scalars
vec4 f(vec2 p) { return vec4(length(p.x - 0.5), distance(p.x, p.y), normalize(p.x + 0.1), normalize(-p.y) + 1.5); }

//# normalize
vec4 f(vec2 p) { return vec4(normalize(p - 0.4871), normalize(vec3(p, 0.2)).z, normalize(vec4(p, 0.3, 0.1)).w) * 0.5 + 0.5; }

//# cross_dot
vec4 f(vec2 p) { vec3 c = cross(vec3(p, 0.3), vec3(0.2, p.yx)); return vec4(c * 0.5 + 0.5, dot(vec4(p, p), vec4(0.4, 0.3, 0.2, 0.1))); }

//# faceforward
vec4 f(vec2 p) { return vec4(faceforward(vec3(p, 0.5), vec3(p - 0.503, 0.1), vec3(0.9, 0.2, 0.01)) * 0.5 + 0.5, 1.0); }

//# reflect
vec4 f(vec2 p) { return vec4(reflect(vec3(p, -0.6), normalize(vec3(0.2, 0.3, 0.9))) * 0.4 + 0.5, reflect(vec2(0.6, -0.8), normalize(p + 0.1)).x * 0.4 + 0.5); }

//# refract
vec4 f(vec2 p) { vec3 i = normalize(vec3(p * 2.0 - 1.0, -1.0)); return vec4(refract(i, vec3(0.0, 0.0, 1.0), 0.7) * 0.5 + 0.5, refract(i, vec3(0.0, 0.0, 1.0), 1.9).z + 1.0); }

//# refract_scalar
vec4 f(vec2 p) { return vec4(refract(vec2(0.6, -0.8), vec2(0.0, 1.0), p.x * 1.2) * 0.5 + 0.5, reflect(vec4(p, 0.1, 0.2), vec4(0.5)).xy * 0.3 + 0.5); }

//# modulo
vec4 f(vec2 p) { return vec4(mod(p.x * 7.0, 1.37) * 0.7, mod(p.y * -5.0, 1.13) * 0.7, mod(p.x * 8.0, 2.0) * 0.45, mod(p.y + 3.0, p.x + 4.5) * 0.2); }

//# determinants
vec4 f(vec2 p) {
    return vec4(determinant(mat2(p, 0.3, 0.9)), determinant(mat3(p, 0.1, 0.2, p, 0.5, 0.4, 0.9)), determinant(mat4(p, 0.1, 0.7, 0.2, 0.8, p, 0.5, 0.4, 0.9, 0.1, p, 0.3, 1.0)), 0.5) * 0.4 + 0.5;
}

//# inverses
vec4 f(vec2 p) {
    mat2 a = inverse(mat2(p.x + 1.0, 0.2, 0.3, p.y + 1.0));
    mat3 b = inverse(mat3(2.0, p.x, 0.1, 0.3, 2.0, p.y, 0.2, 0.4, 2.0));
    mat4 c = inverse(mat4(3.0, p.x, 0.1, 0.2, 0.3, 3.0, p.y, 0.1, 0.2, 0.4, 3.0, p.x, p.y, 0.1, 0.5, 3.0));
    return vec4(a[0][1] + a[1][1], b[2][1] + b[1][0], c[3][0] + c[1][2], c[2][2]) * 0.5 + 0.5;
}

//# finite_is_neither_nan_nor_inf plain
vec4 f(vec2 p) { return vec4(isnan(p.x) ? 1.0 : 0.25, isinf(p.y) ? 1.0 : 0.5, any(isnan(p)) ? 1.0 : 0.75, any(isinf(p * 1e30)) ? 0.0 : 1.0); }

//# relaxed_precision es
vec4 f(vec2 p) {
    mediump vec2 q = p;
    mediump float s = sin(q.x * 3.0) * 0.4 + 0.5, d = q.y / (q.x + 0.5) * 0.3, r = sqrt(q.y + 0.1) * 0.7, e = exp2(q.x - 1.0);
    return vec4(s, d, r, e);
}

//# relaxed_integers es
vec4 f(vec2 p) {
    lowp int a = int(p.x * 64.0);
    mediump int b = a * 3 + int(p.y * 64.0);
    mediump uint c = uint(b) / 3u % 16u;
    return vec4(float(a), float(b) * 0.25, float(c) * 4.0, 32.0) / 64.0;
}

#version 450
// Floating-point functions of one or two arguments.
layout(location = 0) in flat float x;
layout(location = 1) in flat float y;
layout(location = 0) out vec4 o[14];

void main()
{
    o[0] = vec4(round(x), roundEven(x), trunc(x), abs(x));
    o[1] = vec4(sign(x), floor(x), ceil(x), fract(x));
    o[2] = vec4(radians(x), degrees(x), sin(x), cos(x));
    float u = clamp(x * 0.125, -1.0, 1.0);
    o[3] = vec4(tan(u), asin(u), acos(u), atan(x));
    o[4] = vec4(atan(y, x), sinh(u), cosh(u), tanh(x));
    float p = abs(x) + 0.5;
    o[5] = vec4(pow(p, y), exp(u), log(p), exp2(u));
    o[6] = vec4(log2(p), sqrt(p), inversesqrt(p), mod(x, 1.75));
    float whole;
    float part = modf(x, whole);
    o[7] = vec4(part, whole, min(x, y), max(x, y));
    o[8] = vec4(clamp(x, -1.0, 2.0), mix(x, y, 0.25), step(x, y), smoothstep(-2.0, 3.0, x));
    o[9] = vec4(fma(x, y, 0.5), asinh(x), acosh(p + 1.0), atanh(u * 0.9));
    int e;
    float m = frexp(x, e);
    o[10] = vec4(m, float(e), ldexp(x, 3), ldexp(y, -2));
    o[11] = vec4(x / y, x - y * 2.0, -x, pow(p, 2.0));
    o[12] = vec4(mix(x, y, x < y), x == y ? 1.0 : 2.0, x != y ? 1.0 : 2.0, x >= y ? 1.0 : 2.0);
    bvec3 less = lessThan(vec3(x, y, 1.0), vec3(y, 0.0, x));
    o[13] = vec4(any(less), all(less), not(less).x, isnan(x) || isinf(x));
}

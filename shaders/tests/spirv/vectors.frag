#version 450
// Geometric functions, swizzles, vectors with dynamic index, matrices.
layout(location = 0) in flat vec4 a;
layout(location = 1) in flat vec4 b;
layout(location = 2) in flat int i;
layout(location = 0) out vec4 o[19];

void main()
{
    o[0] = vec4(length(a.xyz), distance(a, b), dot(a.xy, b.zw), length(a.x));
    o[1] = vec4(cross(a.xyz, b.xyz), normalize(a.w));
    o[2] = normalize(b);
    o[3] = vec4(faceforward(a.xyz, b.xyz, vec3(1.0, 0.5, -0.25)), 0.0);
    o[4] = reflect(a, normalize(b));
    o[5] = vec4(refract(normalize(a.xyz), normalize(b.xyz), 0.75), 1.0);
    vec4 t = a.wzyx;
    t.xz = b.yy;
    t[i & 3] = 9.0;
    o[6] = t;
    o[7] = vec4(a[i & 3], b[(i >> 1) & 3], t.zw);
    mat4 m = mat4(a, b, vec4(b.y, -a.x, 4.0, a.w), vec4(1.0, -2.0, 0.5, 3.0));
    o[8] = m * b;
    o[9] = b * m;
    o[10] = transpose(m)[1];
    mat3 n = mat3(a.xyz, b.xyz, vec3(0.25, -1.0, 2.0));
    o[11] = vec4(determinant(n), determinant(mat2(a)), determinant(m), n[1][2]);
    mat4 inv = inverse(m) * m;
    o[12] = inv[i & 3];
    mat2x3 p = outerProduct(a.xyz, b.xy);
    o[13] = vec4(p[0], p[1].y);
    mat3x2 q = transpose(p);
    o[14] = vec4(p * b.xy, (q * a.xyz).x);
    o[15] = (m * mat4(2.0))[2] + matrixCompMult(m, m)[0];
    m[i & 3].y = 5.0;
    m[2] *= 2.0;
    o[16] = m[0] + m[1] * 10.0 + m[2] * 100.0 + m[3] * 1000.0;
    mat2 r = inverse(mat2(a.x, 2.0, -1.0, b.y)) * mat2(a.x, 2.0, -1.0, b.y);
    o[17] = vec4(r[0], r[1]);
    mat3 s = mat3(m) * (1.0 / 4.0) + n;
    o[18] = vec4(s[0].x, s[1].y, s[2].z, (n * s)[1].x);
}

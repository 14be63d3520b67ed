// Uniform buffers and push constants. Binding 0 holds fractions, binding 1 small integers, binding 2 two blocks of fractions.

//# std140_scalars plain whole
layout(set = 0, binding = 0, std140) uniform U { float a; vec2 b; float c; vec3 d; float e; vec3 f; vec4 g; };
void main() { color = vec4(a + b.x * 0.1, c + b.y * 0.1, d.z * 0.5 + e * 0.3, f.x * 0.2 + f.z * 0.3 + g.w * 0.5); }

//# std140_arrays whole
layout(set = 0, binding = 0, std140) uniform U { float a[5]; vec2 b[3]; vec3 c[2]; float last; };
void main() { ivec2 i = ivec2(gl_FragCoord.xy); color = vec4(a[i.x % 5], b[i.y % 3].y, c[i.x & 1].z, last + a[4] * 0.1); }

//# std140_matrices whole
layout(set = 0, binding = 0, std140) uniform U { mat3 a; mat2 b; mat4x2 c; mat2x4 d; };
void main() { vec2 p = gl_FragCoord.xy / 64.0; color = vec4((a * vec3(p, 0.5)).xz * 0.4, (b * p).y * 0.5, (d * (c * vec4(p, 0.5, 0.1))).w * 0.4); }

//# row_major_matrices whole
layout(set = 0, binding = 0, std140, row_major) uniform U { mat4 a; mat3x2 b; layout(column_major) mat2x3 c; };
void main() { vec2 p = gl_FragCoord.xy / 64.0; color = vec4((a * vec4(p, 0.5, 1.0)).xw * 0.3, (b * vec3(p, 0.2)).y * 0.5, (c * p).z * 0.5); }

//# matrix_columns_dynamic whole
layout(set = 0, binding = 0, std140) uniform U { mat4 a; layout(row_major) mat4 b; mat3 c[3]; };
void main() { ivec2 i = ivec2(gl_FragCoord.xy); color = vec4(a[i.x & 3][i.y & 3], b[i.x & 3][i.y & 3], c[i.x % 3][i.y % 3].y, b[i.y & 3].x); }

//# nested_structures whole
struct Light { vec3 position; float power; vec2 range[2]; };
layout(set = 0, binding = 0, std140) uniform U { float first; Light lights[3]; mat2 turn; };
void main() { ivec2 i = ivec2(gl_FragCoord.xy); Light l = lights[i.x % 3]; color = vec4(l.position.z, l.power, lights[i.y % 3].range[i.x & 1].y, turn[1].x + first * 0.1); }

//# integers_and_bools whole
layout(set = 0, binding = 1, std140) uniform U { int a; uvec3 b; ivec2 c[2]; bool d; bvec2 e; };
void main() { int i = int(gl_FragCoord.x); color = unpackUnorm4x8(uint(a) + b.z * 3u + uint(c[i & 1].y) * 100u + (d ? 7u : 9u) * 1000u + (e.y ? 1u : 2u) * 50000u); }

//# index_from_buffer whole
layout(set = 0, binding = 0, std140) uniform F { vec4 values[16]; };
layout(set = 0, binding = 1, std140) uniform N { ivec4 order[16]; };
void main() { ivec2 i = ivec2(gl_FragCoord.xy) & 15; color = values[order[i.x].y & 15] * 0.5 + values[order[i.y][i.x & 3] & 15] * 0.5; }

//# negative_and_computed_offsets whole
layout(set = 0, binding = 0, std140) uniform F { vec4 values[16]; };
void main() { int i = int(gl_FragCoord.x); color = vec4(values[15 - (i & 7)].x, values[(i * 5 + 3) & 15].w, values[i / 5].z, values[(i & 3) * 4 + 1][i & 3]); }

//# array_of_blocks whole
layout(set = 0, binding = 2, std140) uniform B { vec4 a; float t[4]; } blocks[2];
void main() { int i = int(gl_FragCoord.x); color = vec4(blocks[0].a.x, blocks[1].a.y, blocks[0].t[i & 3], blocks[1].t[3 - (i & 3)]); }

//# two_blocks_and_push plain whole
layout(set = 0, binding = 0, std140) uniform F { vec4 a; };
layout(set = 0, binding = 2, std140) uniform B { vec4 b; } blocks[2];
layout(push_constant) uniform P { vec4 c; };
void main() { color = a * 0.3 + blocks[1].b * 0.3 + c * 0.3; }

//# push_constants plain whole
layout(push_constant) uniform P { float a; vec2 b; vec3 c; mat2 d; float e[2]; layout(offset = 64) int f; uvec2 g; };
void main() { color = vec4(a + b.y * 0.1, c.z, d[1].x, e[1]) * 0.5 + vec4(float(f), uvec2(g), 0.0) / 200.0; }

//# push_constants_dynamic whole
layout(push_constant) uniform P { vec4 a[3]; float b[4]; ivec4 c; };
void main() { ivec2 i = ivec2(gl_FragCoord.xy); color = vec4(a[i.x % 3][i.y & 3], b[i.y & 3], float(c[i.x & 3]) / 200.0, a[2].w); }

//# whole_block_copies whole
struct S { vec4 a; float b[3]; mat2 c; };
layout(set = 0, binding = 0, std140) uniform U { S s; S t; };
void main() { ivec2 i = ivec2(gl_FragCoord.xy); S x = t; if ((i.x & 4) != 0) x = s; x.b[i.y % 3] *= 0.5; color = vec4(x.a.y, x.b[i.x % 3], x.c[1].y, x.c[i.y & 1].x); }

//# uniform_branches whole
layout(set = 0, binding = 1, std140) uniform N { ivec4 n[4]; };
void main() { vec2 p = gl_FragCoord.xy / 64.0; color = vec4(0.1); if (n[0].x > 1000) color.r = p.x; else color.g = p.y; if (n[1].x == 3) { color.b = p.x; if (n[1].y != 0) color.a = 0.75; } }

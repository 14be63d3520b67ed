// Built-in variables and the vertex stage.

//# frag_coord whole
void main() { color = vec4(gl_FragCoord.xy / 64.0, gl_FragCoord.z, gl_FragCoord.w); }

//# frag_coord_with_w stages
//vert
void main() { position(); gl_Position.z = place.x * 0.5 + 0.25; gl_Position *= weight; }
//frag
void main() { color = vec4(gl_FragCoord.xy / 64.0, gl_FragCoord.z, gl_FragCoord.w * 0.9); }

//# frag_coord_exact word
uint g(uint a, uint b, uint c) { uvec2 i = uvec2(gl_FragCoord.xy); return i.x | i.y << 8 | uint(fract(gl_FragCoord.x) * 4.0) << 16 | uint(fract(gl_FragCoord.y) * 4.0) << 24; }

//# front_facing stages exact
//vert
void main() { position(); if ((cell & 1) != 0) gl_Position.xy = turned; }
//frag
void main() { color = gl_FrontFacing ? vec4(1.0, 0.2, 0.0, 1.0) : vec4(0.0, 0.4, 1.0, 1.0); }

//# frag_depth whole depth
void main() { vec2 p = gl_FragCoord.xy / 64.0; gl_FragDepth = p.x; color = vec4(p, 0.5, 1.0); if (p.y > 0.5) gl_FragDepth = 0.25; }

//# frag_depth_hides stages depth exact
//vert
layout(location = 1) flat out int c;
void main() { position(); gl_Position.xy = (place * 1.8 - 0.9) * float(1 + (cell & 1)); c = cell; }
//frag
layout(location = 1) flat in int c;
void main() { gl_FragDepth = float(c) / 128.0 + 0.25; color = vec4(float(c) / 255.0, 0.5, 0.0, 1.0); }

//# vertex_index stages exact
//vert
layout(location = 1) flat out uint a;
void main() { position(); a = uint(gl_VertexIndex / 6) * 0x00010305u + 0x01000000u; }
//frag
layout(location = 1) flat in uint a;
void main() { color = unpackUnorm4x8(a); }

//# vertex_index_positions stages exact
//vert
layout(location = 1) flat out int a;
const vec2 corners[6] = vec2[](vec2(0, 0), vec2(1, 0), vec2(1, 1), vec2(0, 0), vec2(1, 1), vec2(0, 1));
void main() { int c = gl_VertexIndex / 6; gl_Position = vec4((vec2(c & 7, c >> 3) + corners[gl_VertexIndex % 6]) * 0.25 - 1.0, 0.0, 1.0); a = c; }
//frag
layout(location = 1) flat in int a;
void main() { color = vec4(float(a * 3) / 255.0, 0.0, float(a & 7) * 30.0 / 255.0, 1.0); }

//# instance_index stages exact instances=3
//vert
layout(location = 1) flat out int a;
void main() { position(); gl_Position.y = gl_Position.y / 4.0 - 0.5 + float(gl_InstanceIndex) * 0.5; a = gl_InstanceIndex; }
//frag
layout(location = 1) flat in int a;
void main() { color = vec4(float(a * 100 + 20) / 255.0, 0.2, 0.4, 1.0); }

//# point_size stages points exact
//vert
layout(location = 1) flat out int c;
void main() { position(); gl_PointSize = float(1 + (cell & 3) * 2); c = cell; }
//frag
layout(location = 1) flat in int c;
void main() { color = vec4(float(c) * 3.0 / 255.0, 0.5, 1.0, 1.0); }

//# point_coord stages points
//vert
void main() { position(); gl_PointSize = 8.0; }
//frag
void main() { color = vec4(gl_PointCoord, 0.0, 1.0); }

//# clip_space stages
//vert
layout(location = 1) out vec2 a;
void main() { position(); gl_Position = vec4((place * 2.0 - 1.0) * 3.0 * weight, weight * 0.5, weight); a = place; }
//frag
layout(location = 1) in vec2 a;
void main() { color = vec4(a, 0.0, 1.0); }

//# vertex_math stages
//vert
layout(location = 1) out vec4 a;
void main() { position(); vec3 n = normalize(vec3(place, 0.5)); a = vec4(n.x * 0.9, sin(place.y * 3.0) * 0.5 + 0.5, exp2(-place.x), sqrt(place.y + 0.1)); }
//frag
layout(location = 1) in vec4 a;
void main() { color = a * 0.9; }

//# vertex_control_flow stages exact
//vert
layout(location = 1) flat out uint a;
uint steps(uint x) { uint n = 0u; while (x != 1u && n < 30u) { x = (x & 1u) != 0u ? x * 3u + 1u : x >> 1; n++; } return n; }
void main() { position(); a = 3u; switch (cell & 3) { case 0: a = steps(uint(cell) + 1u); break; case 1: a = uint(cell * cell); case 2: a += 1000u; break; default: a = 7u; } }
//frag
layout(location = 1) flat in uint a;
void main() { color = unpackUnorm4x8(a * 0x1003u); }

//# vertex_uniforms stages exact
//vert
layout(set = 0, binding = 1, std140) uniform N { ivec4 n[16]; };
layout(push_constant) uniform P { layout(offset = 64) ivec4 k; };
layout(location = 1) flat out int a;
void main() { position(); a = n[cell & 15][cell >> 4] + k[cell & 3] * 1000 + n[2].y; }
//frag
layout(location = 1) flat in int a;
void main() { color = unpackUnorm4x8(uint(a) * 0x101u); }

//# attributes_unorm stages formats=R8G8B8A8_UNORM,R16G16_UNORM
//vert
layout(location = 2) in vec4 x;
layout(location = 3) in vec2 y;
layout(location = 1) flat out vec4 a;
void main() { position(); a = vec4(x.xy * 0.5 + x.zw * 0.25, y); }
//frag
layout(location = 1) flat in vec4 a;
void main() { color = a * 0.9; }

//# attributes_snorm stages formats=R8G8B8A8_SNORM,R16G16B16A16_SNORM
//vert
layout(location = 2) in vec4 x;
layout(location = 3) in vec4 y;
layout(location = 1) flat out vec4 a;
void main() { position(); a = x * 0.25 + y * 0.25 + 0.5; }
//frag
layout(location = 1) flat in vec4 a;
void main() { color = a * 0.9; }

//# attributes_integer stages exact formats=R8G8B8A8_UINT,R16G16_SINT,R32G32B32_UINT
//vert
layout(location = 2) in uvec4 x;
layout(location = 3) in ivec2 y;
layout(location = 4) in uvec3 z;
layout(location = 1) flat out uint a;
void main() { position(); a = (x.x ^ x.y << 8 ^ x.z << 16 ^ x.w << 24) + uint(y.x * 3 + y.y) + (z.x ^ z.y ^ z.z); }
//frag
layout(location = 1) flat in uint a;
void main() { color = unpackUnorm4x8(a); }

//# attributes_scaled stages formats=R8G8B8A8_USCALED,R16G16_SSCALED
//vert
layout(location = 2) in vec4 x;
layout(location = 3) in vec2 y;
layout(location = 1) flat out vec4 a;
void main() { position(); a = vec4(x.xz / 256.0, y / 65536.0 + 0.5); }
//frag
layout(location = 1) flat in vec4 a;
void main() { color = a * 0.9; }

//# attributes_packed stages formats=A2B10G10R10_UNORM_PACK32,R16_UNORM,R8_UNORM
//vert
layout(location = 2) in vec4 x;
layout(location = 3) in float z;
layout(location = 4) in float y;
layout(location = 1) flat out vec4 a;
void main() { position(); a = vec4(x.rg + x.ba * 0.1, y, z); }
//frag
layout(location = 1) flat in vec4 a;
void main() { color = a * 0.85; }

//# attributes_with_defaults stages formats=R8G8_UNORM,R16_SINT
//vert
layout(location = 2) in vec4 x;
layout(location = 3) in ivec4 y;
layout(location = 1) flat out vec4 a;
void main() { position(); a = vec4(x.rg, x.b + x.a * 0.5, float(y.y + y.z * 2 + y.w * 3) * 0.2); }
//frag
layout(location = 1) flat in vec4 a;
void main() { color = a; }

//# vertex_calls_in_loops stages exact
//vert
layout(location = 1) flat out uint a;
uint total;
void add(uint x) { total += x * 3u; if (x > 40u) total ^= 5u; }
void main() { position(); total = 1u; for (int n = 0; n < (cell & 7); n++) { add(uint(cell + n)); } a = total; }
//frag
layout(location = 1) flat in uint a;
void main() { color = unpackUnorm4x8(a * 0x1003u); }

//# device_index whole exact plain
#extension GL_EXT_device_group : require
void main() { color = gl_DeviceIndex == 0 ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0, 0.0, 0.0, 1.0); }

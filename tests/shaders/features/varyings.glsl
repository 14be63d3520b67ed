// What goes from stage to stage. The mesh is a grid of 8 by 8 cells; `cell` and `corner` are whole numbers, `weight` differs between vertices.

//# flat_integers stages exact
//vert
layout(location = 1) flat out uint a;
layout(location = 2) flat out ivec3 b;
void main() { position(); a = uint(cell) * 0x01030507u; b = ivec3(cell, -cell, cell * cell); }
//frag
layout(location = 1) flat in uint a;
layout(location = 2) flat in ivec3 b;
void main() { color = unpackUnorm4x8(a ^ uint(b.x * 7 + b.y * 100 + b.z * 3000)); }

//# flat_floats stages exact
//vert
layout(location = 1) flat out vec3 a;
void main() { position(); a = vec3(cell) * vec3(4.0, 2.0, 1.0) + vec3(0.0, 1.0, 2.0); }
//frag
layout(location = 1) flat in vec3 a;
void main() { color = vec4(a / 255.0, 1.0); }

//# flat_beside_smooth stages
//vert
layout(location = 1) flat out float a;
layout(location = 2) out vec3 b;
layout(location = 3) flat out int c;
void main() { position(); a = float(cell) / 64.0; b = vec3(place, 0.3); c = cell; }
//frag
layout(location = 1) flat in float a;
layout(location = 2) in vec3 b;
layout(location = 3) flat in int c;
void main() { color = vec4(a, b.xy, float(c & 7) / 8.0); }

//# perspective stages
//vert
layout(location = 1) out vec2 a;
void main() { position(); gl_Position *= weight; a = place; }
//frag
layout(location = 1) in vec2 a;
void main() { color = vec4(a, 0.5, 1.0); }

//# noperspective stages
//vert
layout(location = 1) noperspective out vec2 a;
layout(location = 2) out vec2 b;
void main() { position(); gl_Position *= weight; a = place; b = place; }
//frag
layout(location = 1) noperspective in vec2 a;
layout(location = 2) in vec2 b;
void main() { color = vec4(a, b); }

//# fewer_components_than_written stages
//vert
layout(location = 1) out vec4 a;
layout(location = 2) flat out ivec3 b;
layout(location = 3) out vec3 c[2];
void main() { position(); a = vec4(place, 0.3, 0.9); b = ivec3(cell, 9, 8); c[0] = vec3(place.yx, 0.4); c[1] = vec3(place.y); }
//frag
layout(location = 1) in vec3 a;
layout(location = 2) flat in int b;
layout(location = 3) in vec2 c[2];
void main() { color = vec4(a.xy * a.z, c[0].x * c[1].y, float(b & 7) / 8.0); }

//# packed_components stages
//vert
layout(location = 1, component = 0) out float a;
layout(location = 1, component = 1) out vec2 b;
layout(location = 1, component = 3) out float c;
void main() { position(); a = place.x; b = place.yx * 0.5; c = 0.75; }
//frag
layout(location = 1, component = 0) in float a;
layout(location = 1, component = 1) in vec2 b;
layout(location = 1, component = 3) in float c;
void main() { color = vec4(b, a, c); }

//# varying_arrays stages
//vert
layout(location = 1) out float a[3];
layout(location = 4) out vec2 b[2];
void main() { position(); for (int n = 0; n < 3; n++) a[n] = place.x * float(n + 1) * 0.3; b[0] = place; b[1] = place.yx * 0.5; }
//frag
layout(location = 1) in float a[3];
layout(location = 4) in vec2 b[2];
void main() { int i = int(gl_FragCoord.y) & 1; color = vec4(a[2], a[i], b[1 - i].x, b[i].y); }

//# varying_structures stages
//vert
struct S { vec2 a; float b; };
layout(location = 1) out S s;
layout(location = 3) out S t[2];
void main() { position(); s = S(place, 0.25); t[0] = S(place.yx, place.x); t[1] = S(vec2(0.1, 0.9), place.y); }
//frag
struct S { vec2 a; float b; };
layout(location = 1) in S s;
layout(location = 3) in S t[2];
void main() { color = vec4(s.a.y + s.b * 0.1, t[0].a.x, t[1].a.y * t[1].b, t[0].b); }

//# varying_matrices stages
//vert
layout(location = 1) out mat3x2 m;
layout(location = 4) out mat2 n[2];
void main() { position(); m = mat3x2(place, place.yx * 0.5, 0.3, 0.6); n[0] = mat2(place, 0.2, 0.4); n[1] = mat2(0.1, 0.7, place); }
//frag
layout(location = 1) in mat3x2 m;
layout(location = 4) in mat2 n[2];
void main() { int i = int(gl_FragCoord.x) & 1; color = vec4((m * vec3(0.5, 0.5, 0.2)).x, m[i].y, n[1][1].y, n[i][0].x); }

//# varying_blocks stages
//vert
layout(location = 1) out Block { vec2 a; flat int b; vec3 c; } o;
void main() { position(); o.a = place; o.b = cell; o.c = vec3(0.2, place); }
//frag
layout(location = 1) in Block { vec2 a; flat int b; vec3 c; } o;
void main() { color = vec4(o.a.y, float(o.b) / 64.0, o.c.zx); }

//# many_varyings stages
//vert
layout(location = 1) out vec4 a[6];
void main() { position(); for (int n = 0; n < 6; n++) a[n] = vec4(place, place.yx) * (0.1 + 0.15 * float(n)); }
//frag
layout(location = 1) in vec4 a[6];
void main() { vec4 s = vec4(0.0); for (int n = 0; n < 6; n++) s += a[n] * (n % 2 == 0 ? 0.5 : 0.25); color = s * 0.6; }

//# unread_and_partly_read stages
//vert
layout(location = 1) out vec4 a;
layout(location = 2) out vec4 b;
layout(location = 3) out vec4 c;
void main() { position(); a = vec4(place, 0.1, 0.2); b = vec4(0.3, place, 0.4); c = vec4(0.5, 0.6, place); }
//frag
layout(location = 3) in vec4 c;
layout(location = 1) in vec2 a;
void main() { color = vec4(a.y, c.w, c.z, 1.0); }

//# varyings_in_branches stages
//vert
layout(location = 1) out vec2 a;
layout(location = 2) out vec2 b;
layout(location = 3) flat out int c;
void main() { position(); a = place; b = place.yx * 0.5; c = cell; }
//frag
layout(location = 1) in vec2 a;
layout(location = 2) in vec2 b;
layout(location = 3) flat in int c;
void main() { if ((c & 1) != 0) color = vec4(a, 0.0, 1.0); else if ((c & 2) != 0) color = vec4(b.y, 0.2, b.x, 1.0); else color = vec4(0.5); }

//# outputs_in_branches_and_loops stages exact
//vert
layout(location = 1) flat out uvec2 a;
void main() { position(); a = uvec2(1u); if (cell > 20) a.x = uint(cell) * 77u; else a.y = 5u; for (int n = 0; n < (cell & 7); n++) a.y = a.y * 3u + a.x; }
//frag
layout(location = 1) flat in uvec2 a;
void main() { color = unpackUnorm4x8(a.x * 31u + a.y); }

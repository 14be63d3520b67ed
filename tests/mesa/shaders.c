/* What programs compute. */
#include "scenes.h"

static void full(const char *fragment)
{
    program(VERTEX_UV, fragment);
    rect(0, 0, (float)W, (float)H, 0);
}

/* Uniform arrays indexed by what the program computes. */
static void uniform_arrays(void)
{
    GLuint name = program(
        "attribute vec4 a0; attribute vec2 a1; varying vec2 v; uniform vec2 shift[5];\n"
        "void main() { int i = int(a1.x * 2.0 + a1.y * 2.0 + 0.5); v = a1; gl_Position = a0 + vec4(shift[i], 0.0, 0.0); }\n",
        "uniform vec4 palette[24]; varying vec2 v;\n"
        "void main() { int i = int(v.x * 7.99), j = int(v.y * 2.99); gl_FragColor = palette[j * 8 + i]; }\n");
    float palette[24 * 4], shift[10];
    seed(6);
    for (int i = 0; i < 24 * 4; i++) palette[i] = i % 4 == 3 ? 1 : random01();
    for (int i = 0; i < 10; i++) shift[i] = random01() * 0.2f - 0.1f;
    glUniform4fv(glGetUniformLocation(name, "palette"), 24, palette);
    glUniform2fv(glGetUniformLocation(name, "shift"), 5, shift);
    rect(16, 16, 112, 112, 0);
}

/* Loops of constant and of data-dependent length. */
static void loops(void)
{
    full("varying vec2 v; void main() { vec2 c = v * 3.0 - vec2(2.2, 1.5), z = vec2(0.0); float n = 0.0;\n"
         "  for (int i = 0; i < 24; i++) { if (dot(z, z) > 4.0) break;\n"
         "    z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c; n += 1.0; }\n"
         "  gl_FragColor = vec4(n / 24.0, fract(n / 5.0), 0.3, 1.0); }\n");
}

static void nested_loops(void)
{
    full("varying vec2 v; uniform vec4 unused; void main() { float sum = 0.0; int limit = int(v.x * 6.0);\n"
         "  for (int i = 0; i < 6; i++) { if (i > limit) continue;\n"
         "    for (int j = 0; j < 4; j++) { if (float(j) > v.y * 4.0) break; sum += float(i * j) + 1.0; } }\n"
         "  gl_FragColor = vec4(fract(sum / 16.0), sum / 100.0, v.x, 1.0); }\n");
}

/* The last line keeps v alive: Mesa before 23 decided anew with an overwritten v.x otherwise. */
static void branches(void)
{
    full("varying vec2 v; void main() { vec3 c; float a = sin(v.x * 20.0) + cos(v.y * 17.0);\n"
         "  if (a > 1.0) { c = vec3(1.0, v); } else if (a > 0.0) { if (v.x > 0.5) c = vec3(v.y, 1.0, 0.0);\n"
         "    else { c = vec3(0.0, v.y, 1.0); c *= 0.5 + 0.5 * a; } }\n"
         "  else { c = a < -1.0 ? vec3(0.3) : vec3(v.x, 0.2, v.y); }\n"
         "  gl_FragColor = vec4(c * (0.9 + 0.1 * v.x * v.y), 1.0); }\n");
}

static void discards(void)
{
    full("varying vec2 v; void main() { vec2 p = fract(v * 6.0) - 0.5;\n"
         "  if (dot(p, p) > 0.16) discard; gl_FragColor = vec4(v, 0.5, 1.0);\n"
         "  if (p.x > 0.2) { if (p.y > 0.0) discard; gl_FragColor = vec4(1.0, 1.0, 0.0, 1.0); } }\n");
}

/* Discarded pixels leave depth and stencil alone. */
static void discard_depth(void)
{
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_STENCIL_TEST);
    glStencilOp(GL_KEEP, GL_KEEP, GL_INCR);
    full("varying vec2 v; void main() { if (fract(v.x * 8.0) < 0.5) discard; gl_FragColor = vec4(v.y, 0.2, 0.1, 1.0); }\n");
    program(VERTEX_UV, FRAGMENT_UNIFORM);
    fill(8, 8, 120, 60, 0.5f, 0, 0.7f, 0, 1);
    glDisable(GL_DEPTH_TEST);
    glStencilFunc(GL_EQUAL, 1, 0xff);
    fill(8, 70, 120, 120, 0, 0, 0, 0.9f, 1);
}

static void derivatives(void)
{
    if (!offers("GL_OES_standard_derivatives")) not_offered("GL_OES_standard_derivatives");
    full("#extension GL_OES_standard_derivatives : require\n"
         "varying vec2 v; void main() { float f = v.x * v.x * 30.0 + v.y * 8.0;\n"
         "  gl_FragColor = vec4(abs(dFdx(f)) * 2.0, abs(dFdy(f)) * 8.0, fwidth(f), 1.0); }\n");
}

/* A function per cell, scaled to what a colour holds. */
static void functions(const char *functions)
{
    char text[4096];
    snprintf(text, sizeof text,
        "varying vec2 v;\n"
        "vec3 cell(float k, float x, float y) { float r = 0.0, g = 0.0, b = 0.0;\n%s\n return vec3(r, g, b); }\n"
        "void main() { vec2 at = v * 4.0; vec2 p = fract(at); vec2 c = floor(at);\n"
        "  gl_FragColor = vec4(cell(c.y * 4.0 + c.x, p.x, p.y), 1.0); }\n",
        functions);
    full(text);
}

static void functions_angle(void)
{
    functions(
        "float t = x * 12.0 - 6.0;\n"
        "if (k < 0.5) { r = sin(t) * 0.5 + 0.5; g = sin(t * y * 3.0) * 0.5 + 0.5; }\n"
        "else if (k < 1.5) { r = cos(t) * 0.5 + 0.5; g = cos(t + y * 9.0) * 0.5 + 0.5; }\n"
        "else if (k < 2.5) { r = tan(x * 1.2) / 3.0; }\n"
        "else if (k < 3.5) { r = asin(x * 1.96 - 0.98) / 3.2 + 0.5; }\n"
        "else if (k < 4.5) { r = acos(x * 1.96 - 0.98) / 3.2; }\n"
        "else if (k < 5.5) { r = atan(t) / 3.2 + 0.5; }\n"
        "else if (k < 6.5) { r = atan(y - 0.51, x - 0.48) / 6.4 + 0.5; }\n"
        "else if (k < 7.5) { r = radians(x * 50.0); g = degrees(y * 0.017); }\n"
        "else { r = x; g = y; b = k / 16.0; }");
}

static void functions_exponent(void)
{
    functions(
        "if (k < 0.5) { r = pow(x, 0.2 + 3.0 * y); g = pow(2.0 + x, y) / 3.0; }\n"
        "else if (k < 1.5) { r = exp(x * 2.0 - 2.0); g = exp2(-y * 4.0); }\n"
        "else if (k < 2.5) { r = log(0.1 + x * 5.0) / 4.0 + 0.6; g = log2(0.05 + y) / 8.0 + 0.6; }\n"
        "else if (k < 3.5) { r = sqrt(x); g = inversesqrt(0.05 + y) / 5.0; }\n"
        "else if (k < 4.5) { r = x / (0.2 + y); g = 0.1 / (0.1 + x); }\n"
        "else if (k < 5.5) { r = length(vec2(x, y)) * 0.7; g = distance(vec3(x, y, 0.2), vec3(0.5)); }\n"
        "else if (k < 6.5) { vec3 n = normalize(vec3(x - 0.5, y - 0.5, 0.3)); r = n.x * 0.5 + 0.5; g = n.y * 0.5 + 0.5; b = n.z; }\n"
        "else if (k < 7.5) { vec3 n = reflect(normalize(vec3(x, y, 1.0)), vec3(0.0, 0.6, 0.8)); r = n.x * 0.5 + 0.5; g = n.y * 0.5 + 0.5; }\n"
        "else if (k < 8.5) { vec3 n = refract(normalize(vec3(x, y, -1.0)), vec3(0.0, 0.0, 1.0), 0.7); r = n.x; g = n.y; b = -n.z; }\n"
        "else { r = x; g = y; b = k / 16.0; }");
}

static void functions_common(void)
{
    functions(
        "float t = x * 6.0 - 3.0;\n"
        "if (k < 0.5) { r = floor(t) / 6.0 + 0.5; g = ceil(t + 0.013) / 6.0 + 0.5; b = fract(t); }\n"
        "else if (k < 1.5) { r = mod(t + 0.011, 1.3) / 1.3; g = mod(t + 0.007, -0.7) + 0.7; }\n"
        "else if (k < 2.5) { r = abs(t) / 3.0; g = sign(t) * 0.5 + 0.5; }\n"
        "else if (k < 3.5) { r = min(x, y); g = max(x, y); b = clamp(t, 0.2, 0.8); }\n"
        "else if (k < 4.5) { r = mix(0.2, y, x); g = step(0.487, x); b = smoothstep(0.2, 0.8, y); }\n"
        "else if (k < 5.5) { vec3 c = cross(vec3(x, y, 1.0), vec3(y, 1.0, x)); r = c.x * 0.5 + 0.5; g = c.y * 0.5 + 0.5; b = c.z * 0.5 + 0.5; }\n"
        "else if (k < 6.5) { vec4 a = vec4(x, y, x * y, 1.0); r = dot(a, a.wzyx) / 4.0; g = all(lessThan(a.xy, vec2(0.513))) ? 1.0 : 0.0; b = any(greaterThan(a.xy, vec2(0.76))) ? 1.0 : 0.0; }\n"
        "else if (k < 7.5) { mat2 m = mat2(x, y, -y, x); vec2 p = m * (m * vec2(0.5, 0.7)); r = p.x * 0.5 + 0.5; g = p.y * 0.5 + 0.5; }\n"
        "else if (k < 8.5) { mat3 m = mat3(x, 0.2, y, 0.5, y, 0.1, 0.3, x, 0.9); vec3 p = matrixCompMult(m, m) * vec3(x, 1.0, y) * m; r = p.x * 0.3; g = p.y * 0.3; b = p.z * 0.3; }\n"
        "else if (k < 9.5) { int i = int(x * 9.97) * 3 - 11; int j = i / 2 + int(y * 5.97); r = float(j) / 12.0 + 0.5; g = float(i * j) / 200.0 + 0.5; b = i == j ? 1.0 : 0.0; }\n"
        "else if (k < 10.5) { bvec2 q = bvec2(x > 0.513, y > 0.287); r = float(q.x && q.y); g = float(q.x || q.y); b = float(q.x ^^ q.y); }\n"
        "else { r = x; g = y; b = k / 16.0; }");
}

/* Mesa's vc4 gives the pixel's corner where GL wants its centre (vc4_program.c, emit_fragcoord_input): whole pixels
 * only. */
static void frag_coord(void)
{
    full("varying vec2 v; void main() { vec2 p = floor(gl_FragCoord.xy);\n"
         "  gl_FragColor = vec4(mod(p.x, 16.0) / 16.0, mod(p.y, 32.0) / 32.0, gl_FragCoord.z * gl_FragCoord.w, 1.0); }\n");
    glViewport(20, 30, 70, 50);
    glDepthRangef(0.2f, 0.6f);
    program("attribute vec4 a0; void main() { gl_Position = vec4(a0.xy * 2.0, a0.x, 2.0 + a0.y); }\n",
        "void main() { gl_FragColor = vec4(fract(floor(gl_FragCoord.xy) / 10.0 + 0.01), gl_FragCoord.z, gl_FragCoord.w); }\n");
    rect(0, 0, 128, 128, 0);
}

/* More values alive than there are registers. */
static void pressure(void)
{
    full("varying vec2 v; void main() { vec4 a[10]; \n"
         "  for (int i = 0; i < 10; i++) { float f = float(i) * 0.37; a[i] = vec4(sin(v.x * 3.0 + f), cos(v.y * 2.0 - f), v.x * f, v.y + f); }\n"
         "  vec4 s = vec4(0.0); for (int i = 0; i < 10; i++) s += a[i] * a[9 - i];\n"
         "  gl_FragColor = vec4(fract(s.xyz * 0.2), 1.0); }\n");
}

/* Uniforms of every type. */
static void uniform_types(void)
{
    GLuint name = program(VERTEX_UV,
        "uniform float f; uniform vec2 f2; uniform vec3 f3; uniform int i; uniform ivec2 i2; uniform ivec4 i4;\n"
        "uniform bool b; uniform bvec3 b3; uniform mat2 m2; uniform mat3 m3; uniform mat4 m4;\n"
        "uniform struct { float x; vec3 y[2]; } s; varying vec2 v;\n"
        "void main() { vec3 c = vec3(f + f2.x * v.x, f2.y, f3.z * v.y);\n"
        "  c += vec3(float(i), float(i2.y), float(i4.w)) / 64.0; if (b) c.r += 0.1; if (b3.y) c.g += 0.2; if (b3.z) c.b += 0.3;\n"
        "  c.xy += m2 * v * 0.2; c += m3 * vec3(v, 1.0) * 0.1 + (m4 * vec4(v, 0.0, 1.0)).zyx * 0.1;\n"
        "  c += s.x * s.y[1] * 0.2 + s.y[0] * v.x * 0.1; gl_FragColor = vec4(c * 0.6, 1.0); }\n");
    static const float numbers[16] = {0.1f, 0.7f, 0.3f, 0.9f, 0.5f, 0.2f, 0.8f, 0.4f, 0.6f, 0.05f, 0.35f, 0.75f, 0.25f,
        0.65f, 0.45f, 0.85f};
    static const int integers[4] = {3, -5, 7, 9};
    glUniform1f(glGetUniformLocation(name, "f"), 0.2f);
    glUniform2fv(glGetUniformLocation(name, "f2"), 1, numbers);
    glUniform3fv(glGetUniformLocation(name, "f3"), 1, numbers);
    glUniform1i(glGetUniformLocation(name, "i"), 4);
    glUniform2iv(glGetUniformLocation(name, "i2"), 1, integers);
    glUniform4iv(glGetUniformLocation(name, "i4"), 1, integers);
    glUniform1i(glGetUniformLocation(name, "b"), 1);
    glUniform3i(glGetUniformLocation(name, "b3"), 0, 1, 0);
    glUniformMatrix2fv(glGetUniformLocation(name, "m2"), 1, GL_FALSE, numbers);
    glUniformMatrix3fv(glGetUniformLocation(name, "m3"), 1, GL_FALSE, numbers);
    glUniformMatrix4fv(glGetUniformLocation(name, "m4"), 1, GL_FALSE, numbers);
    glUniform1f(glGetUniformLocation(name, "s.x"), 0.8f);
    glUniform3fv(glGetUniformLocation(name, "s.y[0]"), 2, numbers);
    rect(0, 0, 128, 128, 0);
}

/* Vertex programs: loops, texture-free noise, and matrices from attributes. */
static void vertex_programs(void)
{
    enum { N = 20 };
    static float vertices[N * N * 6 * 4];
    float *at = vertices;
    for (int i = 0; i < N * N; i++) {
        static const int corner[6][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 1}};
        for (int c = 0; c < 6; c++, at += 4) {
            at[0] = (float)(i % N + corner[c][0]) / N;
            at[1] = (float)(i / N + corner[c][1]) / N;
            at[2] = (float)(i % 5) / 5;
            at[3] = (float)(i % 3) / 3;
        }
    }
    program(
        "attribute vec2 a0; attribute vec2 a1; varying vec4 v;\n"
        "void main() { vec2 p = a0 * 2.0 - 1.0; float h = 0.0;\n"
        "  for (int i = 1; i < 5; i++) { float f = float(i); h += sin(p.x * f * 2.0) * cos(p.y * f * 3.0) / f; }\n"
        "  mat2 turn = mat2(cos(h * 0.3), sin(h * 0.3), -sin(h * 0.3), cos(h * 0.3));\n"
        "  gl_Position = vec4(turn * p * 0.8, h * 0.2, 1.0 + 0.1 * h); v = vec4(h * 0.4 + 0.5, a1, 1.0); }\n",
        FRAGMENT_COLOR);
    draw(GL_TRIANGLES, vertices, N * N * 6, 2, 2);
}

const struct scene shader_scenes[] = {
    {"shader_uniform_arrays", 128, 128, uniform_arrays},
    {"shader_uniform_types", 128, 128, uniform_types},
    {"shader_loops", 128, 128, loops},
    {"shader_nested_loops", 128, 128, nested_loops},
    {"shader_branches", 128, 128, branches},
    {"shader_discard", 128, 128, discards},
    {"shader_discard_depth", 128, 128, discard_depth},
    {"shader_derivatives", 128, 128, derivatives},
    {"shader_angle", 128, 128, functions_angle},
    {"shader_exponent", 128, 128, functions_exponent},
    {"shader_common", 128, 128, functions_common},
    {"shader_frag_coord", 128, 128, frag_coord},
    {"shader_pressure", 128, 128, pressure},
    {"shader_vertex", 128, 128, vertex_programs},
    {NULL, 0, 0, NULL},
};

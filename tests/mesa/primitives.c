/* Primitive types, vertex arrays and indices. */
#include "scenes.h"

enum { VERTICES = 24 };

/* Coloured vertices scattered over the picture. */
static void scatter(float *vertices, int count, unsigned value)
{
    seed(value);
    for (int i = 0; i < count; i++, vertices += 7) {
        for (int c = 0; c < 2; c++) vertices[c] = random01() * 1.8f - 0.9f;
        vertices[2] = 0;
        for (int c = 3; c < 6; c++) vertices[c] = 0.2f + 0.8f * random01();
        vertices[6] = 1;
    }
}

static void scattered(GLenum mode, int count, unsigned value)
{
    float vertices[VERTICES * 7];
    scatter(vertices, count, value);
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    draw(mode, vertices, count, 3, 4);
}

static void triangles(void) { scattered(GL_TRIANGLES, 24, 11); }
static void triangle_strip(void) { scattered(GL_TRIANGLE_STRIP, 9, 12); }
static void triangle_fan(void) { scattered(GL_TRIANGLE_FAN, 9, 13); }
static void lines(void) { scattered(GL_LINES, 24, 14); }
static void line_strip(void) { scattered(GL_LINE_STRIP, 14, 15); }
static void line_loop(void) { scattered(GL_LINE_LOOP, 10, 16); }

/* Lines along pixel rows and columns: here every rule of rasterisation gives the same pixels but for ends. */
static void lines_axis(void)
{
    float vertices[48 * 7], *at = vertices;
    for (int i = 0; i < 12; i++) {
        float p = (4 + 10 * i + 0.5f) * 2 / 128 - 1;
        for (int end = 0; end < 4; end++, at += 7) {
            float q = end & 1 ? 0.9f : -0.9f;
            at[0] = end < 2 ? q : p;
            at[1] = end < 2 ? p : q;
            at[2] = 0;
            at[3] = (float)i / 12;
            at[4] = end < 2;
            at[5] = end & 1;
            at[6] = 1;
        }
    }
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    draw(GL_LINES, vertices, 48, 3, 4);
}

static void wide_lines(void)
{
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    for (int i = 0; i < 8; i++) {
        float angle = 0.1f + (float)i * 0.77f, c = cosf(angle), s = sinf(angle);
        float x = (float)(i % 4) * 0.5f - 0.75f, y = (float)(i / 4) - 0.5f;
        float vertices[] = {x - 0.2f * c, y - 0.2f * s, 0, 1, 0.2f, 0, 1, x + 0.2f * c, y + 0.2f * s, 0, 0, 0.5f, 1, 1};
        glLineWidth(1.0f + (float)i);
        draw(GL_LINES, vertices, 2, 3, 4);
    }
}

static const char VERTEX_POINT[] =
    "attribute vec4 a0; attribute vec4 a1; varying vec4 v;\n"
    "void main() { gl_Position = vec4(a0.xyz, 1.0); gl_PointSize = a0.w; v = a1; }\n";

/* Sizes 1 to 32, centred so that edges fall between pixels. */
static void point_sizes(void)
{
    float vertices[36 * 8], *at = vertices;
    for (int i = 0; i < 36; i++, at += 8) {
        int size = 1 + i % 20;
        float half = (size & 1) ? 0.5f : 0.0f;
        at[0] = ((float)(i % 6) * 21 + 10 + half) * 2 / 128 - 1;
        at[1] = ((float)(i / 6) * 21 + 10 + half) * 2 / 128 - 1;
        at[2] = 0;
        at[3] = (float)size;
        at[4] = (float)(i % 6) / 5;
        at[5] = (float)(i / 6) / 5;
        at[6] = 0.5f;
        at[7] = 1;
    }
    program(VERTEX_POINT, FRAGMENT_COLOR);
    draw(GL_POINTS, vertices, 36, 4, 4);
}

static void point_sprites(void)
{
    program(VERTEX_POINT,
        "varying vec4 v; void main() {\n"
        "  vec2 p = gl_PointCoord * 2.0 - 1.0;\n"
        "  if (dot(p, p) > 1.0) discard;\n"
        "  gl_FragColor = vec4(gl_PointCoord, v.z, 1.0); }\n");
    float vertices[9 * 8], *at = vertices;
    for (int i = 0; i < 9; i++, at += 8) {
        at[0] = ((float)(i % 3) * 42 + 21) * 2 / 128 - 1;
        at[1] = ((float)(i / 3) * 42 + 21) * 2 / 128 - 1;
        at[2] = 0;
        at[3] = (float)(8 + 4 * i);
        at[4] = at[5] = at[7] = 1;
        at[6] = (float)i / 9;
    }
    draw(GL_POINTS, vertices, 9, 4, 4);
}

static void points(void)
{
    float vertices[400 * 8], *at = vertices;
    seed(5);
    for (int i = 0; i < 400; i++, at += 8) {
        at[0] = ((float)(i % 20) * 6 + 4.5f) * 2 / 128 - 1;
        at[1] = ((float)(i / 20) * 6 + 4.5f) * 2 / 128 - 1;
        at[2] = 0;
        at[3] = 1;
        for (int c = 4; c < 7; c++) at[c] = random01();
        at[7] = 1;
    }
    program(VERTEX_POINT, FRAGMENT_COLOR);
    draw(GL_POINTS, vertices, 400, 4, 4);
}

/* A disc of triangles around the centre through an index buffer. */
static void indexed(GLenum type)
{
    enum { RIM = 60 };
    float vertices[(RIM + 1) * 7] = {0, 0, 0, 1, 1, 1, 1};
    uint16_t wide[RIM * 3];
    uint8_t narrow[RIM * 3];
    for (int i = 0; i < RIM; i++) {
        float angle = (float)i * 6.2831853f / RIM, *at = vertices + (i + 1) * 7;
        float radius = i & 1 ? 0.9f : 0.7f;
        at[0] = radius * cosf(angle);
        at[1] = radius * sinf(angle);
        at[2] = 0;
        at[3] = 0.5f + 0.5f * cosf(angle);
        at[4] = 0.5f + 0.5f * sinf(angle);
        at[5] = (float)i / RIM;
        at[6] = 1;
        const int index[3] = {0, 1 + i, 1 + (i + 1) % RIM};
        for (int c = 0; c < 3; c++) wide[i * 3 + c] = (uint16_t)(narrow[i * 3 + c] = (uint8_t)index[c]);
    }
    GLuint buffers[2];
    glGenBuffers(2, buffers);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glBufferData(GL_ARRAY_BUFFER, sizeof vertices, vertices, GL_STATIC_DRAW);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
    if (type == GL_UNSIGNED_BYTE) glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof narrow, narrow, GL_STATIC_DRAW);
    else glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof wide, wide, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 28, NULL);
    glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, 28, (const void *)12);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    glDrawElements(GL_TRIANGLES, RIM * 3, type, NULL);
}

static void indices_u8(void) { indexed(GL_UNSIGNED_BYTE); }
static void indices_u16(void) { indexed(GL_UNSIGNED_SHORT); }

/* The same indices at an offset in the buffer, from the program's own memory, and as a strip. */
static void indices_offset(void)
{
    float vertices[16 * 7];
    for (int i = 0; i < 16; i++) {
        float *at = vertices + i * 7;
        at[0] = (float)(i % 4) / 2 - 0.75f;
        at[1] = (float)(i / 4) / 2 - 0.75f;
        at[2] = 0;
        at[3] = (float)(i % 4) / 3;
        at[4] = (float)(i / 4) / 3;
        at[5] = (float)(i & 1);
        at[6] = 1;
    }
    static const uint16_t strip[] = {9, 9, 9, 0, 1, 4, 5, 8, 9, 12, 13};
    static const uint16_t client[] = {2, 3, 6, 7, 10, 11, 14};
    GLuint buffer;
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 28, vertices);
    glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, 28, vertices + 3);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffer);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof strip, strip, GL_STATIC_DRAW);
    glDrawElements(GL_TRIANGLE_STRIP, 8, GL_UNSIGNED_SHORT, (const void *)6);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
    glDrawElements(GL_TRIANGLE_STRIP, 7, GL_UNSIGNED_SHORT, client);
}

static void attribute(const void *data, int size, GLenum type, GLboolean normalized, int stride)
{
    glVertexAttribPointer(1, size, type, normalized, stride, data);
}

/* A rectangle per attribute type; the scale makes the unnormalised ones colours. */
static void attribute_formats(void)
{
    static const int8_t bytes[4][4] = {{127, 0, -128, 127}, {0, 127, 64, 127}, {32, -64, 127, 127}, {90, 127, 0, 127}};
    static const uint8_t ubytes[4][4] = {{255, 0, 10, 255}, {0, 128, 64, 255}, {32, 250, 127, 255}, {90, 127, 0, 255}};
    static const int16_t shorts[4][4] = {
        {32767, 0, -32768, 32767}, {0, 32767, 16384, 32767}, {8192, -1000, 32767, 32767}, {9000, 30000, 0, 32767}};
    static const uint16_t ushorts[4][4] = {
        {65535, 0, 1000, 65535}, {0, 33000, 16384, 65535}, {8192, 50000, 32767, 65535}, {9000, 30000, 0, 65535}};
    static const int32_t fixed[4][4] = {
        {65536, 0, 1000, 65536}, {0, 33000, 16384, 65536}, {8192, 50000, 32767, 65536}, {9000, 30000, 0, 65536}};
    static const float floats[4][4] = {{1, 0, 0.1f, 1}, {0, 0.5f, 0.3f, 1}, {0.1f, 0.8f, 0.5f, 1}, {0.4f, 0.4f, 0, 1}};
    static const struct {
        const void *data;
        GLenum type;
        int size, stride;
        float full;
    } rows[] = {
        {bytes, GL_BYTE, 1, 4, 127}, {ubytes, GL_UNSIGNED_BYTE, 1, 4, 255}, {shorts, GL_SHORT, 2, 8, 32767},
        {ushorts, GL_UNSIGNED_SHORT, 2, 8, 65535}, {fixed, GL_FIXED, 4, 16, 1}, {floats, GL_FLOAT, 4, 16, 1},
    };
    program("attribute vec4 a0; attribute vec4 a1; uniform float scale; varying vec4 v;\n"
            "void main() { gl_Position = a0; v = vec4(a1.xyz * scale * 0.5 + 0.5, a1.w); }\n",
        FRAGMENT_COLOR);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    for (int row = 0; row < 6; row++) {
        for (int column = 0; column < 8; column++) {
            int size = 1 + column % 4, normalized = column < 4;
            float x0 = (float)column / 4 - 1, x1 = x0 + 0.21f, y0 = (float)row / 3 - 1, y1 = y0 + 0.28f;
            const float corners[] = {x0, y0, x1, y0, x0, y1, x1, y1};
            glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
            attribute(rows[row].data, size, rows[row].type, (GLboolean)normalized, rows[row].stride);
            set1f("scale", normalized ? 1.0f : 1.0f / rows[row].full);
            glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        }
    }
}

/* Arrays that are off give a constant; strides may be wide, odd or zero. */
static void attribute_constants(void)
{
    static const char vertex[] =
        "attribute vec4 a0; attribute vec4 a1; attribute vec3 a2; attribute vec2 a3; attribute float a4;\n"
        "attribute vec4 a5; attribute vec3 a6; attribute vec4 a7; varying vec4 v;\n"
        "void main() { gl_Position = a0;\n"
        "  v = vec4(a1.x + a4, a2.y * a5.w + a6.z, a3.x * a7.y, 1.0); }\n";
    uint8_t packed[4][19];
    memset(packed, 0, sizeof packed);
    program(vertex, FRAGMENT_COLOR);
    for (int i = 0; i < 4; i++) {
        const float position[2] = {i & 1 ? 0.9f : -0.9f, i & 2 ? 0.8f : -0.8f};
        memcpy(packed[i], position, 8);
        packed[i][8] = (uint8_t)(i * 60);
        packed[i][12] = (uint8_t)(255 - i * 50);
        packed[i][13] = (uint8_t)(i & 1 ? 255 : 20);
        packed[i][16] = 200;
    }
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 20, NULL);
    GLuint buffer;
    uint8_t padded[4][20];
    for (int i = 0; i < 4; i++) memcpy(padded[i], packed[i], 19), padded[i][19] = 0;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, sizeof padded, padded, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 20, NULL);
    glVertexAttribPointer(1, 1, GL_UNSIGNED_BYTE, GL_TRUE, 20, (const void *)8);
    glVertexAttribPointer(3, 2, GL_UNSIGNED_BYTE, GL_TRUE, 20, (const void *)12);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glEnableVertexAttribArray(3);
    glVertexAttrib3f(2, 0, 0.5f, 0);
    glVertexAttrib1f(4, 0.1f);
    glVertexAttrib4f(5, 0, 0, 0, 0.6f);
    glVertexAttrib3f(6, 0, 0, 0.25f);
    glVertexAttrib4f(7, 0, 0.7f, 0, 0);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

/* More vertices than a 16-bit count can say, without indices. */
static void large_arrays(void)
{
    enum { COLUMNS = 160, ROWS = 80, COUNT = COLUMNS * ROWS * 6 };
    float *vertices = malloc(sizeof(float) * 7 * COUNT), *at = vertices;
    if (!vertices) fail("no memory");
    for (int i = 0; i < COLUMNS * ROWS; i++) {
        static const int corner[6][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 1}};
        for (int c = 0; c < 6; c++, at += 7) {
            float x = (float)(i % COLUMNS + corner[c][0]) / COLUMNS, y = (float)(i / COLUMNS + corner[c][1]) / ROWS;
            at[0] = 2 * x - 1 + 0.05f * sinf(9 * y);
            at[1] = 2 * y - 1 + 0.05f * sinf(11 * x);
            at[2] = 0;
            at[3] = x;
            at[4] = y;
            at[5] = 0.5f + 0.5f * sinf(20 * x * y);
            at[6] = 1;
        }
    }
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    draw(GL_TRIANGLES, vertices, COUNT, 3, 4);
    free(vertices);
}

/* More draws than one submission holds. */
static void many_draws(void)
{
    enum { COLUMNS = 96, ROWS = 90 };
    static const float corners[] = {0, 0, 1, 0, 0, 1};
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    GLuint name = program(
        "attribute vec2 a0; uniform vec4 place; varying vec4 v;\n"
        "void main() { gl_Position = vec4((place.xy + a0 * place.zw) * 2.0 - 1.0, 0.0, 1.0);\n"
        "  v = vec4(place.xy, 0.5, 1.0); }\n",
        FRAGMENT_COLOR);
    GLint place = glGetUniformLocation(name, "place");
    for (int i = 0; i < COLUMNS * ROWS; i++) {
        glUniform4f(place, (float)(i % COLUMNS) / COLUMNS, (float)(i / COLUMNS) / ROWS, 0.9f / COLUMNS, 0.9f / ROWS);
        glDrawArrays(GL_TRIANGLES, 0, 3);
    }
}

/* An instance of 16-bit indices with more vertices than 8 bits reach: a lit torus with depth. */
static void torus(void)
{
    enum { RINGS = 48, SIDES = 24 };
    static float vertices[RINGS * SIDES][6];
    static uint16_t indices[RINGS * SIDES * 6];
    uint16_t *at = indices;
    for (int i = 0; i < RINGS * SIDES; i++) {
        float u = (float)(i / SIDES) * 6.2831853f / RINGS, v = (float)(i % SIDES) * 6.2831853f / SIDES;
        const float normal[3] = {cosf(u) * cosf(v), sinf(u) * cosf(v), sinf(v)};
        for (int c = 0; c < 3; c++) vertices[i][3 + c] = normal[c];
        vertices[i][0] = cosf(u) + 0.4f * normal[0];
        vertices[i][1] = sinf(u) + 0.4f * normal[1];
        vertices[i][2] = 0.4f * normal[2];
        int ring = i / SIDES, side = i % SIDES, next = (ring + 1) % RINGS, up = (side + 1) % SIDES;
        const int corner[6] = {i, next * SIDES + side, ring * SIDES + up, ring * SIDES + up, next * SIDES + side,
            next * SIDES + up};
        for (int c = 0; c < 6; c++) *at++ = (uint16_t)corner[c];
    }
    GLuint buffers[2];
    glGenBuffers(2, buffers);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glBufferData(GL_ARRAY_BUFFER, sizeof vertices, vertices, GL_STATIC_DRAW);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof indices, indices, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 24, NULL);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 24, (const void *)12);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_CULL_FACE);
    program(
        "attribute vec4 a0; attribute vec3 a1; varying vec3 normal, eye; uniform mat4 m;\n"
        "void main() { vec4 p = m * a0; eye = p.xyz; normal = (m * vec4(a1, 0.0)).xyz;\n"
        "  gl_Position = vec4(p.x * 2.2, p.y * 2.2, (p.z + 4.0) * -1.2 + 0.4, -p.z); }\n",
        "varying vec3 normal, eye;\n"
        "void main() { vec3 n = normalize(normal), l = normalize(vec3(0.4, 0.7, 1.0));\n"
        "  float d = max(dot(n, l), 0.0), s = pow(max(dot(reflect(-l, n), normalize(-eye)), 0.0), 20.0);\n"
        "  gl_FragColor = vec4(vec3(0.1, 0.15, 0.3) + vec3(0.8, 0.5, 0.2) * d + vec3(0.4) * s, 1.0); }\n");
    float a = 0.9f, b = 0.5f;
    const float m[16] = {cosf(b), sinf(a) * sinf(b), -cosf(a) * sinf(b), 0, 0, cosf(a), sinf(a), 0, sinf(b),
        -sinf(a) * cosf(b), cosf(a) * cosf(b), 0, 0, 0, -4, 1};
    GLint now;
    glGetIntegerv(GL_CURRENT_PROGRAM, &now);
    glUniformMatrix4fv(glGetUniformLocation((GLuint)now, "m"), 1, GL_FALSE, m);
    glDrawElements(GL_TRIANGLES, RINGS * SIDES * 6, GL_UNSIGNED_SHORT, NULL);
}

const struct scene primitive_scenes[] = {
    {"triangles", 128, 128, triangles},
    {"triangle_strip", 128, 128, triangle_strip},
    {"triangle_fan", 128, 128, triangle_fan},
    {"points", 128, 128, points},
    {"point_sizes", 128, 128, point_sizes},
    {"point_sprites", 128, 128, point_sprites},
    {"lines", 128, 128, lines},
    {"lines_axis", 128, 128, lines_axis},
    {"line_strip", 128, 128, line_strip},
    {"line_loop", 128, 128, line_loop},
    {"wide_lines", 128, 128, wide_lines},
    {"indices_u8", 128, 128, indices_u8},
    {"indices_u16", 128, 128, indices_u16},
    {"indices_offset", 128, 128, indices_offset},
    {"attribute_formats", 128, 128, attribute_formats},
    {"attribute_constants", 128, 128, attribute_constants},
    {"large_arrays", 192, 128, large_arrays},
    {"many_draws", 192, 180, many_draws},
    {"torus", 200, 160, torus},
    {NULL, 0, 0, NULL},
};

/* Scissor, viewport, culling, clipping and varyings. */
#include "scenes.h"

static void star(float r, float g, float b)
{
    float vertices[7 * 7];
    for (int i = 0; i < 7; i++) {
        float angle = (float)i * 2.5f, *at = vertices + i * 7;
        at[0] = i ? 0.95f * cosf(angle) : 0;
        at[1] = i ? 0.95f * sinf(angle) : 0;
        at[2] = 0;
        at[3] = r * (float)(i + 1) / 7;
        at[4] = g;
        at[5] = b * (float)(7 - i) / 7;
        at[6] = 1;
    }
    draw(GL_TRIANGLE_FAN, vertices, 7, 3, 4);
}

static void scissor(void)
{
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    glEnable(GL_SCISSOR_TEST);
    static const int boxes[][4] = {{0, 0, 40, 40}, {50, 3, 33, 61}, {100, 90, 200, 200}, {-20, 70, 50, 51},
        {63, 63, 2, 2}, {40, 100, 0, 20}, {70, 66, 1, 60}, {64, 64, 24, 24}};
    for (int i = 0; i < 8; i++) {
        glScissor(boxes[i][0], boxes[i][1], boxes[i][2], boxes[i][3]);
        glClearColor(0.1f * (float)i, 0.3f, 0.2f, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        star(1, 0.1f * (float)i, 1);
    }
}

/* Viewports inside, partly outside and with odd sizes. */
static void viewports(void)
{
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    static const int boxes[][4] = {{0, 0, 64, 64}, {64, 0, 64, 32}, {70, 40, 51, 37}, {-30, 64, 80, 64},
        {90, 90, 77, 77}, {50, 100, 13, 91}, {40, 66, 1, 20}, {20, 40, 40, 3}};
    for (int i = 0; i < 8; i++) {
        glViewport(boxes[i][0], boxes[i][1], boxes[i][2], boxes[i][3]);
        star(0.2f + 0.1f * (float)i, 0.5f, 1);
    }
}

/* Both windings under each way of culling. */
static void culling(void)
{
    static const GLenum faces[] = {GL_FRONT, GL_BACK, GL_FRONT_AND_BACK};
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    for (int i = 0; i < 8; i++) {
        if (i / 2 < 3) {
            glEnable(GL_CULL_FACE);
            glCullFace(faces[i / 2]);
        } else {
            glDisable(GL_CULL_FACE);
        }
        glFrontFace(i & 1 ? GL_CW : GL_CCW);
        for (int j = 0; j < 4; j++) {
            float x = (float)i / 4 - 0.98f, y = (float)j / 2 - 0.95f, r = (float)i / 8, g = (float)j / 4;
            float up[] = {x, y, 0, r, g, 1, 1, x + 0.2f, y, 0, r, 1, g, 1, x + 0.1f, y + 0.4f, 0, 1, g, r, 1};
            float down[] = {x, y, 0, r, g, 1, 1, x + 0.1f, y + 0.4f, 0, 1, g, r, 1, x + 0.2f, y, 0, r, 1, g, 1};
            float strip[] = {x, y, 0, 1, 0, 0, 1, x + 0.2f, y + 0.1f, 0, 0, 1, 0, 1, x, y + 0.2f, 0, 0, 0, 1, 1,
                x + 0.2f, y + 0.3f, 0, 1, 1, 0, 1, x, y + 0.4f, 0, 0, 1, 1, 1};
            if (j == 3) draw(GL_TRIANGLE_FAN, strip, 5, 3, 4);
            else if (j == 2) draw(GL_TRIANGLE_STRIP, strip, 5, 3, 4);
            else draw(GL_TRIANGLES, j ? down : up, 3, 3, 4);
        }
    }
}

static void facing(void)
{
    program(VERTEX_COLOR,
        "varying vec4 v; void main() { gl_FragColor = gl_FrontFacing ? v : vec4(1.0 - v.rgb, 1.0); }\n");
    seed(8);
    float vertices[30 * 7];
    for (int i = 0; i < 30; i++) {
        float *at = vertices + i * 7;
        for (int c = 0; c < 2; c++) at[c] = random01() * 2 - 1;
        at[2] = 0;
        at[3] = at[4] = 0.1f + (float)(i / 3) / 12;
        at[5] = 0.1f;
        at[6] = 1;
    }
    draw(GL_TRIANGLES, vertices, 15, 3, 4);
    glFrontFace(GL_CW);
    draw(GL_TRIANGLE_STRIP, vertices + 15 * 7, 15, 3, 4);
}

/* Triangles far larger than the picture, and through the near and far planes and behind the eye. */
static void clipping(void)
{
    static const char vertex[] =
        "attribute vec4 a0; attribute vec4 a1; varying vec4 v; void main() { gl_Position = a0; v = a1; }\n";
    program(vertex, FRAGMENT_COLOR);
    float vertices[3 * 8];
    seed(21);
    for (int i = 0; i < 12; i++) {
        float angle = (float)i * 0.55f, far = i % 3 == 0 ? 3 : i % 3 == 1 ? 40 : 1500;
        for (int v = 0; v < 3; v++) {
            float *at = vertices + v * 8, w = v == 1 && i % 4 == 3 ? -0.5f : 1;
            at[0] = v == 0 ? 0.3f * cosf(angle) : far * cosf(angle + 0.12f * (float)(v * 2 - 3));
            at[1] = v == 0 ? 0.3f * sinf(angle) : far * sinf(angle + 0.12f * (float)(v * 2 - 3));
            at[2] = i % 2 ? (float)v * 1.1f - 1.3f : 0;
            at[3] = w;
            for (int c = 4; c < 7; c++) at[c] = random01();
            at[7] = 1;
        }
        draw(GL_TRIANGLES, vertices, 3, 4, 4);
    }
    /* All of the picture by one triangle. */
    const float all[] = {-1, -1, 0.9f, 1, 0.2f, 0, 0, 0, 3, -1, 0.9f, 1, 0, 0.2f, 0, 0, -1, 3, 0.9f, 1, 0, 0, 0.4f, 0};
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE);
    draw(GL_TRIANGLES, all, 3, 4, 4);
}

/* A floor: perspective in varyings, part of it behind the eye. */
static void perspective(void)
{
    program(
        "attribute vec2 a0; varying vec2 v; void main() { v = a0 * 4.0;\n"
        "  gl_Position = vec4(a0.x * 4.0, -0.7, a0.y * 2.0 - 0.5, a0.y * 2.0 + 0.2); }\n",
        "varying vec2 v; void main() { vec2 c = abs(fract(v) - 0.5) * 2.0;\n"
        "  gl_FragColor = vec4(c * 0.5 + 0.25, fract(v.y * 0.25), 1.0); }\n");
    const float corners[] = {-1, -0.5f, 1, -0.5f, -1, 1, 1, 1};
    draw(GL_TRIANGLE_STRIP, corners, 4, 2, 0);
}

/* As many varyings as there may be, each with its own gradient. */
static void many_varyings(void)
{
    program(
        "attribute vec4 a0; varying vec4 v0, v1, v2, v3, v4, v5, v6, v7;\n"
        "void main() { vec4 b = vec4(a0.x, a0.y, a0.x * a0.y, 1.0) * 0.5 + 0.5; gl_Position = a0;\n"
        "  v0 = b; v1 = b.yzwx * 0.9; v2 = b.zwxy * 0.8; v3 = b.wxyz * 0.7; v4 = 1.0 - b; v5 = b * b; v6 = b.yxwz;\n"
        "  v7 = sqrt(b); gl_Position.w = 1.0 + 0.5 * a0.x; }\n",
        "varying vec4 v0, v1, v2, v3, v4, v5, v6, v7;\n"
        "void main() { int part = int(floor(gl_FragCoord.x / 16.0)); vec4 c = v0;\n"
        "  if (part == 1) c = v1; else if (part == 2) c = v2; else if (part == 3) c = v3; else if (part == 4) c = v4;\n"
        "  else if (part == 5) c = v5; else if (part == 6) c = v6; else if (part == 7) c = v7;\n"
        "  gl_FragColor = vec4(c.xyz, c.w); }\n");
    rect(0, 0, 128, 128, 0);
}

/* Slivers and triangles smaller than a pixel. */
static void slivers(void)
{
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    static float vertices[1500 * 7];
    seed(99);
    for (int i = 0; i < 500; i++) {
        float x = random01() * 1.8f - 0.9f, y = random01() * 1.8f - 0.9f, size = i % 2 ? 0.012f : 0.3f;
        for (int v = 0; v < 3; v++) {
            float *at = vertices + (i * 3 + v) * 7;
            at[0] = x + (random01() - 0.5f) * size;
            at[1] = y + (random01() - 0.5f) * (i % 2 ? size : 0.03f);
            at[2] = 0;
            at[3] = (float)(i % 7) / 7;
            at[4] = (float)(i % 5) / 5;
            at[5] = 0.8f;
            at[6] = 1;
        }
    }
    draw(GL_TRIANGLES, vertices, 1500, 3, 4);
}

/* A mesh whose shared edges must leave no gap and no pixel twice. */
static void watertight(void)
{
    enum { N = 14 };
    static float vertices[N * N * 6 * 7];
    float *at = vertices;
    float grid[N + 1][N + 1][2];
    seed(4);
    for (int y = 0; y <= N; y++)
        for (int x = 0; x <= N; x++) {
            int inside = x > 0 && y > 0 && x < N && y < N;
            grid[y][x][0] = (float)x / (N / 2) - 1 + (inside ? (random01() - 0.5f) * 0.06f : 0);
            grid[y][x][1] = (float)y / (N / 2) - 1 + (inside ? (random01() - 0.5f) * 0.06f : 0);
        }
    for (int i = 0; i < N * N; i++) {
        static const int corner[6][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 1}};
        for (int c = 0; c < 6; c++, at += 7) {
            const float *p = grid[i / N + corner[c][1]][i % N + corner[c][0]];
            at[0] = p[0];
            at[1] = p[1];
            at[2] = 0;
            at[3] = at[4] = at[5] = at[6] = 0.25f;
        }
    }
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE);
    draw(GL_TRIANGLES, vertices, N * N * 6, 3, 4);
    draw(GL_TRIANGLES, vertices, N * N * 6, 3, 4);
}

const struct scene raster_scenes[] = {
    {"scissor", 128, 128, scissor},
    {"viewports", 128, 128, viewports},
    {"culling", 128, 128, culling},
    {"facing", 128, 128, facing},
    {"clipping", 128, 128, clipping},
    {"perspective", 128, 128, perspective},
    {"many_varyings", 128, 128, many_varyings},
    {"slivers", 160, 160, slivers},
    {"watertight", 130, 130, watertight},
    {NULL, 0, 0, NULL},
};

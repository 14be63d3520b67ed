/* Depth and stencil. */
#include "scenes.h"

static const GLenum FUNCTIONS[] = {
    GL_NEVER, GL_LESS, GL_EQUAL, GL_LEQUAL, GL_GREATER, GL_NOTEQUAL, GL_GEQUAL, GL_ALWAYS};
static const GLenum OPERATIONS[] = {
    GL_KEEP, GL_ZERO, GL_REPLACE, GL_INCR, GL_DECR, GL_INVERT, GL_INCR_WRAP, GL_DECR_WRAP};

/* Every function against depths below, equal and above, with and without writing; a last layer shows what was
 * written. */
static void depth_functions(void)
{
    program(VERTEX_UV, FRAGMENT_UNIFORM);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_ALWAYS);
    fill(0, 0, 128, 128, 0, 0.2f, 0.2f, 0.2f, 1);
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 6; j++) {
            float x = (float)i * 16, y = (float)j * 20, z = (float)(j % 3 - 1) * 0.25f;
            glDepthFunc(FUNCTIONS[i]);
            glDepthMask(j < 3);
            fill(x + 1, y + 1, x + 15, y + 19, z, (float)i / 8, (float)j / 6, 1, 1);
        }
    }
    glDepthMask(GL_TRUE);
    glDepthFunc(GL_LESS);
    for (int i = 0; i < 8; i++) fill((float)i * 16 + 5, 0, (float)i * 16 + 11, 128, -0.1f, 1, 1, 0, 1);
}

/* Slanted planes cut through each other. */
static void depth_planes(void)
{
    glEnable(GL_DEPTH_TEST);
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    seed(31);
    for (int i = 0; i < 14; i++) {
        float vertices[21];
        for (int v = 0; v < 3; v++) {
            for (int c = 0; c < 3; c++) vertices[v * 7 + c] = random01() * 1.9f - 0.95f;
            for (int c = 3; c < 6; c++) vertices[v * 7 + c] = (float)((i * (c + 2) * 31) % 97) / 97;
            vertices[v * 7 + 6] = 1;
        }
        draw(GL_TRIANGLES, vertices, 3, 3, 4);
    }
}

/* Depth ranges, also reversed, and a depth that the fragment program cannot change. */
static void depth_range(void)
{
    program(VERTEX_UV, FRAGMENT_UNIFORM);
    glEnable(GL_DEPTH_TEST);
    for (int i = 0; i < 8; i++) {
        float x = (float)i * 16;
        glDepthRangef((float)i / 10, 1 - (float)i / 5);
        for (int j = 0; j < 8; j++) {
            float z = (float)((j * 5) % 8) / 4 - 0.875f;
            fill(x, (float)j * 12, x + 16, (float)j * 12 + 40, z, (float)j / 8, (float)i / 8, 0.4f, 1);
        }
    }
    glDepthRangef(0, 1);
    glDepthFunc(GL_GREATER);
    fill(0, 20, 128, 24, 0.3f, 1, 1, 1, 1);
    fill(0, 60, 128, 64, -0.3f, 1, 1, 1, 1);
}

/* The same plane three times; the offset decides. */
static void polygon_offset(void)
{
    program(VERTEX_UV, FRAGMENT_UNIFORM);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LESS);
    static const float offsets[8][2] = {{0, 0}, {0, -4}, {0, 4}, {-1, 0}, {1, 0}, {-1, -8}, {1, 8}, {-3, 20}};
    for (int i = 0; i < 8; i++) {
        float l = (float)i / 4 - 1, r = l + 0.22f;
        float plane[] = {l, -0.9f, -0.5f, 0, 0, r, -0.9f, -0.5f, 1, 0, l, 0.9f, 0.5f, 0, 1, r, 0.9f, 0.5f, 1, 1};
        set4f("color", 0.2f, 0.3f, 0.8f, 1);
        draw(GL_TRIANGLE_STRIP, plane, 4, 3, 2);
        glEnable(GL_POLYGON_OFFSET_FILL);
        glPolygonOffset(offsets[i][0], offsets[i][1]);
        set4f("color", 0.9f, 0.7f, 0.1f, 1);
        for (int c = 0; c < 4; c++) plane[c * 5] = plane[c * 5] * 0.98f + (l + r) * 0.01f;
        draw(GL_TRIANGLE_STRIP, plane, 4, 3, 2);
        glDisable(GL_POLYGON_OFFSET_FILL);
    }
    /* Offsets far from where a unit's size, which is the driver's choice, would show. */
    glEnable(GL_POLYGON_OFFSET_FILL);
    for (int i = 0; i < 8; i++) {
        glPolygonOffset(0, i & 1 ? -4.0e7f : 4.0e7f);
        fill((float)i * 16 + 4, 0, (float)i * 16 + 8, 128, 0, 0.9f, 0.1f, 0.1f, 1);
    }
}

/* Stencil values 0..15 in columns. */
static void stencil_columns(void)
{
    program(VERTEX_UV, FRAGMENT_UNIFORM);
    glEnable(GL_STENCIL_TEST);
    glStencilOp(GL_REPLACE, GL_REPLACE, GL_REPLACE);
    for (int i = 0; i < 16; i++) {
        glStencilFunc(GL_ALWAYS, i, 0xff);
        fill((float)i * 8, 0, (float)i * 8 + 8, 128, 0, (float)i / 32, 0.1f, 0.2f, 1);
    }
}

static void stencil_functions(void)
{
    stencil_columns();
    glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
    for (int j = 0; j < 16; j++) {
        glStencilFunc(FUNCTIONS[j % 8], j < 8 ? 7 : 0x15, j < 8 ? 0xff : 0x06);
        fill(0, (float)j * 8 + 1, 128, (float)j * 8 + 7, 0, 0.2f, (float)j / 16, 0.9f, 1);
    }
}

/* Shows the stencil values of the picture as colour. */
static void show_stencil(void)
{
    glDisable(GL_DEPTH_TEST);
    glStencilMask(0);
    glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
    for (int bit = 0; bit < 8; bit++) {
        glStencilFunc(GL_EQUAL, 0xff, 1u << bit);
        glEnable(GL_BLEND);
        glBlendFunc(GL_ONE, GL_ONE);
        float weight = (float)(1 << (bit % 4)) / 16.0f;
        fill(0, 0, (float)W, (float)H, 0, bit < 4 ? weight : 0, bit >= 4 ? weight : 0, bit == 0 || bit == 7 ? 0.3f : 0,
            0.1f);
    }
}

/* Every operation in each of the three places, on small, middle and the extreme values. */
static void stencil_operations(void)
{
    static const int values[4] = {0, 1, 0x80, 0xff};
    program(VERTEX_UV, FRAGMENT_UNIFORM);
    glEnable(GL_STENCIL_TEST);
    glEnable(GL_DEPTH_TEST);
    glColorMask(0, 0, 0, 0);
    for (int v = 0; v < 4; v++) {
        for (int op = 0; op < 8; op++) {
            float x = (float)op * 16, y = (float)v * 32;
            glDepthFunc(GL_ALWAYS);
            glStencilOp(GL_REPLACE, GL_REPLACE, GL_REPLACE);
            glStencilFunc(GL_ALWAYS, values[v], 0xff);
            fill(x, y, x + 16, y + 32, 0, 0, 0, 0, 0);
            glDepthFunc(GL_LESS);
            glStencilOp(OPERATIONS[op], GL_KEEP, GL_KEEP);
            glStencilFunc(GL_NEVER, 0x5a, 0xff);
            fill(x, y, x + 5, y + 32, 0.5f, 0, 0, 0, 0);
            glStencilOp(GL_KEEP, OPERATIONS[op], GL_KEEP);
            glStencilFunc(GL_ALWAYS, 0x5a, 0xff);
            fill(x + 5, y, x + 10, y + 32, 0.5f, 0, 0, 0, 0);
            glStencilOp(GL_KEEP, GL_KEEP, OPERATIONS[op]);
            fill(x + 10, y, x + 16, y + 32, -0.5f, 0, 0, 0, 0);
        }
    }
    glColorMask(1, 1, 1, 1);
    show_stencil();
}

/* Write masks, and clears under them. Mesa's vc4 takes mask 0 of drawing for all bits (vc4_state.c: the word that
 * holds unusual masks is not sent when it is 0), so that one is not here. */
static void stencil_masks(void)
{
    program(VERTEX_UV, FRAGMENT_UNIFORM);
    glEnable(GL_STENCIL_TEST);
    glColorMask(0, 0, 0, 0);
    static const unsigned masks[8] = {0xff, 0x02, 0x0f, 0xf0, 0x55, 0x81, 0x01, 0x80};
    glClearStencil(0x3c);
    glClear(GL_STENCIL_BUFFER_BIT);
    for (int i = 0; i < 8; i++) {
        glStencilMask(masks[i]);
        glStencilOp(GL_KEEP, GL_KEEP, i & 1 ? GL_INVERT : GL_REPLACE);
        glStencilFunc(GL_ALWAYS, 0xa7, 0xff);
        fill((float)i * 16, 0, (float)i * 16 + 16, 60, 0, 0, 0, 0, 0);
        glEnable(GL_SCISSOR_TEST);
        glScissor(i * 16, 66, 16, 60);
        glClearStencil(0xc9);
        glClear(GL_STENCIL_BUFFER_BIT);
        glDisable(GL_SCISSOR_TEST);
    }
    glColorMask(1, 1, 1, 1);
    show_stencil();
}

/* Front and back faces with functions, references and operations of their own. */
static void stencil_two_sided(void)
{
    program(VERTEX_UV, FRAGMENT_UNIFORM);
    glEnable(GL_STENCIL_TEST);
    glColorMask(0, 0, 0, 0);
    glClearStencil(0x10);
    glClear(GL_STENCIL_BUFFER_BIT);
    glStencilFuncSeparate(GL_FRONT, GL_ALWAYS, 0x21, 0xff);
    glStencilFuncSeparate(GL_BACK, GL_NOTEQUAL, 0x30, 0x10);
    glStencilOpSeparate(GL_FRONT, GL_ZERO, GL_KEEP, GL_INCR_WRAP);
    glStencilOpSeparate(GL_BACK, GL_DECR_WRAP, GL_KEEP, GL_INVERT);
    glStencilMaskSeparate(GL_BACK, 0xfb);
    seed(3);
    for (int i = 0; i < 24; i++) {
        float vertices[15];
        for (int c = 0; c < 15; c++) vertices[c] = c % 5 < 2 ? random01() * 2 - 1 : 0;
        draw(GL_TRIANGLES, vertices, 3, 3, 2);
    }
    glColorMask(1, 1, 1, 1);
    glStencilMask(0xff);
    show_stencil();
}

/* Shadow volumes' way: depth fail counts, then a lit pass. */
static void stencil_volume(void)
{
    program(VERTEX_UV, FRAGMENT_UNIFORM);
    glEnable(GL_DEPTH_TEST);
    for (int i = 0; i < 8; i++)
        fill((float)i * 16, 0, (float)i * 16 + 16, 128, (float)i / 4 - 0.9f, 0.1f * (float)i, 0.3f, 0.4f, 1);
    glEnable(GL_STENCIL_TEST);
    glDepthMask(0);
    glColorMask(0, 0, 0, 0);
    glStencilFunc(GL_ALWAYS, 0, 0xff);
    glStencilOpSeparate(GL_FRONT, GL_KEEP, GL_DECR_WRAP, GL_KEEP);
    glStencilOpSeparate(GL_BACK, GL_KEEP, GL_INCR_WRAP, GL_KEEP);
    const float front[] = {-0.8f, -0.8f, -0.6f, 0, 0, 0.8f, -0.8f, -0.2f, 0, 0, 0, 0.9f, -0.4f, 0, 0};
    const float back[] = {-0.8f, -0.8f, 0.3f, 0, 0, 0, 0.9f, 0.5f, 0, 0, 0.8f, -0.8f, 0.6f, 0, 0};
    draw(GL_TRIANGLES, front, 3, 3, 2);
    draw(GL_TRIANGLES, back, 3, 3, 2);
    glColorMask(1, 1, 1, 1);
    glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
    glStencilFunc(GL_NOTEQUAL, 0, 0xff);
    glDepthFunc(GL_ALWAYS);
    fill(0, 0, 128, 128, 0, 0.9f, 0.8f, 0.2f, 1);
}

/* Depth and stencil survive a change of framebuffer in the middle, and a depth of 16 bits. */
static void depth_kept(void)
{
    program(VERTEX_UV, FRAGMENT_UNIFORM);
    glEnable(GL_DEPTH_TEST);
    fill(10, 10, 80, 80, -0.2f, 0.8f, 0.1f, 0.1f, 1);
    GLuint other = framebuffer(texture(GL_RGBA, GL_UNSIGNED_BYTE, 32, 32, NULL), 32, 32, 0);
    fill(0, 0, 64, 64, 0, 0, 0, 1, 1);
    glBindFramebuffer(GL_FRAMEBUFFER, TARGET);
    fill(40, 40, 110, 110, 0.2f, 0.1f, 0.8f, 0.1f, 1);
    glFinish();
    fill(20, 60, 120, 70, -0.5f, 0.1f, 0.1f, 0.8f, 1);
    glDeleteFramebuffers(1, &other);
    GLuint buffer;
    glGenRenderbuffers(1, &buffer);
    glBindRenderbuffer(GL_RENDERBUFFER, buffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT16, W, H);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, buffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_STENCIL_ATTACHMENT, GL_RENDERBUFFER, 0);
    glClearDepthf(0.5f);
    glClear(GL_DEPTH_BUFFER_BIT);
    fill(84, 4, 100, 124, -0.1f, 0.9f, 0.9f, 0.1f, 1);
    fill(104, 4, 120, 124, 0.1f, 0.9f, 0.1f, 0.9f, 1);
}

const struct scene depth_stencil_scenes[] = {
    {"depth_functions", 128, 128, depth_functions},
    {"depth_planes", 160, 160, depth_planes},
    {"depth_range", 128, 128, depth_range},
    {"depth_kept", 128, 128, depth_kept},
    {"polygon_offset", 128, 128, polygon_offset},
    {"stencil_functions", 128, 128, stencil_functions},
    {"stencil_operations", 128, 128, stencil_operations},
    {"stencil_masks", 128, 128, stencil_masks},
    {"stencil_two_sided", 128, 128, stencil_two_sided},
    {"stencil_volume", 128, 128, stencil_volume},
    {NULL, 0, 0, NULL},
};

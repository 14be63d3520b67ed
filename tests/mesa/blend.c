/* Blending, colour masks, clears. */
#include "scenes.h"

static const GLenum FACTORS[] = {GL_ZERO, GL_ONE, GL_SRC_COLOR, GL_ONE_MINUS_SRC_COLOR, GL_DST_COLOR,
    GL_ONE_MINUS_DST_COLOR, GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_DST_ALPHA, GL_ONE_MINUS_DST_ALPHA,
    GL_CONSTANT_COLOR, GL_ONE_MINUS_CONSTANT_COLOR, GL_CONSTANT_ALPHA, GL_ONE_MINUS_CONSTANT_ALPHA,
    GL_SRC_ALPHA_SATURATE};
enum { SOURCES = 15, DESTINATIONS = 14 };

/* Bands of colour and alpha for later draws to blend with. */
static void background(void)
{
    float vertices[] = {
        -1, -1, 0, 0.1f, 0.9f, 0.3f, 0.0f, 1, -1, 0, 0.8f, 0.2f, 0.5f, 1.0f,
        -1, 1, 0, 0.6f, 0.1f, 1.0f, 0.3f, 1, 1, 0, 0.2f, 0.7f, 0.0f, 0.8f};
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    glDisable(GL_BLEND);
    draw(GL_TRIANGLE_STRIP, vertices, 4, 3, 4);
}

static void gradient(float x0, float y0, float x1, float y1)
{
    float l = 2 * x0 / W - 1, r = 2 * x1 / W - 1, b = 2 * y0 / H - 1, t = 2 * y1 / H - 1;
    float vertices[] = {l, b, 0, 0.9f, 0.1f, 0.2f, 0.1f, r, b, 0, 0.1f, 0.8f, 0.3f, 0.9f, l, t, 0, 0.3f, 0.2f, 0.9f,
        0.6f, r, t, 0, 0.7f, 0.7f, 0.1f, 0.3f};
    draw(GL_TRIANGLE_STRIP, vertices, 4, 3, 4);
}

static void factors(GLenum equation)
{
    background();
    glEnable(GL_BLEND);
    glBlendColor(0.3f, 0.8f, 0.5f, 0.6f);
    glBlendEquation(equation);
    for (int s = 0; s < SOURCES; s++) {
        for (int d = 0; d < DESTINATIONS; d++) {
            glBlendFunc(FACTORS[s], FACTORS[d]);
            gradient((float)(s * 10 + 1), (float)(d * 10 + 1), (float)(s * 10 + 10), (float)(d * 10 + 10));
        }
    }
}

static void factors_add(void) { factors(GL_FUNC_ADD); }
static void factors_subtract(void) { factors(GL_FUNC_SUBTRACT); }
static void factors_reverse(void) { factors(GL_FUNC_REVERSE_SUBTRACT); }

/* Alpha has a function of its own. */
static void separate(void)
{
    static const GLenum equations[] = {GL_FUNC_ADD, GL_FUNC_SUBTRACT, GL_FUNC_REVERSE_SUBTRACT};
    background();
    glEnable(GL_BLEND);
    glBlendColor(0.9f, 0.1f, 0.4f, 0.7f);
    for (int i = 0; i < 9; i++) {
        for (int j = 0; j < 9; j++) {
            glBlendEquationSeparate(equations[i % 3], equations[i / 3]);
            glBlendFuncSeparate(FACTORS[j + 1], FACTORS[(j * 5 + i) % DESTINATIONS], FACTORS[(j * 3 + 1) % SOURCES],
                FACTORS[(j * 2 + i) % DESTINATIONS]);
            gradient((float)(i * 14 + 1), (float)(j * 14 + 1), (float)(i * 14 + 14), (float)(j * 14 + 14));
        }
    }
}

static void min_max(void)
{
    if (!offers("GL_EXT_blend_minmax")) not_offered("GL_EXT_blend_minmax");
    background();
    glEnable(GL_BLEND);
    glBlendEquation(GL_MIN_EXT);
    gradient(4, 4, 60, 60);
    glBlendEquation(GL_MAX_EXT);
    gradient(68, 4, 124, 60);
    glBlendEquationSeparate(GL_MIN_EXT, GL_MAX_EXT);
    gradient(4, 68, 60, 124);
    glBlendEquationSeparate(GL_FUNC_ADD, GL_MIN_EXT);
    glBlendFunc(GL_ONE, GL_ONE);
    gradient(68, 68, 124, 124);
}

/* Every mask, drawn and cleared, with and without blending. */
static void color_masks(void)
{
    background();
    for (int i = 0; i < 16; i++) {
        float x = (float)(i % 4 * 32), y = (float)(i / 4 * 32);
        glColorMask(i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1);
        glDisable(GL_BLEND);
        gradient(x + 2, y + 2, x + 15, y + 15);
        glEnable(GL_BLEND);
        glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
        gradient(x + 17, y + 2, x + 30, y + 15);
        glEnable(GL_SCISSOR_TEST);
        glScissor((int)x + 4, (int)y + 18, 24, 12);
        glClearColor(1, 0.5f, 0.25f, 0.75f);
        glClear(GL_COLOR_BUFFER_BIT);
        glDisable(GL_SCISSOR_TEST);
    }
}

/* Layers over layers: the tile buffer is read and written many times. */
static void layers(void)
{
    background();
    glEnable(GL_BLEND);
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    program(VERTEX_UV, FRAGMENT_UNIFORM);
    seed(77);
    for (int i = 0; i < 60; i++) {
        float x = floorf(random01() * 110), y = floorf(random01() * 110), w = floorf(6 + random01() * 60);
        float r = random01(), g = random01(), b = random01();
        fill(x, y, x + w, y + w * 0.75f, 0, r, g, b, 0.1f + 0.5f * random01());
    }
}

const struct scene blend_scenes[] = {
    {"blend_factors_add", 152, 142, factors_add},
    {"blend_factors_subtract", 152, 142, factors_subtract},
    {"blend_factors_reverse", 152, 142, factors_reverse},
    {"blend_separate", 128, 128, separate},
    {"blend_min_max", 128, 128, min_max},
    {"blend_layers", 128, 128, layers},
    {"color_masks", 128, 128, color_masks},
    {NULL, 0, 0, NULL},
};

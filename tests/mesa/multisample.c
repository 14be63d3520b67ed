/* Four samples a pixel. */
#include "scenes.h"

static void fans(void)
{
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    float vertices[14 * 7] = {0.05f, 0.03f, 0, 1, 1, 1, 1};
    for (int i = 1; i < 14; i++) {
        float *at = vertices + i * 7, angle = (float)i * 0.52f;
        at[0] = cosf(angle) * (i & 1 ? 0.9f : 0.45f);
        at[1] = sinf(angle) * (i & 1 ? 0.9f : 0.45f);
        at[2] = (float)(i % 3) * 0.2f - 0.2f;
        at[3] = (float)(i % 3) / 2;
        at[4] = (float)(i % 5) / 4;
        at[5] = 0.6f;
        at[6] = 1;
    }
    draw(GL_TRIANGLE_FAN, vertices, 14, 3, 4);
}

/* Four samples, cleared; answers which of them is drawn if one at a time. */
static int multisampled(void)
{
    int sample = four_samples();
    glClearColor(0.1f, 0.1f, 0.2f, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    return sample;
}

static void edges(void)
{
    multisampled();
    fans();
}

static void depth(void)
{
    multisampled();
    glEnable(GL_DEPTH_TEST);
    fans();
    program(VERTEX_UV, FRAGMENT_UNIFORM);
    float plane[] = {-0.9f, -0.2f, -0.4f, 0, 0, 0.9f, -0.3f, 0.4f, 1, 0, -0.9f, 0.3f, -0.4f, 0, 1, 0.9f, 0.2f, 0.4f, 1, 1};
    set4f("color", 0.9f, 0.8f, 0.1f, 1);
    draw(GL_TRIANGLE_STRIP, plane, 4, 3, 2);
}

static void stencil_blend(void)
{
    multisampled();
    glEnable(GL_STENCIL_TEST);
    glStencilOp(GL_KEEP, GL_KEEP, GL_INCR);
    fans();
    glStencilFunc(GL_EQUAL, 1, 0xff);
    glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    program(VERTEX_UV, FRAGMENT_UNIFORM);
    fill(0, 0, (float)W, (float)H / 2, 0, 0.1f, 0.9f, 0.2f, 0.5f);
}

/* A share of the samples, by the application or by alpha; without samples the passes take their turns. */
static void coverage(void)
{
    int sample = multisampled();
    glEnable(GL_SAMPLE_COVERAGE);
    program(VERTEX_UV, FRAGMENT_UNIFORM);
    for (int i = 0; i < 8; i++) {
        int count = i % 4 + 1, inverted = i >= 4;
        glSampleCoverage((float)count / 4, (GLboolean)inverted);
        if (sample >= 0) glSampleCoverage(1, 0);
        if (sample < 0 || (sample < count) != inverted)
            fill((float)i * 16, 4, (float)i * 16 + 14, 60, 0, 0.9f, 0.5f, 0.1f, 1);
    }
    glDisable(GL_SAMPLE_COVERAGE);
    if (sample < 0) glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    for (int i = 0; i < 8; i++)
        if (sample < i % 5)
            fill((float)i * 16, 68, (float)i * 16 + 14, 124, 0, 0.2f, 0.5f, 0.9f, (float)(i % 5) / 4);
}

const struct scene multisample_scenes[] = {
    {"multisample_edges", 128, 128, edges},
    {"multisample_depth", 128, 128, depth},
    {"multisample_stencil_blend", 128, 128, stencil_blend},
    {"multisample_coverage", 128, 128, coverage},
    {NULL, 0, 0, NULL},
};

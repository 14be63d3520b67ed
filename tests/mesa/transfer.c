/* What moves between buffers, textures and the program's memory. */
#include "scenes.h"

static void scenery(void)
{
    float vertices[] = {-1, -1, 0, 0.9f, 0.1f, 0.2f, 1, 1, -0.7f, 0, 0.1f, 0.9f, 0.3f, 0.8f, -0.6f, 1, 0, 0.2f, 0.3f,
        0.9f, 0.4f, 0.9f, 0.8f, 0, 0.9f, 0.9f, 0.1f, 0.6f};
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    draw(GL_TRIANGLE_STRIP, vertices, 4, 3, 4);
}

/* Uploads RGBA bytes and shows them 1:1 at a place. */
static void show(const void *data, int width, int height, float x, float y)
{
    GLuint name = texture(GL_RGBA, GL_UNSIGNED_BYTE, width, height, data);
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    rect(x, y, x + (float)width, y + (float)height, 0);
    glDeleteTextures(1, &name);
}

/* Reads odd parts with odd alignments in the format that each driver prefers, and shows what was read. */
static void read_pixels(void)
{
    static uint8_t buffer[64 * 64 * 4];
    scenery();
    memset(buffer, 0x40, sizeof buffer);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(13, 7, 37, 29, GL_RGBA, GL_UNSIGNED_BYTE, buffer);
    show(buffer, 37, 29, 80, 4);
    memset(buffer, 0x40, sizeof buffer);
    /* Partly outside: what lies there stays as it was. */
    glReadPixels(-10, 100, 40, 40, GL_RGBA, GL_UNSIGNED_BYTE, buffer);
    for (int y = 0; y < 40; y++)
        for (int x = 0; x < 40; x++)
            if (x < 10 || y >= 28) memset(buffer + (y * 40 + x) * 4, 0x20, 4);
    show(buffer, 40, 40, 80, 40);
    GLint format, type;
    glGetIntegerv(GL_IMPLEMENTATION_COLOR_READ_FORMAT, &format);
    glGetIntegerv(GL_IMPLEMENTATION_COLOR_READ_TYPE, &type);
    if (type == GL_UNSIGNED_BYTE && (format == GL_RGBA || format == GL_BGRA_EXT)) {
        glReadPixels(20, 20, 40, 40, (GLenum)format, (GLenum)type, buffer);
        if (format == GL_BGRA_EXT)
            for (int i = 0; i < 40 * 40; i++) {
                uint8_t red = buffer[i * 4 + 2];
                buffer[i * 4 + 2] = buffer[i * 4];
                buffer[i * 4] = red;
            }
        show(buffer, 40, 40, 80, 84);
    }
    if (offers("GL_EXT_read_format_bgra")) {
        glReadPixels(3, 3, 8, 8, GL_BGRA_EXT, GL_UNSIGNED_BYTE, buffer);
        show(buffer, 8, 8, 4, 110);
    }
}

static void copy_image(void)
{
    scenery();
    static const GLenum formats[] = {GL_RGBA, GL_RGB, GL_ALPHA, GL_LUMINANCE, GL_LUMINANCE_ALPHA};
    GLuint names[5];
    glGenTextures(5, names);
    for (int i = 0; i < 5; i++) {
        glBindTexture(GL_TEXTURE_2D, names[i]);
        glCopyTexImage2D(GL_TEXTURE_2D, 0, formats[i], 16 + i * 5, 10 + i * 3, 40, 32, 0);
        filters(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_EDGE);
    }
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    for (int i = 0; i < 5; i++) {
        glBindTexture(GL_TEXTURE_2D, names[i]);
        rect((float)(i % 3) * 42, (float)(i / 3) * 34 + 2, (float)(i % 3) * 42 + 40, (float)(i / 3) * 34 + 34, 0);
    }
}

/* Draws an image into a new texture. Mesa before 23.1.8 takes a texture that was uploaded but never drawn into for
 * undefined when it becomes a target (vc4_texture_subdata). */
static GLuint drawn_texture(int width, int height, unsigned value)
{
    uint8_t *pixels = image(width, height, value);
    GLuint name = texture(GL_RGBA, GL_UNSIGNED_BYTE, width, height, NULL);
    GLuint target = framebuffer(name, width, height, 0);
    int w = W, h = H;
    glViewport(0, 0, W = width, H = height);
    show(pixels, width, height, 0, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, TARGET);
    glViewport(0, 0, W = w, H = h);
    glDeleteFramebuffers(1, &target);
    free(pixels);
    glBindTexture(GL_TEXTURE_2D, name);
    return name;
}

static void copy_sub_image(void)
{
    drawn_texture(64, 64, 8);
    scenery();
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 5, 9, 30, 30, 41, 23);
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 32, 40, 70, 60, 32, 24);
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    rect(60, 60, 124, 124, 0);
}

/* Targets of the formats that the chip stores as they are; what was drawn is a texture of the next draw. (Mesa keeps
 * 4444 in 32 bits here, and does not draw into 5551 at all.) */
static void render_to_texture(void)
{
    static const struct {
        GLenum format, type;
        int width, height;
    } targets[] = {
        {GL_RGBA, GL_UNSIGNED_BYTE, 64, 64}, {GL_RGB, GL_UNSIGNED_SHORT_5_6_5, 64, 64},
        {GL_RGBA, GL_UNSIGNED_BYTE, 50, 30}, {GL_RGB, GL_UNSIGNED_SHORT_5_6_5, 33, 65},
        {GL_RGB, GL_UNSIGNED_BYTE, 20, 70}, {GL_RGBA, GL_UNSIGNED_BYTE, 100, 9}};
    GLuint names[6];
    for (int i = 0; i < 6; i++) {
        names[i] = texture(targets[i].format, targets[i].type, targets[i].width, targets[i].height, NULL);
        GLuint name;
        glGenFramebuffers(1, &name);
        glBindFramebuffer(GL_FRAMEBUFFER, name);
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, names[i], 0);
        if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) not_offered("a colour target");
        glViewport(0, 0, targets[i].width, targets[i].height);
        glClearColor(0.2f, 0.25f, 0.3f, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        scenery();
    }
    glBindFramebuffer(GL_FRAMEBUFFER, TARGET);
    glViewport(0, 0, W, H);
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    for (int i = 0; i < 6; i++) {
        glBindTexture(GL_TEXTURE_2D, names[i]);
        filters(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_EDGE);
        float x = (float)(i % 3) * 64, y = (float)(i / 3) * 64;
        rect(x + 2, y + 2, x + 62, y + 62, 0);
    }
}

/* Drawn in 16 bits and read back as it is. */
static void target_565(void)
{
    GLuint color;
    glGenRenderbuffers(1, &color);
    glBindRenderbuffer(GL_RENDERBUFFER, color);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGB565, W, H);
    GLuint name;
    glGenFramebuffers(1, &name);
    glBindFramebuffer(GL_FRAMEBUFFER, name);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) not_offered("RGB565 renderbuffers");
    glClearColor(0.5f, 0.5f, 0.5f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    scenery();
    glFinish();
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE);
    program(VERTEX_UV, FRAGMENT_UNIFORM);
    fill(20, 20, 100, 50, 0, 0.25f, 0, 0.25f, 0);
}

static void target_565_dither(void)
{
    glEnable(GL_DITHER);
    target_565();
}

/* A level and cube faces as targets. */
static void render_to_level(void)
{
    uint8_t *pixels = image(64, 64, 14);
    GLuint flat = texture(GL_RGBA, GL_UNSIGNED_BYTE, 64, 64, pixels), cube, name;
    glGenerateMipmap(GL_TEXTURE_2D);
    glGenFramebuffers(1, &name);
    glBindFramebuffer(GL_FRAMEBUFFER, name);
    if (offers("GL_OES_fbo_render_mipmap")) {
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, flat, 2);
        glViewport(0, 0, 16, 16);
        scenery();
    }
    glGenTextures(1, &cube);
    glBindTexture(GL_TEXTURE_CUBE_MAP, cube);
    for (GLenum face = 0; face < 6; face++)
        glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_RGBA, 64, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    filters(GL_TEXTURE_CUBE_MAP, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_EDGE);
    for (GLenum face = 0; face < 6; face += 2) {
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, cube, 0);
        glViewport(0, 0, 64, 64);
        glClear(GL_COLOR_BUFFER_BIT);
        scenery();
    }
    glBindFramebuffer(GL_FRAMEBUFFER, TARGET);
    glViewport(0, 0, W, H);
    glBindTexture(GL_TEXTURE_2D, flat);
    filters(GL_TEXTURE_2D, GL_NEAREST_MIPMAP_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_EDGE);
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    rect(0, 0, 64, 64, 0);
    rect(66, 0, 82, 16, 0);
    rect(84, 0, 116, 32, 0);
    glBindTexture(GL_TEXTURE_CUBE_MAP, cube);
    program(VERTEX_UV,
        "uniform samplerCube image; uniform float side; varying vec2 v; void main() { vec2 p = v * 1.9 - 0.95;\n"
        "  gl_FragColor = textureCube(image, side < 0.5 ? vec3(1.0, p) : side < 1.5 ? vec3(p.x, 1.0, p.y) : vec3(p, 1.0)); }\n");
    for (int i = 0; i < 3; i++) {
        set1f("side", (float)i);
        rect((float)i * 42, 70, (float)i * 42 + 40, 110, 0);
    }
    free(pixels);
}

/* Buffers that change while draws that use them are on their way. */
static void buffer_updates(void)
{
    float vertices[4 * 7];
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, sizeof vertices, NULL, GL_DYNAMIC_DRAW);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 28, NULL);
    glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, 28, (const void *)12);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    for (int i = 0; i < 25; i++) {
        float x = (float)(i % 5) * 0.4f - 0.96f, y = (float)(i / 5) * 0.4f - 0.96f;
        for (int v = 0; v < 4; v++) {
            float *at = vertices + v * 7;
            at[0] = x + (v & 1 ? 0.31f : 0);
            at[1] = y + (v & 2 ? 0.31f : 0);
            at[2] = 0;
            at[3] = (float)i / 25;
            at[4] = v & 1 ? 1 : 0.2f;
            at[5] = v & 2 ? 1 : 0.2f;
            at[6] = 1;
        }
        if (i % 2) glBufferData(GL_ARRAY_BUFFER, sizeof vertices, vertices, GL_DYNAMIC_DRAW);
        else glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof vertices, vertices);
        if (i % 3 == 0) {
            const float white[4] = {1, 1, 1, 1};
            glBufferSubData(GL_ARRAY_BUFFER, 28 * 2 + 12, sizeof white, white);
        }
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        if (i == 12) glFlush();
        if (i == 17) glFinish();
    }
}

/* A texture is drawn into and from by turns. */
static void ping_pong(void)
{
    uint8_t *pixels = image(64, 64, 33);
    GLuint textures[2], targets[2];
    for (int i = 0; i < 2; i++) {
        textures[i] = texture(GL_RGBA, GL_UNSIGNED_BYTE, 64, 64, pixels);
        targets[i] = framebuffer(textures[i], 64, 64, 0);
    }
    program(VERTEX_UV,
        "uniform sampler2D image; varying vec2 v; void main() { vec2 d = vec2(1.0 / 64.0, 0.0);\n"
        "  vec4 c = texture2D(image, v); vec4 n = texture2D(image, fract(v + d)) + texture2D(image, fract(v - d))\n"
        "    + texture2D(image, fract(v + d.yx)) + texture2D(image, fract(v - d.yx));\n"
        "  gl_FragColor = vec4(fract(c.rgb * 0.5 + n.gbr * 0.125 + 0.02), 1.0); }\n");
    for (int i = 0; i < 7; i++) {
        glBindFramebuffer(GL_FRAMEBUFFER, targets[i & 1]);
        glBindTexture(GL_TEXTURE_2D, textures[~i & 1]);
        glViewport(0, 0, 64, 64);
        W = H = 64;
        rect(0, 0, 64, 64, 0);
    }
    W = H = 128;
    glBindFramebuffer(GL_FRAMEBUFFER, TARGET);
    glViewport(0, 0, W, H);
    glBindTexture(GL_TEXTURE_2D, textures[0]);
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    rect(0, 0, 128, 128, 0);
    free(pixels);
}

/* Clears of parts, with masks, before and between draws. */
static void clears(void)
{
    glClearColor(0.1f, 0.2f, 0.3f, 0.4f);
    glClear(GL_COLOR_BUFFER_BIT);
    glEnable(GL_SCISSOR_TEST);
    for (int i = 0; i < 12; i++) {
        glScissor(i * 9, i * 7, 40, 31);
        glClearColor((float)i / 12, 0.5f, 1 - (float)i / 12, 1);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        if (i % 4 == 1) scenery();
        if (i == 6) glFinish();
    }
    glDisable(GL_SCISSOR_TEST);
    glEnable(GL_DEPTH_TEST);
    glClearDepthf(0.5f);
    glClear(GL_DEPTH_BUFFER_BIT);
    program(VERTEX_UV, FRAGMENT_UNIFORM);
    fill(0, 100, 60, 128, 0.1f, 1, 0, 0, 1);
    fill(60, 100, 128, 128, -0.1f, 0, 1, 0, 1);
}

/* Wider than a row of tiles can be short of, and of an odd size. */
static void large_target(void)
{
    float vertices[] = {-1, -1, 0, 1, 0, 0, 1, 1, -1, 0, 0, 1, 0, 1, -1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1};
    GLuint name = texture(GL_RGBA, GL_UNSIGNED_BYTE, 1000, 700, NULL);
    framebuffer(name, 1000, 700, 1);
    glViewport(0, 0, 1000, 700);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    program(VERTEX_COLOR, FRAGMENT_COLOR);
    draw(GL_TRIANGLE_STRIP, vertices, 4, 3, 4);
    for (int i = 0; i < 30; i++) {
        glEnable(GL_SCISSOR_TEST);
        glScissor((i * 331) % 960, (i * 197) % 680, 40, 20);
        glClearColor((float)(i % 5) / 4, (float)(i % 7) / 6, (float)(i % 3) / 2, 1);
        glClear(GL_COLOR_BUFFER_BIT);
    }
    glDisable(GL_SCISSOR_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, TARGET);
    glViewport(0, 0, W, H);
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    rect(0, 0, (float)W, (float)H, 0);
}

const struct scene transfer_scenes[] = {
    {"read_pixels", 128, 128, read_pixels},
    {"copy_image", 128, 128, copy_image},
    {"copy_sub_image", 128, 128, copy_sub_image},
    {"render_to_texture", 192, 128, render_to_texture},
    {"render_to_level", 128, 128, render_to_level},
    {"target_565", 128, 128, target_565},
    {"target_565_dither", 128, 128, target_565_dither},
    {"buffer_updates", 128, 128, buffer_updates},
    {"ping_pong", 128, 128, ping_pong},
    {"clears", 128, 128, clears},
    {"large_target", 200, 140, large_target},
    {NULL, 0, 0, NULL},
};

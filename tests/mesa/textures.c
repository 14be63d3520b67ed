/* Textures: formats, filters, wraps, mipmaps, cubes. */
#include "scenes.h"

static const GLenum WRAPS[] = {GL_REPEAT, GL_CLAMP_TO_EDGE, GL_MIRRORED_REPEAT};

/* A rectangle with texture coordinates (s0,t0)..(s1,t1).
 *
 * Its corners lie 1/2048 pixel outside of where they are said to be, as seen from the viewport's centre. A float is rarely a
 * sixteenth of a pixel exactly; Mesa multiplies it by the viewport's size, which is truncated, and cuts what comes out to
 * sixteenths: about half of the corners would fall to the one before, and all that is magnified would move by as much. */
static void textured(float x0, float y0, float x1, float y1, float s0, float t0, float s1, float t1)
{
    float l = 2 * x0 / W - 1, r = 2 * x1 / W - 1, b = 2 * y0 / H - 1, t = 2 * y1 / H - 1;
    l += copysignf(1 / (1024.0f * W), l), r += copysignf(1 / (1024.0f * W), r);
    b += copysignf(1 / (1024.0f * H), b), t += copysignf(1 / (1024.0f * H), t);
    const float corners[] = {l, b, s0, t0, r, b, s1, t0, l, t, s0, t1, r, t, s1, t1};
    draw(GL_TRIANGLE_STRIP, corners, 4, 2, 2);
}

/* Every format of ES 2, nearest and linear. */
static void formats(void)
{
    static const struct {
        GLenum format, type;
        int bytes;
    } kinds[] = {
        {GL_RGBA, GL_UNSIGNED_BYTE, 4}, {GL_RGB, GL_UNSIGNED_BYTE, 3}, {GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4, 2},
        {GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1, 2}, {GL_RGB, GL_UNSIGNED_SHORT_5_6_5, 2},
        {GL_LUMINANCE_ALPHA, GL_UNSIGNED_BYTE, 2}, {GL_LUMINANCE, GL_UNSIGNED_BYTE, 1}, {GL_ALPHA, GL_UNSIGNED_BYTE, 1},
    };
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    for (int i = 0; i < 8; i++) {
        uint8_t data[16 * 16 * 4];
        seed((unsigned)i + 1);
        for (size_t at = 0; at < sizeof data; at++) data[at] = (uint8_t)(random01() * 256);
        GLuint name = texture(kinds[i].format, kinds[i].type, 16, 16, data);
        float x = (float)(i % 4) * 32, y = (float)(i / 4) * 64;
        textured(x, y, x + 32, y + 32, 0, 0, 1, 1);
        filters(GL_TEXTURE_2D, GL_LINEAR, GL_LINEAR, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_EDGE);
        textured(x, y + 32, x + 32, y + 64, 0, 0, 1, 1);
        glDeleteTextures(1, &name);
    }
}

/* What the driver offers beyond: BGRA, float16 and float32 if it does. */
static void formats_extended(void)
{
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    uint8_t *pixels = image(32, 32, 9);
    if (!offers("GL_EXT_texture_format_BGRA8888")) not_offered("GL_EXT_texture_format_BGRA8888");
    GLuint name;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_BGRA_EXT, 32, 32, 0, GL_BGRA_EXT, GL_UNSIGNED_BYTE, pixels);
    filters(GL_TEXTURE_2D, GL_LINEAR, GL_LINEAR, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_EDGE);
    textured(2, 2, 62, 62, 0, 0, 1, 1);
    free(pixels);
}

/* Blocks of ETC1 with every mode bit, table and pixel index. */
static void etc1(void)
{
    if (!offers("GL_OES_compressed_ETC1_RGB8_texture")) not_offered("GL_OES_compressed_ETC1_RGB8_texture");
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    static uint8_t blocks[16 * 16 * 8];
    seed(17);
    for (int i = 0; i < 256; i++) {
        uint8_t *block = blocks + i * 8;
        for (int c = 0; c < 8; c++) block[c] = (uint8_t)(random01() * 256);
        if (block[3] & 2) {
            /* A difference that leaves 0..31 is not ETC1: keep the sum in range. */
            for (int c = 0; c < 3; c++) block[c] = (uint8_t)((8 + (block[c] >> 4)) << 3 | (block[c] & 7));
        }
    }
    GLuint name;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glCompressedTexImage2D(GL_TEXTURE_2D, 0, GL_ETC1_RGB8_OES, 64, 64, 0, sizeof blocks, blocks);
    filters(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_EDGE);
    textured(0, 0, 128, 128, 0, 0, 1, 1);
}

/* A small texture over a range of -1.3..2.2 under each pair of wraps. */
static void wraps(GLenum filter, int size)
{
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    uint8_t *pixels = image(size, size, 3);
    texture(GL_RGBA, GL_UNSIGNED_BYTE, size, size, pixels);
    for (int i = 0; i < 9; i++) {
        float x = (float)(i % 3) * 56, y = (float)(i / 3) * 56;
        filters(GL_TEXTURE_2D, filter, filter, WRAPS[i % 3], WRAPS[i / 3]);
        textured(x + 1, y + 1, x + 55, y + 55, -1.3f, -1.3f, 2.2f, 2.2f);
    }
    free(pixels);
}

static void wraps_nearest(void) { wraps(GL_NEAREST, 8); }
static void wraps_linear(void) { wraps(GL_LINEAR, 8); }

/* Sizes that are no powers of two: clamped as ES 2 has it. */
static void npot(void)
{
    static const int sizes[8][2] = {{3, 5}, {17, 9}, {33, 47}, {1, 7}, {100, 3}, {63, 65}, {5, 130}, {12, 20}};
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    for (int i = 0; i < 8; i++) {
        uint8_t *pixels = image(sizes[i][0], sizes[i][1], (unsigned)i);
        texture(GL_RGBA, GL_UNSIGNED_BYTE, sizes[i][0], sizes[i][1], pixels);
        GLenum filter = i & 1 ? GL_LINEAR : GL_NEAREST;
        filters(GL_TEXTURE_2D, filter, filter, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_EDGE);
        float x = (float)(i % 4) * 40, y = (float)(i / 4) * 64;
        textured(x + 1, y + 1, x + 39, y + 63, -0.053f, -0.047f, 1.049f, 1.051f);
        free(pixels);
    }
}

/* Such sizes with mipmaps and repetition. */
static void npot_mipmaps(void)
{
    if (!offers("GL_OES_texture_npot")) not_offered("GL_OES_texture_npot");
    static const int sizes[4][2] = {{48, 40}, {37, 91}, {100, 12}, {21, 21}};
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    for (int i = 0; i < 4; i++) {
        uint8_t *pixels = image(sizes[i][0], sizes[i][1], (unsigned)i);
        texture(GL_RGBA, GL_UNSIGNED_BYTE, sizes[i][0], sizes[i][1], pixels);
        glGenerateMipmap(GL_TEXTURE_2D);
        filters(GL_TEXTURE_2D, GL_LINEAR_MIPMAP_NEAREST, GL_LINEAR, GL_REPEAT, GL_MIRRORED_REPEAT);
        textured((float)i * 32 + 1, 1, (float)i * 32 + 31, 63, 0.013f, 0.017f, 1.4f, 1.3f);
        textured((float)i * 32 + 1, 65, (float)i * 32 + 31, 127, 0.013f, 0.017f, 5.4f, 4.3f);
        free(pixels);
    }
}

/* Levels of one colour each, so that the picture shows which level was taken. */
static void painted_levels(int size)
{
    GLuint name;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    for (int level = 0, edge = size; edge > 0; level++, edge /= 2) {
        uint8_t *pixels = malloc((size_t)edge * edge * 4);
        if (!pixels) fail("no memory");
        for (int i = 0; i < edge * edge; i++) {
            pixels[i * 4] = (uint8_t)(level & 1 ? 230 : 30);
            pixels[i * 4 + 1] = (uint8_t)(level & 2 ? 230 : 30);
            pixels[i * 4 + 2] = (uint8_t)(level & 4 ? 230 : 30);
            pixels[i * 4 + 3] = 255;
        }
        glTexImage2D(GL_TEXTURE_2D, level, GL_RGBA, edge, edge, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        free(pixels);
    }
}

static const GLenum MINIFY[] = {GL_NEAREST, GL_LINEAR, GL_NEAREST_MIPMAP_NEAREST, GL_LINEAR_MIPMAP_NEAREST,
    GL_NEAREST_MIPMAP_LINEAR, GL_LINEAR_MIPMAP_LINEAR};

/* Scales between the switching points of the levels, under all six filters. */
static void mip_levels(void)
{
    painted_levels(64);
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    for (int i = 0; i < 6; i++) {
        filters(GL_TEXTURE_2D, MINIFY[i], i & 1 ? GL_LINEAR : GL_NEAREST, GL_REPEAT, GL_REPEAT);
        for (int j = 0; j < 8; j++) {
            float scale = 0.3f * exp2f((float)j * 0.97f), span = 20 * scale / 64;
            textured((float)j * 20, (float)i * 20, (float)j * 20 + 20, (float)i * 20 + 20, 0.01f, 0.01f, 0.01f + span,
                0.01f + span);
        }
    }
}

/* Levels that the driver makes, minified by a little more in each column. None is minified by less than half a level: there
 * GL ES magnifies (constant c of 3.7.8), and the software renderers do not. */
static void mip_generated(void)
{
    uint8_t *pixels = image(64, 64, 21);
    texture(GL_RGBA, GL_UNSIGNED_BYTE, 64, 64, pixels);
    glGenerateMipmap(GL_TEXTURE_2D);
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    for (int i = 0; i < 6; i++) {
        filters(GL_TEXTURE_2D, MINIFY[i], GL_LINEAR, GL_REPEAT, GL_REPEAT);
        for (int j = 0; j < 4; j++) {
            float span = 32.0f * exp2f((float)j + 0.75f) / 64;
            textured((float)j * 32 + 1, (float)i * 32 + 1, (float)j * 32 + 31, (float)i * 32 + 31, 0.013f, 0.017f,
                0.013f + span, 0.017f + span);
        }
    }
    free(pixels);
}

/* All levels of several formats and shapes, each seen 1:1. */
static void mip_uploaded(void)
{
    static const GLenum kinds[4][2] = {{GL_RGBA, GL_UNSIGNED_BYTE}, {GL_RGB, GL_UNSIGNED_SHORT_5_6_5},
        {GL_LUMINANCE, GL_UNSIGNED_BYTE}, {GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4}};
    static const int shapes[4][2] = {{64, 64}, {128, 8}, {16, 64}, {32, 32}};
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    for (int i = 0; i < 4; i++) {
        GLuint name;
        int x = 0;
        glGenTextures(1, &name);
        glBindTexture(GL_TEXTURE_2D, name);
        filters(GL_TEXTURE_2D, GL_NEAREST_MIPMAP_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_EDGE);
        seed((unsigned)i + 40);
        for (int w = shapes[i][0], h = shapes[i][1], level = 0;; level++) {
            uint8_t data[64 * 64 * 4];
            for (size_t at = 0; at < (size_t)w * h * 4; at++) data[at] = (uint8_t)(random01() * 256);
            glTexImage2D(GL_TEXTURE_2D, level, kinds[i][0], w, h, 0, kinds[i][0], kinds[i][1], data);
            if (w == 1 && h == 1) break;
            w = w > 1 ? w / 2 : 1;
            h = h > 1 ? h / 2 : 1;
        }
        for (int w = shapes[i][0], h = shapes[i][1];;) {
            textured((float)x, (float)i * 64, (float)(x + w), (float)(i * 64 + h), 0, 0, 1, 1);
            x += w + 1;
            if (w == 1 && h == 1) break;
            w = w > 1 ? w / 2 : 1;
            h = h > 1 ? h / 2 : 1;
        }
    }
}

/* A floor of many levels of detail. */
static void mip_perspective(void)
{
    uint8_t *pixels = image(128, 128, 50);
    texture(GL_RGBA, GL_UNSIGNED_BYTE, 128, 128, pixels);
    glGenerateMipmap(GL_TEXTURE_2D);
    filters(GL_TEXTURE_2D, GL_LINEAR_MIPMAP_LINEAR, GL_LINEAR, GL_MIRRORED_REPEAT, GL_MIRRORED_REPEAT);
    program(
        "attribute vec2 a0; varying vec2 v; void main() { v = a0 * 2.0;\n"
        "  gl_Position = vec4(a0.x * 4.0, -0.7, a0.y * 2.0 - 0.5, a0.y * 2.0 + 0.2); }\n",
        FRAGMENT_TEXTURE);
    const float corners[] = {-1, 0, 1, 0, -1, 1, 1, 1};
    draw(GL_TRIANGLE_STRIP, corners, 4, 2, 0);
    free(pixels);
}

static void lod_bias(void)
{
    painted_levels(64);
    filters(GL_TEXTURE_2D, GL_NEAREST_MIPMAP_NEAREST, GL_NEAREST, GL_REPEAT, GL_REPEAT);
    program(VERTEX_UV,
        "uniform sampler2D image; uniform float bias; varying vec2 v;\n"
        "void main() { gl_FragColor = texture2D(image, v, bias); }\n");
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++) {
            float span = 16.0f * 1.2f * (float)(1 << (j / 2)) / 64;
            set1f("bias", (float)i * 0.75f - 2.75f);
            textured((float)i * 16, (float)j * 16, (float)i * 16 + 16, (float)j * 16 + 16, 0, 0, span, span);
        }
    }
}

/* Explicit levels in the fragment program, and texture2DProj. */
static void lod_explicit(void)
{
    if (!offers("GL_EXT_shader_texture_lod")) not_offered("GL_EXT_shader_texture_lod");
    painted_levels(64);
    filters(GL_TEXTURE_2D, GL_LINEAR_MIPMAP_LINEAR, GL_LINEAR, GL_REPEAT, GL_REPEAT);
    program(VERTEX_UV,
        "#extension GL_EXT_shader_texture_lod : require\n"
        "uniform sampler2D image; varying vec2 v;\n"
        "void main() { gl_FragColor = texture2DLodEXT(image, v, v.x * 7.0 - 0.5); }\n");
    textured(0, 0, 128, 128, 0, 0, 1, 1);
}

static void projective(void)
{
    uint8_t *pixels = image(32, 32, 60);
    texture(GL_RGBA, GL_UNSIGNED_BYTE, 32, 32, pixels);
    filters(GL_TEXTURE_2D, GL_LINEAR, GL_LINEAR, GL_REPEAT, GL_REPEAT);
    program(VERTEX_UV,
        "uniform sampler2D image; varying vec2 v;\n"
        "void main() { gl_FragColor = texture2DProj(image, vec3(v, 0.5 + v.y)) * 0.5\n"
        "  + texture2DProj(image, vec4(v.yx, 0.0, 1.5 - v.x)) * 0.5; }\n");
    rect(0, 0, 128, 128, 0);
    free(pixels);
}

/* The coordinates of one lookup come from another. */
static void dependent(void)
{
    uint8_t *pixels = image(64, 64, 70), *offsets = image(16, 16, 71);
    glActiveTexture(GL_TEXTURE1);
    texture(GL_RGBA, GL_UNSIGNED_BYTE, 64, 64, pixels);
    filters(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_REPEAT, GL_REPEAT);
    glActiveTexture(GL_TEXTURE0);
    texture(GL_RGBA, GL_UNSIGNED_BYTE, 16, 16, offsets);
    program(VERTEX_UV,
        "uniform sampler2D image, second; varying vec2 v;\n"
        "void main() { vec4 a = texture2D(image, v); vec2 at = v + (floor(a.rg * 8.0) + 0.25) / 64.0;\n"
        "  vec4 b = texture2D(second, at); gl_FragColor = mix(a, b, 0.75); }\n");
    set1i("second", 1);
    rect(0, 0, 128, 128, 0);
    free(pixels);
    free(offsets);
}

/* Eight textures in one program. */
static void many_units(void)
{
    program(VERTEX_UV,
        "uniform sampler2D image[8]; varying vec2 v;\n"
        "void main() { vec4 c = vec4(0.0);\n"
        "  c += texture2D(image[0], v) * 0.1 + texture2D(image[1], v.yx) * 0.1 + texture2D(image[2], v * 2.0) * 0.15;\n"
        "  c += texture2D(image[3], 1.0 - v) * 0.15 + texture2D(image[4], v * v) * 0.1;\n"
        "  c += texture2D(image[5], v + 0.5) * 0.1 + texture2D(image[6], v * 0.5) * 0.2 + texture2D(image[7], v) * 0.1;\n"
        "  gl_FragColor = c; }\n");
    for (int i = 0; i < 8; i++) {
        char name[16];
        uint8_t *pixels = image(8 << (i % 4), 16, (unsigned)i * 11);
        glActiveTexture(GL_TEXTURE0 + (GLenum)i);
        texture(GL_RGBA, GL_UNSIGNED_BYTE, 8 << (i % 4), 16, pixels);
        filters(GL_TEXTURE_2D, GL_LINEAR, GL_LINEAR, GL_REPEAT, GL_REPEAT);
        snprintf(name, sizeof name, "image[%d]", i);
        set1i(name, i);
        free(pixels);
    }
    rect(0, 0, 128, 128, 0);
}

/* Parts of textures replaced, between draws. Mesa before 23.1.8 did not wait for draws that use the texture
 * (vc4_texture_subdata), hence the program does. */
static void sub_images(void)
{
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    uint8_t *base = image(40, 24, 1), *patch = image(13, 9, 55);
    texture(GL_RGBA, GL_UNSIGNED_BYTE, 40, 24, base);
    textured(0, 0, 40, 24, 0, 0, 1, 1);
    for (int i = 0; i < 5; i++) {
        glFinish();
        glTexSubImage2D(GL_TEXTURE_2D, 0, i * 6, i * 3, 13, 9, GL_RGBA, GL_UNSIGNED_BYTE, patch);
        textured((float)(i % 3) * 42, (float)(i / 3) * 26 + 26, (float)(i % 3) * 42 + 40, (float)(i / 3) * 26 + 50, 0, 0,
            1, 1);
    }
    uint8_t gray[64 * 64];
    for (int i = 0; i < 64 * 64; i++) gray[i] = (uint8_t)(i * 7);
    texture(GL_LUMINANCE, GL_UNSIGNED_BYTE, 64, 64, gray);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 1, 1, 37, 29, GL_LUMINANCE, GL_UNSIGNED_BYTE, gray + 1000);
    textured(46, 78, 110, 128, 0, 0, 1, 50.0f / 64);
    free(base);
    free(patch);
}

/* Directions all around in six faces of distinct images. */
static void cube(GLenum min, int mipmaps)
{
    GLuint name;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_CUBE_MAP, name);
    for (GLenum face = 0; face < 6; face++) {
        uint8_t *pixels = image(32, 32, face * 9);
        for (int i = 0; i < 32 * 32; i++) pixels[i * 4 + 2] = (uint8_t)(face * 50);
        glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_RGBA, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        free(pixels);
    }
    if (mipmaps) glGenerateMipmap(GL_TEXTURE_CUBE_MAP);
    filters(GL_TEXTURE_CUBE_MAP, min, min == GL_NEAREST ? GL_NEAREST : GL_LINEAR, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_EDGE);
    /* Left: as from inside, right: as a mirror ball. */
    program(VERTEX_UV,
        "uniform samplerCube image; uniform float spread; varying vec2 v;\n"
        "void main() { vec2 p = v * 2.0 - 1.0; vec3 d;\n"
        "  if (spread > 0.0) { float a = p.x * 3.1, b = p.y * 1.5; d = vec3(sin(a) * cos(b), sin(b), cos(a) * cos(b)); }\n"
        "  else { float r = dot(p, p); d = vec3(2.0 * p, r - 1.0) + vec3(0.01, 0.02, 0.0); }\n"
        "  gl_FragColor = textureCube(image, d * 3.0); }\n");
    set1f("spread", 1);
    rect(0, 0, 128, 64, 0);
    set1f("spread", 0);
    rect(0, 64, 128, 128, 0);
}

static void cube_nearest(void) { cube(GL_NEAREST, 0); }
static void cube_linear(void) { cube(GL_LINEAR, 0); }
static void cube_mipmaps(void) { cube(GL_LINEAR_MIPMAP_NEAREST, 1); }

/* Large enough for the T format to matter, small enough for LT, and one in between. */
static void sizes(void)
{
    program(VERTEX_UV, FRAGMENT_TEXTURE);
    int x = 0;
    for (int edge = 1; edge <= 64; edge *= 2, x += edge) {
        uint8_t *pixels = image(edge, edge, (unsigned)edge);
        texture(GL_RGBA, GL_UNSIGNED_BYTE, edge, edge, pixels);
        textured((float)x, 0, (float)(x + edge), (float)edge, 0, 0, 1, 1);
        free(pixels);
    }
    uint8_t *pixels = image(1024, 512, 5);
    texture(GL_RGBA, GL_UNSIGNED_BYTE, 1024, 512, pixels);
    textured(0, 66, 128, 130, 0.4f, 0.3f, 0.4f + 128.0f / 1024, 0.3f + 64.0f / 512);
    free(pixels);
}

const struct scene texture_scenes[] = {
    {"texture_formats", 128, 128, formats},
    {"texture_formats_bgra", 64, 64, formats_extended},
    {"texture_etc1", 128, 128, etc1},
    {"texture_wraps_nearest", 168, 168, wraps_nearest},
    {"texture_wraps_linear", 168, 168, wraps_linear},
    {"texture_npot", 160, 128, npot},
    {"texture_npot_mipmaps", 128, 128, npot_mipmaps},
    {"texture_mip_levels", 160, 120, mip_levels},
    {"texture_mip_generated", 128, 256, mip_generated},
    {"texture_mip_uploaded", 256, 256, mip_uploaded},
    {"texture_mip_perspective", 128, 128, mip_perspective},
    {"texture_lod_bias", 128, 128, lod_bias},
    {"texture_lod_explicit", 128, 128, lod_explicit},
    {"texture_projective", 128, 128, projective},
    {"texture_dependent", 128, 128, dependent},
    {"texture_many_units", 128, 128, many_units},
    {"texture_sub_images", 128, 128, sub_images},
    {"texture_cube_nearest", 128, 128, cube_nearest},
    {"texture_cube_linear", 128, 128, cube_linear},
    {"texture_cube_mipmaps", 128, 128, cube_mipmaps},
    {"texture_sizes", 192, 130, sizes},
    {NULL, 0, 0, NULL},
};

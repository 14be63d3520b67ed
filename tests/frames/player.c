/* Draws a frame of tests/src/frames with OpenGL ES 2, and writes the picture as a PAM file, the first row first.
 *
 * usage: player FRAME COUNT PICTURE [RENDERER]
 *
 * The file is what `frames write` makes (tests/src/frames/file.rs): little-endian words. Ends with 3, and says so, where the driver
 * does not offer what the frame needs. */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES2/gl2.h>
#include <GLES2/gl2ext.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = 0xffffffff, ABSENT = 3, MOST_ATTRIBUTES = 8 };

struct bytes {
    uint32_t size;
    const void *data;
};

struct image {
    uint32_t width, height, kind, depth;
    GLuint texture, framebuffer;
};

struct program {
    GLuint name;
    uint32_t attributes, components[MOST_ATTRIBUTES], stride;
    GLint vertex_words, fragment_words;
};

struct draw {
    uint32_t program, vertices, indices, first, count, flags, blend, depth, stencil, scissor[4];
    uint32_t textures;
    const uint32_t *texture;
    struct bytes vertex_words, fragment_words;
};

struct pass {
    uint32_t target, draws;
    const float *clear;
    struct draw *draw;
};

/* Flags of draws. */
enum { POINTS = 1, WRITES_DEPTH = 2, WRITES_COLOR = 4, CULLS = 8, CUTS = 16 };
/* Kinds of images. */
enum { RGBA, LUMINANCE, CUBE, TARGET };

_Noreturn static void end(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("player: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(code);
}

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) end(1, "no memory");
    return memory;
}

/* The file, and where it is read. */
static const unsigned char *file, *at, *behind;

static const void *take(size_t size)
{
    const void *here = at;
    size_t padded = (size + 3) & ~(size_t)3;
    if ((size_t)(behind - at) < padded) end(1, "the file is cut short");
    at += padded;
    return here;
}

static uint32_t word(void)
{
    uint32_t value;
    memcpy(&value, take(4), 4);
    return value;
}

static struct bytes bytes(void)
{
    struct bytes read;
    read.size = word();
    read.data = take(read.size);
    return read;
}

/* Floats behind their number. */
static struct bytes floats(void)
{
    struct bytes read;
    read.size = word();
    read.data = take((size_t)read.size * 4);
    return read;
}

static void load(const char *path)
{
    FILE *stream = fopen(path, "rb");
    if (!stream) end(1, "cannot read %s", path);
    fseek(stream, 0, SEEK_END);
    long size = ftell(stream);
    rewind(stream);
    unsigned char *memory = room(1, (size_t)size + 4);
    if (fread(memory, 1, (size_t)size, stream) != (size_t)size) end(1, "cannot read %s", path);
    fclose(stream);
    file = at = memory;
    behind = memory + size;
    if (size < 8 || memcmp(take(8), "VC4F\1\0\0", 8)) end(1, "%s is no frame of this version", path);
}

static EGLDisplay display;
/* Samples of the picture. */
static uint32_t samples;

static void open_context(const char *renderer, uint32_t width, uint32_t height)
{
    PFNEGLGETPLATFORMDISPLAYEXTPROC get_display =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    if (!get_display) end(1, "EGL offers no platform displays");
    display = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL)) end(1, "EGL has no surfaceless display");
    eglBindAPI(EGL_OPENGL_ES_API);
    const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RED_SIZE, 8,
        EGL_GREEN_SIZE, 8, EGL_BLUE_SIZE, 8, EGL_ALPHA_SIZE, 8, EGL_DEPTH_SIZE, 24, EGL_STENCIL_SIZE, 8,
        samples > 1 ? EGL_SAMPLES : EGL_NONE, (EGLint)samples, EGL_NONE};
    const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
    const EGLint size[] = {EGL_WIDTH, (EGLint)width, EGL_HEIGHT, (EGLint)height, EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    if (!eglChooseConfig(display, wanted, &config, 1, &count) || count == 0)
        end(ABSENT, "absent: a configuration of %u samples", samples);
    EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
    EGLSurface surface = EGL_NO_SURFACE;
    if (samples > 1 && !(surface = eglCreatePbufferSurface(display, config, size)))
        end(ABSENT, "absent: a surface of %u samples", samples);
    if (!eglMakeCurrent(display, surface, surface, context)) end(1, "eglMakeCurrent: 0x%x", eglGetError());
    const char *got = (const char *)glGetString(GL_RENDERER);
    /* A driver that finds no device gives way to software in silence. */
    if (renderer && strncmp(got, renderer, strlen(renderer))) end(1, "the renderer is '%s', not '%s...'", got, renderer);
}

static int offers(const char *extension)
{
    const char *list = (const char *)glGetString(GL_EXTENSIONS);
    return list && strstr(list, extension) != NULL;
}

static void upload(GLenum target, GLenum format, uint32_t level, const struct image *image, struct bytes texels)
{
    GLsizei width = (GLsizei)(image->width >> level), height = (GLsizei)(image->height >> level);
    glTexImage2D(target, (GLint)level, (GLint)format, width ? width : 1, height ? height : 1, 0, format, GL_UNSIGNED_BYTE,
        texels.data);
}

static void read_image(struct image *image)
{
    image->width = word();
    image->height = word();
    int smooth = (int)word(), repeats = (int)word();
    image->kind = word();
    GLenum target = image->kind == CUBE ? GL_TEXTURE_CUBE_MAP : GL_TEXTURE_2D;
    uint32_t levels = 1;
    glGenTextures(1, &image->texture);
    glBindTexture(target, image->texture);
    if (image->kind == TARGET) {
        image->depth = word();
        upload(target, GL_RGBA, 0, image, (struct bytes){0, NULL});
    } else {
        uint32_t parts = word();
        GLenum format = image->kind == LUMINANCE ? GL_LUMINANCE : GL_RGBA;
        for (uint32_t part = 0; part < parts; part++) {
            if (image->kind == CUBE) upload(GL_TEXTURE_CUBE_MAP_POSITIVE_X + part, format, 0, image, bytes());
            else upload(target, format, part, image, bytes());
        }
        if (image->kind != CUBE) levels = parts;
    }
    GLint filter = smooth ? GL_LINEAR : GL_NEAREST, wrap = repeats ? GL_REPEAT : GL_CLAMP_TO_EDGE;
    glTexParameteri(target, GL_TEXTURE_MIN_FILTER, levels > 1 ? GL_LINEAR_MIPMAP_LINEAR : filter);
    glTexParameteri(target, GL_TEXTURE_MAG_FILTER, filter);
    glTexParameteri(target, GL_TEXTURE_WRAP_S, wrap);
    glTexParameteri(target, GL_TEXTURE_WRAP_T, wrap);
}

static void make_framebuffer(struct image *image)
{
    glGenFramebuffers(1, &image->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, image->framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, image->texture, 0);
    if (image->depth) {
        GLuint buffer;
        glGenRenderbuffers(1, &buffer);
        glBindRenderbuffer(GL_RENDERBUFFER, buffer);
        glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH24_STENCIL8_OES, (GLsizei)image->width, (GLsizei)image->height);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, buffer);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_STENCIL_ATTACHMENT, GL_RENDERBUFFER, buffer);
    }
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) end(ABSENT, "absent: a complete framebuffer");
}

static GLuint shader(GLenum kind)
{
    const char *text = bytes().data;
    GLuint name = glCreateShader(kind);
    GLint ok = 0;
    glShaderSource(name, 1, &text, NULL);
    glCompileShader(name);
    glGetShaderiv(name, GL_COMPILE_STATUS, &ok);
    if (!ok) {
        char log[2048] = "";
        glGetShaderInfoLog(name, sizeof log, NULL, log);
        end(1, "%s\n%s", log, text);
    }
    return name;
}

static void read_program(struct program *program)
{
    program->name = glCreateProgram();
    glAttachShader(program->name, shader(GL_VERTEX_SHADER));
    glAttachShader(program->name, shader(GL_FRAGMENT_SHADER));
    program->attributes = word();
    if (program->attributes > MOST_ATTRIBUTES) end(1, "%u attributes", program->attributes);
    for (uint32_t i = 0; i < program->attributes; i++) {
        const char attribute[] = {'a', (char)('0' + i), 0};
        glBindAttribLocation(program->name, i, attribute);
        program->components[i] = word();
        program->stride += program->components[i] ? 4 * program->components[i] : 4;
    }
    GLint ok = 0;
    glLinkProgram(program->name);
    glGetProgramiv(program->name, GL_LINK_STATUS, &ok);
    if (!ok) end(1, "a program does not link");
    glUseProgram(program->name);
    uint32_t samplers = word();
    for (uint32_t i = 0; i < samplers; i++) {
        const char sampler[] = {'s', (char)('0' + i), 0};
        glUniform1i(glGetUniformLocation(program->name, sampler), (GLint)i);
    }
    program->vertex_words = glGetUniformLocation(program->name, "u");
    program->fragment_words = glGetUniformLocation(program->name, "f");
}

static void read_draw(struct draw *draw)
{
    uint32_t *words[] = {&draw->program, &draw->vertices, &draw->indices, &draw->first, &draw->count, &draw->flags, &draw->blend,
        &draw->depth, &draw->stencil, &draw->scissor[0], &draw->scissor[1], &draw->scissor[2], &draw->scissor[3]};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) *words[i] = word();
    draw->textures = word();
    draw->texture = take((size_t)draw->textures * 4);
    draw->vertex_words = floats();
    draw->fragment_words = floats();
}

static void toggle(GLenum what, int on)
{
    if (on) glEnable(what);
    else glDisable(what);
}

static void set_state(const struct draw *draw)
{
    static const GLenum factors[][2] = {{GL_ONE, GL_ZERO}, {GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA}, {GL_SRC_ALPHA, GL_ONE}};
    static const GLenum compare[] = {GL_ALWAYS, GL_LESS, GL_LEQUAL};
    GLboolean color = (draw->flags & WRITES_COLOR) != 0;
    toggle(GL_BLEND, draw->blend != 0);
    glBlendFunc(factors[draw->blend][0], factors[draw->blend][1]);
    toggle(GL_DEPTH_TEST, draw->depth != 0);
    glDepthFunc(compare[draw->depth]);
    glDepthMask((draw->flags & WRITES_DEPTH) != 0);
    glColorMask(color, color, color, color);
    toggle(GL_CULL_FACE, (draw->flags & CULLS) != 0);
    toggle(GL_SCISSOR_TEST, (draw->flags & CUTS) != 0);
    glScissor((GLint)draw->scissor[0], (GLint)draw->scissor[1], (GLsizei)draw->scissor[2], (GLsizei)draw->scissor[3]);
    toggle(GL_STENCIL_TEST, draw->stencil != 0);
    if (draw->stencil == 1) {
        glStencilMask(255);
        glStencilFunc(GL_ALWAYS, 0, 255);
        glStencilOpSeparate(GL_FRONT, GL_KEEP, GL_DECR_WRAP, GL_KEEP);
        glStencilOpSeparate(GL_BACK, GL_KEEP, GL_INCR_WRAP, GL_KEEP);
    } else if (draw->stencil == 2) {
        glStencilMask(0);
        glStencilFunc(GL_NOTEQUAL, 0, 255);
        glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
    }
}

static void run_draw(const struct draw *draw, const struct image *images, const struct program *programs, const GLuint *buffers)
{
    const struct program *program = programs + draw->program;
    glUseProgram(program->name);
    if (draw->vertex_words.size && program->vertex_words >= 0)
        glUniform4fv(program->vertex_words, (GLsizei)draw->vertex_words.size / 4, draw->vertex_words.data);
    if (draw->fragment_words.size && program->fragment_words >= 0)
        glUniform4fv(program->fragment_words, (GLsizei)draw->fragment_words.size / 4, draw->fragment_words.data);
    for (uint32_t i = 0; i < draw->textures; i++) {
        const struct image *image = images + draw->texture[i];
        glActiveTexture(GL_TEXTURE0 + i);
        glBindTexture(image->kind == CUBE ? GL_TEXTURE_CUBE_MAP : GL_TEXTURE_2D, image->texture);
    }
    set_state(draw);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[draw->vertices]);
    uintptr_t offset = 0;
    for (uint32_t i = 0; i < MOST_ATTRIBUTES; i++) {
        if (i >= program->attributes) {
            glDisableVertexAttribArray(i);
            continue;
        }
        uint32_t components = program->components[i];
        glVertexAttribPointer(i, components ? (GLint)components : 4, components ? GL_FLOAT : GL_UNSIGNED_BYTE, !components,
            (GLsizei)program->stride, (const void *)offset);
        glEnableVertexAttribArray(i);
        offset += components ? 4 * components : 4;
    }
    GLenum mode = draw->flags & POINTS ? GL_POINTS : GL_TRIANGLES;
    if (draw->indices == NONE) {
        glDrawArrays(mode, (GLint)draw->first, (GLsizei)draw->count);
    } else {
        glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[draw->indices]);
        glDrawElements(mode, (GLsizei)draw->count, GL_UNSIGNED_SHORT, (const void *)(uintptr_t)(draw->first * 2));
    }
}

static PFNGLDISCARDFRAMEBUFFEREXTPROC discard_framebuffer;

static void run_pass(const struct pass *pass, const struct image *images, const struct program *programs, const GLuint *buffers)
{
    const struct image *target = images + pass->target;
    int surface = samples > 1 && pass->target == 0;
    glBindFramebuffer(GL_FRAMEBUFFER, surface ? 0 : target->framebuffer);
    glViewport(0, 0, (GLsizei)target->width, (GLsizei)target->height);
    glDisable(GL_SCISSOR_TEST);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glDepthMask(GL_TRUE);
    glStencilMask(255);
    glClearColor(pass->clear[0], pass->clear[1], pass->clear[2], pass->clear[3]);
    /* Also where draws cover all: a tiler need not load what was there. */
    glClear(GL_COLOR_BUFFER_BIT | (target->depth ? GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT : 0));
    for (uint32_t i = 0; i < pass->draws; i++) run_draw(pass->draw + i, images, programs, buffers);
    if (target->depth && discard_framebuffer) {
        static const GLenum attached[] = {GL_DEPTH_ATTACHMENT, GL_STENCIL_ATTACHMENT};
        static const GLenum of_surface[] = {GL_DEPTH_EXT, GL_STENCIL_EXT};
        discard_framebuffer(GL_FRAMEBUFFER, 2, surface ? of_surface : attached);
    }
}

static void write_picture(const char *path, uint32_t width, uint32_t height)
{
    unsigned char *pixels = room((size_t)width * height, 4);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(0, 0, (GLsizei)width, (GLsizei)height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    GLenum error = glGetError();
    if (error) end(1, "GL error 0x%x", error);
    FILE *stream = fopen(path, "wb");
    if (!stream) end(1, "cannot write %s", path);
    fprintf(stream, "P7\nWIDTH %u\nHEIGHT %u\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n", width, height);
    fwrite(pixels, 4, (size_t)width * height, stream);
    if (fclose(stream)) end(1, "cannot write %s", path);
    free(pixels);
}

int main(int argc, char **argv)
{
    if (argc < 4) end(2, "usage: player FRAME COUNT PICTURE [RENDERER]");
    load(argv[1]);
    int frames = atoi(argv[2]);
    samples = word();
    uint32_t image_count = word(), width, height;
    memcpy(&width, at, 4);
    memcpy(&height, at + 4, 4);
    open_context(argc > 4 ? argv[4] : NULL, width, height);
    glDisable(GL_DITHER);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    if (offers("GL_EXT_discard_framebuffer"))
        discard_framebuffer = (PFNGLDISCARDFRAMEBUFFEREXTPROC)eglGetProcAddress("glDiscardFramebufferEXT");
    struct image *images = room(image_count, sizeof *images);
    for (uint32_t i = 0; i < image_count; i++) read_image(images + i);
    for (uint32_t i = 0; i < image_count; i++)
        if (images[i].kind == TARGET && (i || samples == 1)) make_framebuffer(images + i);
    uint32_t buffer_count = word();
    GLuint *buffers = room(buffer_count, sizeof *buffers);
    glGenBuffers((GLsizei)buffer_count, buffers);
    for (uint32_t i = 0; i < buffer_count; i++) {
        struct bytes content = bytes();
        /* What a buffer is bound as first does not bind it for ever. */
        glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
        glBufferData(GL_ARRAY_BUFFER, content.size, content.data, GL_STATIC_DRAW);
    }
    uint32_t program_count = word();
    struct program *programs = room(program_count, sizeof *programs);
    for (uint32_t i = 0; i < program_count; i++) read_program(programs + i);
    uint32_t pass_count = word();
    struct pass *passes = room(pass_count, sizeof *passes);
    for (uint32_t i = 0; i < pass_count; i++) {
        passes[i].target = word();
        passes[i].clear = floats().data;
        passes[i].draws = word();
        passes[i].draw = room(passes[i].draws, sizeof *passes[i].draw);
        for (uint32_t j = 0; j < passes[i].draws; j++) read_draw(passes[i].draw + j);
    }
    for (int frame = 0; frame < frames; frame++) {
        for (uint32_t i = 0; i < pass_count; i++) run_pass(passes + i, images, programs, buffers);
        glFlush();
    }
    glBindFramebuffer(GL_FRAMEBUFFER, samples > 1 ? 0 : images[0].framebuffer);
    write_picture(argv[3], width, height);
    eglTerminate(display);
    return 0;
}

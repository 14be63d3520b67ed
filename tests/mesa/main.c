/* Draws every scene in one process and writes one PAM file each.
 *
 * usage: scenes [--renderer PREFIX] [--list] DIRECTORY [NAME...]
 *
 * Prints a line per scene: name, "drawn" or "absent WHAT", milliseconds. */
#include "scenes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

int W, H;
GLuint TARGET;

int offers(const char *extension)
{
    const char *list = (const char *)glGetString(GL_EXTENSIONS);
    size_t length = strlen(extension);
    for (const char *at = list; at && (at = strstr(at, extension)); at += length) {
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return 1;
    }
    return 0;
}

static EGLDisplay open_display(void)
{
    PFNEGLGETPLATFORMDISPLAYEXTPROC get_display =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    if (!get_display) fail("EGL offers no platform displays");
    EGLDisplay opened = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (opened == EGL_NO_DISPLAY) fail("EGL has no surfaceless display");
    if (!eglInitialize(opened, NULL, NULL)) fail("eglInitialize: 0x%x", eglGetError());
    if (!eglBindAPI(EGL_OPENGL_ES_API)) fail("EGL offers no OpenGL ES");
    return opened;
}

static EGLDisplay display = EGL_NO_DISPLAY;
static EGLContext context = EGL_NO_CONTEXT;
static EGLSurface surface = EGL_NO_SURFACE;

static void end_context(void)
{
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (context != EGL_NO_CONTEXT) eglDestroyContext(display, context);
    if (surface != EGL_NO_SURFACE) eglDestroySurface(display, surface);
    context = EGL_NO_CONTEXT;
    surface = EGL_NO_SURFACE;
}

static void begin_context(EGLConfig config)
{
    static const EGLint attributes[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
    context = eglCreateContext(display, config, EGL_NO_CONTEXT, attributes);
    if (context == EGL_NO_CONTEXT) fail("eglCreateContext: 0x%x", eglGetError());
    if (!eglMakeCurrent(display, surface, surface, context)) fail("eglMakeCurrent: 0x%x", eglGetError());
}

/* A context without a framebuffer of its own. */
static void new_context(void)
{
    static const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    if (!eglChooseConfig(display, wanted, &config, 1, &count) || count == 0) fail("EGL has no configuration for OpenGL ES 2");
    begin_context(config);
}

/* The samples of a pixel in sixteenths from its upper left, as V3D 3.3 has them; the simulator supposes the same. */
static const float SAMPLES[4][2] = {{10, 2}, {2, 6}, {14, 10}, {6, 14}};
/* The pass of four that take the place of samples; -1 if that is not going on. */
static int pass = -1;
static jmp_buf leave;
static const char *absent;
static int again;

int four_samples(void)
{
    static const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT,
        EGL_RED_SIZE, 8, EGL_GREEN_SIZE, 8, EGL_BLUE_SIZE, 8, EGL_ALPHA_SIZE, 8, EGL_DEPTH_SIZE, 24, EGL_STENCIL_SIZE,
        8, EGL_SAMPLES, 4, EGL_NONE};
    const EGLint size[] = {EGL_WIDTH, W, EGL_HEIGHT, H, EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    if (pass >= 0) return pass;
    if (!eglChooseConfig(display, wanted, &config, 1, &count) || count == 0) {
        again = 1;
        longjmp(leave, 1);
    }
    end_context();
    surface = eglCreatePbufferSurface(display, config, size);
    if (surface == EGL_NO_SURFACE) fail("eglCreatePbufferSurface: 0x%x", eglGetError());
    begin_context(config);
    TARGET = 0;
    glDisable(GL_DITHER);
    glViewport(0, 0, W, H);
    return -1;
}

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("scenes: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void not_offered(const char *what)
{
    absent = what;
    longjmp(leave, 1);
}

static void write_picture(const char *directory, const char *name, const uint8_t *pixels)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.pam", directory, name);
    FILE *file = fopen(path, "wb");
    if (!file) fail("cannot write %s", path);
    fprintf(file, "P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n", W, H);
    /* GL's first row is the lowest. */
    for (int y = H - 1; y >= 0; y--) fwrite(pixels + (size_t)y * W * 4, 4, W, file);
    if (fclose(file)) fail("cannot write %s", path);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec * 1e-6;
}

/* Draws in a context of its own, so that no scene sees another's state, and reads the picture. */
static void draw_scene(const struct scene *scene, uint8_t *pixels)
{
    W = scene->width;
    H = scene->height;
    absent = NULL;
    again = 0;
    new_context();
    if (setjmp(leave) == 0) {
        TARGET = framebuffer(texture(GL_RGBA, GL_UNSIGNED_BYTE, W, H, NULL), W, H, 1);
        glViewport(0, 0, W, H);
        glDisable(GL_DITHER);
        glClearColor(0, 0, 0, 0);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
        scene->draw();
        glPixelStorei(GL_PACK_ALIGNMENT, 4);
        glReadPixels(0, 0, W, H, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        GLenum error = glGetError();
        if (error) fail("scene %s ends with GL error 0x%x", scene->name, error);
    }
    end_context();
}

static void draw_passes(const struct scene *scene, uint8_t *pixels, size_t bytes)
{
    uint16_t *sum = calloc(bytes, sizeof *sum);
    if (!sum) fail("no memory");
    for (pass = 0; pass < 4; pass++) {
        /* Moving the scene by the opposite puts the sample into the pixel's centre; GL's y goes up. */
        JITTER[0] = 0.5f - SAMPLES[pass][0] / 16;
        JITTER[1] = SAMPLES[pass][1] / 16 - 0.5f;
        draw_scene(scene, pixels);
        for (size_t i = 0; i < bytes; i++) sum[i] = (uint16_t)(sum[i] + pixels[i]);
    }
    pass = -1;
    JITTER[0] = JITTER[1] = 0;
    for (size_t i = 0; i < bytes; i++) pixels[i] = (uint8_t)((sum[i] + 2) / 4);
    free(sum);
}

static void run(const struct scene *scene, const char *directory)
{
    double start = now();
    size_t bytes = (size_t)scene->width * scene->height * 4;
    uint8_t *pixels = malloc(bytes);
    if (!pixels) fail("no memory");
    memset(pixels, 0x5a, bytes);
    draw_scene(scene, pixels);
    if (again) draw_passes(scene, pixels, bytes);
    if (absent) {
        printf("%s absent %s\n", scene->name, absent);
    } else {
        write_picture(directory, scene->name, pixels);
        printf("%s drawn %.0f\n", scene->name, now() - start);
    }
    free(pixels);
    fflush(stdout);
}

static int wanted(const char *name, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(name, names[i])) return 1;
    return count == 0;
}

int main(int argc, char **argv)
{
    static const struct scene *const subjects[] = {primitive_scenes, raster_scenes, blend_scenes,
        depth_stencil_scenes, texture_scenes, shader_scenes, transfer_scenes, multisample_scenes};
    const char *renderer = "";
    int list = 0, at = 1;
    for (; at < argc && !strncmp(argv[at], "--", 2); at++) {
        if (!strcmp(argv[at], "--list")) list = 1;
        else if (!strcmp(argv[at], "--renderer") && at + 1 < argc) renderer = argv[++at];
        else fail("unknown option %s", argv[at]);
    }
    const char *directory = at < argc ? argv[at++] : NULL;
    if (!list && !directory) fail("usage: scenes [--renderer PREFIX] [--list] DIRECTORY [NAME...]");
    if (!list) {
        display = open_display();
        new_context();
        const char *got = (const char *)glGetString(GL_RENDERER);
        /* A driver that finds no device gives way to software in silence. */
        if (strncmp(got, renderer, strlen(renderer))) fail("the renderer is '%s', not '%s...'", got, renderer);
        fprintf(stderr, "renderer: %s; %s\n", got, (const char *)glGetString(GL_VERSION));
        end_context();
    }
    for (size_t subject = 0; subject < sizeof subjects / sizeof *subjects; subject++) {
        for (const struct scene *scene = subjects[subject]; scene->name; scene++) {
            if (!wanted(scene->name, argc - at, argv + at)) continue;
            if (list) puts(scene->name);
            else run(scene, directory);
        }
    }
    if (display != EGL_NO_DISPLAY) eglTerminate(display);
    return 0;
}

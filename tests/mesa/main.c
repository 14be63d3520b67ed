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

static jmp_buf leave;
static const char *absent;

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
    EGLDisplay display = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (display == EGL_NO_DISPLAY) fail("EGL has no surfaceless display");
    if (!eglInitialize(display, NULL, NULL)) fail("eglInitialize: 0x%x", eglGetError());
    if (!eglBindAPI(EGL_OPENGL_ES_API)) fail("EGL offers no OpenGL ES");
    return display;
}

static EGLContext new_context(EGLDisplay display)
{
    static const EGLint attributes[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
    static const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    if (!eglChooseConfig(display, wanted, &config, 1, &count) || count == 0) fail("EGL has no configuration for OpenGL ES 2");
    EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, attributes);
    if (context == EGL_NO_CONTEXT) fail("eglCreateContext: 0x%x", eglGetError());
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) fail("eglMakeCurrent: 0x%x", eglGetError());
    return context;
}

static void write_picture(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.pam", directory, name);
    FILE *file = fopen(path, "wb");
    size_t bytes = (size_t)W * H * 4;
    uint8_t *pixels = malloc(bytes);
    if (!file || !pixels) fail("cannot write %s", path);
    memset(pixels, 0x5a, bytes);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(0, 0, W, H, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    fprintf(file, "P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n", W, H);
    /* GL's first row is the lowest. */
    for (int y = H - 1; y >= 0; y--) fwrite(pixels + (size_t)y * W * 4, 4, W, file);
    free(pixels);
    if (fclose(file)) fail("cannot write %s", path);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec * 1e-6;
}

static void run(EGLDisplay display, const struct scene *scene, const char *directory)
{
    double start = now();
    /* A context of its own: no scene sees another's state. */
    EGLContext context = new_context(display);
    W = scene->width;
    H = scene->height;
    absent = NULL;
    if (setjmp(leave) == 0) {
        TARGET = framebuffer(texture(GL_RGBA, GL_UNSIGNED_BYTE, W, H, NULL), W, H, 1);
        glViewport(0, 0, W, H);
        glDisable(GL_DITHER);
        glClearColor(0, 0, 0, 0);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
        scene->draw();
        write_picture(directory, scene->name);
        GLenum error = glGetError();
        if (error) fail("scene %s ends with GL error 0x%x", scene->name, error);
    }
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display, context);
    if (absent) printf("%s absent %s\n", scene->name, absent);
    else printf("%s drawn %.0f\n", scene->name, now() - start);
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
    EGLDisplay display = EGL_NO_DISPLAY;
    if (!list) {
        display = open_display();
        EGLContext context = new_context(display);
        const char *got = (const char *)glGetString(GL_RENDERER);
        /* A driver that finds no device gives way to software in silence. */
        if (strncmp(got, renderer, strlen(renderer))) fail("the renderer is '%s', not '%s...'", got, renderer);
        fprintf(stderr, "renderer: %s; %s\n", got, (const char *)glGetString(GL_VERSION));
        eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        eglDestroyContext(display, context);
    }
    for (size_t subject = 0; subject < sizeof subjects / sizeof *subjects; subject++) {
        for (const struct scene *scene = subjects[subject]; scene->name; scene++) {
            if (!wanted(scene->name, argc - at, argv + at)) continue;
            if (list) puts(scene->name);
            else run(display, scene, directory);
        }
    }
    if (display != EGL_NO_DISPLAY) eglTerminate(display);
    return 0;
}

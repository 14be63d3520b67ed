/* Has an OpenGL ES 2 driver compile programs: links each and draws a triangle by it, or points if it sets their size, which is when
 * drivers compile for the state.
 *
 * usage: compile LIST [RENDERER [ROUNDS [DRAWS]]]
 *
 * Each line of the list names a program's vertex and fragment shader, with a tab between. Before a program is compiled, `PROGRAM` and
 * its line's number, from 0, are written to standard error, where drivers write what they are asked to tell of their code; when it
 * is drawn, `DRAWN`. Of programs that the driver refuses it is `REFUSED` and what the driver says.
 * A round is each program once, compiled anew and drawn so many times. */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES2/gl2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn static void end(const char *what, const char *detail)
{
    fprintf(stderr, "compile: %s %s\n", what, detail);
    exit(1);
}

static void open_context(const char *renderer)
{
    PFNEGLGETPLATFORMDISPLAYEXTPROC get_display =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    EGLDisplay display = get_display ? get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL) : EGL_NO_DISPLAY;
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL)) end("EGL has no surfaceless display", "");
    eglBindAPI(EGL_OPENGL_ES_API);
    const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RED_SIZE, 8,
        EGL_GREEN_SIZE, 8, EGL_BLUE_SIZE, 8, EGL_ALPHA_SIZE, 8, EGL_DEPTH_SIZE, 24, EGL_NONE};
    const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
    const EGLint size[] = {EGL_WIDTH, 16, EGL_HEIGHT, 16, EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    if (!eglChooseConfig(display, wanted, &config, 1, &count) || count == 0) end("no configuration of EGL's", "");
    EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
    EGLSurface surface = eglCreatePbufferSurface(display, config, size);
    if (!eglMakeCurrent(display, surface, surface, context)) end("eglMakeCurrent failed", "");
    const char *got = (const char *)glGetString(GL_RENDERER);
    /* A driver that finds no device gives way to software in silence. */
    if (renderer && strncmp(got, renderer, strlen(renderer))) end("the renderer is", got);
}

static char *load(const char *path)
{
    FILE *stream = fopen(path, "rb");
    if (!stream) end("cannot read", path);
    fseek(stream, 0, SEEK_END);
    long size = ftell(stream);
    rewind(stream);
    char *text = calloc(1, (size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, stream) != (size_t)size) end("cannot read", path);
    fclose(stream);
    return text;
}

/* Says what the driver has against a shader or a program, by the function that tells. */
static void refuse(const char *path, GLuint name, void (*log_of)(GLuint, GLsizei, GLsizei *, GLchar *))
{
    char log[1024] = "";
    log_of(name, sizeof log, NULL, log);
    fprintf(stderr, "REFUSED %s: %s\n", path, log);
}

static GLuint shader(GLenum kind, const char *path)
{
    char *text = load(path);
    const char *source = text;
    GLuint name = glCreateShader(kind);
    GLint ok = 0;
    glShaderSource(name, 1, &source, NULL);
    glCompileShader(name);
    free(text);
    glGetShaderiv(name, GL_COMPILE_STATUS, &ok);
    if (!ok) {
        refuse(path, name, glGetShaderInfoLog);
        glDeleteShader(name);
        return 0;
    }
    return name;
}

/* Arrays of floats for what the program reads of vertices. */
static void set_attributes(GLuint program)
{
    static const float vertices[3 * 4] = {-1, -1, 0, 1, 3, -1, 0, 1, -1, 3, 0, 1};
    GLint count = 0, most = 0;
    glGetProgramiv(program, GL_ACTIVE_ATTRIBUTES, &count);
    glGetIntegerv(GL_MAX_VERTEX_ATTRIBS, &most);
    for (GLuint i = 0; i < (GLuint)most; i++) glDisableVertexAttribArray(i);
    for (GLuint i = 0; i < (GLuint)count; i++) {
        char name[256];
        GLint size;
        GLenum type;
        glGetActiveAttrib(program, i, sizeof name, NULL, &size, &type, name);
        GLint at = glGetAttribLocation(program, name);
        if (at < 0) continue;
        GLint components = 1, columns = 1;
        switch (type) {
        case GL_FLOAT_VEC2: components = 2; break;
        case GL_FLOAT_VEC3: components = 3; break;
        case GL_FLOAT_VEC4: components = 4; break;
        case GL_FLOAT_MAT2: components = columns = 2; break;
        case GL_FLOAT_MAT3: components = columns = 3; break;
        case GL_FLOAT_MAT4: components = columns = 4; break;
        default: break;
        }
        for (GLint column = 0; column < columns; column++) {
            glVertexAttribPointer((GLuint)(at + column), components, GL_FLOAT, GL_FALSE, 16, vertices);
            glEnableVertexAttribArray((GLuint)(at + column));
        }
    }
}

static void run(int number, int draws, const char *vertex, const char *fragment)
{
    fprintf(stderr, "PROGRAM %d\n", number);
    GLuint stages[] = {shader(GL_VERTEX_SHADER, vertex), shader(GL_FRAGMENT_SHADER, fragment)};
    GLuint program = glCreateProgram();
    GLint ok = stages[0] && stages[1];
    if (ok) {
        glAttachShader(program, stages[0]);
        glAttachShader(program, stages[1]);
        glLinkProgram(program);
        glGetProgramiv(program, GL_LINK_STATUS, &ok);
        if (!ok) refuse(fragment, program, glGetProgramInfoLog);
    }
    if (ok) {
        char *text = load(vertex);
        GLenum primitive = strstr(text, "gl_PointSize") ? GL_POINTS : GL_TRIANGLES;
        free(text);
        glUseProgram(program);
        set_attributes(program);
        for (int i = 0; i < draws; i++) {
            glDrawArrays(primitive, 0, 3);
            glFinish();
        }
        fprintf(stderr, "DRAWN\n");
    }
    glUseProgram(0);
    glDeleteProgram(program);
    glDeleteShader(stages[0]);
    glDeleteShader(stages[1]);
}

int main(int argc, char **argv)
{
    if (argc < 2) end("usage: compile LIST [RENDERER [ROUNDS [DRAWS]]]", "");
    open_context(argc > 2 ? argv[2] : NULL);
    static const unsigned char texel[4];
    const GLenum targets[] = {GL_TEXTURE_2D, GL_TEXTURE_CUBE_MAP};
    for (int i = 0; i < 2; i++) {
        GLuint texture;
        glGenTextures(1, &texture);
        glBindTexture(targets[i], texture);
        for (GLenum face = 0; face < (i ? 6 : 1); face++)
            glTexImage2D((i ? GL_TEXTURE_CUBE_MAP_POSITIVE_X : GL_TEXTURE_2D) + face, 0, GL_RGBA, 1, 1, 0, GL_RGBA,
                GL_UNSIGNED_BYTE, texel);
        glTexParameteri(targets[i], GL_TEXTURE_MIN_FILTER, GL_LINEAR);
        glTexParameteri(targets[i], GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
        glTexParameteri(targets[i], GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    }
    glEnable(GL_DEPTH_TEST);
    glDisable(GL_DITHER);
    int rounds = argc > 3 ? atoi(argv[3]) : 1, draws = argc > 4 ? atoi(argv[4]) : 1;
    for (int round = 0; round < rounds; round++) {
        char *list = load(argv[1]), *next = list;
        for (int number = 0; *next; number++) {
            char *vertex = next, *fragment = strchr(vertex, '\t'), *rest = fragment ? strchr(fragment, '\n') : NULL;
            if (!rest) end("a line is cut short in", argv[1]);
            *fragment = *rest = 0;
            run(number, draws, vertex, fragment + 1);
            next = rest + 1;
        }
        free(list);
    }
    return 0;
}

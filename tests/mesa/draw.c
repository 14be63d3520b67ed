/* What scenes draw with. */
#include "scenes.h"

const char VERTEX_COLOR[] =
    "attribute vec4 a0; attribute vec4 a1; varying vec4 v;\n"
    "void main() { gl_Position = a0; v = a1; }\n";
const char VERTEX_UV[] =
    "attribute vec4 a0; attribute vec2 a1; varying vec2 v;\n"
    "void main() { gl_Position = a0; v = a1; }\n";
const char FRAGMENT_COLOR[] = "varying vec4 v; void main() { gl_FragColor = v; }\n";
const char FRAGMENT_UNIFORM[] = "uniform vec4 color; void main() { gl_FragColor = color; }\n";
const char FRAGMENT_TEXTURE[] =
    "uniform sampler2D image; varying vec2 v; void main() { gl_FragColor = texture2D(image, v); }\n";

float JITTER[2];

static GLuint current;

static GLuint shader(GLenum kind, const char *head, const char *text)
{
    const char *parts[] = {head, text};
    GLuint name = glCreateShader(kind);
    GLint ok = 0;
    glShaderSource(name, 2, parts, NULL);
    glCompileShader(name);
    glGetShaderiv(name, GL_COMPILE_STATUS, &ok);
    if (!ok) {
        char log[2048] = "";
        glGetShaderInfoLog(name, sizeof log, NULL, log);
        fail("%s\n%s", log, text);
    }
    return name;
}

/* The vertex program with everything displaced. */
static GLuint displaced(const char *vertex)
{
    char head[256];
    snprintf(head, sizeof head, "#define DISPLACE gl_Position.xy += vec2(%.9f, %.9f) * gl_Position.w\n"
        "#define main scene_main\n", 2 * JITTER[0] / (float)W, 2 * JITTER[1] / (float)H);
    char *text = malloc(strlen(vertex) + 128);
    if (!text) fail("no memory");
    sprintf(text, "%s\n#undef main\nvoid main() { scene_main(); DISPLACE; }\n", vertex);
    GLuint name = shader(GL_VERTEX_SHADER, head, text);
    free(text);
    return name;
}

GLuint program(const char *vertex, const char *fragment)
{
    int extended = !strncmp(fragment, "#extension", 10);
    const char *body = extended ? strchr(fragment, '\n') + 1 : fragment;
    char head[256];
    snprintf(head, sizeof head, "%.*sprecision highp float;\n", (int)(body - fragment), fragment);
    GLuint name = glCreateProgram();
    int moved = JITTER[0] != 0 || JITTER[1] != 0;
    glAttachShader(name, moved ? displaced(vertex) : shader(GL_VERTEX_SHADER, "", vertex));
    glAttachShader(name, shader(GL_FRAGMENT_SHADER, head, body));
    for (int i = 0; i < 8; i++) {
        char attribute[] = {'a', (char)('0' + i), 0};
        glBindAttribLocation(name, i, attribute);
    }
    glLinkProgram(name);
    GLint ok = 0;
    glGetProgramiv(name, GL_LINK_STATUS, &ok);
    if (!ok) {
        char log[2048] = "";
        glGetProgramInfoLog(name, sizeof log, NULL, log);
        fail("link: %s", log);
    }
    glUseProgram(name);
    current = name;
    return name;
}

void set1i(const char *name, int value) { glUniform1i(glGetUniformLocation(current, name), value); }
void set1f(const char *name, float x) { glUniform1f(glGetUniformLocation(current, name), x); }
void set2f(const char *name, float x, float y) { glUniform2f(glGetUniformLocation(current, name), x, y); }
void set4f(const char *name, float x, float y, float z, float w)
{
    glUniform4f(glGetUniformLocation(current, name), x, y, z, w);
}

void draw(GLenum mode, const float *vertices, int count, int size0, int size1)
{
    GLuint buffer;
    int stride = (size0 + size1) * (int)sizeof(float);
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)stride * count, vertices, GL_STREAM_DRAW);
    glVertexAttribPointer(0, size0, GL_FLOAT, GL_FALSE, stride, NULL);
    glEnableVertexAttribArray(0);
    if (size1) {
        glVertexAttribPointer(1, size1, GL_FLOAT, GL_FALSE, stride, (const void *)(size0 * sizeof(float)));
        glEnableVertexAttribArray(1);
    }
    glDrawArrays(mode, 0, count);
    glDisableVertexAttribArray(0);
    if (size1) glDisableVertexAttribArray(1);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glDeleteBuffers(1, &buffer);
}

void rect(float x0, float y0, float x1, float y1, float z)
{
    float l = 2 * x0 / W - 1, r = 2 * x1 / W - 1, b = 2 * y0 / H - 1, t = 2 * y1 / H - 1;
    const float corners[] = {l, b, z, 0, 0, r, b, z, 1, 0, l, t, z, 0, 1, r, t, z, 1, 1};
    draw(GL_TRIANGLE_STRIP, corners, 4, 3, 2);
}

void fill(float x0, float y0, float x1, float y1, float z, float r, float g, float b, float a)
{
    set4f("color", r, g, b, a);
    rect(x0, y0, x1, y1, z);
}

GLuint framebuffer(GLuint color, int width, int height, int depth_stencil)
{
    GLuint name;
    glGenFramebuffers(1, &name);
    glBindFramebuffer(GL_FRAMEBUFFER, name);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, color, 0);
    if (depth_stencil) {
        GLuint buffer;
        if (!offers("GL_OES_packed_depth_stencil")) not_offered("GL_OES_packed_depth_stencil");
        glGenRenderbuffers(1, &buffer);
        glBindRenderbuffer(GL_RENDERBUFFER, buffer);
        glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH24_STENCIL8_OES, width, height);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, buffer);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_STENCIL_ATTACHMENT, GL_RENDERBUFFER, buffer);
    }
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        not_offered("a complete framebuffer of this format");
    return name;
}

GLuint texture(GLenum format, GLenum type, int width, int height, const void *data)
{
    GLuint name;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, format, width, height, 0, format, type, data);
    filters(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_EDGE);
    return name;
}

void filters(GLenum target, GLenum min, GLenum mag, GLenum wrap_s, GLenum wrap_t)
{
    glTexParameteri(target, GL_TEXTURE_MIN_FILTER, min);
    glTexParameteri(target, GL_TEXTURE_MAG_FILTER, mag);
    glTexParameteri(target, GL_TEXTURE_WRAP_S, wrap_s);
    glTexParameteri(target, GL_TEXTURE_WRAP_T, wrap_t);
}

uint8_t *image(int width, int height, unsigned value)
{
    uint8_t *pixels = malloc((size_t)width * height * 4);
    if (!pixels) fail("no memory for an image");
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            uint8_t *pixel = pixels + ((size_t)y * width + x) * 4;
            int checker = (x ^ y) & 1;
            pixel[0] = (uint8_t)((x * 255 / width) ^ (value & 0x3f));
            pixel[1] = (uint8_t)(y * 255 / height);
            pixel[2] = (uint8_t)(checker ? 220 : (value * 37 + 30) & 0xff);
            pixel[3] = (uint8_t)(255 - (x + y) * 127 / (width + height));
        }
    }
    return pixels;
}

static uint32_t state = 1;

void seed(unsigned value) { state = value; }

float random01(void)
{
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / 16777216.0f;
}

/* Pictures of an OpenGL ES 2 driver: what the scene files share. */
#ifndef SCENES_H
#define SCENES_H

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES2/gl2.h>
#include <GLES2/gl2ext.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A scene draws into the framebuffer that is bound when it starts: RGBA8 with 24 bits of depth and 8 of stencil,
 * all clear. What is bound when it returns is read back. */
struct scene {
    const char *name;
    int width, height;
    void (*draw)(void);
};

extern const struct scene primitive_scenes[], raster_scenes[], blend_scenes[], depth_stencil_scenes[],
    texture_scenes[], shader_scenes[], transfer_scenes[], multisample_scenes[];

/* Size of the running scene, and its framebuffer object. */
extern int W, H;
extern GLuint TARGET;

/* Ends the scene: the driver does not offer what it draws. */
_Noreturn void not_offered(const char *what);
/* Ends the program. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int offers(const char *extension);
/* Makes a context current whose framebuffer 0 has depth, stencil and four samples a pixel, resolved when it is read;
 * TARGET is 0. Where the driver has none, the scene is drawn four times instead, displaced by the samples' positions,
 * and the average is its picture: then this answers the number of the sample, else -1. */
int four_samples(void);
/* Displacement of everything that is drawn, in pixels; programs made while it is not 0 apply it. */
extern float JITTER[2];

/* Compiles, links and uses a program; attributes a0..a7 get those locations. Fragment programs get a default
 * float precision of highp. */
GLuint program(const char *vertex, const char *fragment);
void set1i(const char *name, int value);
void set1f(const char *name, float x);
void set2f(const char *name, float x, float y);
void set4f(const char *name, float x, float y, float z, float w);

/* Vertex programs: position a0, and a1 as colour or texture coordinate `v`. */
extern const char VERTEX_COLOR[], VERTEX_UV[];
/* Fragment programs for these. */
extern const char FRAGMENT_COLOR[], FRAGMENT_UNIFORM[], FRAGMENT_TEXTURE[];

/* A rectangle between pixel corners of the target at normalised depth z; a1 is (0,0)..(1,1). */
void rect(float x0, float y0, float x1, float y1, float z);
/* A rectangle of one colour, for programs with uniform `color`. */
void fill(float x0, float y0, float x1, float y1, float z, float r, float g, float b, float a);
/* Draws vertices of `size0` and `size1` floats as a0 and a1. */
void draw(GLenum mode, const float *vertices, int count, int size0, int size1);

/* A framebuffer with a texture of that size; depth and stencil if asked. */
GLuint framebuffer(GLuint texture, int width, int height, int depth_stencil);
/* An empty texture. */
GLuint texture(GLenum format, GLenum type, int width, int height, const void *data);
void filters(GLenum target, GLenum min, GLenum mag, GLenum wrap_s, GLenum wrap_t);
/* A test image: RGBA8 with distinct corners, a checker and a ramp. */
uint8_t *image(int width, int height, unsigned seed);

/* Numbers that are the same everywhere. */
void seed(unsigned value);
float random01(void);

#endif

#version 450
// Red and green are the provoking vertex's, blue is interpolated; back faces are darker.
layout(location = 0) flat in vec4 flat_color;
layout(location = 1) in vec4 smooth_color;
layout(location = 0) out vec4 result;

void main() {
    result = vec4(flat_color.rg, smooth_color.b, 1.0) * (gl_FrontFacing ? 1.0 : 0.5);
}

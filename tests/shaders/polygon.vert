#version 450
// A triangle's own: a flat colour, and one that is interpolated in perspective.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(location = 0) flat out vec4 flat_color;
layout(location = 1) out vec4 smooth_color;

void main() {
    gl_Position = vec4(position, 1.0 + 0.5 * position.z);
    gl_PointSize = 7.0;
    flat_color = color;
    smooth_color = color;
}

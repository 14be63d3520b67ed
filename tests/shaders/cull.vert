#version 450
// Two cull distances, of which alpha and red are to tell.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 passed;
out float gl_CullDistance[2];

void main() {
    gl_Position = vec4(position, 1.0);
    gl_PointSize = 9.0;
    gl_CullDistance[0] = color.a - 0.5;
    gl_CullDistance[1] = 0.5 - color.r;
    passed = color;
}

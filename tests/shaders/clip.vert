#version 450
// Three clip distances, one of them the same everywhere.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 passed;
out float gl_ClipDistance[3];

void main() {
    gl_Position = vec4(position, 1.0 + 0.5 * position.z);
    gl_ClipDistance[0] = position.x + 0.62;
    gl_ClipDistance[1] = 0.73 - position.y - 0.4 * position.x;
    gl_ClipDistance[2] = 1.0;
    passed = color;
}

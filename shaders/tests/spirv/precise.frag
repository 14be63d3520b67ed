#version 450
// Two factors of three components: of the precise product they stay where they are written.

layout(location = 0) in vec3 color;
layout(location = 1) in vec2 factors;
layout(location = 2) in vec3 other;

layout(location = 0) out vec3 as_written;
layout(location = 1) out vec3 free;

void main() {
    precise vec3 product = color * factors.x * factors.y;
    as_written = product;
    free = other * factors.x * factors.y;
}

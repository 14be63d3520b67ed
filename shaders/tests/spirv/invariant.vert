#version 450
// What has to come out the same in another shader is computed as it is written.

layout(location = 0) in vec3 direction;
layout(location = 1) in vec3 axis;

invariant gl_Position;

void main() {
    gl_Position = vec4(dot(normalize(direction), axis));
}

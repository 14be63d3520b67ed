#version 450
// Corners and colours from a texel buffer, a storage buffer and an image.
layout(binding = 0) uniform samplerBuffer corners;
layout(std430, binding = 1) readonly buffer Shift { vec2 shift[]; };
layout(binding = 2) uniform sampler2D image;
layout(location = 0) out vec2 uv;
void main() {
    vec2 corner = texelFetch(corners, gl_VertexIndex).xy;
    gl_Position = vec4(corner + shift[gl_VertexIndex % shift.length()], 0.0, 1.0);
    uv = textureLod(image, corner * 0.3 + 0.5, 1.0).xy;
}

#version 450
// A triangle that covers the target; the texture coordinate runs over it and a bit beyond.
layout(location = 0) out vec2 uv;
void main() {
    vec2 corner = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
    // No pixel lies on the border of two texels.
    uv = corner * 1.6171 - 0.3047;
}

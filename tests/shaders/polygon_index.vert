#version 450
// Triangles by vertex index, every other one turning its back.
layout(location = 0) flat out vec4 flat_color;
layout(location = 1) out vec4 smooth_color;

void main() {
    int triangle = gl_VertexIndex / 3;
    int corner = gl_VertexIndex % 3;
    if (triangle % 2 == 1) {
        corner = 2 - corner;
    }
    vec2 place = vec2(-0.8 + 0.4 * float(triangle), -0.5) + vec2(corner == 1 ? 0.3 : 0.05, float(corner) * 0.5);
    for (int n = 0; n < triangle; n++) {
        place.y += 0.02 * float(n);
    }
    gl_Position = vec4(place, 0.5, 1.0);
    gl_PointSize = 7.0;
    flat_color = vec4(0.25 * float(corner), 1.0 - 0.25 * float(triangle), 0.0, 1.0);
    smooth_color = vec4(1.0);
}

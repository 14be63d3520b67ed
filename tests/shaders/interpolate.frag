#version 450
// An input at other places than it is made for.
layout(location = 0) centroid in vec4 color;
layout(location = 0) out vec4 result;

void main() {
    float moved = interpolateAtOffset(color.r, vec2(0.4, -0.4)) - interpolateAtOffset(color.r, vec2(-0.4, 0.4));
    result = vec4(0.5 + 4.0 * moved, interpolateAtSample(color, 1).g, interpolateAtCentroid(color).b, 1.0);
}

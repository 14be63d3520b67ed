#version 450

// Numbers that conditions are made into, and what is chosen with them.
layout(location = 0) in vec4 a;
layout(location = 1) in vec4 b;
layout(location = 0) out vec4 color;

void main() {
    float s = step(a.x, b.x);
    float below = 1.0 - s;
    float truth = float(a.y < b.y);
    color.x = below * a.z + s * b.z;
    color.y = mix(a.w, b.w, truth);
    color.z = truth > 0.5 ? a.x : b.y;
    // A condition and another one: neither is the other's opposite.
    color.w = s * a.x + (1.0 - truth) * b.x;
}

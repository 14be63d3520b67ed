#version 450
layout(location = 0) in vec2 x;
layout(location = 0) out vec4 color;
float wave(float t) {
    return sin(t) * 0.5;
}
void main() {
    float s = sqrt(x.x);
    if (x.y > 0.25)
        s = wave(x.y);
    color = vec4(s / x.y);
}

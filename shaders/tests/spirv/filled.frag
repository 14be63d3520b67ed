#version 450
// Arrays that a loop fills element by element: an iteration of it chooses one of all of them.
layout(location = 0) in vec2 at;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D map;
void main() {
    float first[30], second[30];
    for (int i = 0; i < 30; i++) {
        vec4 texel = texture(map, at + vec2(i % 6, i / 6) * 0.25);
        first[i] = texel.x * at.y;
        second[i] = texel.y + at.x;
    }
    float least = first[0], most = second[0], sum = 0.0;
    for (int i = 1; i < 30; i++) {
        least = min(least, first[i]);
        most = max(most, second[i]);
        sum += first[i] * second[30 - i];
    }
    color = vec4(least, most, sum * 0.01, at.x);
}

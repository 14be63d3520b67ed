#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
struct Entry { vec3 rgb; float scale; };
layout(std430, binding = 0) readonly buffer Data { vec4 first; Entry entries[]; } data[2];
void main() {
    int at = int(clamp(uv.x, 0.0, 0.99) * float(data[1].entries.length()));
    Entry entry = data[1].entries[at];
    vec3 other = data[0].entries[data[0].entries.length() - 1].rgb;
    color = vec4(uv.y < 0.5 ? entry.rgb * entry.scale : other + data[1].first.xyz, 1.0);
}

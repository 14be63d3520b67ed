#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform samplerBuffer floats;
layout(binding = 1) uniform usamplerBuffer bytes;
layout(binding = 2) uniform isamplerBuffer wide;
void main() {
    int at = int(clamp(uv.x, 0.0, 0.99) * 16.0);
    vec4 a = texelFetch(floats, at);
    vec4 b = vec4(texelFetch(bytes, at)) / 255.0;
    vec4 c = vec4(texelFetch(wide, at)) / 1000.0;
    color = uv.y < 0.3 ? a : uv.y < 0.6 ? b : c;
}

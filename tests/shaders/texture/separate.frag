#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform texture2D images[2];
layout(binding = 1) uniform sampler samplers[2];
void main() {
    vec4 a = textureLod(sampler2D(images[0], samplers[1]), uv, 0.0);
    vec4 b = textureLod(sampler2D(images[1], samplers[0]), uv, 0.0);
    color = uv.x < 0.5 ? a : b;
}

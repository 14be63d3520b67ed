#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler1D image;
layout(binding = 1) uniform sampler1DArray layers;
void main() {
    vec4 a = textureLod(image, uv.x, 0.0);
    vec4 b = textureLod(layers, vec2(uv.x, uv.y * 4.0), 0.0);
    vec4 c = texelFetch(image, int(clamp(uv.x, 0.0, 0.99) * 16.0), 0);
    color = uv.y < 0.3 ? a : uv.y < 0.8 ? b : c;
}

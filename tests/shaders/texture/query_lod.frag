#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2D image;
void main() { color = vec4(textureQueryLod(image, uv * 1.3) / 8.0 + 0.25, 0.0, 1.0); }

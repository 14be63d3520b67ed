#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2D image;
void main() { color = textureLod(image, uv, floor(uv.y * 4.0) + 0.25); }

#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2D image;
void main() { color = textureLod(image, uv * vec2(30.0, 20.0), 0.0); }

#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform isampler2D image;
void main() { color = vec4(textureLod(image, uv, 0.0)) / 254.0 + 0.5; }

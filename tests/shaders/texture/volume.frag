#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler3D image;
void main() { color = textureLod(image, vec3(uv, uv.x * 0.7 + uv.y * 0.4), uv.y < 0.6 ? 0.0 : 1.0); }

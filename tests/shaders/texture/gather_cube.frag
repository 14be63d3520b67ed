#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform samplerCube image;
void main() { color = textureGather(image, vec3(uv - 0.5, 0.4), 0); }

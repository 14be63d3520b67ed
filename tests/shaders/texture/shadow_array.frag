#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2DArrayShadow image;
void main() { color = vec4(texture(image, vec4(uv, floor(uv.x * 3.0), 0.5))); }

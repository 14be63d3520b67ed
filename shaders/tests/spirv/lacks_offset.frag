#version 450
layout(set = 0, binding = 0) uniform sampler2D s;
layout(location = 0) in vec2 c;
layout(location = 0) out vec4 o;
void main() { o = textureOffset(s, c, ivec2(1, 0)); }

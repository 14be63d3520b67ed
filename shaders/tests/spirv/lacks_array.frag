#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(set = 0, binding = 0) uniform sampler2D s[];
layout(location = 0) in vec2 c;
layout(location = 1) in flat int i;
layout(location = 0) out vec4 o;
void main() { o = texture(s[i], c); }

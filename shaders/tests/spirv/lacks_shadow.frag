#version 450
layout(set = 0, binding = 0) uniform sampler2DShadow s;
layout(location = 0) in vec3 c;
layout(location = 0) out vec4 o;
void main() { o = vec4(texture(s, c)); }

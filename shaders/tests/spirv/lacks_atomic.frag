#version 450
layout(set = 0, binding = 0) buffer B { uint count; };
layout(location = 0) out vec4 color;
void main() { color = vec4(atomicAdd(count, 1)); }

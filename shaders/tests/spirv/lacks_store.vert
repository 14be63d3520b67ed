#version 450
layout(set = 0, binding = 0) buffer B { uint count; };
void main() { count = 3; gl_Position = vec4(0); }

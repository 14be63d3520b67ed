#version 450
layout(set = 0, binding = 0) buffer Data { float x[]; } data;
layout(location = 0) out vec4 o;
void main() { o = vec4(data.x[0]); }

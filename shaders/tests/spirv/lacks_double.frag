#version 450
layout(location = 0) in vec2 c;
layout(location = 0) out vec4 o;
void main() { o = vec4(float(double(c.x) * 2.0lf)); }

#version 450
#extension GL_EXT_multiview : require

layout(location = 0) in vec4 v;
layout(location = 0) out vec4 color;

void main() {
    color = vec4(v.rgb, 1.0) * vec4(1.0, float(gl_ViewIndex) * 0.2, 1.0, 1.0);
}

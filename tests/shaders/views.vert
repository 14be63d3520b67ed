#version 450
#extension GL_EXT_multiview : require

// A place of its own for each view, in steps of pixels.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 v;

void main() {
    gl_Position = vec4(position.xy + vec2(float(gl_ViewIndex) * 0.125, 0.0), position.z, 1.0);
    v = color;
}

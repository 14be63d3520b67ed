#version 450
layout(location = 0) flat in int wanted;
layout(location = 0, index = 0) out vec4 first;
layout(location = 0, index = 1) out vec2 second;
void main() {
    first = vec4(gl_HelperInvocation ? 1.0 : 0.0);
    second = vec2(3.0, 4.0);
    gl_SampleMask[0] = wanted & gl_SampleMaskIn[0];
}

#version 450
// The first distance as a colour.
layout(location = 0) in vec4 passed;
layout(location = 0) out vec4 result;
in float gl_ClipDistance[3];

void main() {
    result = vec4(passed.rg, 0.5 * gl_ClipDistance[0], 1.0);
}

#version 310 es
// mediump, but what has to be invariant takes no estimate: another shader may need the same quotient exactly.
invariant gl_Position;
layout(location = 0) in mediump vec2 place;

void main() {
    mediump float quotient = place.x / place.y;
    gl_Position = vec4(quotient);
}

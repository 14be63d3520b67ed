#version 310 es
// mediump: the quotient may be an estimate.
layout(location = 0) in mediump vec2 place;

void main() {
    mediump float quotient = place.x / place.y;
    gl_Position = vec4(quotient);
}

#version 450
// Samples by number: alpha says which one is drawn. Half of them lie in the right half of their pixel.
layout(location = 0) sample in vec4 color;
layout(location = 0) out vec4 result;

void main() {
    if (gl_SampleID == int(5.0 * color.a + 0.5) - 1) {
        discard;
    }
    float right = step(0.5, gl_SamplePosition.x);
    float below = step(0.5, fract(gl_FragCoord.y));
    result = vec4(float(gl_SampleID) / 3.0, color.a < 0.1 ? right : color.g, 0.5 * below + 0.5 * color.b, 1.0);
}

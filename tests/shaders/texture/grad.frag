#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2D image;
void main() {
    float step = uv.x < 0.5 ? 1.5 / 32.0 : 3.0 / 32.0;
    color = textureGrad(image, uv, vec2(step, 0.0), vec2(0.0, 0.01));
}

#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2D image;
void main() {
    vec4 green = textureGather(image, uv, 1);
    color = uv.x < 0.5 ? green : textureGatherOffset(image, uv, ivec2(2, 1)).wzyx;
}

#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2D image;
void main() {
    vec4 near = textureLodOffset(image, uv, 0.0, ivec2(-3, 2));
    vec4 far = textureLodOffset(image, uv, 1.0, ivec2(1, -2));
    vec4 own = textureOffset(image, uv, ivec2(4, 0));
    color = uv.y < 0.3 ? near : uv.y < 0.6 ? far : own;
}

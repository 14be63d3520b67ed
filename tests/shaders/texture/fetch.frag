#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2D image;
void main() {
    int level = uv.x < 0.5 ? 0 : 1;
    ivec2 size = textureSize(image, level);
    ivec2 at = clamp(ivec2(uv * vec2(size)), ivec2(0), size - 2);
    color = uv.y < 0.5 ? texelFetch(image, at, level) : texelFetchOffset(image, at, level, ivec2(1, 1));
}

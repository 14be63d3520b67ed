#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform usampler2D image;
void main() {
    ivec2 size = textureSize(image, 0);
    uvec4 near = texture(image, uv);
    uvec4 own = texelFetch(image, clamp(ivec2(uv * vec2(size)), ivec2(0), size - 1), 0);
    color = vec4(uv.y < 0.5 ? near : own) / 255.0;
}

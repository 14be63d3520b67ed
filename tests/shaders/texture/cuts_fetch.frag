#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2D image;
// Single texels of a long image, around the places that cuts.frag looks at.
void main() {
    ivec2 size = textureSize(image, 0);
    int most = max(size.x, size.y);
    int strips = (most + 2046) / 2047;
    int row = int(max(uv.y, 0.0) * 8.0);
    int along = clamp(row * ((most + strips - 1) / strips) + int(uv.x * 6.0) - 3, 0, most - 2);
    int across = int(fract(uv.y * 8.0) * float(min(size.x, size.y)));
    ivec2 at = size.x > size.y ? ivec2(along, across) : ivec2(across, along);
    color = uv.x < 0.5 ? texelFetch(image, at, 0) : texelFetch(image, at + ivec2(size.x > size.y, size.y >= size.x), 0);
}

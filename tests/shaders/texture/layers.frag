#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2DArray image;
void main() {
    vec4 sampled = textureLod(image, vec3(uv, uv.x * 6.0 - 1.0), floor(uv.y * 3.0));
    ivec3 size = textureSize(image, 0);
    vec4 own = texelFetch(image, ivec3(clamp(ivec2(uv * vec2(size)), ivec2(0), size.xy - 1), 2), 0);
    color = uv.y < 0.7 ? sampled : own;
}

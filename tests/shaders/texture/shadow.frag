#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2DShadow image;
void main() {
    float own = textureLod(image, vec3(uv, 0.5), 0.0);
    float divided = textureProj(image, vec4(uv * 2.0, 0.8, 2.0));
    float steep = textureGrad(image, vec3(uv, 0.6), vec2(0.01), vec2(0.01));
    float aside = textureOffset(image, vec3(uv, 0.45), ivec2(3, -2));
    color = vec4(own, divided, steep, aside);
}

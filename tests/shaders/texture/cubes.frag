#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform samplerCubeArray image;
void main() {
    float angle = uv.x * 6.2831853;
    vec3 direction = vec3(cos(angle), uv.y * 3.0 - 1.5, sin(angle));
    color = textureLod(image, vec4(direction, uv.y < 0.5 ? 0.0 : 1.0), 0.0);
}

#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2D image;
void main() {
    vec4 three = textureProj(image, vec3(uv * 1.5, 1.5));
    vec4 four = textureProjLod(image, vec4(uv * 0.5, 9.0, 0.5), 1.0);
    color = uv.y < 0.5 ? three : four;
}

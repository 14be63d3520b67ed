#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2D flat_image;
layout(binding = 1) uniform samplerCube cube;
layout(binding = 2) uniform sampler2DArray layers;
layout(binding = 3) uniform samplerBuffer texels;
void main() {
    vec2 size = uv.x < 0.25 ? vec2(textureSize(flat_image, 0))
              : uv.x < 0.6  ? vec2(textureSize(flat_image, 1))
                            : vec2(textureSize(flat_image, 4));
    vec3 array_size = vec3(textureSize(layers, 1));
    vec2 counts = vec2(textureQueryLevels(flat_image), textureSize(cube, 0).x);
    color = uv.y < 0.3 ? vec4(size / 64.0, counts / 64.0)
          : uv.y < 0.6 ? vec4(array_size / 32.0, float(textureQueryLevels(layers)) / 8.0)
                       : vec4(float(textureSize(texels)) / 100.0);
}

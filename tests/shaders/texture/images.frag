#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0, rgba8) uniform readonly image2D flat_image;
layout(binding = 1, r32f) uniform readonly image2DArray layers;
layout(binding = 2, rgba8) uniform readonly imageCube cube;
layout(binding = 3, rgba16f) uniform readonly image3D volume;
void main() {
    vec2 p = fract(uv * 2.0);
    ivec3 sizes = imageSize(layers), boxes = imageSize(volume);
    if (uv.y < 0.5) {
        if (uv.x < 0.5)
            color = imageLoad(flat_image, ivec2(p * vec2(imageSize(flat_image))));
        else
            color = vec4(imageLoad(layers, ivec3(p * vec2(sizes.xy), int(p.x * 3.0) % sizes.z)).r);
    } else if (uv.x < 0.5)
        color = imageLoad(cube, ivec3(p * vec2(imageSize(cube)), int(p.y * 6.0)));
    else
        color = imageLoad(volume, ivec3(vec3(p, p.x) * vec3(boxes)));
}

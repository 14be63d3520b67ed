#version 450
// around.frag, with the faces of the cube as layers, on which coordinates wrap.
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2DArray image;
void main() {
    float angle = uv.x * 6.2831853;
    vec3 d = vec3(cos(angle), uv.y * 3.0 - 1.5, sin(angle));
    vec3 size = abs(d);
    vec3 place;
    if (size.z >= size.x && size.z >= size.y) {
        place = d.z < 0.0 ? vec3(-d.x, -d.y, 5.0) : vec3(d.x, -d.y, 4.0);
    } else if (size.y >= size.x) {
        place = d.y < 0.0 ? vec3(d.x, -d.z, 3.0) : vec3(d.x, d.z, 2.0);
    } else {
        place = d.x < 0.0 ? vec3(d.z, -d.y, 1.0) : vec3(-d.z, -d.y, 0.0);
    }
    float largest = max(size.x, max(size.y, size.z));
    color = textureLod(image, vec3(place.xy / largest * 0.5 + 0.5, place.z), 0.0);
}

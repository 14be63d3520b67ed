#version 450
layout(set = 0, binding = 0) uniform writeonly image2D image;
layout(location = 0) out vec4 color;
void main() { imageStore(image, ivec2(0), vec4(1)); color = vec4(1); }

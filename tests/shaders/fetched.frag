#version 450
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2D image;
// The texel at the pixel's place.
void main() { color = texelFetch(image, ivec2(gl_FragCoord.xy), 0); }

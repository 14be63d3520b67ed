#version 450
#extension GL_EXT_shader_image_load_formatted : require
// Storage images of every shape, and what samples where there are no derivatives.
layout(local_size_x = 4, local_size_y = 2) in;

layout(set = 0, binding = 0, rgba8) uniform readonly image2D source;
layout(set = 0, binding = 1) uniform writeonly image2D target;
layout(set = 0, binding = 2, r32f) uniform image2DArray layers;
layout(set = 0, binding = 3, rgba32i) uniform iimageCube cube;
layout(set = 0, binding = 4, r32ui) uniform uimageBuffer words;
layout(set = 0, binding = 5) uniform image3D volume;
layout(set = 1, binding = 0) uniform sampler2D texture_;
layout(set = 1, binding = 1) uniform samplerBuffer buffer_;

void main() {
    ivec2 at = ivec2(gl_LocalInvocationID.xy);
    vec4 color = imageLoad(source, at);
    imageStore(target, at, color.wzyx);
    imageStore(layers, ivec3(at, 2), vec4(color.x + imageLoad(layers, ivec3(at, 1)).x));
    imageStore(cube, ivec3(at, 5), imageLoad(cube, ivec3(at, 4)) + ivec4(at, 0, 1));
    imageStore(words, at.x + 4 * at.y, uvec4(imageSize(target), 0, 0));
    vec4 sampled = textureLod(texture_, vec2(at), 1.5) + texelFetch(buffer_, at.x);
    sampled += textureGrad(texture_, vec2(at), vec2(1), vec2(2));
    imageStore(volume, ivec3(at, 3), sampled);
}

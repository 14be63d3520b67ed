#version 450
// A binomial blur of 5 x 5 texels.
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0, rgba8) readonly uniform image2D source;
layout(set = 0, binding = 1, rgba8) writeonly uniform image2D target;
const float WEIGHT[5] = float[](1.0 / 16.0, 4.0 / 16.0, 6.0 / 16.0, 4.0 / 16.0, 1.0 / 16.0);

void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy), last = imageSize(source) - 1;
    vec4 sum = vec4(0.0);
    for (int y = -2; y <= 2; y++) {
        for (int x = -2; x <= 2; x++) {
            sum += WEIGHT[x + 2] * WEIGHT[y + 2] * imageLoad(source, clamp(at + ivec2(x, y), ivec2(0), last));
        }
    }
    imageStore(target, at, sum);
}

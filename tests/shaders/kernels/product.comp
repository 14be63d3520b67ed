#version 450
// C = A * B of 512 x 512 floats, in tiles of 16 x 16 that a workgroup shares.
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0, std430) readonly buffer A { float a[]; };
layout(set = 0, binding = 1, std430) readonly buffer B { float b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer C { float c[]; };
const uint EDGE = 512;
shared float left[16][16];
shared float right[16][16];

void main()
{
    uvec2 at = gl_LocalInvocationID.xy, to = gl_GlobalInvocationID.xy;
    float sum = 0.0;
    for (uint tile = 0; tile < EDGE / 16; tile++) {
        left[at.y][at.x] = a[to.y * EDGE + tile * 16 + at.x];
        right[at.y][at.x] = b[(tile * 16 + at.y) * EDGE + to.x];
        barrier();
        for (uint k = 0; k < 16; k++) sum += left[at.y][k] * right[k][at.x];
        barrier();
    }
    c[to.y * EDGE + to.x] = sum;
}

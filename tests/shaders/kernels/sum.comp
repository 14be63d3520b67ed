#version 450
// Sums of 16,384 floats each.
layout(local_size_x = 256) in;
layout(set = 0, binding = 0, std430) readonly buffer A { float a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer B { float b[]; };
shared float part[256];

void main()
{
    uint at = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * 16384 + at;
    float sum = 0.0;
    for (uint n = 0; n < 64; n++) sum += a[first + n * 256];
    part[at] = sum;
    barrier();
    for (uint width = 128; width > 0; width >>= 1) {
        if (at < width) part[at] += part[at + width];
        barrier();
    }
    if (at == 0) b[gl_WorkGroupID.x] = part[0];
}

#version 450
// Running sums within blocks of 256 words.
layout(local_size_x = 256) in;
layout(set = 0, binding = 0, std430) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer B { uint b[]; };
shared uint sums[256];

void main()
{
    uint at = gl_LocalInvocationID.x;
    sums[at] = a[gl_GlobalInvocationID.x];
    for (uint step = 1; step < 256; step <<= 1) {
        barrier();
        uint other = at >= step ? sums[at - step] : 0;
        barrier();
        sums[at] += other;
    }
    b[gl_GlobalInvocationID.x] = sums[at];
}

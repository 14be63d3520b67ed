#version 450
// How often each of 256 values is among the bytes of 4 M words.
layout(local_size_x = 256) in;
layout(set = 0, binding = 0, std430) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1, std430) buffer B { uint b[256]; };
shared uint count[256];

void main()
{
    uint at = gl_LocalInvocationID.x;
    count[at] = 0;
    barrier();
    for (uint n = 0; n < 64; n++) {
        uint word = a[gl_WorkGroupID.x * 16384 + n * 256 + at];
        for (uint byte = 0; byte < 4; byte++) atomicAdd(count[bitfieldExtract(word, int(8 * byte), 8)], 1);
    }
    barrier();
    atomicAdd(b[at], count[at]);
}

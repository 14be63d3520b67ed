#version 450
// A histogram with shared atomics, and every atomic operation on a buffer, an image and a texel buffer.
layout(local_size_x = 40) in;

layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
layout(std430, set = 0, binding = 1) buffer Out {
    uint bins[8];
    int least;
    int most;
    uint low;
    uint high;
    uint all;
    uint some;
    uint parity;
    uint last;
    uint swapped;
    uint down;
    uint copy;
    uint total;
} o;
layout(set = 1, binding = 0, r32ui) uniform uimage2D image;
layout(set = 1, binding = 1, r32i) uniform iimageBuffer texels;

shared uint bins[8];
shared int extent;

void main() {
    uint n = gl_LocalInvocationIndex;
    if (n < 8) {
        bins[n] = 0;
    }
    if (n == 0) {
        extent = -5;
    }
    barrier();
    uint word = data[gl_GlobalInvocationID.x];
    atomicAdd(bins[word % 8], 1);
    atomicMax(extent, int(word) - 100);
    barrier();
    if (n < 8) {
        atomicAdd(o.bins[n], bins[n]);
    }
    atomicMin(o.least, int(word) - 100);
    atomicMax(o.most, extent);
    atomicMin(o.low, word);
    atomicMax(o.high, word);
    atomicAnd(o.all, word | 64);
    atomicOr(o.some, word & 6);
    atomicXor(o.parity, word);
    uint before = atomicExchange(o.last, word);
    uint found = atomicCompSwap(o.swapped, 0, word);
    atomicAdd(o.down, -1);
    if (found == 0) {
        o.copy = before;
    }
    memoryBarrierBuffer();
    imageAtomicAdd(image, ivec2(n % 4, 1), word);
    imageAtomicMax(image, ivec2(0, 0), word);
    imageAtomicMin(texels, 3, int(word) - 100);
    int old = imageAtomicExchange(texels, int(n), int(n) * 2);
    imageAtomicCompSwap(texels, 50, 0, 7);
    atomicAdd(o.total, uint(old));
}

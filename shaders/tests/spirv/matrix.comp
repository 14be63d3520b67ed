#version 450
// A matrix product by tiles in shared memory; the padding keeps rows apart.
layout(local_size_x = 16, local_size_y = 16) in;

layout(push_constant) uniform Push { uint size; } push;
layout(std430, set = 0, binding = 0) readonly buffer A { float a[]; };
layout(std430, set = 0, binding = 1) readonly buffer B { float b[]; };
layout(std430, set = 0, binding = 2) writeonly buffer C { float c[]; };

shared float left[16][17];
shared float right[16][17];

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    uvec2 here = gl_LocalInvocationID.xy;
    float sum = 0.0;
    for (uint tile = 0; tile < push.size; tile += 16) {
        left[here.y][here.x] = a[at.y * push.size + tile + here.x];
        right[here.y][here.x] = b[(tile + here.y) * push.size + at.x];
        barrier();
        for (uint k = 0; k < 16; ++k) {
            sum += left[here.y][k] * right[k][here.x];
        }
        barrier();
    }
    c[at.y * push.size + at.x] = sum;
}

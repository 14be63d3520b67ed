#version 450
// A prefix sum of a workgroup whose size is a specialization constant, and where each invocation stands.
layout(local_size_x_id = 3, local_size_y = 2) in;

layout(std430, set = 0, binding = 0) buffer Data { int data[]; };
layout(std430, set = 0, binding = 1) buffer Places { uvec4 places[]; };

shared int sums[1024];
shared bool odd[1024];

void main() {
    uint n = gl_LocalInvocationIndex;
    uint count = gl_WorkGroupSize.x * gl_WorkGroupSize.y;
    uint at = gl_WorkGroupID.x * count + n;
    sums[n] = data[at];
    odd[n] = (data[at] & 1) != 0;
    for (uint step = 1; step < count; step <<= 1) {
        barrier();
        int more = n >= step ? sums[n - step] : 0;
        bool other = n >= step ? odd[n - step] : false;
        barrier();
        sums[n] += more;
        odd[n] = odd[n] != other;
    }
    data[at] = odd[n] ? sums[n] : -sums[n];
    places[at] = uvec4(gl_GlobalInvocationID.xy, gl_NumWorkGroups.x, gl_LocalInvocationID.y);
}

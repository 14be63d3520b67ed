#version 450
// Adds a push constant and the invocation's number to the words of a buffer.
layout(local_size_x_id = 1) in;
layout(push_constant) uniform P { uint add; };
layout(set = 0, binding = 0, std430) buffer B { uint b[]; };

void main()
{
    b[gl_GlobalInvocationID.x] += add + gl_GlobalInvocationID.x;
}

#version 450
// 256 iterations at most; neighbours end after different numbers of them.
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0, rgba8) writeonly uniform image2D target;

void main()
{
    vec2 c = (vec2(gl_GlobalInvocationID.xy) + 0.5) / 1024.0 * vec2(3.0, 2.5) - vec2(2.25, 1.25);
    vec2 z = vec2(0.0);
    int n = 0;
    while (n < 256 && dot(z, z) <= 4.0) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        n++;
    }
    imageStore(target, ivec2(gl_GlobalInvocationID.xy), vec4(vec3(float(n) / 256.0), 1.0));
}

#version 450
// One step of 65,536 bodies, each attracted by 256 others.
layout(local_size_x = 256) in;
layout(set = 0, binding = 0, std430) readonly buffer Places { vec4 place[]; };
layout(set = 0, binding = 1, std430) buffer Speeds { vec4 speed[]; };

void main()
{
    uint at = gl_GlobalInvocationID.x, first = gl_WorkGroupID.x * 256;
    vec3 own = place[at].xyz, pull = vec3(0.0);
    for (uint n = 0; n < 256; n++) {
        vec4 other = place[first + n];
        vec3 way = other.xyz - own;
        float near = inversesqrt(dot(way, way) + 0.01);
        pull += way * (other.w * near * near * near);
    }
    speed[at].xyz += 0.001 * pull;
}

#version 450
// The differences of a 3x3 neighbourhood, twice: nested loops store to arrays, which nothing reads by an index that is computed.
layout(location = 0) in vec4 v_value;
layout(set = 0, binding = 0) uniform Block { vec4 u_step; };
layout(location = 0) out vec4 o_color;

vec3 at(vec2 place, float phase)
{
    return fract(vec3(place, place.x - place.y) * 1.25 + phase);
}

vec3 edges(vec2 middle, float phase)
{
    vec3 around[9];
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            around[3 * y + x] = at(middle + u_step.xy * vec2(x - 1, y - 1), phase);
    vec3 across = abs(around[7] - around[1]) * 2.0 + abs(around[2] - around[6]) + abs(around[8] - around[0]);
    vec3 along = abs(around[3] - around[5]) * 2.0 + abs(around[6] - around[8]) + abs(around[0] - around[2]);
    return (across + along) * 0.125 + around[4] * 0.25;
}

void main()
{
    o_color = vec4(mix(edges(v_value.xy, 0.125), edges(v_value.zw, 0.375), u_step.z), 1.0);
}

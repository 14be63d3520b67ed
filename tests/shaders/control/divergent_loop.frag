#version 450
// Elements leave at different iterations; values of the last one are used behind the loop.
layout(location = 0) in vec4 v_value;
layout(set = 0, binding = 0) uniform Block { vec4 u_step; };
layout(set = 0, binding = 2) uniform sampler2D t_image;
layout(location = 0) out vec4 o_color;

void main()
{
    vec2 z = vec2(0.0);
    float last = 0.0;
    int i = 0;
    for (; i < 40 + int(u_step.w); i++) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + v_value.xy;
        last = dot(z, z) * 0.015625;
        if (i == 3 && v_value.w > 0.5)
            continue;
        if (last > 0.0625)
            break;
        if (last * 32.0 > 1.25 + v_value.z)
            break;
    }
    o_color = vec4(float(i) / 64.0, last * 8.0, texture(t_image, v_value.xy).z, 0.5);
}

#version 450
// As uniform_loop, with the counter that translators of WGSL add to loops: 64 bits, which nobody lives to see at zero.
layout(location = 0) in vec4 v_value;
layout(set = 0, binding = 0) uniform Block { vec4 u_step; };
layout(location = 0) out vec4 o_color;

void main()
{
    int count = int(abs(u_step.x) * 7.0) + 1;
    vec4 sum = vec4(0.0);
    uvec2 bound = uvec2(0xffffffffu);
    int i = 0;
    for (;;) {
        if (bound == uvec2(0u))
            break;
        bound -= uvec2(bound.y == 0u ? 1u : 0u, 1u);
        if (!(i < count))
            break;
        sum = sum * 0.5 + v_value * u_step.y + float(i) * 0.0625;
        i++;
    }
    o_color = sum * 0.25 + 0.5;
}

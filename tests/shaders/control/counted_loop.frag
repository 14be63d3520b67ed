#version 450
// Two loops that go round as often as a uniform says, or that and an element's value, or not at all.
layout(location = 0) in vec4 v_value;
layout(set = 0, binding = 0) uniform Block { vec4 u_step; };
layout(location = 0) out vec4 o_color;

vec4 turn(vec4 sum, float at)
{
    vec4 waves = fract(sum * 1.75 + v_value * at + 0.125);
    return waves * (1.5 - waves.wxyz) + fract(waves.yzwx * 2.5 - at);
}

void main()
{
    vec4 sum = vec4(0.25);
    for (int i = 0; i < int(u_step.x); i++)
        sum = turn(sum, float(i) * 0.25);
    int count = int(u_step.y) + int(v_value.w);
    vec4 last = sum;
    for (int i = 0; i < count; i++) {
        last = sum;
        sum = turn(turn(turn(sum, float(i) * 0.125), 0.375), 0.625);
    }
    o_color = sum * 0.25 + last * 0.125;
}

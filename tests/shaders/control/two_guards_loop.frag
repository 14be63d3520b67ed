#version 450
// A loop that two comparisons in a row leave, each with another value; elements differ in which one, and some never enter.
layout(location = 0) in vec4 v_value;
layout(set = 0, binding = 0) uniform Block { vec4 u_step; };
layout(location = 0) out vec4 o_color;

void main()
{
    int count = int(abs(v_value.w) * 6.0);
    vec4 sum = v_value;
    vec4 before = vec4(0.125);
    vec4 result;
    float way = 0.0;
    int i = 0;
    for (;;) {
        if (i >= count) {
            result = sum;
            break;
        }
        float ahead = way + u_step.x;
        if (ahead > 0.25 + v_value.z) {
            result = before;
            break;
        }
        way = ahead;
        before = sum;
        vec4 waves = fract(sum * 1.75 + v_value * float(i) * 0.25 + 0.125);
        sum = waves * (1.5 - waves.wxyz) + fract(waves.yzwx * 2.5 - u_step.y);
        sum = fract(sum * 1.5 + waves.zwxy) * 0.75 + sum.yxwz * 0.25;
        i++;
    }
    o_color = result * 0.25 + float(i) * 0.015625;
}

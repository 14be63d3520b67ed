#version 450
// A loop whose count is known per draw only.
layout(location = 0) in vec4 v_value;
layout(set = 0, binding = 0) uniform Block { vec4 u_step; };
layout(location = 0) out vec4 o_color;

void main()
{
    int count = int(abs(u_step.x) * 7.0) + 1;
    vec4 sum = vec4(0.0);
    for (int i = 0; i < count; i++) {
        sum = sum * 0.5 + v_value * u_step.y + float(i) * 0.0625;
    }
    o_color = sum * 0.25 + 0.5;
}

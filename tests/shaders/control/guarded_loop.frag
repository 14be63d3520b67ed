#version 450
// A loop that no element enters where the uniform is negative, or where no element's value is above its limit.
layout(location = 0) in vec4 v_value;
layout(set = 0, binding = 0) uniform Block { vec4 u_step; };
layout(location = 0) out vec4 o_color;

void main()
{
    int count = int(abs(u_step.x) * 7.0) + 1;
    vec4 sum = v_value;
    if (u_step.y > 0.0 && v_value.x > 0.0) {
        for (int i = 0; i < count; i++) {
            sum = sum * 0.5 + v_value * u_step.z;
        }
    }
    o_color = sum * 0.25 + 0.5;
}

#version 450
// A loop that carries 48 values: as many as fit beside what it needs to go on.
layout(location = 0) in vec4 v_value;
layout(set = 0, binding = 0) uniform Block { vec4 u_step; };
layout(location = 0) out vec4 o_color;

void main()
{
    int count = int(abs(u_step.x) * 5.0) + 1;
    vec4 a0 = v_value * 0.0625;
    vec4 a1 = v_value * 0.1250;
    vec4 a2 = v_value * 0.1875;
    vec4 a3 = v_value * 0.2500;
    vec4 a4 = v_value * 0.3125;
    vec4 a5 = v_value * 0.3750;
    vec4 a6 = v_value * 0.4375;
    vec4 a7 = v_value * 0.5000;
    vec4 a8 = v_value * 0.5625;
    vec4 a9 = v_value * 0.6250;
    vec4 a10 = v_value * 0.6875;
    vec4 a11 = v_value * 0.7500;
    for (int i = 0; i < count; i++) {
        a0 = a0 * 0.5 + a1.wxyz;
        a1 = a1 * 0.5 + a2.wxyz;
        a2 = a2 * 0.5 + a3.wxyz;
        a3 = a3 * 0.5 + a4.wxyz;
        a4 = a4 * 0.5 + a5.wxyz;
        a5 = a5 * 0.5 + a6.wxyz;
        a6 = a6 * 0.5 + a7.wxyz;
        a7 = a7 * 0.5 + a8.wxyz;
        a8 = a8 * 0.5 + a9.wxyz;
        a9 = a9 * 0.5 + a10.wxyz;
        a10 = a10 * 0.5 + a11.wxyz;
        a11 = a11 * 0.5 + a0.wxyz;
    }
    o_color = (a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11) * 0.0625;
}

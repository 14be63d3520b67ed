#version 450
// Ifs whose condition is known per element: with a long arm on one side, on both, and in each other.
layout(location = 0) in vec4 v_value;
layout(set = 0, binding = 0) uniform Block { vec4 u_choice; };
layout(location = 0) out vec4 o_color;

#define TURN(k) y = fract(y * 3.0 + k * 0.015625);
#define TURNS(k) TURN(k) TURN(k + 4.0) TURN(k + 9.0) TURN(k + 15.0) TURN(k + 7.0)
float arm(float y, float k)
{
    TURNS(k) TURNS(k + 2.0) TURNS(k + 5.0) TURNS(k + 1.0)
    return y;
}

void main()
{
    vec4 color = v_value * 0.5 + 0.5;
    if (v_value.x > 0.25)
        color.x = arm(v_value.y, 1.0);
    if (v_value.y > 0.25)
        color.y = arm(v_value.z, 2.0);
    else
        color.y = arm(v_value.w, 3.0);
    if (v_value.z > 0.25) {
        color.z = arm(v_value.x, 4.0);
        if (u_choice.w > 0.0)
            color.w = arm(v_value.w, 5.0);
    }
    o_color = color;
}

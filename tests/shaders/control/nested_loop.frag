#version 450
// Loops in loops and ifs, discards and outputs written on the way.
layout(location = 0) in vec4 v_value;
layout(set = 0, binding = 0) uniform Block { vec4 u_step; };
layout(location = 0) out vec4 o_color;

void main()
{
    o_color = vec4(0.25);
    float total = 0.0;
    int rows = int(abs(u_step.x) * 5.0) + 1;
    if (v_value.x > -0.5) {
        for (int y = 0; y < rows; y++) {
            for (int x = 0; x < rows + 2; x++) {
                if (v_value.y * float(x) > 1.5)
                    break;
                total += 0.03125 * float(x + y);
                if (total > 2.0 && v_value.z < -0.75)
                    discard;
            }
            if (total > 1.0) {
                o_color.y = 0.75;
                continue;
            }
            o_color.z += 0.0625;
            if (v_value.w > 0.75)
                return;
        }
        o_color.x = total * 0.5;
    } else {
        o_color.w = v_value.y * 0.5 + 0.5;
    }
}

#version 450
// Fetches and derivatives in long arms.
layout(location = 0) in vec4 v_value;
layout(set = 0, binding = 0) uniform Block { vec4 u_choice; };
layout(set = 0, binding = 1) uniform Table { vec4 u_table[16]; };
layout(set = 0, binding = 2) uniform sampler2D t_image;
layout(set = 0, binding = 3) uniform sampler2D t_other;
layout(location = 0) out vec4 o_color;

#define TURN(k) y = fract(y * 3.0 + k * 0.015625);
#define TURNS(k) TURN(k) TURN(k + 4.0) TURN(k + 9.0) TURN(k + 15.0) TURN(k + 7.0)
float arm(float y, float k)
{
    TURNS(k) TURNS(k + 2.0)
    return y;
}

void main()
{
    vec4 color = texture(t_image, v_value.xy);
    if (u_choice.x > 0.0) {
        vec4 texel = texture(t_other, v_value.zw);
        color.xy = texture(t_image, texel.xy + arm(v_value.x, 1.0)).zw * texel.xy;
    } else {
        color.x = arm(v_value.z, 2.0) + fwidth(v_value.x) * 0.5;
    }
    if (v_value.y > 0.25) {
        float y = arm(arm(v_value.y, 3.0), 4.0);
        color.z = y * textureLod(t_other, vec2(y), 0.0).y + u_table[int(y * 15.0)].x * 0.25;
    }
    o_color = color * texture(t_other, v_value.xy).w;
}

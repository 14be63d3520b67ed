#version 450
// Fetches in a loop whose count is known per draw only, one dependent on the other, and one behind the loop.
layout(location = 0) in vec4 v_value;
layout(set = 0, binding = 0) uniform Block { vec4 u_step; };
layout(set = 0, binding = 2) uniform sampler2D t_image;
layout(set = 0, binding = 3) uniform sampler2D t_other;
layout(location = 0) out vec4 o_color;

void main()
{
    int count = int(abs(u_step.x) * 5.0) + 1;
    vec4 sum = vec4(0.0);
    vec2 at = v_value.xy;
    for (int i = 0; i < count; i++) {
        vec4 texel = textureLod(t_image, at, 0.0);
        vec4 other = textureLod(t_other, texel.xy, 0.0);
        vec4 third = textureLod(t_image, at.yx, 0.0);
        sum = sum * 0.5 + texel * other - third * 0.125;
        at += texel.zw * u_step.y;
    }
    o_color = sum * texture(t_other, v_value.zw).w + 0.25;
}

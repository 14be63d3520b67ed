#version 450
// Two images of several planes beside each other, looked at where the pixel lies.
layout(set = 0, binding = 2) uniform sampler2D u_images[2];
layout(push_constant) uniform Push { vec2 size; } push;
layout(location = 0) out vec4 o_color;

void main()
{
    vec2 place = gl_FragCoord.xy / push.size;
    vec4 first = texture(u_images[0], place);
    vec4 second = texture(u_images[1], place);
    o_color = (int(gl_FragCoord.y) & 4) == 0 ? first : second;
}

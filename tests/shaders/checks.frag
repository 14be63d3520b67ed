#version 450
// Every other pixel, as on a chess board.
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o_color;

void main()
{
    ivec2 at = ivec2(gl_FragCoord.xy);
    if (((at.x ^ at.y) & 1) == 0) {
        discard;
    }
    o_color = v_color;
}

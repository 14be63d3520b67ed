#version 450
// Where a fragment lies, in colours that differ from pixel to pixel and from one part of a large target to the next.
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o_color;

void main()
{
    o_color = vec4(fract(gl_FragCoord.xy / 64.0), (gl_FragCoord.x + gl_FragCoord.y) / 8192.0, v_color.a);
}

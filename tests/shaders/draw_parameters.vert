#version 450
#extension GL_ARB_shader_draw_parameters : require
// A quad over a quarter of the width for each draw of a command, in the colour of what it says of itself.
layout(location = 0) out vec4 color;

void main() {
    int corner = gl_VertexIndex - gl_BaseVertexARB;
    vec2 at = vec2(corner == 1 || corner == 2 || corner == 4, corner >= 2 && corner != 3);
    gl_Position = vec4((at.x + float(gl_DrawIDARB)) * 0.5 - 1.0, at.y * 2.0 - 1.0, 0.5, 1.0);
    color = vec4(gl_BaseVertexARB, gl_BaseInstanceARB, 10 * gl_DrawIDARB + gl_InstanceIndex - gl_BaseInstanceARB, 255) / 255.0;
}

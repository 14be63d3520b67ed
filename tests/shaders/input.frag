#version 450
// Reads the pixel's own texels of a colour and a depth attachment.
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput colors;
layout(input_attachment_index = 1, set = 0, binding = 1) uniform subpassInput depths;
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o_color;

void main()
{
    vec4 before = subpassLoad(colors);
    o_color = vec4(before.b, before.r * v_color.r, subpassLoad(depths).r, before.a);
}

#version 450
// Reads what the subpass itself drew.
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput colors;
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o_color;

void main()
{
    o_color = subpassLoad(colors).gbra * 0.5 + v_color * 0.25;
}

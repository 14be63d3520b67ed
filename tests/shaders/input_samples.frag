#version 450
// Reads the samples of the pixel's own colour and depth: two by two.
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInputMS colors;
layout(input_attachment_index = 1, set = 0, binding = 1) uniform subpassInputMS depths;
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o_color;

void main()
{
    vec4 color = vec4(0.0);
    float depth = 0.0;
    for (int i = 0; i < 4; i++) {
        color += subpassLoad(colors, i) * 0.25;
        depth += subpassLoad(depths, i).r * 0.25;
    }
    o_color = vec4(color.rg, depth, subpassLoad(colors, 2).b);
}

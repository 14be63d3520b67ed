#version 450
// Reads the pixel's own stencil value.
layout(input_attachment_index = 0, set = 0, binding = 0) uniform usubpassInput stencils;
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o_color;

void main()
{
    o_color = vec4(float(subpassLoad(stencils).r) / 255.0, v_color.gba);
}

#version 450
// One of two input attachments.
// For devices that cannot index them.
layout(constant_id = 1) const bool BRANCHES = false;
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput inputs[2];
layout(push_constant) uniform Push { layout(offset = 16) uint index; } push;
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o_color;

void main()
{
    vec4 texel;
    if (!BRANCHES) texel = subpassLoad(inputs[push.index]);
    else if (push.index == 0u) texel = subpassLoad(inputs[0]);
    else texel = subpassLoad(inputs[1]);
    o_color = texel * 0.75 + 0.25 * v_color;
}

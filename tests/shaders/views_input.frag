#version 450
#extension GL_EXT_multiview : require

// What was drawn for the same view, with the view's number beside it.
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput drawn;
layout(location = 0) in vec4 v;
layout(location = 0) out vec4 color;

void main() {
    color = vec4(subpassLoad(drawn).rg, float(gl_ViewIndex) * 0.2, v.a);
}

#version 450
layout(location = 0) in vec4 v;
layout(std140, set = 0, binding = 1) uniform Tints { vec4 light; vec4 gap[5]; vec4 shade; };
layout(push_constant) uniform Push { vec4 more; };
layout(location = 0) out vec4 color;

void main()
{
    color = v * light + shade * more;
}

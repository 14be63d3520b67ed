#version 450
// What a recording that is submitted again reads anew: matrices by uniform buffer, and attributes of instances.
layout(location = 0) in vec2 position;
layout(location = 1) in vec4 color;
layout(location = 2) in vec4 shift;
layout(std140, set = 0, binding = 0) uniform Matrices { mat4 view; mat4 model; };
layout(location = 0) out vec4 v;

void main()
{
    gl_Position = view * model * vec4(position + shift.xy, 0.5, 1.0);
    v = vec4(color.rg * shift.zw, color.ba);
}

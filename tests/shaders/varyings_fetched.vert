#version 450
// 64 components from a picture, a table and a push constant: none depends on attributes alone.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(set = 0, binding = 0) uniform sampler2D drawn;
layout(set = 0, binding = 1) uniform Table { vec4 rows[8]; };
layout(push_constant) uniform Push { layout(offset = 16) float scale; };
layout(location = 0) out vec4 curved[9];
layout(location = 9) flat out uvec4 numbers[3];
layout(location = 12) noperspective out vec4 straight[4];

void main()
{
    gl_Position = vec4(position, 1.0 + 0.5 * position.z);
    vec4 texel = textureLod(drawn, color.rg, 0.0);
    int first = int(color.b * 10.0 + 0.5);
    for (int i = 0; i < 9; ++i)
        curved[i] = scale * (texel + rows[(first + i) & 7]);
    for (int i = 0; i < 3; ++i)
        numbers[i] = uvec4(100.0 * (texel.gbar + rows[(first + 3 * i) & 7]));
    for (int i = 0; i < 4; ++i)
        straight[i] = scale * (texel.bgra * float(i + 1) + rows[(first + 5 * i) & 7]);
}

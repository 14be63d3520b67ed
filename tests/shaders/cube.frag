#version 450
// Facet normals from screen derivatives light a textured cube.
layout(set = 0, binding = 1) uniform sampler2D u_tex;
layout(location = 0) in vec4 v_uv;
layout(location = 1) in vec3 v_pos;
layout(location = 0) out vec4 o_color;
const vec3 light = vec3(0.424, 0.566, 0.707);

void main()
{
    vec3 normal = normalize(cross(dFdx(v_pos), dFdy(v_pos)));
    o_color = max(0.0, dot(light, normal)) * texture(u_tex, v_uv.xy);
}

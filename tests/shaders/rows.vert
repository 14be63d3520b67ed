#version 450
// Corners from a uniform array; red where the corner in front of one is not there, unless it is the first.
layout(set = 0, binding = 1) uniform Rows { vec4 rows[6]; };
layout(location = 0) out vec4 v_color;

void main()
{
    vec4 before = rows[gl_VertexIndex - 1];
    gl_Position = rows[gl_VertexIndex];
    bool lost = gl_VertexIndex > 0 && before.w != 1.0;
    v_color = vec4(lost ? 1.0 : 0.0, 1.0, 0.0, 1.0);
}

#version 450
// Uniform buffers of every layout, push constants, structures, arrays.
struct Inner { vec3 p; float q; };
layout(set = 1, binding = 2, std140) uniform Block {
    mat4 column_major;
    layout(row_major) mat3x4 row_major_;
    Inner inner[3];
    vec2 pairs[5];
    mat2 small[2];
    layout(row_major) mat2 rows[2];
    int number;
} block;
layout(set = 0, binding = 4, std140) uniform Two { vec4 v[4]; } two[2];
layout(push_constant) uniform Push { float first; vec4 list[3]; layout(offset = 96) mat2 m; } push;
layout(location = 0) in vec4 position;
layout(location = 1) in mat2 matrix_attribute;
layout(location = 0) out Varying { vec4 v[3]; layout(location = 4, component = 1) float one; layout(location = 5) mat2 m; } result;
layout(location = 8) flat out ivec2 numbers;

void main()
{
    int i = gl_VertexIndex % 3;
    gl_Position = block.column_major * position;
    gl_PointSize = block.row_major_[1].z + float(gl_InstanceIndex);
    Inner picked = block.inner[i];
    result.v[0] = vec4(picked.p, picked.q);
    result.v[1] = vec4(block.pairs[i + 1], block.small[i & 1][1]);
    result.v[2] = vec4(block.rows[i & 1][1], block.rows[1][i & 1][0], block.row_major_[i].w);
    result.one = push.first + push.list[i][i] + push.list[2].w + two[1].v[i].y;
    result.m = push.m * matrix_attribute;
    Inner copies[2] = Inner[](block.inner[0], block.inner[2]);
    copies[i & 1].p.y = 77.0;
    numbers = ivec2(block.number, int(copies[1].p.y) + int(copies[0].p.y));
}

#version 450
#extension GL_KHR_shader_subgroup_quad : require
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer B { uint count; };
void main() { count = subgroupQuadBroadcast(count, 3); }

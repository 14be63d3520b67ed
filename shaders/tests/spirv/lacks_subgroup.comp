#version 450
#extension GL_NV_shader_subgroup_partitioned : require
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer B { uint count; };
void main() { count = subgroupPartitionNV(count).x; }

#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer B { uint count; };
void main() { uint64_t x = count; count = uint((x * x) >> 32); }

#version 450
// The colours of a triangle's corners are its barycentric coordinates: at a place that it covers none is negative.
layout(location = 0) centroid in vec4 v_color;
layout(location = 0) out vec4 o_color;

void main()
{
    float least = min(v_color.r, min(v_color.g, v_color.b));
    o_color = least > 0.1 ? vec4(0.0, 1.0, 0.0, 1.0) : least > -0.0001 ? vec4(0.25, 0.25, 0.25, 1.0) : vec4(1.0, 0.0, 0.0, 1.0);
}

#version 450
// Which samples the fragment stage is told of: those that the pipeline leaves.
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o_color;

void main()
{
    int mask = gl_SampleMaskIn[0];
    vec3 samples = vec3(mask & 1, mask >> 1 & 1, float(mask >> 2 & 3) / 3.0);
    o_color = vec4(samples, v_color.a);
}

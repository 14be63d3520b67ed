#version 450
// More arrays than a shader record has.
layout(location = 0) in vec3 position;
layout(location = 1) in float weight[11];
layout(location = 0) out vec4 color;

void main()
{
    float sum = 0.0;
    for (int i = 0; i < 11; i++)
        sum += weight[i];
    color = vec4(sum, weight[10] - weight[0], weight[5], 1.0);
    gl_Position = vec4(position, 1.0);
}

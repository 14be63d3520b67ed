#version 450
// Two images of several planes, looked at where the invocation lies, as bytes of a word.
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 2) uniform sampler2D u_images[2];
layout(set = 0, binding = 3) buffer Words { uint words[]; };
layout(push_constant) uniform Push { vec2 size; } push;

void main()
{
    uvec2 at = gl_GlobalInvocationID.xy;
    vec2 place = (vec2(at) + 0.5) / push.size;
    vec4 color = (at.y & 4) == 0 ? textureLod(u_images[0], place, 0.0) : textureLod(u_images[1], place, 0.0);
    words[at.y * uint(push.size.x) + at.x] = packUnorm4x8(color);
}

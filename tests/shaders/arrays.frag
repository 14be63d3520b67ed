#version 450
// Elements of arrays of descriptors, by an index that all invocations share, and by one that is not the same for all of them.
#extension GL_EXT_nonuniform_qualifier : require
layout(constant_id = 0) const bool BY_PLACE = false;
// For devices that cannot index them.
layout(constant_id = 1) const bool BRANCHES = false;
layout(set = 0, binding = 0) uniform sampler2D textures[5];
layout(set = 0, binding = 1, std140) uniform Block { vec4 factor; vec4 shift[2]; } blocks[5];
layout(set = 0, binding = 2, std430) readonly buffer Buffer { vec4 factor; vec4 shift[]; } buffers[3];
layout(push_constant) uniform Push { layout(offset = 16) uint index; } push;
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o_color;

#define ELEMENTS(i, k) \
    o_color = (textureGrad(textures[i], place, dx, dy) * blocks[i].factor + blocks[i].shift[n & 1u]) \
        * buffers[k].factor + buffers[k].shift[n >> 1]

void main()
{
    uint n = BY_PLACE ? uint(gl_FragCoord.x) / 32u : push.index;
    vec2 place = gl_FragCoord.xy / vec2(120.0, 80.0) * 3.0, dx = dFdx(place), dy = dFdy(place);
    if (BRANCHES) {
        switch (n) {
            case 0u: ELEMENTS(0, 0); break;
            case 1u: ELEMENTS(1, 1); break;
            case 2u: ELEMENTS(2, 2); break;
            case 3u: ELEMENTS(3, 0); break;
            case 4u: ELEMENTS(4, 1); break;
        }
    } else if (BY_PLACE) {
        ELEMENTS(nonuniformEXT(n), nonuniformEXT(n % 3u));
    } else {
        o_color = (texture(textures[n], place) * blocks[n].factor + blocks[n].shift[n & 1u]) * buffers[n % 3u].factor
            + buffers[n % 3u].shift[n >> 1];
    }
}

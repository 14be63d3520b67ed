#version 450
// Samples and fetches.
layout(location = 0) in vec4 c;
layout(location = 1) flat in int level;
layout(location = 2) noperspective in vec2 d;
layout(set = 2, binding = 0) uniform sampler2D plain;
layout(set = 2, binding = 1) uniform samplerCube cube;
layout(set = 2, binding = 3) uniform sampler2D several[3];
layout(location = 0) out vec4 o[8];

void main()
{
    o[0] = texture(plain, c.xy);
    o[1] = texture(plain, c.xy, c.z);
    o[2] = textureLod(several[2], c.yx, c.w);
    o[3] = textureProj(plain, c.xyw);
    o[4] = texture(cube, c.xyz);
    o[5] = texelFetch(several[1], ivec2(gl_FragCoord.xy), level);
    o[6] = vec4(dFdx(d.x), dFdy(d.y), fwidth(d.x * d.y), gl_FrontFacing ? 1.0 : -1.0);
    o[7] = vec4(gl_FragCoord.zw, gl_PointCoord);
    gl_FragDepth = gl_FragCoord.z * 0.5;
}

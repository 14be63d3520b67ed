#version 450
// A floor that lies deeper the further up a pixel is; what a pixel covers of it is the longer the deeper it lies.
layout(set = 0, binding = 0) uniform sampler2D image;
layout(constant_id = 0) const int MODE = 0;
layout(constant_id = 1) const float TURN = 0.0;
layout(location = 0) out vec4 color;

void main()
{
    vec2 p = gl_FragCoord.xy / vec2(120.0, 80.0);
    float depth = 0.3 / (1.02 - p.y);
    vec2 place = vec2((p.x - 0.5) * depth, depth);
    mat2 turned = mat2(cos(TURN), sin(TURN), -sin(TURN), cos(TURN));
    vec2 uv = turned * place;
    if (MODE == 0) {
        color = texture(image, uv);
    } else if (MODE == 1) {
        color = texture(image, uv, 1.5);
    } else if (MODE == 3) {
        // Places that are none.
        bool is_left = int(gl_FragCoord.x) < 60;
        vec4 seen = texture(image, is_left ? uv : sqrt(-1.0 - place));
        color = is_left ? seen : vec4(0.25, 0.5, 0.75, 1.0);
    } else {
        vec2 dx = turned * vec2(depth / 120.0, 0.0);
        vec2 dy = turned * vec2((p.x - 0.5), 1.0) * (depth * depth / 0.3 / 80.0);
        vec4 seen = vec4(0.0);
        // Columns of pixels go different ways, one of them through a loop.
        if ((int(gl_FragCoord.x) / 3) % 2 == 0) {
            seen = textureGrad(image, uv, dx, dy);
        } else {
            for (int n = 0; n < 3; n++) {
                seen += textureGrad(image, uv + vec2(0.01 * n, 0.0), dx, dy);
            }
            seen /= 3.0;
        }
        color = seen;
    }
}

#version 450
// A layer of a network: eight arms, of which elements take one or another, each want the 72 texels of a neighbourhood in eight tiles of an
// image, more than the register files hold. What the texels have in common is a few coordinates.
layout(location = 0) in vec4 v_value;
layout(set = 0, binding = 2) uniform sampler2D t_image;
layout(location = 0) out vec4 o_color;

const ivec2 SIZE = ivec2(4);
bool inside(ivec2 at) { return all(greaterThanEqual(at, ivec2(0))) && all(lessThan(at, SIZE)); }
vec4 texel(ivec2 tile, ivec2 at) { return inside(at) ? texelFetch(t_image, tile * SIZE + at, 0) : vec4(0.0); }

#define TAP(name, x, y) vec4 name = texel(tile, at + ivec2(x, y));
#define TAPS(x, y, a, b, c, d, e, f, g, h, i) tile = ivec2(x, y); \
    TAP(a, -1, -1) TAP(b, 0, -1) TAP(c, 1, -1) TAP(d, -1, 0) TAP(e, 0, 0) TAP(f, 1, 0) TAP(g, -1, 1) TAP(h, 0, 1) TAP(i, 1, 1)
#define WEIGH(texel, w) sum += texel * vec4(w, 0.5 - w, w * 0.75, 0.25 + w);
#define SUM(w, a, b, c, d, e, f, g, h, i) WEIGH(a, w) WEIGH(b, w + 0.001) WEIGH(c, w + 0.002) WEIGH(d, w + 0.003) \
    WEIGH(e, w + 0.004) WEIGH(f, w + 0.005) WEIGH(g, w + 0.006) WEIGH(h, w + 0.007) WEIGH(i, w + 0.008)

void main()
{
    ivec2 at = ivec2(v_value.xy * 4.0), tile;
    int phase = int(v_value.z * 8.0);
    TAPS(0, 0, t0a, t0b, t0c, t0d, t0e, t0f, t0g, t0h, t0i)
    TAPS(1, 0, t1a, t1b, t1c, t1d, t1e, t1f, t1g, t1h, t1i)
    TAPS(2, 0, t2a, t2b, t2c, t2d, t2e, t2f, t2g, t2h, t2i)
    TAPS(3, 0, t3a, t3b, t3c, t3d, t3e, t3f, t3g, t3h, t3i)
    TAPS(0, 1, t4a, t4b, t4c, t4d, t4e, t4f, t4g, t4h, t4i)
    TAPS(1, 1, t5a, t5b, t5c, t5d, t5e, t5f, t5g, t5h, t5i)
    TAPS(2, 1, t6a, t6b, t6c, t6d, t6e, t6f, t6g, t6h, t6i)
    TAPS(3, 1, t7a, t7b, t7c, t7d, t7e, t7f, t7g, t7h, t7i)
    vec4 sum = vec4(0.0);
    if (phase == 0) {
        sum = vec4(0.125);
        SUM(0.0000, t0a, t0b, t0c, t0d, t0e, t0f, t0g, t0h, t0i)
        SUM(0.0012, t1a, t1b, t1c, t1d, t1e, t1f, t1g, t1h, t1i)
        SUM(0.0024, t2a, t2b, t2c, t2d, t2e, t2f, t2g, t2h, t2i)
        SUM(0.0036, t3a, t3b, t3c, t3d, t3e, t3f, t3g, t3h, t3i)
        SUM(0.0049, t4a, t4b, t4c, t4d, t4e, t4f, t4g, t4h, t4i)
        SUM(0.0061, t5a, t5b, t5c, t5d, t5e, t5f, t5g, t5h, t5i)
        SUM(0.0073, t6a, t6b, t6c, t6d, t6e, t6f, t6g, t6h, t6i)
        SUM(0.0085, t7a, t7b, t7c, t7d, t7e, t7f, t7g, t7h, t7i)
        sum = max(sum, vec4(0.0));
    }
    if (phase == 1) {
        sum = vec4(0.135);
        SUM(0.0097, t0a, t0b, t0c, t0d, t0e, t0f, t0g, t0h, t0i)
        SUM(0.0109, t1a, t1b, t1c, t1d, t1e, t1f, t1g, t1h, t1i)
        SUM(0.0121, t2a, t2b, t2c, t2d, t2e, t2f, t2g, t2h, t2i)
        SUM(0.0133, t3a, t3b, t3c, t3d, t3e, t3f, t3g, t3h, t3i)
        SUM(0.0146, t4a, t4b, t4c, t4d, t4e, t4f, t4g, t4h, t4i)
        SUM(0.0158, t5a, t5b, t5c, t5d, t5e, t5f, t5g, t5h, t5i)
        SUM(0.0170, t6a, t6b, t6c, t6d, t6e, t6f, t6g, t6h, t6i)
        SUM(0.0182, t7a, t7b, t7c, t7d, t7e, t7f, t7g, t7h, t7i)
        sum = max(sum, vec4(0.0));
    }
    if (phase == 2) {
        sum = vec4(0.145);
        SUM(0.0194, t0a, t0b, t0c, t0d, t0e, t0f, t0g, t0h, t0i)
        SUM(0.0206, t1a, t1b, t1c, t1d, t1e, t1f, t1g, t1h, t1i)
        SUM(0.0218, t2a, t2b, t2c, t2d, t2e, t2f, t2g, t2h, t2i)
        SUM(0.0230, t3a, t3b, t3c, t3d, t3e, t3f, t3g, t3h, t3i)
        SUM(0.0243, t4a, t4b, t4c, t4d, t4e, t4f, t4g, t4h, t4i)
        SUM(0.0255, t5a, t5b, t5c, t5d, t5e, t5f, t5g, t5h, t5i)
        SUM(0.0267, t6a, t6b, t6c, t6d, t6e, t6f, t6g, t6h, t6i)
        SUM(0.0279, t7a, t7b, t7c, t7d, t7e, t7f, t7g, t7h, t7i)
        sum = max(sum, vec4(0.0));
    }
    if (phase == 3) {
        sum = vec4(0.155);
        SUM(0.0291, t0a, t0b, t0c, t0d, t0e, t0f, t0g, t0h, t0i)
        SUM(0.0303, t1a, t1b, t1c, t1d, t1e, t1f, t1g, t1h, t1i)
        SUM(0.0315, t2a, t2b, t2c, t2d, t2e, t2f, t2g, t2h, t2i)
        SUM(0.0327, t3a, t3b, t3c, t3d, t3e, t3f, t3g, t3h, t3i)
        SUM(0.0340, t4a, t4b, t4c, t4d, t4e, t4f, t4g, t4h, t4i)
        SUM(0.0352, t5a, t5b, t5c, t5d, t5e, t5f, t5g, t5h, t5i)
        SUM(0.0364, t6a, t6b, t6c, t6d, t6e, t6f, t6g, t6h, t6i)
        SUM(0.0376, t7a, t7b, t7c, t7d, t7e, t7f, t7g, t7h, t7i)
        sum = max(sum, vec4(0.0));
    }
    if (phase == 4) {
        sum = vec4(0.165);
        SUM(0.0388, t0a, t0b, t0c, t0d, t0e, t0f, t0g, t0h, t0i)
        SUM(0.0400, t1a, t1b, t1c, t1d, t1e, t1f, t1g, t1h, t1i)
        SUM(0.0412, t2a, t2b, t2c, t2d, t2e, t2f, t2g, t2h, t2i)
        SUM(0.0424, t3a, t3b, t3c, t3d, t3e, t3f, t3g, t3h, t3i)
        SUM(0.0437, t4a, t4b, t4c, t4d, t4e, t4f, t4g, t4h, t4i)
        SUM(0.0449, t5a, t5b, t5c, t5d, t5e, t5f, t5g, t5h, t5i)
        SUM(0.0461, t6a, t6b, t6c, t6d, t6e, t6f, t6g, t6h, t6i)
        SUM(0.0473, t7a, t7b, t7c, t7d, t7e, t7f, t7g, t7h, t7i)
        sum = max(sum, vec4(0.0));
    }
    if (phase == 5) {
        sum = vec4(0.175);
        SUM(0.0485, t0a, t0b, t0c, t0d, t0e, t0f, t0g, t0h, t0i)
        SUM(0.0497, t1a, t1b, t1c, t1d, t1e, t1f, t1g, t1h, t1i)
        SUM(0.0509, t2a, t2b, t2c, t2d, t2e, t2f, t2g, t2h, t2i)
        SUM(0.0521, t3a, t3b, t3c, t3d, t3e, t3f, t3g, t3h, t3i)
        SUM(0.0534, t4a, t4b, t4c, t4d, t4e, t4f, t4g, t4h, t4i)
        SUM(0.0546, t5a, t5b, t5c, t5d, t5e, t5f, t5g, t5h, t5i)
        SUM(0.0558, t6a, t6b, t6c, t6d, t6e, t6f, t6g, t6h, t6i)
        SUM(0.0570, t7a, t7b, t7c, t7d, t7e, t7f, t7g, t7h, t7i)
        sum = max(sum, vec4(0.0));
    }
    if (phase == 6) {
        sum = vec4(0.185);
        SUM(0.0582, t0a, t0b, t0c, t0d, t0e, t0f, t0g, t0h, t0i)
        SUM(0.0594, t1a, t1b, t1c, t1d, t1e, t1f, t1g, t1h, t1i)
        SUM(0.0606, t2a, t2b, t2c, t2d, t2e, t2f, t2g, t2h, t2i)
        SUM(0.0618, t3a, t3b, t3c, t3d, t3e, t3f, t3g, t3h, t3i)
        SUM(0.0630, t4a, t4b, t4c, t4d, t4e, t4f, t4g, t4h, t4i)
        SUM(0.0643, t5a, t5b, t5c, t5d, t5e, t5f, t5g, t5h, t5i)
        SUM(0.0655, t6a, t6b, t6c, t6d, t6e, t6f, t6g, t6h, t6i)
        SUM(0.0667, t7a, t7b, t7c, t7d, t7e, t7f, t7g, t7h, t7i)
        sum = max(sum, vec4(0.0));
    }
    if (phase == 7) {
        sum = vec4(0.195);
        SUM(0.0679, t0a, t0b, t0c, t0d, t0e, t0f, t0g, t0h, t0i)
        SUM(0.0691, t1a, t1b, t1c, t1d, t1e, t1f, t1g, t1h, t1i)
        SUM(0.0703, t2a, t2b, t2c, t2d, t2e, t2f, t2g, t2h, t2i)
        SUM(0.0715, t3a, t3b, t3c, t3d, t3e, t3f, t3g, t3h, t3i)
        SUM(0.0728, t4a, t4b, t4c, t4d, t4e, t4f, t4g, t4h, t4i)
        SUM(0.0740, t5a, t5b, t5c, t5d, t5e, t5f, t5g, t5h, t5i)
        SUM(0.0752, t6a, t6b, t6c, t6d, t6e, t6f, t6g, t6h, t6i)
        SUM(0.0764, t7a, t7b, t7c, t7d, t7e, t7f, t7g, t7h, t7i)
        sum = max(sum, vec4(0.0));
    }
    o_color = sum * 0.0625;
}

#version 450

// Powers that are products, roots and inverses, and three that are not.
layout(location = 0) in vec4 a;
layout(location = 1) in vec4 b;
layout(location = 0) out vec4 products;
layout(location = 1) out vec4 roots;
layout(location = 2) out vec4 inverses;
layout(location = 3) out vec4 others;

void main() {
    products = vec4(pow(a.x, 7.0), pow(a.y, 32.0), pow(a.z, 100.0), pow(a.w, 256.0));
    roots = vec4(pow(a.x, 0.5), pow(a.y, 1.5), pow(a.z, 2.5), pow(a.w, 16.5));
    inverses = vec4(pow(a.x, -1.0), pow(a.y, -4.0), pow(a.z, -0.5), pow(a.w, -1.5));
    others = vec4(pow(b.x, 2.2), pow(b.y, 255.0), pow(b.z, -2.5), 1.0);
}

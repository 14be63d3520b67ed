// Differences inside quads. The functions are linear along each axis, or depend on one axis only.

//# derivatives plain
vec4 f(vec2 p) { return vec4(dFdx(p.x) * 32.0, dFdy(p.y) * 40.0, dFdx(p.y) + 0.25, fwidth(p.x + p.y * 0.5) * 24.0); }

//# derivatives_of_varyings plain
vec4 f(vec2 p) { vec2 q = v; return vec4(dFdx(q.x) * 32.0, dFdy(q.y) * 40.0, fwidth(q) * 30.0); }

//# derivatives_of_functions
vec4 f(vec2 p) { float s = p.x * p.x, t = sin(p.y * 3.0); return vec4(dFdx(s) * 24.0, dFdy(t) * 8.0 + 0.5, fwidth(vec2(s, t)) * 8.0); }

//# derivatives_in_uniform_branch
vec4 f(vec2 p) { vec2 d = vec2(0.0); if (ints[1].x > 2) d = vec2(dFdx(p.x), dFdy(p.y)) * 30.0; else d = p; return vec4(d, p); }

//# derivatives_in_uniform_loop
vec4 f(vec2 p) { float s = 0.0; for (int n = 0; n < ints[1].x; n++) s += abs(dFdx(p.x * float(n))); return vec4(s * 4.0, p, 1.0); }

//# derivatives_of_integers_as_floats plain
vec4 f(vec2 p) { return vec4(dFdx(floor(p.x * 64.0)) * 0.4, dFdy(floor(p.y * 64.0)) * 0.6, fwidth(floor(p.x * 64.0) * 2.0) * 0.3, 1.0); }

//# derivatives_of_vectors plain
vec4 f(vec2 p) { return abs(dFdx(vec4(p, p.yx))) * 20.0 + abs(dFdy(vec4(p, p.yx))) * 30.0; }

//# anti_aliased_edge
vec4 f(vec2 p) { float e = p.x - 0.4921875; return vec4(clamp(e / fwidth(e) + 0.5, 0.0, 1.0), smoothstep(-1.0, 1.0, e / fwidth(e)), 0.0, 1.0); }

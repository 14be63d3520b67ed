//! Solid things with light on them.

use super::builder::{Builder, SKY, colorless};
use crate::frames::frame::{Attribute, Blend, Content, Depth, Draw, Frame, Image, Program};
use crate::frames::meshes::{Random, SURFACE, cube, floor, grid, placed, torus};

/// Light at vertices; `u[4]` is where it comes from, in the model's space.
pub(super) const VERTEX_LIT: &str = "gl_Position = mat4(u[0], u[1], u[2], u[3]) * vec4(a0, 1.0);
    light = 0.25 + 0.75 * max(dot(a1, u[4].xyz), 0.0);
    place = a2;";
pub(super) const LIT_VARYINGS: &[(&str, &str)] = &[("float", "light"), ("vec2", "place")];
const LIGHT: [f32; 4] = [0.48, 0.64, 0.6, 0.0];

pub(super) fn textured() -> Program {
    Program {
        attributes: SURFACE,
        varyings: LIT_VARYINGS,
        vertex_words: 5,
        fragment_words: 0,
        samplers: &[false],
        vertex: VERTEX_LIT,
        fragment: "COLOR = vec4(TEXTURE(s0, place).rgb * light, 1.0);",
    }
}

/// In front of what is there, without faces that look away.
pub(super) fn solid(draw: Draw) -> Draw {
    Draw { depth: Depth::Less, writes_depth: true, culls: true, vertex_words: LIGHT.to_vec(), ..draw }
}

pub(super) fn frames() -> Vec<Frame> {
    vec![
        textured_mesh("textured_mesh", "a mesh with a texture and light at its vertices", 1),
        textured_mesh("multisample", "the same with four samples a pixel", 4),
        many_draws(),
        many_textures(),
        depth_prepass(),
        normal_map(),
        skinned(),
        reflections(),
        terrain(),
        water(),
    ]
}

fn textured_mesh(name: &'static str, what: &'static str, samples: u32) -> Frame {
    let mut frame = Builder::new(name, what);
    frame.0.samples = samples;
    let (program, texture) = (frame.program(textured()), frame.texture(256, 1));
    let mesh = frame.mesh(torus(64, 32));
    let transform = Some(placed([0.0, 0.0, -3.0], [0.7, 0.4], 1.0));
    let draw = Draw { textures: vec![texture], transform, ..mesh.draw(program) };
    frame.end(SKY, vec![solid(draw)])
}

fn many_draws() -> Frame {
    let mut frame = Builder::new("many_draws", "300 cubes, each with a place and a colour of its own");
    let program = frame.program(Program {
        attributes: SURFACE,
        varyings: &[("float", "light")],
        vertex_words: 5,
        fragment_words: 1,
        samplers: &[],
        vertex: "gl_Position = mat4(u[0], u[1], u[2], u[3]) * vec4(a0, 1.0);
            light = 0.25 + 0.75 * max(dot(a1, u[4].xyz), 0.0);",
        fragment: "COLOR = vec4(f[0].rgb * light, 1.0);",
    });
    let (mesh, mut random) = (frame.mesh(cube()), Random::new(5));
    let draws = (0..300).map(|_| {
        let place = [random.between(-6.0, 6.0), random.between(-6.0, 6.0), random.between(-18.0, -8.0)];
        let turn = [random.between(0.0, 6.0), random.between(0.0, 6.0)];
        let transform = Some(placed(place, turn, random.between(0.4, 1.2)));
        let fragment_words = vec![random.next(), random.next(), random.next(), 1.0];
        solid(Draw { transform, fragment_words, ..mesh.draw(program) })
    });
    let draws = draws.collect();
    frame.end(SKY, draws)
}

fn many_textures() -> Frame {
    let mut frame = Builder::new("many_textures", "120 cubes with one of eight textures each");
    let program = frame.program(textured());
    let textures: Vec<usize> = (0..8).map(|number| frame.texture(64, number)).collect();
    let (mesh, mut random) = (frame.mesh(cube()), Random::new(9));
    let draws = (0..120).map(|number| {
        let place = [random.between(-4.0, 4.0), random.between(-4.0, 4.0), random.between(-14.0, -6.0)];
        let turn = [random.between(0.0, 6.0), random.between(0.0, 6.0)];
        let transform = Some(placed(place, turn, random.between(0.6, 1.6)));
        solid(Draw { transform, textures: vec![textures[number % 8]], ..mesh.draw(program) })
    });
    let draws = draws.collect();
    frame.end(SKY, draws)
}

fn depth_prepass() -> Frame {
    let mut frame = Builder::new("depth_prepass", "depths first, then dear pixels where they are the same");
    let depths = frame.program(colorless());
    let dear = frame.program(Program {
        attributes: SURFACE,
        varyings: &[("vec3", "normal"), ("vec2", "place")],
        vertex_words: 4,
        fragment_words: 2,
        samplers: &[false],
        vertex: "gl_Position = mat4(u[0], u[1], u[2], u[3]) * vec4(a0, 1.0);
            normal = a1; place = a2;",
        fragment: "vec3 n = normalize(normal);
            float shine = pow(max(dot(n, f[1].xyz), 0.0), 20.0);
            COLOR = vec4(TEXTURE(s0, place).rgb * max(dot(n, f[0].xyz), 0.1) + shine, 1.0);",
    });
    let (mesh, texture) = (frame.mesh(torus(32, 16)), frame.texture(128, 2));
    let mut draws = Vec::new();
    let places: Vec<[f32; 3]> = (0..9)
        .map(|at| [(at % 3) as f32 * 1.4 - 1.4, (at / 3) as f32 * 1.4 - 1.4, -5.0 - at as f32 * 0.3])
        .collect();
    for place in &places {
        let transform = Some(placed(*place, [0.5 + place[0], 0.3 + place[1]], 1.0));
        let draw = Draw { transform, writes_color: false, ..solid(mesh.draw(depths)) };
        draws.push(Draw { vertex_words: Vec::new(), ..draw });
    }
    for place in &places {
        let transform = Some(placed(*place, [0.5 + place[0], 0.3 + place[1]], 1.0));
        let fragment_words = vec![0.48, 0.64, 0.6, 0.0, 0.36, 0.48, 0.8, 0.0];
        let draw = Draw { transform, fragment_words, textures: vec![texture], ..solid(mesh.draw(dear)) };
        draws.push(Draw { vertex_words: Vec::new(), depth: Depth::LessEqual, writes_depth: false, ..draw });
    }
    frame.end(SKY, draws)
}

fn normal_map() -> Frame {
    let mut frame = Builder::new("normal_map", "light at pixels, with normals from a texture");
    let program = frame.program(Program {
        attributes: SURFACE,
        varyings: &[("vec3", "normal"), ("vec3", "tangent"), ("vec3", "eye"), ("vec2", "place")],
        vertex_words: 5,
        fragment_words: 2,
        samplers: &[false, false],
        vertex: "gl_Position = mat4(u[0], u[1], u[2], u[3]) * vec4(a0, 1.0);
            normal = a1; tangent = normalize(vec3(-a0.y, a0.x, 0.0)); eye = u[4].xyz - a0; place = a2;",
        fragment: "vec3 bump = TEXTURE(s1, place).xyz * 2.0 - 1.0;
            vec3 n = normalize(normal), t = normalize(tangent);
            vec3 m = normalize(bump.x * t + bump.y * cross(n, t) + (1.0 + bump.z) * n);
            vec3 h = normalize(normalize(eye) + f[0].xyz);
            float shine = pow(max(dot(m, h), 0.0), f[1].w);
            COLOR = vec4(TEXTURE(s0, place).rgb * max(dot(m, f[0].xyz), 0.1) + shine * f[1].rgb, 1.0);",
    });
    let textures = vec![frame.texture(128, 3), frame.texture(128, 4)];
    let mesh = frame.mesh(torus(48, 24));
    let transform = Some(placed([0.0, 0.0, -2.6], [0.6, 0.5], 1.0));
    let fragment_words = vec![0.48, 0.64, 0.6, 0.0, 0.8, 0.7, 0.6, 16.0];
    let draw = Draw { textures, transform, fragment_words, ..solid(mesh.draw(program)) };
    frame.end(SKY, vec![Draw { vertex_words: vec![0.0, 0.0, 4.0, 0.0], ..draw }])
}

fn skinned() -> Frame {
    let mut frame = Builder::new("skinned", "a mesh that sixteen bones move, two at each vertex");
    let program = frame.program(Program {
        attributes: &[Attribute::Floats(3), Attribute::Floats(3), Attribute::Floats(2), Attribute::Floats(4)],
        varyings: LIT_VARYINGS,
        vertex_words: 4 + 48,
        fragment_words: 0,
        samplers: &[false],
        vertex: "int first = 4 + int(a3.x) * 3, second = 4 + int(a3.y) * 3;
            vec4 x = u[first] * a3.z + u[second] * a3.w;
            vec4 y = u[first + 1] * a3.z + u[second + 1] * a3.w;
            vec4 z = u[first + 2] * a3.z + u[second + 2] * a3.w;
            vec4 p = vec4(a0, 1.0);
            vec3 n = vec3(dot(x.xyz, a1), dot(y.xyz, a1), dot(z.xyz, a1));
            gl_Position = mat4(u[0], u[1], u[2], u[3]) * vec4(dot(x, p), dot(y, p), dot(z, p), 1.0);
            light = 0.25 + 0.75 * max(n.z * 0.6 + n.x * 0.48 + n.y * 0.64, 0.0);
            place = a2;",
        fragment: "COLOR = vec4(TEXTURE(s0, place).rgb * light, 1.0);",
    });
    let mesh = frame.mesh(grid(40, 40, |u, v| {
        let (s, c) = (v * std::f32::consts::TAU).sin_cos();
        let bone = u * 14.9;
        let weight = bone.fract();
        let ends = [bone.floor(), bone.floor() + 1.0, 1.0 - weight, weight];
        [[4.0 * u - 2.0, 0.4 * c, -0.4 * s].as_slice(), &[0.0, c, -s], &[4.0 * u, v], &ends].concat()
    }));
    let mut words = Vec::new();
    for bone in 0..16 {
        let sway = 0.3 * (bone as f32 * 0.5).sin();
        words.extend([1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, sway, 0.0, 0.0, 1.0, -sway]);
    }
    let texture = frame.texture(128, 5);
    let transform = Some(placed([0.0, 0.0, -4.0], [0.3, 0.4], 1.0));
    let draw = Draw { textures: vec![texture], transform, ..solid(mesh.draw(program)) };
    frame.end(SKY, vec![Draw { vertex_words: words, ..draw }])
}

fn reflections() -> Frame {
    let mut frame = Builder::new("reflections", "a mesh that mirrors a cube of pictures");
    let program = frame.program(Program {
        attributes: SURFACE,
        varyings: &[("vec3", "normal"), ("vec3", "eye")],
        vertex_words: 5,
        fragment_words: 1,
        samplers: &[true],
        vertex: "gl_Position = mat4(u[0], u[1], u[2], u[3]) * vec4(a0, 1.0);
            normal = a1; eye = a0 - u[4].xyz;",
        fragment: "vec3 mirrored = reflect(normalize(eye), normalize(normal));
            COLOR = vec4(CUBE(s0, mirrored).rgb * f[0].rgb, 1.0);",
    });
    let faces = [0, 1, 2, 3, 4, 5].map(|face| crate::frames::meshes::stains(64, face));
    let cube =
        frame.image(Image { size: [64; 2], content: Content::Cube(faces), smooth: true, repeats: false });
    let mesh = frame.mesh(torus(48, 24));
    let transform = Some(placed([0.0, 0.0, -2.8], [0.8, 0.2], 1.0));
    let fragment_words = vec![0.9, 0.85, 0.7, 1.0];
    let draw = Draw { textures: vec![cube], transform, fragment_words, ..solid(mesh.draw(program)) };
    frame.end(SKY, vec![Draw { vertex_words: vec![0.0, 0.0, 4.0, 0.0], ..draw }])
}

fn terrain() -> Frame {
    let mut frame = Builder::new("terrain", "hills of two textures, in fog");
    let program = frame.program(Program {
        attributes: SURFACE,
        varyings: &[("vec4", "seen"), ("vec2", "place")],
        vertex_words: 5,
        fragment_words: 1,
        samplers: &[false, false],
        vertex: "gl_Position = mat4(u[0], u[1], u[2], u[3]) * vec4(a0, 1.0);
            float fog = clamp(gl_Position.w * 0.05, 0.0, 1.0);
            seen = vec4(0.25 + 0.75 * max(dot(a1, u[4].xyz), 0.0), clamp(a0.y * 0.8 + 0.5, 0.0, 1.0), fog, 1.0);
            place = a2;",
        fragment: "vec3 ground = mix(TEXTURE(s0, place).rgb, TEXTURE(s1, place).rgb, seen.y);
            COLOR = vec4(mix(ground * seen.x, f[0].rgb, seen.z), 1.0);",
    });
    let textures = vec![frame.texture(128, 6), frame.texture(128, 7)];
    let mesh = frame.mesh(grid(60, 60, |u, v| {
        let height = 0.9 * (u * 13.0).sin() * (v * 11.0).cos();
        let slope = [
            11.7 * (u * 13.0).cos() * (v * 11.0).cos() / 24.0,
            9.9 * (u * 13.0).sin() * (v * 11.0).sin() / 24.0,
        ];
        let normal = [-slope[0], 1.0, -slope[1]];
        let length = normal.iter().map(|edge| edge * edge).sum::<f32>().sqrt();
        [
            &[(u - 0.5) * 24.0, height, (0.5 - v) * 24.0][..],
            &normal.map(|edge| edge / length),
            &[8.0 * u, 8.0 * v],
        ]
        .concat()
    }));
    let transform = Some(placed([0.0, -2.0, -10.0], [0.25, 0.3], 1.0));
    let draw = Draw { textures, transform, fragment_words: SKY.to_vec(), ..solid(mesh.draw(program)) };
    frame.end(SKY, vec![draw])
}

fn water() -> Frame {
    let mut frame = Builder::new("water", "waves that vertices make, over a floor");
    let ground = frame.program(textured());
    let waves = frame.program(Program {
        attributes: SURFACE,
        varyings: &[("vec3", "normal"), ("vec4", "place")],
        vertex_words: 5,
        fragment_words: 2,
        samplers: &[false],
        vertex: "float t = u[4].x;
            float x = a0.x * 2.0 + t, z = a0.z * 3.0 + t * 1.3;
            vec3 p = vec3(a0.x, a0.y + 0.12 * sin(x) + 0.08 * sin(z), a0.z);
            normal = normalize(vec3(-0.24 * cos(x), a1.y, -0.24 * cos(z)));
            gl_Position = mat4(u[0], u[1], u[2], u[3]) * vec4(p, 1.0);
            place = vec4(a2 + t * 0.01, a2 * 1.7 - t * 0.02);",
        fragment: "vec3 n = normalize(normal);
            float mirrored = pow(1.0 - max(n.y, 0.0), 2.0) * 0.8 + 0.2;
            vec3 depth = TEXTURE(s0, place.xy).rgb * TEXTURE(s0, place.zw).rgb;
            COLOR = vec4(mix(depth * f[0].rgb, f[1].rgb, mirrored), 0.75);",
    });
    let textures = vec![frame.texture(128, 8)];
    let (below, above) = (frame.mesh(floor(4, 16.0, 6.0)), frame.mesh(floor(50, 16.0, 4.0)));
    let at = |y: f32| Some(placed([0.0, y, -8.0], [0.35, 0.2], 1.0));
    let bottom = solid(Draw { textures: textures.clone(), transform: at(-2.6), ..below.draw(ground) });
    let fragment_words = vec![0.4, 0.7, 0.8, 0.0, 0.6, 0.7, 0.9, 0.0];
    let surface = solid(Draw { textures, transform: at(-1.8), fragment_words, ..above.draw(waves) });
    let surface =
        Draw { vertex_words: vec![3.7, 0.0, 0.0, 0.0], blend: Blend::Alpha, writes_depth: false, ..surface };
    frame.end(SKY, vec![bottom, surface])
}

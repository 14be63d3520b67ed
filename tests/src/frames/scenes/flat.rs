//! What lies on the screen: layers, letters, particles, video.

use super::builder::{Builder, SKY, THROUGH, over};
use crate::frames::frame::{Attribute, Blend, Content, Depth, Draw, Frame, Image, Program, Texels};
use crate::frames::meshes::{COLORED, FLAT, Random, floats, floor, levels, placed, rectangles, stains};

const COLORED_VARYINGS: &[(&str, &str)] = &[("vec4", "color"), ("vec2", "place")];
const COLORED_THROUGH: &str = "gl_Position = vec4(a0, 0.0, 1.0); place = a1; color = a2;";

fn colored(fragment: &'static str, samplers: &'static [bool]) -> Program {
    Program {
        attributes: COLORED,
        varyings: COLORED_VARYINGS,
        vertex_words: 0,
        fragment_words: 0,
        samplers,
        vertex: COLORED_THROUGH,
        fragment,
    }
}

pub(super) fn frames() -> Vec<Frame> {
    vec![
        overdraw("back_to_front", "ten layers that cover each other, the farthest first", true),
        overdraw("front_to_back", "ten layers that cover each other, the nearest first", false),
        blended_layers(),
        multitexture(),
        mipmaps(),
        text(),
        sprites(),
        particles(),
        interface(),
        video(),
        procedural(),
    ]
}

fn overdraw(name: &'static str, what: &'static str, far_first: bool) -> Frame {
    let mut frame = Builder::new(name, what);
    let program = frame.program(Program {
        attributes: crate::frames::meshes::SURFACE,
        varyings: &[("vec3", "place")],
        vertex_words: 4,
        fragment_words: 1,
        samplers: &[false],
        vertex: "gl_Position = mat4(u[0], u[1], u[2], u[3]) * vec4(a0, 1.0); place = vec3(a2, a1.y);",
        fragment: "COLOR = vec4(TEXTURE(s0, place.xy).rgb * f[0].rgb * place.z, 1.0);",
    });
    let (mesh, texture) = (frame.mesh(floor(1, 6.0, 2.0)), frame.texture(128, 1));
    let mut draws: Vec<Draw> = (0..10)
        .map(|layer| Draw {
            transform: Some(placed([0.0, 0.0, -2.0 - layer as f32 * 0.2], [1.570_796_4, 0.0], 1.0)),
            fragment_words: vec![1.0 - 0.08 * layer as f32, 0.9, 0.3 + 0.07 * layer as f32, 1.0],
            textures: vec![texture],
            depth: Depth::Less,
            writes_depth: true,
            ..mesh.draw(program)
        })
        .collect();
    if far_first {
        draws.reverse();
    }
    frame.end(SKY, draws)
}

fn blended_layers() -> Frame {
    let mut frame = Builder::new("blended_layers", "eight layers of glass over all of the screen");
    let program = frame.program(over("COLOR = TEXTURE(s0, place) * f[0];", 1, &[false]));
    let textures: Vec<usize> = (0..2).map(|number| frame.plain(256, number)).collect();
    let screen = frame.screen();
    let draws = (0..8).map(|layer| Draw {
        fragment_words: vec![1.0 - 0.1 * layer as f32, 0.8, 0.2 + 0.1 * layer as f32, 0.4],
        textures: vec![textures[layer % 2]],
        blend: Blend::Alpha,
        ..screen.draw(program)
    });
    let draws = draws.collect();
    frame.end(SKY, draws)
}

fn multitexture() -> Frame {
    let mut frame = Builder::new("multitexture", "four textures on one surface");
    let program = frame.program(over(
        "vec3 stone = mix(TEXTURE(s0, place).rgb, TEXTURE(s1, place * 2.0).rgb, TEXTURE(s2, place).a);
        COLOR = vec4(stone * TEXTURE(s3, place * 0.5).rgb * 2.0, 1.0);",
        0,
        &[false; 4],
    ));
    let textures = (0..4).map(|number| frame.texture(256, number)).collect();
    let screen = frame.screen();
    frame.end(SKY, vec![Draw { textures, ..screen.draw(program) }])
}

fn mipmaps() -> Frame {
    let mut frame = Builder::new("mipmaps", "a floor up to the horizon");
    let program = frame.program(Program {
        attributes: crate::frames::meshes::SURFACE,
        varyings: &[("vec3", "place")],
        vertex_words: 4,
        fragment_words: 0,
        samplers: &[false],
        vertex: "gl_Position = mat4(u[0], u[1], u[2], u[3]) * vec4(a0, 1.0); place = vec3(a2, a1.y);",
        fragment: "COLOR = vec4(TEXTURE(s0, place.xy).rgb * place.z, 1.0);",
    });
    let (mesh, texture) = (frame.mesh(floor(8, 60.0, 24.0)), frame.texture(256, 2));
    let transform = Some(placed([0.0, -1.5, -25.0], [0.05, 0.2], 1.0));
    let draw = Draw { textures: vec![texture], transform, ..mesh.draw(program) };
    frame.end(SKY, vec![Draw { depth: Depth::Less, writes_depth: true, ..draw }])
}

fn text() -> Frame {
    let mut frame = Builder::new("text", "600 letters from a texture of coverage");
    let program =
        frame.program(colored("COLOR = vec4(color.rgb, color.a * TEXTURE(s0, place).r);", &[false]));
    let (edge, mut random) = (256u32, Random::new(3));
    let coverage: Vec<u8> = (0..edge * edge)
        .map(|at| {
            let (x, y) = ((at % edge) as i32 % 16 - 8, (at / edge) as i32 % 16 - 8);
            let distance = ((x * x + y * y) as f32).sqrt();
            (255.0 * (1.0 - (distance - 5.0).abs() * 0.7).clamp(0.0, 1.0)) as u8
        })
        .collect();
    let content = Content::Texels(Texels::Luminance, vec![coverage]);
    let atlas = frame.image(Image { size: [edge; 2], content, smooth: true, repeats: false });
    let letters: Vec<_> = (0..600u32)
        .map(|letter| {
            // On whole pixels, as letters are.
            let clip = |at: u32| at as f32 / 256.0 - 1.0;
            let (x, y) = (16 + letter % 40 * 12, 472 - letter / 40 * 30);
            let cell = [random.between(0.0, 16.0).floor() / 16.0, random.between(0.0, 16.0).floor() / 16.0];
            let from = [cell[0], cell[1], cell[0] + 0.0625, cell[1] + 0.0625];
            ([clip(x), clip(y), clip(x + 12), clip(y + 24)], from, Some([20, 20, (letter % 200) as u8, 255]))
        })
        .collect();
    let mesh = frame.mesh(rectangles(&letters));
    let draw = Draw { textures: vec![atlas], blend: Blend::Alpha, ..mesh.draw(program) };
    frame.end([0.9, 0.9, 0.85, 1.0], vec![draw])
}

fn sprites() -> Frame {
    let mut frame = Builder::new("sprites", "800 sprites from one texture");
    let program = frame.program(colored("COLOR = TEXTURE(s0, place) * color;", &[false]));
    let (atlas, mut random) = (frame.plain(256, 4), Random::new(17));
    let list: Vec<_> = (0..800)
        .map(|_| {
            let (x, y, edge) =
                (random.between(-1.0, 0.9), random.between(-1.0, 0.9), random.between(0.05, 0.15));
            let cell = [random.between(0.0, 4.0).floor() / 4.0, random.between(0.0, 4.0).floor() / 4.0];
            let color = [0, 1, 2].map(|_| random.between(100.0, 255.0) as u8);
            let color = Some([color[0], color[1], color[2], 220]);
            ([x, y, x + edge, y + edge], [cell[0], cell[1], cell[0] + 0.25, cell[1] + 0.25], color)
        })
        .collect();
    let mesh = frame.mesh(rectangles(&list));
    frame.end(SKY, vec![Draw { textures: vec![atlas], blend: Blend::Alpha, ..mesh.draw(program) }])
}

fn particles() -> Frame {
    let mut frame = Builder::new("particles", "1500 points of light that add up");
    let program = frame.program(Program {
        attributes: &[Attribute::Floats(4), Attribute::Bytes],
        varyings: &[("vec4", "color")],
        vertex_words: 0,
        fragment_words: 0,
        samplers: &[],
        vertex: "gl_Position = vec4(a0.xyz, 1.0); gl_PointSize = a0.w; color = a1;",
        fragment: "vec2 away = gl_PointCoord - 0.5;
            float glow = max(1.0 - 4.0 * dot(away, away), 0.0);
            COLOR = vec4(color.rgb, color.a * glow * glow);",
    });
    let mut random = Random::new(23);
    let mut bytes = Vec::new();
    for _ in 0..1500 {
        let place = [random.between(-1.0, 1.0), random.between(-1.0, 1.0), 0.0, random.between(4.0, 24.0)];
        bytes.extend(floats(place));
        bytes.extend([random.between(40.0, 255.0) as u8, random.between(40.0, 160.0) as u8, 60, 90]);
    }
    let vertices = frame.buffer(bytes);
    let draw = Draw { program, vertices, count: 1500, points: true, blend: Blend::Add, ..Draw::default() };
    frame.end([0.0, 0.0, 0.05, 1.0], vec![draw])
}

fn interface() -> Frame {
    let mut frame = Builder::new("interface", "60 windows with round corners, each cut to its frame");
    let program = frame.program(Program {
        attributes: FLAT,
        varyings: &[("vec2", "place")],
        vertex_words: 0,
        fragment_words: 2,
        samplers: &[],
        vertex: THROUGH,
        fragment: "vec2 corner = abs(place - 0.5) * f[1].xy - f[1].zw;
            float distance = length(max(corner, 0.0)) - 8.0;
            COLOR = vec4(f[0].rgb, f[0].a * clamp(0.5 - distance, 0.0, 1.0));",
    });
    let mut random = Random::new(31);
    let mut draws = Vec::new();
    for _ in 0..60 {
        let [x, y] = [random.between(0.0, 400.0).floor(), random.between(0.0, 400.0).floor()];
        let [w, h] = [random.between(40.0, 110.0).floor(), random.between(30.0, 110.0).floor()];
        let clip = |at: f32| at / 256.0 - 1.0;
        let rect = [clip(x), clip(y), clip(x + w), clip(y + h)];
        let window = frame.mesh(rectangles(&[(rect, [0.0, 0.0, 1.0, 1.0], None)]));
        let half = [w, h].map(|edge| edge / 2.0 - 8.0);
        let color = [random.next(), random.next(), random.next(), 0.85];
        draws.push(Draw {
            fragment_words: [color, [w, h, half[0], half[1]]].concat(),
            blend: Blend::Alpha,
            scissor: Some([x as u32, y as u32, w as u32, h as u32]),
            ..window.draw(program)
        });
    }
    frame.end([0.9, 0.9, 0.9, 1.0], draws)
}

fn video() -> Frame {
    let mut frame = Builder::new("video", "three planes of a video as colours");
    let program = frame.program(over(
        "float y = 1.164 * (TEXTURE(s0, place).r - 0.0625);
        float u = TEXTURE(s1, place).r - 0.5, v = TEXTURE(s2, place).r - 0.5;
        COLOR = vec4(y + 1.596 * v, y - 0.391 * u - 0.813 * v, y + 2.018 * u, 1.0);",
        0,
        &[false; 3],
    ));
    let textures = [(512, 0), (256, 1), (256, 2)].map(|(edge, number)| {
        let plane = stains(edge, number).chunks_exact(4).map(|texel| texel[number as usize]).collect();
        let content = Content::Texels(Texels::Luminance, vec![plane]);
        frame.image(Image { size: [edge; 2], content, smooth: true, repeats: false })
    });
    let screen = frame.screen();
    frame.end(SKY, vec![Draw { textures: textures.to_vec(), ..screen.draw(program) }])
}

fn procedural() -> Frame {
    let mut frame = Builder::new("procedural", "a picture from arithmetic, over a texture");
    let program = frame.program(over(
        "vec2 p = place * 8.0 + f[0].xy;
        float a = sin(p.x + 0.5 * sin(p.y)) * cos(p.y * 1.3);
        float b = sin(p.x * 2.1 + a) * 0.5 + 0.5;
        float c = pow(abs(a), 1.5) + exp2(-b * 3.0);
        vec3 cold = vec3(0.1, 0.2, 0.4) * b, warm = vec3(1.0, 0.6, 0.3) * c;
        COLOR = vec4(mix(cold, warm, smoothstep(0.2, 0.8, b)) * TEXTURE(s0, place).rgb, 1.0);",
        1,
        &[false],
    ));
    let content = Content::Texels(Texels::Rgba, levels(128, stains(128, 3)));
    let texture = frame.image(Image { size: [128; 2], content, smooth: true, repeats: true });
    let screen = frame.screen();
    let fragment_words = vec![1.3, 0.4, 0.0, 0.0];
    frame.end(SKY, vec![Draw { textures: vec![texture], fragment_words, ..screen.draw(program) }])
}

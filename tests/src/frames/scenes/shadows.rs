//! Two kinds of shadows.

use super::builder::{Builder, SKY, colorless, target};
use super::lit::{solid, textured};
use crate::frames::frame::{Blend, Depth, Draw, Frame, Program, Stencil};
use crate::frames::meshes::{SURFACE, cube, floor, placed, torus};

pub(super) fn frames() -> Vec<Frame> {
    vec![stencil_shadows(), shadow_map()]
}

fn stencil_shadows() -> Frame {
    let mut frame = Builder::new("stencil_shadows", "volumes of shadow that the stencil counts");
    let lit = frame.program(textured());
    let volume = frame.program(colorless());
    let dark = frame.program(Program {
        attributes: crate::frames::meshes::FLAT,
        varyings: &[],
        vertex_words: 0,
        fragment_words: 1,
        samplers: &[],
        vertex: "gl_Position = vec4(a0, 0.0, 1.0);",
        fragment: "COLOR = f[0];",
    });
    let (ground, thing, shade) =
        (frame.mesh(floor(8, 14.0, 5.0)), frame.mesh(torus(24, 12)), frame.mesh(cube()));
    let (texture, screen) = (frame.texture(128, 5), frame.screen());
    let with =
        |transform, draw: Draw| solid(Draw { textures: vec![texture], transform: Some(transform), ..draw });
    let mut draws = vec![with(placed([0.0, -1.6, -7.0], [0.35, 0.2], 1.0), ground.draw(lit))];
    for at in 0..4 {
        let x = at as f32 * 1.6 - 2.4;
        draws.push(with(placed([x, 0.0, -6.5], [0.6 + x, 0.3], 0.6), thing.draw(lit)));
    }
    for at in 0..4 {
        let x = at as f32 * 1.6 - 2.1;
        draws.push(Draw {
            transform: Some(placed([x, -1.2, -6.6], [0.3, 0.4 + x], 1.3)),
            depth: Depth::Less,
            writes_color: false,
            stencil: Stencil::Volume,
            ..shade.draw(volume)
        });
    }
    draws.push(Draw {
        fragment_words: vec![0.0, 0.0, 0.1, 0.5],
        blend: Blend::Alpha,
        stencil: Stencil::Shadowed,
        ..screen.draw(dark)
    });
    frame.end(SKY, draws)
}

fn shadow_map() -> Frame {
    let mut frame = Builder::new("shadow_map", "depths as the light sees them, then the scene");
    let depths = frame.program(Program {
        attributes: SURFACE,
        varyings: &[("float", "far")],
        vertex_words: 4,
        fragment_words: 0,
        samplers: &[],
        vertex: "gl_Position = mat4(u[0], u[1], u[2], u[3]) * vec4(a0, 1.0);
            far = gl_Position.w * 0.1;",
        fragment: "float whole = floor(far * 255.0) / 255.0;
            COLOR = vec4(whole, (far - whole) * 255.0, 0.0, 1.0);",
    });
    let lit = frame.program(Program {
        attributes: SURFACE,
        varyings: &[("vec2", "place"), ("vec4", "lamp"), ("float", "light")],
        vertex_words: 8,
        fragment_words: 0,
        samplers: &[false, false],
        vertex: "vec4 p = vec4(a0, 1.0);
            gl_Position = mat4(u[0], u[1], u[2], u[3]) * p;
            lamp = mat4(u[4], u[5], u[6], u[7]) * p;
            place = a2; light = 0.3 + 0.7 * max(a1.y, 0.0);",
        fragment: "vec2 at = lamp.xy / lamp.w * 0.5 + 0.5;
            vec4 stored = TEXTURE(s1, at);
            float nearest = stored.r + stored.g / 255.0;
            float seen = lamp.w * 0.1 > nearest + 0.02 ? 0.4 : 1.0;
            COLOR = vec4(TEXTURE(s0, place).rgb * light * seen, 1.0);",
    });
    let map = frame.image(crate::frames::frame::Image { smooth: false, ..target(256, true) });
    let (texture, ground, thing) =
        (frame.texture(128, 6), frame.mesh(floor(8, 12.0, 4.0)), frame.mesh(torus(32, 16)));
    let lamp = [placed([0.0, -2.5, -6.0], [0.9, 0.3], 1.0), placed([0.0, -0.8, -5.0], [1.4, 0.3], 0.7)];
    let camera = [placed([0.0, -1.5, -7.0], [0.35, 0.2], 1.0), placed([0.0, 0.2, -6.0], [0.9, 0.2], 0.7)];
    let meshes = [ground, thing];
    let from_lamp = meshes.iter().zip(lamp).map(|(mesh, transform)| {
        let draw = solid(Draw { transform: Some(transform), ..mesh.draw(depths) });
        Draw { vertex_words: Vec::new(), ..draw }
    });
    frame.pass(map, [1.0; 4], from_lamp.collect());
    let seen = meshes.iter().zip(camera).zip(lamp).map(|((mesh, transform), lamp)| {
        let draw = solid(Draw { transform: Some(transform), textures: vec![texture, map], ..mesh.draw(lit) });
        Draw { vertex_words: lamp.concat(), ..draw }
    });
    let seen = seen.collect();
    frame.end(SKY, seen)
}

//! Passes that look at what others drew.

use super::builder::{Builder, SKY, over, target};
use super::lit::{LIT_VARYINGS, VERTEX_LIT, solid, textured};
use crate::frames::frame::{Depth, Draw, Frame, Program};
use crate::frames::meshes::{Random, SURFACE, floor, placed, rectangles, torus};

pub(super) fn frames() -> Vec<Frame> {
    vec![post_processing(), mirror(), foliage(), grading()]
}

fn post_processing() -> Frame {
    let mut frame =
        Builder::new("post_processing", "a mesh, what is bright of it blurred twice, and both together");
    let (lit, texture) = (frame.program(textured()), frame.texture(256, 1));
    let blur = frame.program(over(
        "vec3 sum = TEXTURE(s0, place).rgb * 0.375;
        sum += (TEXTURE(s0, place + f[0].xy).rgb + TEXTURE(s0, place - f[0].xy).rgb) * 0.25;
        sum += (TEXTURE(s0, place + f[0].zw).rgb + TEXTURE(s0, place - f[0].zw).rgb) * 0.0625;
        COLOR = vec4(sum, 1.0);",
        1,
        &[false],
    ));
    let both = frame.program(over(
        "COLOR = vec4(TEXTURE(s0, place).rgb + TEXTURE(s1, place).rgb * f[0].x, 1.0);",
        1,
        &[false, false],
    ));
    let scene = frame.image(target(512, true));
    let (half, other) = (frame.image(target(256, false)), frame.image(target(256, false)));
    let (mesh, screen) = (frame.mesh(torus(48, 24)), frame.screen());
    let transform = Some(placed([0.0, 0.0, -3.0], [0.7, 0.4], 1.0));
    let draw = Draw { textures: vec![texture], transform, ..mesh.draw(lit) };
    frame.pass(scene, SKY, vec![solid(draw)]);
    let step = 1.0 / 256.0;
    let blurred = |from: usize, offsets: [f32; 4]| Draw {
        textures: vec![from],
        fragment_words: offsets.to_vec(),
        ..screen.draw(blur)
    };
    frame.cover(half, vec![blurred(scene, [step, 0.0, 2.0 * step, 0.0])]);
    frame.cover(other, vec![blurred(half, [0.0, step, 0.0, 2.0 * step])]);
    let fragment_words = vec![0.5, 0.0, 0.0, 0.0];
    frame.cover(0, vec![Draw { textures: vec![scene, other], fragment_words, ..screen.draw(both) }]);
    frame.0
}

fn mirror() -> Frame {
    let mut frame = Builder::new("mirror", "a picture of a mesh on a floor");
    let (lit, texture) = (frame.program(textured()), frame.texture(128, 3));
    let picture = frame.image(target(256, true));
    let (mesh, ground) = (frame.mesh(torus(40, 20)), frame.mesh(floor(4, 8.0, 1.0)));
    let at = |place, turn| Some(placed(place, turn, 0.8));
    let below = at([0.0, 0.3, -3.0], [-0.7, 0.4]);
    let first = Draw { textures: vec![texture], transform: below, ..mesh.draw(lit) };
    frame.pass(picture, SKY, vec![solid(first)]);
    let transform = Some(placed([0.0, -1.2, -6.0], [0.3, 0.0], 1.0));
    let glass = solid(Draw { textures: vec![picture], transform, ..ground.draw(lit) });
    let above = at([0.0, 0.4, -4.0], [0.7, 0.4]);
    let thing = solid(Draw { textures: vec![texture], transform: above, ..mesh.draw(lit) });
    frame.end(SKY, vec![glass, thing])
}

fn foliage() -> Frame {
    let mut frame = Builder::new("foliage", "200 leaves with holes");
    let program = frame.program(Program {
        attributes: SURFACE,
        varyings: LIT_VARYINGS,
        vertex_words: 5,
        fragment_words: 0,
        samplers: &[false],
        vertex: VERTEX_LIT,
        fragment: "vec4 leaf = TEXTURE(s0, place);
            if (leaf.a < 0.5) discard;
            COLOR = vec4(leaf.rgb * light, 1.0);",
    });
    let (texture, leaf) = (frame.texture(64, 2), frame.mesh(floor(1, 1.0, 1.0)));
    let mut random = Random::new(41);
    let draws = (0..200).map(|_| {
        let place = [random.between(-3.0, 3.0), random.between(-3.0, 3.0), random.between(-9.0, -4.0)];
        let turn = [random.between(0.8, 2.2), random.between(-0.6, 0.6)];
        let transform = Some(placed(place, turn, random.between(0.6, 1.4)));
        let draw = solid(Draw { textures: vec![texture], transform, ..leaf.draw(program) });
        Draw { culls: false, ..draw }
    });
    let draws = draws.collect();
    frame.end(SKY, draws)
}

fn grading() -> Frame {
    let mut frame = Builder::new("grading", "a scene whose colours a last pass changes");
    let (lit, texture) = (frame.program(textured()), frame.texture(128, 4));
    let grade = frame.program(over(
        "vec3 c = TEXTURE(s0, place).rgb;
        float grey = dot(c, vec3(0.3, 0.59, 0.11));
        vec2 away = place - 0.5;
        c = mix(vec3(grey), c, f[0].x) * (1.0 - dot(away, away) * f[0].y);
        COLOR = vec4(pow(c, vec3(0.8)), 1.0);",
        1,
        &[false],
    ));
    let scene = frame.image(target(512, true));
    let (ground, screen) = (frame.mesh(floor(8, 20.0, 8.0)), frame.screen());
    let things = frame.mesh(rectangles(&[([-0.8, -0.8, -0.2, -0.2], [0.0, 0.0, 1.0, 1.0], None)]));
    let flat = frame.program(over("COLOR = TEXTURE(s0, place);", 0, &[false]));
    let transform = Some(placed([0.0, -1.5, -8.0], [0.3, 0.2], 1.0));
    let below = solid(Draw { textures: vec![texture], transform, ..ground.draw(lit) });
    let sign = Draw { textures: vec![texture], depth: Depth::Off, ..things.draw(flat) };
    frame.pass(scene, SKY, vec![below, sign]);
    let fragment_words = vec![1.4, 0.9, 0.0, 0.0];
    frame.cover(0, vec![Draw { textures: vec![scene], fragment_words, ..screen.draw(grade) }]);
    frame.0
}

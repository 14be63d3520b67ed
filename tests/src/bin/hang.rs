//! Draws with a program that never ends and prints what the driver answers, then whether another device draws.
//!
//! `hang fragment|vertex|coordinate TIMES`: the stage whose program it is, and how often to submit it. Prints
//! `answer: RESULT` for each submission until one fails, and `after: RESULT`.

use ash::vk;
use vc4_tests::player;
use vc4_tests::scene::{Draw, Scene, bytes};
use vc4_tests::vulkan::{Error, Harness};

macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $name, ".spv"))
    };
}

const VERTEX: &[u8] = shader!("pos_color.vert");
const FRAGMENT: &[u8] = shader!("pos_color.frag");
const ENDLESS_FRAGMENT: &[u8] = shader!("bad/endless.frag");
const ENDLESS_VERTEX: &[u8] = shader!("bad/endless_color.vert");
const ENDLESS_COORDINATE: &[u8] = shader!("bad/endless_position.vert");

fn main() {
    let mut arguments = std::env::args().skip(1);
    let stage = arguments.next().unwrap_or_default();
    let times = arguments.next().and_then(|times| times.parse().ok()).unwrap_or(1);
    let scene = match stage.as_str() {
        "fragment" => triangle(VERTEX, ENDLESS_FRAGMENT, 0.0),
        "vertex" => triangle(ENDLESS_VERTEX, FRAGMENT, 0.0),
        "coordinate" => triangle(ENDLESS_COORDINATE, FRAGMENT, 0.0),
        _ => {
            eprintln!("usage: hang fragment|vertex|coordinate TIMES");
            std::process::exit(2);
        }
    };
    let result =
        |drawn: Result<(), Error>| drawn.map_or_else(|error| error.to_string(), |()| "success".into());
    {
        let harness = Harness::new().expect("there is a device");
        for _ in 0..times {
            let drawn = player::draw(&harness, &scene).map(drop);
            println!("answer: {}", result(drawn));
        }
    }
    println!("after: {}", result(draw_well()));
}

/// A triangle over the whole picture whose colour has this much red.
fn triangle(vertex_shader: &'static [u8], fragment_shader: &'static [u8], red: f32) -> Scene {
    let corner = |x, y| [x, y, 0.5, red, 1.0, 0.0, 1.0];
    let vertices = [corner(-1.0, -1.0), corner(3.0, -1.0), corner(-1.0, 3.0)].concat();
    let draw = Draw {
        vertex_shader,
        fragment_shader,
        vertices: bytes(&vertices),
        stride: 28,
        attributes: vec![vk::Format::R32G32B32_SFLOAT, vk::Format::R32G32B32A32_SFLOAT],
        count: 3,
        ..Draw::default()
    };
    Scene { draws: vec![draw], ..Scene::default() }
}

/// The same loop ends where there is red.
fn draw_well() -> Result<(), Error> {
    let picture = player::draw(&Harness::new()?, &triangle(VERTEX, ENDLESS_FRAGMENT, 1.0))?;
    match picture.rgba.chunks_exact(4).all(|pixel| pixel == [255, 255, 0, 255]) {
        true => Ok(()),
        false => Err("wrong picture".into()),
    }
}

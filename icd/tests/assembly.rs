//! Shader modules of QPU assembly on the simulator, against the pictures of SPIR-V.

#[allow(dead_code, reason = "shared with other tests")]
mod support;

use ash::vk;
use support::Vk;
use support::assembly::{
    COORDINATE, FRAGMENT, RAW, VERTEX, create, info, keep_log, log_of_this_thread, module, qasm, text,
};
use support::canvas::{
    Canvas, FLOAT_COLOR, GREY, Mesh, POSITION, Parts, Picture, Setup, WRITE, build, bytes, draw, pipeline,
};
use vulkan_vc4::entry::assembly::{AssemblyInput, AssemblyProgram};

const SIZE: u32 = 96;
const POINTS: [(f32, f32); 3] = [(8.0, 10.0), (88.0, 20.0), (40.0, 90.0)];
const COLORS: [u32; 3] = [0xff20_40f0, 0x80f0_8020, 0x4010_e060];

fn start() -> Vk {
    keep_log();
    Vk::new()
}

fn canvas(vk: &Vk) -> Canvas {
    Canvas::new(vk, SIZE, true, vk::AttachmentLoadOp::CLEAR)
}

fn raw_vertex() -> [AssemblyProgram; 2] {
    static POSITION_ONLY: AssemblyInput = AssemblyInput { location: 0, components: 0 };
    let coordinate = text(COORDINATE, qasm!("raw.coord"));
    let coordinate = AssemblyProgram { input_count: 1, inputs: &POSITION_ONLY, ..coordinate };
    [text(VERTEX, qasm!("raw.vert")), coordinate]
}

/// Pixels of the triangle's inside: what may differ at its edges is left out.
fn inner(x: u32, y: u32) -> bool {
    let (px, py) = (x as f32 + 0.5, y as f32 + 0.5);
    let distance = |(ax, ay): (f32, f32), (bx, by): (f32, f32)| {
        ((bx - ax) * (py - ay) - (by - ay) * (px - ax)) / (bx - ax).hypot(by - ay)
    };
    let [a, b, c] = POINTS;
    [distance(a, b), distance(b, c), distance(c, a)].iter().all(|d| *d > 1.0)
}

/// At most one step per channel apart, but for edges; and the same background.
#[track_caller]
fn same(got: &Picture, want: &Picture) {
    let mut inside = 0;
    for y in 0..SIZE {
        for x in 0..SIZE {
            let (got, want) = (got.at(x, y), want.at(x, y));
            inside += u32::from(inner(x, y));
            let channels = got.to_le_bytes().into_iter().zip(want.to_le_bytes());
            let worst = channels.map(|(a, b)| a.abs_diff(b)).max().unwrap_or(0);
            let edge = !inner(x, y) && (got == GREY) != (want == GREY);
            assert!(worst <= 1 || edge, "{got:#010x} instead of {want:#010x} at {x}, {y}");
        }
    }
    assert!(inside > 1000);
    assert!(want.at(40, 40) != GREY, "the picture shows something");
}

#[test]
fn a_raw_triangle_is_that_of_spirv() {
    let vk = start();
    let canvas = canvas(&vk);
    let mesh = Mesh::new(&vk, SIZE, &POINTS, 0.3, &COLORS);
    let shows =
        |pipeline| canvas.draw(&vk, canvas.whole(), |device, c| draw(device, c, pipeline, &canvas, &mesh));
    let want = shows(pipeline(&vk, &canvas, &Setup::default()));
    let vertex = module(&vk, RAW, &raw_vertex());
    let fragment = module(&vk, RAW, &[text(FRAGMENT, qasm!("raw.frag"))]);
    let parts = Parts::new(&vk, vertex, fragment, &[POSITION, FLOAT_COLOR]);
    let got = build(&vk, &canvas, &Setup::default(), &parts)
        .unwrap_or_else(|e| panic!("{e}: {}", log_of_this_thread()));
    same(&shows(got), &want);
    // All programs in one module.
    let [a, b] = raw_vertex();
    let all = module(&vk, RAW, &[a, text(FRAGMENT, qasm!("raw.frag")), b]);
    let parts = Parts::new(&vk, all, all, &[POSITION, FLOAT_COLOR]);
    same(&shows(build(&vk, &canvas, &Setup::default(), &parts).unwrap()), &want);
    assert_eq!(log_of_this_thread(), "");
}

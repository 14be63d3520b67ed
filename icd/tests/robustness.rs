//! robustBufferAccess: what is read outside of buffers disturbs nothing else.

mod support;

use ash::vk;
use support::Vk;
use support::canvas::{Canvas, Parts, Setup, bind, build, bytes, spirv_module};
use support::resources::{Resources, texture};

const EDGE: u32 = 64;
const GREEN: u32 = 0xff00_ff00;

/// Each corner but the first looks at the one in front of it, too.
#[test]
fn rows_of_an_array_are_read_beside_one_in_front_of_it() {
    let features = vk::PhysicalDeviceFeatures::default().robust_buffer_access(true);
    let vk = Vk::of_features(vk::API_VERSION_1_0, &[], features);
    let canvas = Canvas::new(&vk, EDGE, false, vk::AttachmentLoadOp::CLEAR);
    let corners = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]];
    let rows = bytes(corners.into_iter().flat_map(|[x, y]| [x, y, 0.0, 1.0]));
    let resources = Resources::new(&vk, &texture(&vk, 4, |_, _| 0), &rows);
    let vertex = spirv_module(&vk, include_bytes!("../../tests/shaders/rows.vert.spv"));
    let fragment = spirv_module(&vk, include_bytes!("../../tests/shaders/pos_color.frag.spv"));
    let parts = Parts { layout: resources.layout, ..Parts::new(&vk, vertex, fragment, &[]) };
    let pipeline = build(&vk, &canvas, &Setup::default(), &parts).unwrap();
    let picture = canvas.draw(&vk, canvas.whole(), |device, commands| {
        bind(device, commands, pipeline, &canvas);
        resources.bind(device, commands, &[0; 16]);
        // SAFETY: valid usage.
        unsafe { device.cmd_draw(commands, 6, 1, 0, 0) };
    });
    picture.expect(|_, _| GREEN);
}

//! What vertex shaders may ask of the draw command: gl_BaseVertex, gl_BaseInstance, gl_DrawID.

mod support;

use ash::vk;
use support::Vk;
use support::canvas::{Canvas, Parts, Setup, bind, build, spirv_module};

const EDGE: u32 = 64;
/// Columns that a draw of a command covers.
const COLUMNS: u32 = EDGE / 4;

/// Draws and tells the colours of the first draw's columns and of the second's.
fn colors(body: impl Fn(&Vk, vk::CommandBuffer)) -> [u32; 2] {
    let vk = Vk::with(&[c"VK_KHR_shader_draw_parameters", c"VK_KHR_draw_indirect_count"]);
    let canvas = Canvas::new(&vk, EDGE, false, vk::AttachmentLoadOp::CLEAR);
    let vertex = spirv_module(&vk, include_bytes!("../../tests/shaders/draw_parameters.vert.spv"));
    let fragment = spirv_module(&vk, include_bytes!("../../tests/shaders/pos_color.frag.spv"));
    let parts = Parts::new(&vk, vertex, fragment, &[]);
    let pipeline = build(&vk, &canvas, &Setup::default(), &parts).unwrap();
    let picture = canvas.draw(&vk, canvas.whole(), |device, commands| {
        bind(device, commands, pipeline, &canvas);
        body(&vk, commands);
    });
    [0, COLUMNS].map(|column| picture.at(column + COLUMNS / 2, EDGE / 2))
}

fn rgba(r: u32, g: u32, b: u32) -> u32 {
    r | g << 8 | b << 16 | 255 << 24
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn a_direct_draw_tells_its_first_vertex_and_instance() {
    // SAFETY: valid usage.
    let [first, second] = colors(|vk, commands| unsafe { vk.device.cmd_draw(commands, 6, 2, 7, 3) });
    assert_eq!(first, rgba(7, 3, 1));
    assert_eq!(second & 0x00ff_ffff, colors(|_, _| ())[1] & 0x00ff_ffff, "it is draw 0");
}

#[test]
fn what_follows_a_draw_is_told_anew() {
    let [first, _] = colors(|vk, commands| {
        // SAFETY: valid usage.
        unsafe {
            vk.device.cmd_draw(commands, 6, 1, 1, 1);
            vk.device.cmd_draw(commands, 6, 1, 2, 1);
            vk.device.cmd_draw(commands, 6, 1, 2, 200);
        }
    });
    assert_eq!(first, rgba(2, 200, 0));
}

#[test]
fn an_indexed_draw_tells_what_is_added_to_its_indices() {
    let [first, _] = colors(|vk, commands| {
        let indices = vk.buffer_with(&words(&[0, 0, 0, 1, 2, 3, 4, 5]));
        // SAFETY: valid usage.
        unsafe {
            vk.device.cmd_bind_index_buffer(commands, indices.handle, 0, vk::IndexType::UINT32);
            vk.device.cmd_draw_indexed(commands, 6, 1, 2, 90, 4);
        }
    });
    assert_eq!(first, rgba(90, 4, 0));
}

#[test]
fn draws_of_an_indirect_command_are_numbered() {
    let arguments = words(&[6, 1, 20, 5, 6, 2, 30, 6]);
    let both = colors(|vk, commands| {
        let buffer = vk.buffer_with(&arguments);
        // SAFETY: valid usage.
        unsafe { vk.device.cmd_draw_indirect(commands, buffer.handle, 0, 2, 16) };
    });
    assert_eq!(both, [rgba(20, 5, 0), rgba(30, 6, 11)]);
}

/// Columns of the two draws of a command whose number is a word in memory.
fn counted(word: u32, most: u32, offset: u64, indexed: bool) -> [u32; 2] {
    colors(|vk, commands| {
        let functions = ash::khr::draw_indirect_count::Device::new(&vk.instance, &vk.device);
        let count = vk.buffer_with(&words(&[9, word]));
        // SAFETY: valid usage but for counts that leave their buffer.
        unsafe {
            if indexed {
                let arguments = vk.buffer_with(&words(&[6, 1, 0, 20, 5, 6, 2, 0, 30, 6]));
                let indices = vk.buffer_with(&words(&[0, 1, 2, 3, 4, 5]));
                vk.device.cmd_bind_index_buffer(commands, indices.handle, 0, vk::IndexType::UINT32);
                let (arguments, count) = (arguments.handle, count.handle);
                functions.cmd_draw_indexed_indirect_count(commands, arguments, 0, count, offset, most, 20);
            } else {
                let arguments = vk.buffer_with(&words(&[6, 1, 20, 5, 6, 2, 30, 6]));
                let (arguments, count) = (arguments.handle, count.handle);
                functions.cmd_draw_indirect_count(commands, arguments, 0, count, offset, most, 16);
            }
        }
    })
}

#[test]
fn memory_says_how_many_draws_there_are() {
    let nothing = colors(|_, _| ());
    for indexed in [false, true] {
        let both = [rgba(20, 5, 0), rgba(30, 6, 11)];
        assert_eq!(counted(2, 2, 4, indexed), both);
        assert_eq!(counted(1, 2, 4, indexed), [both[0], nothing[1]]);
        assert_eq!(counted(0, 2, 4, indexed), nothing);
        // The command's own number is the most.
        assert_eq!(counted(u32::MAX, 2, 4, indexed), both);
        assert_eq!(counted(2, 1, 4, indexed), [both[0], nothing[1]]);
        // A count outside of its buffer leaves the draw out.
        assert_eq!(counted(2, 2, 8, indexed), nothing);
        assert_eq!(counted(2, 2, u64::MAX - 3, indexed), nothing);
    }
}

//! Lines are the same however their vertices are told: a strip of arrays, of indices, and one that is taken apart.

mod support;

use ash::vk;
use support::Vk;
use support::canvas::{Canvas, Mesh, Setup, WRITE, bind, pipeline};

const EDGE: u32 = 128;
/// All that a byte numbers: the largest restarts in the machine, so that such a strip is taken apart.
const VERTICES: u32 = 256;

#[test]
fn a_strip_that_is_taken_apart_is_the_same() {
    let vk = Vk::with(&[c"VK_EXT_provoking_vertex", c"VK_EXT_index_type_uint8"]);
    let canvas = Canvas::new(&vk, EDGE, false, vk::AttachmentLoadOp::CLEAR);
    let mut seed = 7u32;
    let mut random = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % below
    };
    let points: Vec<(f32, f32)> =
        (0..VERTICES).map(|_| (random(EDGE) as f32 + 0.25, random(EDGE) as f32 + 0.75)).collect();
    let colors: Vec<u32> = (0..VERTICES).map(|_| random(1 << 24) & 0x3f3f_3f3f | 0xff00_0000).collect();
    let mesh = Mesh::new(&vk, EDGE, &points, 0.5, &colors);
    let words: Vec<u8> = (0..VERTICES as u16).flat_map(u16::to_le_bytes).collect();
    let bytes: Vec<u8> = (0..=u8::MAX).collect();
    let (words, bytes) = (vk.buffer_with(&words), vk.buffer_with(&bytes));
    let add = vk::PipelineColorBlendAttachmentState { blend_enable: vk::TRUE, ..WRITE };
    for last_provokes in [false, true] {
        let setup = Setup {
            topology: vk::PrimitiveTopology::LINE_STRIP,
            blend: add,
            last_provokes,
            ..Setup::default()
        };
        let pipeline = pipeline(&vk, &canvas, &setup);
        let shown = |indices: Option<(vk::Buffer, vk::IndexType)>| {
            canvas.draw(&vk, canvas.whole(), |device, commands| {
                bind(device, commands, pipeline, &canvas);
                mesh.bind(device, commands);
                // SAFETY: valid usage.
                unsafe {
                    match indices {
                        None => device.cmd_draw(commands, VERTICES, 1, 0, 0),
                        Some((buffer, ty)) => {
                            device.cmd_bind_index_buffer(commands, buffer, 0, ty);
                            device.cmd_draw_indexed(commands, VERTICES, 1, 0, 0, 0);
                        }
                    }
                }
            })
        };
        let whole = Some((words.handle, vk::IndexType::UINT16));
        let apart = Some((bytes.handle, vk::IndexType::UINT8_KHR));
        let [arrays, whole, apart] = [None, whole, apart].map(shown);
        for (what, picture) in [("indices", whole), ("lists", apart)] {
            let other = (0..).zip(&arrays.words).zip(&picture.words).filter(|((_, a), b)| a != b);
            let other: Vec<_> =
                other.map(|((n, a), b): ((u32, _), _)| (n % EDGE, n / EDGE, *a, *b)).collect();
            assert!(other.is_empty(), "{what}, last_provokes {last_provokes}: {other:x?}");
        }
    }
}

//! Modules as rpi-vk-driver takes them: where an address is one word, a picture of one.
#![cfg(target_pointer_width = "32")]

#[allow(dead_code, reason = "shared with other tests")]
mod support;

use std::ptr;

use ash::vk;
use support::Vk;
use support::assembly::{keep_log, log_of_this_thread, qasm};
use support::canvas::{
    Canvas, FLOAT_COLOR, GREY, Mesh, POSITION, Parts, Setup, bind, build, bytes, pipeline, spirv_module,
};
use support::resources::{Resources, texture};

const SIZE: u32 = 96;

/// Kind, descriptor type, set, binding, element, byte offset.
type Mapping = [u32; 6];

/// The structure: type, next, then arrays by stage.
#[repr(C)]
struct Structure {
    ty: u32,
    next: *const u8,
    instructions: *const *const u64,
    instruction_counts: *const u32,
    mappings: *const *const Mapping,
    mapping_counts: *const u32,
}

/// The words of a program; its annotations are what the mappings say.
fn assembled(text: &str) -> Vec<u64> {
    vc4::qpu::assemble(text).unwrap().words
}

#[test]
fn a_module_by_address_draws() {
    keep_log();
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, SIZE, false, vk::AttachmentLoadOp::CLEAR);
    let programs = [qasm!("viewport.coord"), qasm!("viewport.vert"), qasm!("color.frag")].map(assembled);
    let [coordinate, vertex, fragment] = &programs;
    let instructions = [coordinate.as_ptr(), vertex.as_ptr(), fragment.as_ptr(), ptr::null()];
    let instruction_counts = [coordinate.len(), vertex.len(), fragment.len(), 0].map(|n| n as u32);
    let push = |offset| [1, 0x7fff_ffff, 0, 0, 0, offset];
    let half = [push(0), push(4)];
    // The coordinate program has the vertex program's mappings.
    let mappings = [ptr::null(), half.as_ptr(), ptr::null(), ptr::null()];
    let mapping_counts = [0, 2, 0, 0];
    let structure = Structure {
        ty: 0,
        next: ptr::null(),
        instructions: instructions.as_ptr(),
        instruction_counts: instruction_counts.as_ptr(),
        mappings: mappings.as_ptr(),
        mapping_counts: mapping_counts.as_ptr(),
    };
    let code = [0x0723_0203, 0x10000, 0x14e4_5250, 1, ptr::from_ref(&structure) as u32, 1 << 16];
    let info = vk::ShaderModuleCreateInfo::default().code(&code);
    // SAFETY: the structure is there.
    let module = unsafe { vk.device.create_shader_module(&info, None) };
    let module = module.unwrap_or_else(|error| panic!("{error}: {}", log_of_this_thread()));

    let resources = Resources::new(&vk, &texture(&vk, 8, |_, _| 0), &[0; 16]);
    let mut parts = Parts::new(&vk, module, module, &[POSITION, FLOAT_COLOR]);
    parts.layout = resources.layout;
    let ours = build(&vk, &canvas, &Setup::default(), &parts);
    let ours = ours.unwrap_or_else(|error| panic!("{error}: {}", log_of_this_thread()));
    let mesh = Mesh::rect(&vk, SIZE, [16.0, 16.0, 80.0, 64.0], 0.3, 0xff20_40f0);
    let shows = |pipeline| {
        canvas.draw(&vk, canvas.whole(), |device, commands| {
            bind(device, commands, pipeline, &canvas);
            mesh.bind(device, commands);
            resources.bind(device, commands, &bytes([SIZE as f32 * 8.0; 2]));
            // SAFETY: valid usage.
            unsafe { device.cmd_draw(commands, mesh.count, 1, 0, 0) }
        })
    };
    let (got, want) = (shows(ours), shows(pipeline(&vk, &canvas, &Setup::default())));
    assert!(want.words.iter().filter(|word| **word != GREY).count() == 64 * 48);
    want.expect(|x, y| got.at(x, y));

    // A rule that only the checker knows is a warning; an image stands for the parameters of a lookup.
    let texel = assembled(&qasm!("texture.frag").replace("sig_unlock_score", "sig_none"));
    let image = [[0, 1, 0, 0, 0, 0]];
    let instructions = [ptr::null(), ptr::null(), texel.as_ptr(), ptr::null()];
    let instruction_counts = [0, 0, texel.len() as u32, 0];
    let mappings = [ptr::null(), ptr::null(), image.as_ptr(), ptr::null()];
    let mapping_counts = [0, 0, 1, 0];
    let structure = Structure {
        instructions: instructions.as_ptr(),
        instruction_counts: instruction_counts.as_ptr(),
        mappings: mappings.as_ptr(),
        mapping_counts: mapping_counts.as_ptr(),
        ..structure
    };
    let code = [0x0723_0203, 0x10000, 0x14e4_5250, 1, ptr::from_ref(&structure) as u32, 1 << 16];
    let info = vk::ShaderModuleCreateInfo::default().code(&code);
    // SAFETY: the structure is there.
    let fragment = unsafe { vk.device.create_shader_module(&info, None) }.unwrap();
    let quad = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/shaders/quad.vert.spv"));
    let mut parts = Parts::new(&vk, spirv_module(&vk, quad), fragment, &[FLOAT_COLOR, POSITION]);
    parts.layout = resources.layout;
    build(&vk, &canvas, &Setup::default(), &parts).unwrap();
    assert!(log_of_this_thread().contains("scoreboard-release"));

    // Addresses that lead nowhere.
    for address in [0, 2] {
        let code = [0x0723_0203, 0x10000, 0x14e4_5250, 1, address, 1 << 16];
        let info = vk::ShaderModuleCreateInfo::default().code(&code);
        // SAFETY: the driver does not follow such an address.
        let made = unsafe { vk.device.create_shader_module(&info, None) };
        assert_eq!(made, Err(vk::Result::ERROR_INVALID_SHADER_NV));
    }
}

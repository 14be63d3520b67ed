//! Pictures of QPU assembly on the simulator, against the pictures of SPIR-V.

#[allow(dead_code, reason = "shared with other tests")]
mod support;

use ash::vk;
use support::Vk;
use support::assembly::{
    COORDINATE, FRAGMENT, PATCHED, RAW, VERTEX, create, info, log_of_this_thread, module, qasm, text, words,
};
use support::canvas::{
    FLOAT_COLOR, GREY, Mesh, POSITION, Parts, Setup, bind, bytes, draw, pipeline, spirv_module,
};
use support::resources::{PUSH_BYTES, Resources, texture};
use support::triangle::*;
use vulkan_vc4::entry::assembly::{AssemblyUniform, AssemblyVarying, VIEWPORT_RASTER};

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/shaders/", $name, ".spv")).as_slice()
    };
}

fn raw_vertex(vk: &Vk) -> vk::ShaderModule {
    let coordinate = with_position(COORDINATE, qasm!("raw.coord"));
    module(vk, RAW, &[text(VERTEX, qasm!("raw.vert")), coordinate])
}

fn raw_fragment(vk: &Vk, code: &str) -> vk::ShaderModule {
    module(vk, RAW, &[text(FRAGMENT, code)])
}

#[test]
fn a_raw_triangle_is_that_of_spirv() {
    let (vk, canvas) = start();
    let mesh = Mesh::new(&vk, SIZE, &POINTS, 0.3, &COLORS);
    let want = shows(&vk, &canvas, &[(pipeline(&vk, &canvas, &Setup::default()), &mesh)]);
    let (vertex, fragment) = (raw_vertex(&vk), raw_fragment(&vk, qasm!("color.frag")));
    let parts = Parts::new(&vk, vertex, fragment, &[POSITION, FLOAT_COLOR]);
    let raw = built(&vk, &canvas, &Setup::default(), &parts);
    same(&shows(&vk, &canvas, &[(raw, &mesh)]), &want);
    // Raw programs blend if they say so, not because the state does.
    let raw = built(&vk, &canvas, &Setup { blend: BLEND, ..Setup::default() }, &parts);
    same(&shows(&vk, &canvas, &[(raw, &mesh)]), &want);
    // All programs in one module.
    let programs = [
        text(VERTEX, qasm!("raw.vert")),
        text(FRAGMENT, qasm!("color.frag")),
        with_position(COORDINATE, qasm!("raw.coord")),
    ];
    let all = module(&vk, RAW, &programs);
    let parts = Parts::new(&vk, all, all, &[POSITION, FLOAT_COLOR]);
    let raw = built(&vk, &canvas, &Setup::default(), &parts);
    same(&shows(&vk, &canvas, &[(raw, &mesh)]), &want);
    assert_eq!(log_of_this_thread(), "");
}

#[test]
fn raw_programs_read_any_vertex_format() {
    let (vk, canvas) = start();
    let mesh = Mesh::new(&vk, SIZE, &POINTS, 0.3, &COLORS);
    let want = shows(&vk, &canvas, &[(pipeline(&vk, &canvas, &Setup::default()), &mesh)]);
    let coordinate = with_position(COORDINATE, qasm!("raw.coord"));
    let vertex = module(&vk, RAW, &[text(VERTEX, qasm!("raw_unorm8.vert")), coordinate]);
    let fragment = raw_fragment(&vk, qasm!("color.frag"));
    let parts = Parts::new(&vk, vertex, fragment, &[POSITION, UNORM8_COLOR]);
    let raw = built(&vk, &canvas, &Setup::default(), &parts);
    let words: Vec<u8> = COLORS.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mesh = Mesh { colors: vk.buffer_with(&words), ..mesh };
    same(&shows(&vk, &canvas, &[(raw, &mesh)]), &want);
}

#[test]
fn raw_programs_run_the_depth_test() {
    let (vk, canvas) = start();
    let setup = Setup { depth: Some(vk::CompareOp::LESS), ..Setup::default() };
    let front = Mesh::new(&vk, SIZE, &POINTS, 0.3, &COLORS);
    let back = Mesh::rect(&vk, SIZE, [0.0, 0.0, SIZE as f32, 50.0], 0.6, 0xff00_ff00);
    let spirv = pipeline(&vk, &canvas, &setup);
    let want = shows(&vk, &canvas, &[(spirv, &front), (spirv, &back)]);
    let (vertex, fragment) = (raw_vertex(&vk), raw_fragment(&vk, qasm!("raw_depth.frag")));
    let parts = Parts::new(&vk, vertex, fragment, &[POSITION, FLOAT_COLOR]);
    let raw = built(&vk, &canvas, &setup, &parts);
    same(&shows(&vk, &canvas, &[(raw, &front), (raw, &back)]), &want);
    same(&shows(&vk, &canvas, &[(spirv, &front), (raw, &back)]), &want);
}

#[test]
fn the_raster_may_be_the_viewport() {
    let (vk, canvas) = start();
    let mesh = Mesh::new(&vk, SIZE, &POINTS, 0.3, &COLORS);
    let viewport =
        vk::Viewport { x: 10.0, y: 16.0, width: 80.0, height: 60.0, min_depth: 0.0, max_depth: 1.0 };
    let shows = |pipeline, resources: &Resources| {
        canvas.draw(&vk, canvas.whole(), |device, commands| {
            bind(device, commands, pipeline, &canvas);
            mesh.bind(device, commands);
            let half = bytes([viewport.width * 8.0, viewport.height * 8.0]);
            resources.bind(device, commands, &half);
            // SAFETY: valid usage.
            unsafe {
                device.cmd_set_viewport(commands, 0, &[viewport]);
                device.cmd_draw(commands, 3, 1, 0, 0);
            }
        })
    };
    let resources = Resources::new(&vk, &texture(&vk, 8, |_, _| 0), &[0; 16]);
    let want = shows(pipeline(&vk, &canvas, &Setup::default()), &resources);
    let programs = [text(VERTEX, qasm!("viewport.vert")), with_position(COORDINATE, qasm!("viewport.coord"))];
    let mut structure = info(RAW, &programs);
    structure.flags = VIEWPORT_RASTER;
    let vertex = create(&vk, &structure).unwrap();
    let fragment = raw_fragment(&vk, qasm!("color.frag"));
    let mut parts = Parts::new(&vk, vertex, fragment, &[POSITION, FLOAT_COLOR]);
    parts.layout = resources.layout;
    let got = shows(built(&vk, &canvas, &Setup::default(), &parts), &resources);
    let pairs = got.words.iter().zip(&want.words);
    let shown = want.words.iter().filter(|word| **word != GREY).count();
    // Truncation instead of rounding moves vertices by up to a sixteenth of a pixel.
    let differ =
        pairs.filter(|(a, b)| a.to_le_bytes().iter().zip(b.to_le_bytes()).any(|(a, b)| a.abs_diff(b) > 2));
    assert!(shown > 1000 && differ.count() < 40);
}

#[test]
fn a_fragment_program_follows_spirv_and_samples() {
    let (vk, canvas) = start();
    let resources = Resources::new(&vk, &texture(&vk, 16, waves), &[0; 16]);
    let mesh = quad(&vk);
    let vertex = spirv_module(&vk, spirv!("quad.vert"));
    let shows = |fragment| {
        let mut parts = Parts::new(&vk, vertex, fragment, &[POSITION4, UV]);
        parts.layout = resources.layout;
        let pipeline = built(&vk, &canvas, &Setup::default(), &parts);
        canvas.draw(&vk, canvas.whole(), |device, commands| {
            resources.bind(device, commands, &[0; PUSH_BYTES as usize]);
            draw(device, commands, pipeline, &canvas, &mesh);
        })
    };
    let want = shows(spirv_module(&vk, spirv!("quad.frag")));
    same(&shows(raw_fragment(&vk, qasm!("texture.frag"))), &want);
    assert_eq!(log_of_this_thread(), "");
}

/// A fragment program whose colour is a word of the uniform stream.
const WORD: &str = "sig_none ; r0 = or.always(a, a, uni) ; nop = nop(r0, r0) ;
    sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
    sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop(r0, r0) ;
    sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
    sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
    sig_unlock_score ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;";

/// A lookup at byte 8 of a uniform buffer, clamped as the kernel demands (qpu.md §5.3).
const LOOKUP: &str = ".uniform ubo.limit[0][1]
    .uniform ubo.base[0][1]
    sig_small_imm ; r0 = or.always(b, b, nop, 8) ; nop = nop(r0, r0) ;
    sig_small_imm ; r0 = max.always(r0, b, nop, 0) ; nop = nop(r0, r0) ;
    sig_none ; r0 = min.always(r0, a, uni) ; nop = nop(r0, r0) ;
    sig_none ; tmu1_s = add.always(r0, a, uni) ; nop = nop(r0, r0) ;
    sig_load_tmu1 ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
    sig_none ; tlb_color_all = or.always(r4, r4) ; nop = nop(r0, r0) ;
    sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
    sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
    sig_unlock_score ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;";

#[test]
fn words_come_from_where_the_mapping_says() {
    let (vk, canvas) = start();
    let block: Vec<u8> = [1, 2, 0xff33_5577_u32, 4].iter().flat_map(|word| word.to_le_bytes()).collect();
    let resources = Resources::new(&vk, &texture(&vk, 8, |_, _| 0), &block);
    let push: Vec<u8> = [5, 6, 7, 0xff12_3456_u32].iter().flat_map(|word| word.to_le_bytes()).collect();
    let mesh = Mesh::rect(&vk, SIZE, [0.0, 0.0, SIZE as f32, SIZE as f32], 0.3, 0);
    let vertex =
        module(&vk, RAW, &[text(VERTEX, qasm!("raw.vert")), with_position(COORDINATE, qasm!("raw.coord"))]);
    let setup = Setup::default();
    let shows = |fragment| {
        let mut parts = Parts::new(&vk, vertex, fragment, &[POSITION, FLOAT_COLOR]);
        (parts.layout, parts.constant) = (resources.layout, 0xffab_cdef);
        let pipeline = built(&vk, &canvas, &setup, &parts);
        canvas.draw(&vk, canvas.whole(), |device, commands| {
            resources.bind(device, commands, &push);
            draw(device, commands, pipeline, &canvas, &mesh);
        })
    };
    // The vertex program writes four varyings, so each of these reads four, too.
    let varyings = "sig_none ; nop = nop(r0, r0, vary) ; nop = nop(r0, r0) ;\n".repeat(4);
    let program = |code: &str| format!("{varyings}{code}");
    let named = |name: &str, code: &str| format!(".uniform {name}\n{}", program(code));
    let fragment = |code: &str| raw_fragment(&vk, code);
    shows(fragment(&named("const[0xff102030]", WORD))).expect(|_, _| 0xff10_2030);
    shows(fragment(&named("spec[0]", WORD))).expect(|_, _| 0xffab_cdef);
    shows(fragment(&named("push[12]", WORD))).expect(|_, _| 0xff12_3456);
    shows(fragment(&named("ubo[0][1][8]", WORD))).expect(|_, _| 0xff33_5577);
    shows(fragment(&named("tex.width[0][0]", WORD))).expect(|_, _| 8f32.to_bits());
    shows(fragment(&program(LOOKUP))).expect(|_, _| 0xff33_5577);
    // Words and a structure instead of text.
    let code = vc4::qpu::assemble(&program(WORD)).unwrap().words;
    let uniforms = [AssemblyUniform { source: 3, binding: 1, value: 8, ..AssemblyUniform::default() }];
    let program = words(FRAGMENT, &code, &uniforms);
    shows(module(&vk, RAW, &[program])).expect(|_, _| 0xff33_5577);
    assert_eq!(log_of_this_thread(), "");
}

#[test]
fn varyings_of_spirv_come_by_name() {
    let (vk, canvas) = start();
    let mesh = Mesh::new(&vk, SIZE, &POINTS, 0.3, &COLORS);
    let mut want = shows(&vk, &canvas, &[(pipeline(&vk, &canvas, &Setup::default()), &mesh)]);
    for word in want.words.iter_mut() {
        let [r, g, b, a] = word.to_le_bytes();
        *word = u32::from_le_bytes([b, g, r, a]);
    }
    // Blue, green, red, alpha.
    let names = [2, 1, 0, 3].map(|component| AssemblyVarying { location: 0, component });
    let program = text(FRAGMENT, qasm!("color.frag"));
    for mode in [RAW, PATCHED] {
        let mut structure = info(mode, std::slice::from_ref(&program));
        (structure.varying_count, structure.varyings) = (4, names.as_ptr());
        let fragment = create(&vk, &structure).unwrap();
        let vertex = spirv_module(&vk, spirv!("pos_color.vert"));
        let parts = Parts::new(&vk, vertex, fragment, &[POSITION, FLOAT_COLOR]);
        let pipeline = built(&vk, &canvas, &Setup::default(), &parts);
        same(&shows(&vk, &canvas, &[(pipeline, &mesh)]), &want);
    }
}

#[test]
fn raw_programs_set_up_the_stencil() {
    let (vk, canvas) = start();
    let stencil = states().into_iter().find_map(|setup| setup.stencil);
    assert!(stencil.is_some_and(|face| face.write_mask == 0x35), "a mask that takes a word of its own");
    let setup = Setup { stencil, ..Setup::default() };
    let triangle = Mesh::new(&vk, SIZE, &POINTS, 0.3, &COLORS);
    let rest = Mesh::rect(&vk, SIZE, [0.0, 0.0, SIZE as f32, 60.0], 0.5, 0xff80_4020);
    let spirv = pipeline(&vk, &canvas, &setup);
    let want = shows(&vk, &canvas, &[(spirv, &triangle), (spirv, &rest)]);
    let words = ["front", "back", "masks"].map(|word| {
        format!(
            ".uniform stencil.{word}
            sig_none ; tlb_stencil_setup = or.always(a, a, uni) ; nop = nop(r0, r0) ;\n"
        )
    });
    let z = "sig_none ; tlb_z";
    let code = qasm!("raw_depth.frag").replace(z, &format!("{}{z}", words.concat()));
    let parts = Parts::new(&vk, raw_vertex(&vk), raw_fragment(&vk, &code), &[POSITION, FLOAT_COLOR]);
    let raw = built(&vk, &canvas, &setup, &parts);
    same(&shows(&vk, &canvas, &[(raw, &triangle), (raw, &rest)]), &want);
    // The triangle kept the rectangle out.
    assert_ne!(want.at(45, 40), 0xff80_4020);
    assert_eq!(want.at(5, 50), 0xff80_4020);
}

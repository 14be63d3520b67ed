//! Pictures of QPU assembly on the simulator, against the pictures of SPIR-V.

#[allow(dead_code, reason = "shared with other tests")]
mod support;

use ash::vk;
use support::Vk;
use support::assembly::{
    COORDINATE, FRAGMENT, PATCHED, RAW, VERTEX, create, info, keep_log, log_of_this_thread, module, qasm,
    text, words,
};
use support::canvas::{
    Canvas, FLOAT_COLOR, GREY, Mesh, POSITION, Parts, Picture, Setup, WRITE, bind, build, bytes, draw,
    pipeline, spirv_module,
};
use support::resources::{PUSH_BYTES, Resources, texture};
use vulkan_vc4::entry::assembly::{
    AssemblyInput, AssemblyProgram, AssemblyUniform, AssemblyVarying, BGRA_COLOR,
    FLOAT_COLOR as FLOAT_COLOR_BIT, VERTEX_INDEX, VIEWPORT_RASTER,
};

const SIZE: u32 = 96;
const POINTS: [(f32, f32); 3] = [(8.0, 10.0), (88.0, 20.0), (40.0, 90.0)];
const COLORS: [u32; 3] = [0xff20_40f0, 0x80f0_8020, 0x4010_e060];
const UNORM8_COLOR: (vk::Format, u32) = (vk::Format::R8G8B8A8_UNORM, 4);
const UV: (vk::Format, u32) = (vk::Format::R32G32_SFLOAT, 8);
const POSITION4: (vk::Format, u32) = (vk::Format::R32G32B32A32_SFLOAT, 16);

const BLEND: vk::PipelineColorBlendAttachmentState = vk::PipelineColorBlendAttachmentState {
    blend_enable: vk::TRUE,
    src_color_blend_factor: vk::BlendFactor::SRC_ALPHA,
    dst_color_blend_factor: vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
    ..WRITE
};

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/shaders/", $name, ".spv")).as_slice()
    };
}

fn start() -> (Vk, Canvas) {
    keep_log();
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, SIZE, true, vk::AttachmentLoadOp::CLEAR);
    (vk, canvas)
}

static POSITION_ONLY: AssemblyInput = AssemblyInput { location: 0, components: 0 };

fn with_position(stage: u32, code: &str) -> AssemblyProgram {
    AssemblyProgram { input_count: 1, inputs: &POSITION_ONLY, ..text(stage, code) }
}

fn raw_vertex(vk: &Vk) -> vk::ShaderModule {
    let coordinate = with_position(COORDINATE, qasm!("raw.coord"));
    module(vk, RAW, &[text(VERTEX, qasm!("raw.vert")), coordinate])
}

fn raw_fragment(vk: &Vk, code: &str) -> vk::ShaderModule {
    module(vk, RAW, &[text(FRAGMENT, code)])
}

#[track_caller]
fn built(vk: &Vk, canvas: &Canvas, setup: &Setup, parts: &Parts) -> vk::Pipeline {
    let made = build(vk, canvas, setup, parts);
    made.unwrap_or_else(|error| panic!("{error}: {}", log_of_this_thread()))
}

/// Draws meshes one after the other.
fn shows(vk: &Vk, canvas: &Canvas, draws: &[(vk::Pipeline, &Mesh)]) -> Picture {
    canvas.draw(vk, canvas.whole(), |device, commands| {
        draws.iter().for_each(|(pipeline, mesh)| draw(device, commands, *pipeline, canvas, mesh));
    })
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

/// At most one step per channel apart, but for the triangle's edges.
#[track_caller]
fn same(got: &Picture, want: &Picture) {
    let mut shown = 0;
    for (x, y) in (0..SIZE).flat_map(|y| (0..SIZE).map(move |x| (x, y))) {
        let (got, want) = (got.at(x, y), want.at(x, y));
        shown += u32::from(want != GREY && inner(x, y));
        let channels = got.to_le_bytes().into_iter().zip(want.to_le_bytes());
        let worst = channels.map(|(a, b)| a.abs_diff(b)).max().unwrap_or(0);
        let edge = !inner(x, y) && (got == GREY) != (want == GREY);
        assert!(worst <= 1 || edge, "{got:#010x} instead of {want:#010x} at {x}, {y}");
    }
    assert!(shown > 1000, "the picture shows something");
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

/// A quad with texture coordinates, w from 1 to 2.
fn quad(vk: &Vk) -> Mesh {
    let corners = [(-0.8, -0.7, 1.0), (0.9, -0.8, 1.0), (0.8, 0.9, 2.0), (-0.9, 0.8, 2.0)];
    let uvs = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
    let order = [0, 1, 2, 0, 2, 3];
    let position = order.iter().flat_map(|&n| {
        let (x, y, w) = corners[n];
        [x * w, y * w, 0.5 * w, w]
    });
    let uv = order.iter().flat_map(|&n: &usize| [uvs[n].0, uvs[n].1]);
    Mesh { positions: vk.buffer_with(&bytes(position)), colors: vk.buffer_with(&bytes(uv)), count: 6 }
}

fn waves(x: u32, y: u32) -> u32 {
    u32::from_le_bytes([(16 * x) as u8, (16 * y) as u8, (8 * (x + y)) as u8, 255])
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

/// A background, then a translucent triangle through both of `pipelines`: opaque and with the state under test.
fn over_background(vk: &Vk, canvas: &Canvas, triangle: &Mesh, pipelines: [vk::Pipeline; 2]) -> Picture {
    let background = Mesh::rect(vk, SIZE, [0.0, 0.0, SIZE as f32, 60.0], 0.5, 0xff80_4020);
    let [plain, tested] = pipelines;
    shows(vk, canvas, &[(plain, &background), (tested, triangle)])
}

/// States whose pictures patched programs must share with SPIR-V.
fn states() -> Vec<Setup> {
    let keep = vk::StencilOp::KEEP;
    let stencil = vk::StencilOpState {
        compare_op: vk::CompareOp::NOT_EQUAL,
        fail_op: keep,
        pass_op: vk::StencilOp::REPLACE,
        depth_fail_op: keep,
        compare_mask: 0xff,
        write_mask: 0x35,
        reference: 0,
    };
    let masked = vk::PipelineColorBlendAttachmentState {
        color_write_mask: vk::ColorComponentFlags::R | vk::ColorComponentFlags::B,
        ..WRITE
    };
    let separate = vk::PipelineColorBlendAttachmentState {
        src_color_blend_factor: vk::BlendFactor::DST_COLOR,
        dst_color_blend_factor: vk::BlendFactor::ONE_MINUS_SRC_COLOR,
        color_blend_op: vk::BlendOp::REVERSE_SUBTRACT,
        src_alpha_blend_factor: vk::BlendFactor::ZERO,
        dst_alpha_blend_factor: vk::BlendFactor::ONE,
        ..BLEND
    };
    let depth = Some(vk::CompareOp::LESS);
    vec![
        Setup::default(),
        Setup { blend: BLEND, ..Setup::default() },
        Setup { blend: BLEND, depth, ..Setup::default() },
        Setup { blend: separate, ..Setup::default() },
        Setup { blend: masked, depth: Some(vk::CompareOp::GREATER), ..Setup::default() },
        Setup { blend: BLEND, depth, stencil: Some(stencil), ..Setup::default() },
    ]
}

#[test]
fn patched_programs_show_every_state_as_spirv_does() {
    let (vk, canvas) = start();
    let triangle = Mesh::new(&vk, SIZE, &POINTS, 0.3, &COLORS);
    let words: Vec<u8> = COLORS.iter().flat_map(|word| word.to_le_bytes()).collect();
    let bytes_triangle =
        Mesh { colors: vk.buffer_with(&words), ..Mesh::new(&vk, SIZE, &POINTS, 0.3, &COLORS) };
    let fragment = module(&vk, PATCHED, &[text(FRAGMENT, qasm!("color.frag"))]);
    // Once the vertex program serves as coordinate program, once there is one that reads less.
    let alone = module(&vk, PATCHED, &[text(VERTEX, qasm!("patched.vert"))]);
    let position = with_position(COORDINATE, qasm!("patched.coord"));
    let both = module(&vk, PATCHED, &[text(VERTEX, qasm!("patched.vert")), position]);
    for setup in states() {
        let plain = pipeline(
            &vk,
            &canvas,
            &Setup { depth: setup.depth.map(|_| vk::CompareOp::ALWAYS), ..Setup::default() },
        );
        let spirv = pipeline(&vk, &canvas, &setup);
        let want = over_background(&vk, &canvas, &triangle, [plain, spirv]);
        for (vertex, color, triangle) in [
            (alone, FLOAT_COLOR, &triangle),
            (both, FLOAT_COLOR, &triangle),
            (both, UNORM8_COLOR, &bytes_triangle),
        ] {
            let parts = Parts::new(&vk, vertex, fragment, &[POSITION, color]);
            let patched = built(&vk, &canvas, &setup, &parts);
            same(&over_background(&vk, &canvas, triangle, [plain, patched]), &want);
        }
    }
    assert_eq!(log_of_this_thread(), "");
}

#[test]
fn patched_programs_sample_and_blend() {
    let (vk, canvas) = start();
    let resources = Resources::new(&vk, &texture(&vk, 16, |x, y| waves(x, y) & 0x80ff_ffff), &[0; 16]);
    let background = Mesh::rect(&vk, SIZE, [0.0, 0.0, SIZE as f32, 60.0], 0.9, 0xff80_4020);
    let mesh = quad(&vk);
    let plain = pipeline(&vk, &canvas, &Setup { depth: Some(vk::CompareOp::ALWAYS), ..Setup::default() });
    let shows = |vertex, fragment| {
        let mut parts = Parts::new(&vk, vertex, fragment, &[POSITION4, UV]);
        parts.layout = resources.layout;
        let setup = Setup { blend: BLEND, depth: Some(vk::CompareOp::LESS), ..Setup::default() };
        let pipeline = built(&vk, &canvas, &setup, &parts);
        canvas.draw(&vk, canvas.whole(), |device, commands| {
            draw(device, commands, plain, &canvas, &background);
            resources.bind(device, commands, &[0; PUSH_BYTES as usize]);
            draw(device, commands, pipeline, &canvas, &mesh);
        })
    };
    let spirv = spirv_module(&vk, spirv!("quad.vert"));
    let want = shows(spirv, spirv_module(&vk, spirv!("quad.frag")));
    let fragment = module(&vk, PATCHED, &[text(FRAGMENT, qasm!("texture.frag"))]);
    same(&shows(spirv, fragment), &want);
    let vertex = module(&vk, PATCHED, &[text(VERTEX, qasm!("patched_quad.vert"))]);
    same(&shows(vertex, fragment), &want);
    assert_eq!(log_of_this_thread(), "");
}

/// Position and colour, and a point size of 1 between them.
fn points_vertex() -> String {
    let size = "sig_small_imm ; vpm = or.always(b, b, nop, 0x3f800000) ; nop = nop(r0, r0) ;\n";
    qasm!("patched.vert").replacen(size, &size.repeat(2), 1)
}

#[test]
fn points_have_a_size_and_two_varyings_more() {
    let (vk, canvas) = start();
    let topology = vk::PrimitiveTopology::POINT_LIST;
    let setup = Setup { topology, blend: BLEND, ..Setup::default() };
    let spots: Vec<(f32, f32)> = (0..40).map(|n| (2.5 + 2.0 * n as f32, 3.5 + (n * 7 % 60) as f32)).collect();
    let colors: Vec<u32> = (0..40).map(|n| 0x8020_30ff + n * 0x0101).collect();
    let mesh = Mesh::new(&vk, SIZE, &spots, 0.3, &colors);
    let want = shows(&vk, &canvas, &[(pipeline(&vk, &canvas, &setup), &mesh)]);
    let (vertex, fragment) = (points_vertex(), format!("{VARY}{VARY}{}", qasm!("color.frag")));
    let programs = [text(VERTEX, &vertex), text(FRAGMENT, &fragment)];
    let both = module(&vk, PATCHED, &programs);
    let parts = Parts::new(&vk, both, both, &[POSITION, FLOAT_COLOR]);
    let got = shows(&vk, &canvas, &[(built(&vk, &canvas, &setup, &parts), &mesh)]);
    assert_eq!(want.words.iter().filter(|word| **word != GREY).count(), 40);
    for (got, want) in got.words.iter().zip(&want.words) {
        let channels = got.to_le_bytes().into_iter().zip(want.to_le_bytes());
        assert!(channels.into_iter().all(|(a, b)| a.abs_diff(b) <= 1), "{got:#x} instead of {want:#x}");
    }
}

/// Reads a varying and forgets it.
const VARY: &str = "sig_none ; nop = nop(r0, r0, vary) ; nop = nop(r0, r0) ;\n";

/// A varying, an integer as a float, times 16 in red.
const NUMBER: &str = "sig_none ; nop = nop(r0, r0, pay_zw, vary) ; r0 = fmul.always(a, b) ;
    sig_none ; r0 = fadd.always(r0, r5) ; nop = nop(r0, r0) ;
    sig_none ; r0 = ftoi.always(r0, r0) ; nop = nop(r0, r0) ;
    sig_small_imm ; r0 = shl.always(r0, b, nop, 4) ; nop = nop(r0, r0) ;
    sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop(r0, r0) ;
    sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
    sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
    sig_unlock_score ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;";

#[test]
fn flat_varyings_and_the_index_of_the_vertex() {
    let (vk, canvas) = start();
    let points = [[(0.0, 0.0); 2].as_slice(), &POINTS].concat();
    let mesh = Mesh::new(&vk, SIZE, &points, 0.3, &[0; 5]);
    // The colour's components are read and replaced by the index.
    let (position, _) = qasm!("patched.vert").rsplit_once("\n\nsig_none ; r0").unwrap();
    let vertex = format!(
        "{position}
        sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
        .uniform vertex.bias
        sig_none ; r0 = add.always(r0, a, uni) ; nop = nop(r0, r0) ;
        sig_none ; r0 = itof.always(r0, r0) ; nop = nop(r0, r0) ;
        sig_none ; vpm = or.always(r0, r0) ; nop = nop(r0, r0) ;
        sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
        sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
        sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;"
    );
    let vertex = AssemblyProgram { flags: VERTEX_INDEX, ..with_position(VERTEX, &vertex) };
    let programs = [vertex, text(FRAGMENT, NUMBER)];
    let mut structure = info(PATCHED, &programs);
    structure.flat_varyings = 1;
    let both = create(&vk, &structure).unwrap_or_else(|error| panic!("{error}: {}", log_of_this_thread()));
    let parts = Parts::new(&vk, both, both, &[POSITION, FLOAT_COLOR]);
    let pipeline = built(&vk, &canvas, &Setup::default(), &parts);
    for first in [0, 2] {
        let picture = canvas.draw(&vk, canvas.whole(), |device, commands| {
            bind(device, commands, pipeline, &canvas);
            mesh.bind(device, commands);
            // SAFETY: valid usage.
            unsafe { device.cmd_draw(commands, 3, 1, first, 0) }
        });
        // Vertices 2 to 4 are the triangle; the first of them gives flat varyings their value.
        picture.expect(|x, y| match picture.at(x, y) {
            GREY if first == 0 || !inner(x, y) => GREY,
            _ => 16 * first,
        });
        assert_eq!(picture.at(45, 40) == GREY, first == 0);
    }
}

#[test]
fn patched_colours_may_be_floats_or_have_blue_first() {
    let (vk, canvas) = start();
    let mesh = Mesh::new(&vk, SIZE, &POINTS, 0.3, &COLORS);
    let setup = Setup { blend: BLEND, ..Setup::default() };
    let want = shows(&vk, &canvas, &[(pipeline(&vk, &canvas, &setup), &mesh)]);
    let vertex = module(&vk, PATCHED, &[text(VERTEX, qasm!("patched.vert"))]);
    let (interpolate, rest) = qasm!("color.frag").split_once("\n\n# Times one").unwrap();
    let (_, end) = rest.split_once("\n\n").unwrap();
    let floats = format!("{interpolate}\n{end}");
    let code = [(FLOAT_COLOR_BIT, floats), (BGRA_COLOR, qasm!("bgra.frag").to_owned())];
    for (flags, code) in &code {
        let fragment = AssemblyProgram { flags: *flags, ..text(FRAGMENT, code) };
        let fragment = module(&vk, PATCHED, &[fragment]);
        let parts = Parts::new(&vk, vertex, fragment, &[POSITION, FLOAT_COLOR]);
        same(&shows(&vk, &canvas, &[(built(&vk, &canvas, &setup, &parts), &mesh)]), &want);
    }
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
fn attributes_of_instances_are_uniform_words() {
    let (vk, canvas) = start();
    let (position, _) = qasm!("patched.vert").rsplit_once("\n\nsig_none ; r0").unwrap();
    let (_, end) = qasm!("patched.vert").split_once("\n\nsig_end").unwrap();
    let component = |n| {
        format!(
            ".uniform instance.attribute[1][{n}]
            sig_none ; vpm = or.always(a, a, uni) ; nop = nop(r0, r0) ;\n"
        )
    };
    let vertex = format!("{position}\n{}sig_end{end}", (0..4).map(component).collect::<String>());
    let both = module(&vk, PATCHED, &[text(VERTEX, &vertex), text(FRAGMENT, qasm!("color.frag"))]);
    let mut parts = Parts::new(&vk, both, both, &[POSITION, FLOAT_COLOR]);
    parts.bindings[1].input_rate = vk::VertexInputRate::INSTANCE;
    let blend = vk::PipelineColorBlendAttachmentState { blend_enable: vk::TRUE, ..WRITE };
    let pipeline = built(&vk, &canvas, &Setup { blend, ..Setup::default() }, &parts);
    let size = SIZE as f32;
    let corners = [(0.0, 0.0), (size, 0.0), (size, size), (0.0, 0.0), (size, size), (0.0, size)];
    // Instances 1 to 3 add to the grey background.
    let mesh = Mesh::new(&vk, SIZE, &corners, 0.0, &[0, 0xff00_0010, 0xff00_2000, 0xff40_0000]);
    let picture = canvas.draw(&vk, canvas.whole(), |device, commands| {
        bind(device, commands, pipeline, &canvas);
        mesh.bind(device, commands);
        // SAFETY: valid usage.
        unsafe { device.cmd_draw(commands, 6, 3, 0, 1) }
    });
    picture.expect(|_, _| 0xffc0_a090);
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

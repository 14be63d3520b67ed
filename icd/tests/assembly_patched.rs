//! Pictures of assembly that pipeline state is spliced into, on the simulator, against the pictures of SPIR-V.

#[allow(dead_code, reason = "shared with other tests")]
mod support;

use ash::vk;
use support::Vk;
use support::assembly::{
    COORDINATE, FRAGMENT, PATCHED, VERTEX, create, info, log_of_this_thread, module, qasm, text,
};
use support::canvas::{
    Canvas, FLOAT_COLOR, GREY, Mesh, POSITION, Parts, Picture, Setup, WRITE, bind, draw, pipeline,
    spirv_module,
};
use support::resources::{PUSH_BYTES, Resources, texture};
use support::triangle::*;
use vulkan_vc4::entry::assembly::{
    AssemblyProgram, BGRA_COLOR, FLOAT_COLOR as FLOAT_COLOR_BIT, VERTEX_INDEX,
};

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/shaders/", $name, ".spv")).as_slice()
    };
}

/// A background, then a translucent triangle through both of `pipelines`: opaque and with the state under test.
fn over_background(vk: &Vk, canvas: &Canvas, triangle: &Mesh, pipelines: [vk::Pipeline; 2]) -> Picture {
    let background = Mesh::rect(vk, SIZE, [0.0, 0.0, SIZE as f32, 60.0], 0.5, 0xff80_4020);
    let [plain, tested] = pipelines;
    shows(vk, canvas, &[(plain, &background), (tested, triangle)])
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

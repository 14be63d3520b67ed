//! Jobs with draws, through the public device interface: what must be in memory afterwards.

mod support;

use support::*;
use vc4::cl::packets::*;
use vc4_kernel_abi::{Gpu, Surface};

const GREEN: u32 = 0xff00_ff00;

/// All of it, as a strip.
fn whole(z: f32) -> Vec<Vertex> {
    vec![at(0.0, 0.0, z), at(64.0, 0.0, z), at(0.0, 64.0, z), at(64.0, 64.0, z)]
}

fn strip(vertices: Vec<Vertex>, color: u32) -> Draw {
    Draw::color(vertices, color).mode(PrimitiveMode::TriangleStrip)
}

fn picture(target: &Target, gpu: &vc4_sim::Simulator, draws: &[Draw]) -> Pixels {
    run(gpu, &target.draw_job(gpu, BLACK, draws)).unwrap();
    target.pixels(gpu)
}

#[test]
fn a_triangle_covers_the_pixels_whose_centres_it_contains() {
    let gpu = simulator(2);
    for tiling in [Tiling::Raster, Tiling::T, Tiling::Lt] {
        let target = Target::new(&gpu, 64, 64, tiling);
        let pixels = picture(&target, &gpu, &[Draw::color(half(0.5), RED)]);
        // Centres on the long edge, x + y = 63, belong to the right-hand neighbour.
        pixels.check(|x, y| if x + y < 63 { RED } else { BLACK });
    }
}

#[test]
fn the_nearer_triangle_wins_in_either_order() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    let near = strip(whole(0.25), GREEN);
    let slope =
        strip(vec![at(0.0, 0.0, 0.0), at(64.0, 0.0, 0.5), at(0.0, 64.0, 0.0), at(64.0, 64.0, 0.5)], RED);
    // The slope reaches depth 1/4 at x = 32.
    let expected = |x: u32, _| if x < 32 { RED } else { GREEN };
    picture(&target, &gpu, &[near.clone(), slope.clone()]).check(expected);
    picture(&target, &gpu, &[slope, near]).check(expected);
}

#[test]
fn depth_is_stored_with_stencil_and_loaded_again() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    // Both faces: increment on depth pass; written with mask 0xff.
    let setup = 3 << 30 | 3 << 28 | 1 << 25 | 3 << 22 | 1 << 19 | 7 << 16 | 0xff;
    let stencil =
        Draw { fragment: stencil_and_color(), uniforms: vec![setup, RED], ..Draw::color(half(0.5), 0) };
    let zs = Surface { bo_index: 1, offset: 0, bits: 0x12, flags: 0 };
    let mut job = target.draw_job(&gpu, BLACK, &[stencil]);
    job.clear_s = 7;
    job.zs_write = Some(zs);
    run(&gpu, &job).unwrap();
    let half_depth = 0x80_0000 << 8;
    target.depths(&gpu).check(|x, y| if x + y < 63 { half_depth | 8 } else { 0xffff_ff07 });

    // A second job loads both and draws behind the first triangle.
    let mut job = target.draw_job(&gpu, 0, &[strip(whole(0.75), GREEN)]);
    job.flags = Default::default();
    job.color_read = Some(Surface { bo_index: 0, offset: 0, bits: 0x11, flags: 0 });
    job.zs_read = Some(zs);
    job.zs_write = Some(zs);
    run(&gpu, &job).unwrap();
    target.pixels(&gpu).check(|x, y| if x + y < 63 { RED } else { GREEN });
    let far = ((0.75f64 * f64::from(0xff_ffffu32)).round() as u32) << 8;
    target.depths(&gpu).check(|x, y| if x + y < 63 { half_depth | 8 } else { far | 7 });
}

#[test]
fn facing_reaches_the_program_and_culls() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    let mut back = half(0.5);
    back.swap(1, 2);
    let draw = |vertices, config| {
        let ConfigurationBits { front, back, clockwise_front, .. } = config;
        let base = Draw::color(vertices, 0);
        let config = ConfigurationBits { front, back, clockwise_front, ..base.config };
        Draw { fragment: position_color(), uniforms: vec![], config, ..base }
    };
    let both = ConfigurationBits::default();
    // Counter-clockwise in numbers, with y upwards, is forward while the bit is clear (v3d.md §9.3).
    let seen =
        |reverse: u32| move |x: u32, y: u32| if x + y < 63 { x | y << 8 | reverse << 16 } else { BLACK };
    picture(&target, &gpu, &[draw(half(0.5), both)]).check(seen(0));
    picture(&target, &gpu, &[draw(back.clone(), both)]).check(seen(1));
    let flipped = ConfigurationBits { clockwise_front: true, ..both };
    picture(&target, &gpu, &[draw(half(0.5), flipped)]).check(seen(1));
    let front_only = ConfigurationBits { back: false, ..both };
    picture(&target, &gpu, &[draw(back, front_only)]).check(|_, _| BLACK);
}

#[test]
fn varyings_are_perspective_correct() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    // A wall that runs from w = 1 at the left edge to w = 4 at the right one.
    let corner = |right: bool, y: f32, value: f32| {
        let w = if right { 4.0 } else { 1.0 };
        let x = if right { w } else { -w };
        Vertex { clip: [x, y * w, 0.0, w], varyings: [value, 0.5, 1.0 - value, 1.0] }
    };
    let wall = vec![
        corner(false, -1.0, 0.0),
        corner(true, -1.0, 1.0),
        corner(false, 1.0, 0.0),
        corner(true, 1.0, 1.0),
    ];
    let draw = Draw::varying(wall).mode(PrimitiveMode::TriangleStrip);
    let pixels = picture(&target, &gpu, &[draw]);
    for x in 0..64 {
        let s = (f64::from(x) + 0.5) / 64.0;
        let value = s / 4.0 / ((1.0 - s) + s / 4.0);
        for y in [0, 31, 63] {
            let [r, g, b, a] = pixels.at(x, y).to_le_bytes();
            assert!((f64::from(r) - value * 255.0).abs() < 0.6, "{x},{y}: {r} for {}", value * 255.0);
            assert!((f64::from(b) - (1.0 - value) * 255.0).abs() < 0.6);
            assert!((127..=128).contains(&g) && a == 255);
        }
    }
}

#[test]
fn flat_varyings_take_the_last_vertex() {
    let gpu = simulator(1);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    let mut vertices = half(0.5);
    for (i, vertex) in vertices.iter_mut().enumerate() {
        *vertex = vertex.varyings([i as f32 / 2.0, i as f32 / 2.0, 0.0, 1.0]);
    }
    let mut draw = Draw::varying(vertices);
    draw.state.push(FlatShadeFlags { flags: 0b0001 });
    let pixels = picture(&target, &gpu, &[draw]);
    let [r, g, b, _] = pixels.at(0, 0).to_le_bytes();
    assert_eq!((r, b), (255, 0));
    assert!(g < 8, "{g} is interpolated");
}

#[test]
fn every_way_to_draw_a_square_gives_the_same_square() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 64, 64, Tiling::Lt);
    let square = vec![at(8.0, 8.0, 0.5), at(40.0, 8.0, 0.5), at(8.0, 56.0, 0.5), at(40.0, 56.0, 0.5)];
    let fan = vec![square[0], square[1], square[3], square[2]];
    let draw = |vertices: &[Vertex]| Draw::color(vertices.to_vec(), RED);
    let expected = |x, y| if (8..40).contains(&x) && (8..56).contains(&y) { RED } else { BLACK };
    let triangles = [0, 1, 2, 2, 1, 3];
    for draw in [
        draw(&square).mode(PrimitiveMode::TriangleStrip),
        draw(&fan).mode(PrimitiveMode::TriangleFan),
        draw(&square).indexed(IndexType::U8, &triangles),
        draw(&square).indexed(IndexType::U16, &triangles),
        draw(&square).indexed(IndexType::U16, &[0, 1, 2, 3]).mode(PrimitiveMode::TriangleStrip),
    ] {
        picture(&target, &gpu, &[draw]).check(expected);
    }
}

#[test]
fn many_vertices_keep_their_batches_apart() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    // 64 x 8 cells of 1 x 8 pixels, two triangles each, through 16-vertex batches.
    let mut vertices = Vec::new();
    for cell in 0..64u32 {
        let (x, y) = ((cell % 8 * 8) as f32, (cell / 8 * 8) as f32);
        let color = [x / 64.0, y / 64.0, 0.0, 1.0];
        for (dx, dy) in [(0.0, 0.0), (8.0, 0.0), (0.0, 8.0), (0.0, 8.0), (8.0, 0.0), (8.0, 8.0)] {
            vertices.push(at(x + dx, y + dy, 0.5).varyings(color));
        }
    }
    let pixels = picture(&target, &gpu, &[Draw::varying(vertices)]);
    let channel = |v: u32| (f64::from(v / 8 * 8) / 64.0 * 255.0).round() as u32;
    pixels.check(|x, y| channel(x) | channel(y) << 8 | 0xff00_0000);
}

#[test]
fn the_clip_window_cuts() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    let mut draw = strip(whole(0.5), RED);
    draw.state.push(ClipWindow { left: 5, bottom: 9, width: 20, height: 3 });
    let inside = |x, y| (5..25).contains(&x) && (9..12).contains(&y);
    picture(&target, &gpu, &[draw]).check(|x, y| if inside(x, y) { RED } else { BLACK });
}

#[test]
fn a_plane_that_passes_behind_the_eye_is_clipped() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    // The floor y = 1 from z = -10 (behind) to z = 10 (ahead), w = z, near 0.5, far 9:
    // it ends at the far plane, y/w = 1/9, and reaches the lower edge of the picture.
    let (near, far) = (0.5f32, 9.0f32);
    let corner = |x: f32, distance: f32| Vertex {
        clip: [x, 1.0, ((far + near) * distance - 2.0 * far * near) / (far - near), distance],
        varyings: [0.0; 4],
    };
    let floor = vec![corner(-90.0, -10.0), corner(90.0, -10.0), corner(-90.0, 10.0), corner(90.0, 10.0)];
    let pixels = picture(&target, &gpu, &[strip(floor, RED)]);
    let horizon = 32.0 + 32.0 / 9.0;
    pixels.check(|_, y| if f64::from(y) + 0.5 > horizon { RED } else { BLACK });
}

#[test]
fn blending_reads_the_tile() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    let draw = Draw {
        fragment: blend_half(),
        uniforms: vec![0xff00_00fe, 0x8080_8080],
        ..Draw::color(half(0.5), 0)
    };
    run(&gpu, &target.draw_job(&gpu, 0x0064_0000, &[draw.clone(), draw])).unwrap();
    let half = |v: u32| (v * 128 + 127) / 255;
    let once = |old: u32, new: u32| half(new) + half(old);
    let expected =
        once(once(0, 0xfe), 0xfe) | once(once(0x64, 0), 0) << 16 | once(once(0, 0xff), 0xff).min(255) << 24;
    target.pixels(&gpu).check(|x, y| if x + y < 63 { expected } else { 0x0064_0000 });
}

#[test]
fn depth_offset_moves_a_coplanar_triangle() {
    let gpu = simulator(1);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    let base = strip(whole(0.5), RED);
    let mut decal = strip(whole(0.5), GREEN);
    picture(&target, &gpu, &[base.clone(), decal.clone()]).check(|_, _| RED);
    decal.config.depth_offset = true;
    decal.state.push(DepthOffset { factor: Default::default(), units: vc4::cl::F187::truncate(-2.0) });
    picture(&target, &gpu, &[base, decal]).check(|_, _| GREEN);
}

#[test]
fn points_and_lines() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 64, 64, Tiling::T);
    let mut points =
        Draw { clipping: false, ..Draw::color(vec![at(10.0, 20.0, 0.5), at(62.0, 62.0, 0.5)], RED) };
    points.mode = PrimitiveMode::Points;
    points.state.push(PointSize { size: 4.0 });
    points.fragment = position_color_of_point();
    points.uniforms = vec![];
    let pixels = picture(&target, &gpu, std::slice::from_ref(&points));
    // Point coordinates: x grows to the right, y is 1 at the smallest row (v3d.md §9.6).
    let inside =
        |x: u32, y: u32, left: u32, top: u32| (left..left + 4).contains(&x) && (top..top + 4).contains(&y);
    let shade = |x: u32, y: u32| {
        let unit = |at: u32| ((f64::from(at) + 0.5) / 4.0 * 255.0).round() as u32;
        unit(x) | unit(3 - y) << 8
    };
    pixels.check(|x, y| {
        if inside(x, y, 8, 18) {
            shade(x - 8, y - 18)
        } else if inside(x, y, 60, 60) {
            shade(x - 60, y - 60)
        } else {
            BLACK
        }
    });

    // The same points with sizes of their own.
    let sized = |x, y, size| at(x, y, 0.5).varyings([size, 0.0, 0.0, 0.0]);
    points.vertices = vec![sized(10.0, 20.0, 4.0), sized(30.0, 30.0, 2.0)];
    points.state.push(PointSize { size: 50.0 });
    points.point_size = true;
    let pixels = picture(&target, &gpu, &[points]);
    pixels.check(|x, y| {
        if inside(x, y, 8, 18) {
            shade(x - 8, y - 18)
        } else if (29..31).contains(&x) && (29..31).contains(&y) {
            let quarter = |upper: bool| if upper { 191 } else { 64 };
            quarter(x == 30) | quarter(y == 29) << 8
        } else {
            BLACK
        }
    });

    let mut lines = Draw::color(vec![at(4.0, 10.5, 0.5), at(30.0, 10.5, 0.5), at(30.0, 40.5, 0.5)], RED);
    lines.mode = PrimitiveMode::LineStrip;
    lines.fragment = color_of_line();
    lines.uniforms = vec![RED];
    let pixels = picture(&target, &gpu, &[lines]);
    pixels.check(|x, y| {
        let across = y == 10 && (4..30).contains(&x);
        // One pixel wide around x = 30: 29.5 to 30.5, and the left centre is the one on an owned edge.
        let down = x == 29 && (10..40).contains(&y);
        if across || down { RED } else { BLACK }
    });
}

/// Reads both point coordinates into red and green.
fn position_color_of_point() -> Vec<u64> {
    let mut text = String::from(
        "sig_none ; r3 = or.always(a, a, ra15) ; nop = nop(r0, r0) ;\n\
         sig_small_imm ; r0 = or.always(b, b, nop, 0) ; nop = nop(r0, r0) ;\n",
    );
    for byte in ["8a", "8b"] {
        text += "sig_none ; nop = nop(r0, r0, vary) ; r1 = fmul.always(a, r3) ;\n";
        text += "sig_none ; r1 = fadd.always(r1, r5) ; nop = nop(r0, r0) ;\n";
        text += &format!("sig_none ; nop = nop.pm(r0, r0) ; r0.{byte} = v8min.always(r1, r1) ;\n");
    }
    assemble(&(text + OUT))
}

/// Reads the implicit varying of a line and drops it.
fn color_of_line() -> Vec<u64> {
    let text = "sig_none ; r1 = or.always(a, a, vary) ; nop = nop(r0, r0) ;\n\
         sig_none ; r0 = or.always(a, a, uni) ; nop = nop(r0, r0) ;\n";
    assemble(&(text.to_owned() + OUT))
}

const OUT: &str = "sig_none ; tlb_z = or.always(b, b, nop, rb15) ; nop = nop(r0, r0) ;\n\
     sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop(r0, r0) ;\n\
     sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;\n\
     sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;\n\
     sig_unlock_score ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;\n";

#[test]
fn multisampled_edges_are_averaged() {
    let gpu = simulator(2);
    let mut target = Target::new(&gpu, 64, 64, Tiling::T);
    target.multisample = true;
    // The edge x = 31.5 splits pixel 31's samples two and two (positions at 2, 6, 10 and 14 sixteenths).
    let square = vec![at(0.0, 0.0, 0.5), at(31.5, 0.0, 0.5), at(0.0, 64.0, 0.5), at(31.5, 64.0, 0.5)];
    let pixels = picture(&target, &gpu, &[strip(square, RED)]);
    pixels.check(|x, _| match x {
        0..31 => RED,
        31 => 0xff00_0080,
        _ => BLACK,
    });
}

#[test]
fn full_resolution_samples_survive_a_round_trip() {
    let gpu = simulator(2);
    let mut target = Target::new(&gpu, 64, 64, Tiling::T);
    target.multisample = true;
    let square = vec![at(0.0, 0.0, 0.5), at(31.5, 0.0, 0.5), at(0.0, 64.0, 0.5), at(31.5, 64.0, 0.5)];
    let mut job = target.draw_job(&gpu, BLACK, &[strip(square, RED)]);
    let samples = gpu.create_bo(4 * 16384).unwrap();
    let depths = gpu.create_bo(4 * 16384).unwrap();
    job.bos.extend([samples, depths]);
    let raw = |index: usize, flags| Some(Surface { bo_index: (index) as u32, offset: 0, bits: 0, flags });
    let count = job.bos.len();
    job.color_write_bits_if_absent = 0x11;
    job.color_write = None;
    job.msaa_color_write = raw(count - 2, 0);
    job.msaa_zs_write = raw(count - 1, 0);
    run(&gpu, &job).unwrap();

    let mut resolve = target.clear_job(0);
    resolve.flags = Default::default();
    resolve.bos.extend([samples, depths]);
    resolve.color_read = raw(2, 1);
    resolve.zs_read = raw(3, 1);
    resolve.zs_write = Some(Surface { bo_index: 1, offset: 0, bits: 0x12, flags: 0 });
    run(&gpu, &resolve).unwrap();
    target.pixels(&gpu).check(|x, _| match x {
        0..31 => RED,
        31 => 0xff00_0080,
        _ => BLACK,
    });
    // Sample 0 of pixel 31 lies at 10 sixteenths: outside.
    target.depths(&gpu).check(|x, _| if x < 31 { 0x8000_0000 } else { 0xffff_ff00 });
}

fn noise(seed: u32) -> impl FnMut() -> f32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    }
}

#[test]
fn thread_counts_do_not_change_the_picture() {
    let pictures: Vec<(Pixels, Pixels)> = [1, 2, 5]
        .into_iter()
        .map(|threads| {
            let gpu = simulator(threads);
            let target = Target::new(&gpu, 200, 150, Tiling::T);
            let mut random = noise(7);
            let mut vertex = || {
                let w = random() * 3.0 + 0.1;
                Vertex {
                    clip: [
                        (random() * 4.0 - 2.0) * w,
                        (random() * 4.0 - 2.0) * w,
                        (random() * 2.6 - 1.3) * w,
                        w,
                    ],
                    varyings: [random(), random(), random(), 1.0],
                }
            };
            let draws: Vec<Draw> =
                (0..5).map(|_| Draw::varying((0..60).map(|_| vertex()).collect())).collect();
            let mut job = target.draw_job(&gpu, BLACK, &draws);
            job.zs_write = Some(Surface { bo_index: 1, offset: 0, bits: 0x12, flags: 0 });
            run(&gpu, &job).unwrap();
            (target.pixels(&gpu), target.depths(&gpu))
        })
        .collect();
    assert!(pictures[0] == pictures[1] && pictures[0] == pictures[2]);
    let drawn = pictures[0].0.words.iter().filter(|&&word| word != BLACK).count();
    assert!(drawn > 20_000, "only {drawn} pixels were drawn");
}

#[test]
fn no_vertex_is_too_strange() {
    let gpu = simulator(2);
    let target = Target::new(&gpu, 200, 150, Tiling::T);
    let mut state = 1u32;
    let mut word = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        // Random bits are mostly huge or tiny; mix in what is almost sensible.
        match state % 5 {
            0 => f32::from_bits(state),
            1 => [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0][(state >> 8) as usize % 5],
            _ => (state >> 8) as f32 / (1 << 22) as f32 - 2.0,
        }
    };
    for clipping in [true, false] {
        for &mode in PrimitiveMode::ALL {
            let mut vertex = || Vertex {
                clip: [word(), word(), word(), word()],
                varyings: [word(), word(), word(), word()],
            };
            let vertices = (0..48).map(|_| vertex()).collect();
            let mut draw = Draw { clipping, ..Draw::color(vertices, RED).mode(mode) };
            if mode == PrimitiveMode::Points {
                draw.fragment = position_color_of_point();
                draw.uniforms.clear();
            } else if matches!(
                mode,
                PrimitiveMode::Lines | PrimitiveMode::LineLoop | PrimitiveMode::LineStrip
            ) {
                draw.fragment = color_of_line();
            }
            for size in [f32::NAN, f32::INFINITY, -3.0, 7.5] {
                draw.state = vc4::cl::List::new();
                draw.state.push(PointSize { size }).push(LineWidth { width: size });
                run(&gpu, &target.draw_job(&gpu, BLACK, std::slice::from_ref(&draw))).unwrap();
            }
        }
    }
}

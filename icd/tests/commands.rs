//! Commands of all kinds through the driver's entry points on the simulator, against pictures that can be told in
//! advance.

mod support;

use ash::vk;
use support::canvas::{
    BLUE, Canvas, GENERAL, GREEN, GREY, Mesh, POSITION, Parts, Picture, RED, Setup, WRITE, bind, build,
    bytes, color, draw, inside, pipeline, spirv_module,
};
use support::{COLOR, RGBA, Vk, extent, rect};

const CLEAR: vk::AttachmentLoadOp = vk::AttachmentLoadOp::CLEAR;

#[test]
fn scissors_and_areas_bound_what_is_drawn() {
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, 150, false, CLEAR);
    let pipeline = pipeline(&vk, &canvas, &Setup::default());
    let mesh = Mesh::rect(&vk, 150, [10.0, 10.0, 140.0, 140.0], 0.0, RED);
    let first = canvas.draw(&vk, canvas.whole(), |device, commands| {
        bind(device, commands, pipeline, &canvas);
        mesh.bind(device, commands);
        // SAFETY: valid usage.
        unsafe {
            device.cmd_set_scissor(commands, 0, &[rect(70, 20, 5, 90)]);
            device.cmd_draw(commands, 6, 1, 0, 0);
        }
    });
    first.expect(|x, y| if inside(x, y, [70, 20, 75, 110]) { RED } else { GREY });
    // The area cuts tiles: what lies outside stays.
    let blue = Mesh::rect(&vk, 150, [0.0, 0.0, 150.0, 150.0], 0.0, BLUE);
    let canvas = Canvas {
        clears: vec![vk::ClearValue { color: vk::ClearColorValue { float32: color(GREEN) } }],
        ..canvas
    };
    let second = canvas.draw(&vk, rect(30, 40, 50, 60), |device, commands| {
        bind(device, commands, pipeline, &canvas);
        blue.bind(device, commands);
        // SAFETY: valid usage.
        unsafe {
            device.cmd_set_scissor(commands, 0, &[rect(0, 90, 150, 60)]);
            device.cmd_draw(commands, 6, 1, 0, 0);
        }
    });
    second.expect(|x, y| match () {
        () if inside(x, y, [30, 90, 80, 100]) => BLUE,
        () if inside(x, y, [30, 40, 80, 100]) => GREEN,
        () => first.at(x, y),
    });
}

#[test]
fn viewports_may_be_anywhere() {
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, 100, false, CLEAR);
    let pipeline = pipeline(&vk, &canvas, &Setup::default());
    let mesh = Mesh::rect(&vk, 100, [0.0, 0.0, 100.0, 100.0], 0.0, RED);
    let viewport =
        vk::Viewport { x: -20.0, y: 30.0, width: 50.0, height: 40.0, max_depth: 1.0, min_depth: 0.0 };
    let picture = canvas.draw(&vk, canvas.whole(), |device, commands| {
        bind(device, commands, pipeline, &canvas);
        mesh.bind(device, commands);
        // SAFETY: valid usage.
        unsafe {
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_draw(commands, 6, 1, 0, 0);
        }
    });
    picture.expect(|x, y| if inside(x, y, [0, 30, 30, 70]) { RED } else { GREY });
}

#[test]
fn instances_read_their_own_attributes() {
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, 64, false, CLEAR);
    let input_rate = vk::VertexInputRate::INSTANCE;
    let blend = vk::PipelineColorBlendAttachmentState { blend_enable: vk::TRUE, ..WRITE };
    let pipeline = pipeline(&vk, &canvas, &Setup { input_rate, blend, ..Setup::default() });
    let points = [(0.0, 0.0), (64.0, 0.0), (64.0, 64.0), (0.0, 0.0), (64.0, 64.0), (0.0, 64.0)];
    let mesh = Mesh::new(&vk, 64, &points, 0.0, &[BLUE, 0xff00_0010, 0xff00_2000, 0xff40_0000, RED]);
    let picture = canvas.draw(&vk, canvas.whole(), |device, commands| {
        bind(device, commands, pipeline, &canvas);
        mesh.bind(device, commands);
        // SAFETY: valid usage.
        unsafe { device.cmd_draw(commands, 6, 3, 0, 1) }
    });
    picture.expect(|_, _| 0xffc0_a090);
}

#[test]
fn instances_share_attributes() {
    let vk = Vk::with(&[c"VK_KHR_vertex_attribute_divisor"]);
    let canvas = Canvas::new(&vk, 64, false, CLEAR);
    let blend = vk::PipelineColorBlendAttachmentState { blend_enable: vk::TRUE, ..WRITE };
    let points = [(0.0, 0.0), (64.0, 0.0), (64.0, 64.0), (0.0, 0.0), (64.0, 64.0), (0.0, 64.0)];
    let mesh = Mesh::new(&vk, 64, &points, 0.0, &[0xff00_0001, 0xff00_0010, 0xff00_1000, 0xff10_0000]);
    // Sums over the instances of two draws: four from the first on, and three from the second on.
    let sum = |divisor| {
        let setup = Setup {
            input_rate: vk::VertexInputRate::INSTANCE,
            divisor: Some(divisor),
            blend,
            ..Setup::default()
        };
        let pipeline = pipeline(&vk, &canvas, &setup);
        let picture = canvas.draw(&vk, canvas.whole(), |device, commands| {
            bind(device, commands, pipeline, &canvas);
            mesh.bind(device, commands);
            // SAFETY: valid usage.
            unsafe {
                device.cmd_draw(commands, 6, 4, 0, 0);
                device.cmd_draw(commands, 6, 3, 0, 1);
            }
        });
        picture.expect(|_, _| picture.at(0, 0));
        picture.at(0, 0).wrapping_sub(GREY) & 0x00ff_ffff
    };
    assert_eq!(sum(1), 0x0020_2021);
    assert_eq!(sum(2), 2 + 2 * 0x10 + 2 * 0x10 + 0x1000);
    assert_eq!(sum(3), 3 + 0x10 + 3 * 0x10);
    assert_eq!(sum(0), 4 + 3 * 0x10);
}

#[test]
fn strips_fans_lines_and_points_are_assembled() {
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, 64, false, CLEAR);
    let shape = |topology, points: &[(f32, f32)]| {
        let pipeline = pipeline(&vk, &canvas, &Setup { topology, ..Setup::default() });
        let mesh = Mesh::new(&vk, 64, points, 0.0, &vec![RED; points.len()]);
        canvas.draw(&vk, canvas.whole(), |device, commands| draw(device, commands, pipeline, &canvas, &mesh))
    };
    let square = |x, y| if inside(x, y, [8, 8, 40, 40]) { RED } else { GREY };
    let strip = [(8.0, 8.0), (40.0, 8.0), (8.0, 40.0), (40.0, 40.0)];
    shape(vk::PrimitiveTopology::TRIANGLE_STRIP, &strip).expect(square);
    let fan = [(8.0, 8.0), (40.0, 8.0), (40.0, 40.0), (8.0, 40.0)];
    shape(vk::PrimitiveTopology::TRIANGLE_FAN, &fan).expect(square);
    let points = [(10.5, 20.5), (63.5, 0.5), (31.5, 32.5)];
    let hit = |x: u32, y: u32| points.contains(&(x as f32 + 0.5, y as f32 + 0.5));
    shape(vk::PrimitiveTopology::POINT_LIST, &points).expect(|x, y| if hit(x, y) { RED } else { GREY });
    // Which pixel ends a line is the implementation's choice.
    let line = shape(vk::PrimitiveTopology::LINE_STRIP, &[(5.5, 30.5), (50.5, 30.5), (50.5, 60.5)]);
    assert!((7..49).all(|x| line.at(x, 30) == RED && line.at(x, 28) == GREY && line.at(x, 32) == GREY));
    assert!((32..59).all(|y| line.at(50, y) == RED && line.at(48, y) == GREY && line.at(52, y) == GREY));
}

#[test]
fn indices_of_both_sizes_and_indirect_draws() {
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, 64, false, CLEAR);
    let pipeline = pipeline(&vk, &canvas, &Setup::default());
    let points = [(0.0, 0.0), (16.0, 16.0), (48.0, 16.0), (16.0, 48.0), (48.0, 48.0)];
    let mesh = Mesh::new(&vk, 64, &points, 0.0, &[RED; 5]);
    let square = |x, y| if inside(x, y, [16, 16, 48, 48]) { RED } else { GREY };
    let wide: Vec<u8> = [9u32, 0, 1, 2, 2, 1, 3].iter().flat_map(|i| i.to_le_bytes()).collect();
    let narrow: Vec<u8> = [9u16, 1, 2, 3, 3, 2, 4].iter().flat_map(|i| i.to_le_bytes()).collect();
    for (ty, bytes, offset) in [(vk::IndexType::UINT32, &wide, 1), (vk::IndexType::UINT16, &narrow, 0)] {
        let indices = vk.buffer_with(bytes);
        let arguments: Vec<u8> =
            [6, 1, 1, offset as u32, 0].iter().flat_map(|i: &u32| i.to_le_bytes()).collect();
        let arguments = vk.buffer_with(&arguments);
        for indirect in [false, true] {
            let picture = canvas.draw(&vk, canvas.whole(), |device, commands| {
                bind(device, commands, pipeline, &canvas);
                mesh.bind(device, commands);
                // SAFETY: valid usage.
                unsafe {
                    device.cmd_bind_index_buffer(commands, indices.handle, 0, ty);
                    match indirect {
                        false => device.cmd_draw_indexed(commands, 6, 1, 1, offset, 0),
                        true => device.cmd_draw_indexed_indirect(commands, arguments.handle, 0, 1, 20),
                    }
                }
            });
            picture.expect(square);
        }
    }
}

#[test]
fn depth_and_stencil_decide() {
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, 64, true, CLEAR);
    let setup = Setup { depth: Some(vk::CompareOp::LESS), ..Setup::default() };
    let tested = pipeline(&vk, &canvas, &setup);
    let near = Mesh::rect(&vk, 64, [0.0, 0.0, 32.0, 64.0], 0.25, RED);
    let far = Mesh::rect(&vk, 64, [16.0, 0.0, 48.0, 64.0], 0.75, GREEN);
    let picture = canvas.draw(&vk, canvas.whole(), |device, commands| {
        draw(device, commands, tested, &canvas, &near);
        draw(device, commands, tested, &canvas, &far);
    });
    picture.expect(|x, _| [RED, GREEN, GREY][(x / 16).saturating_sub(1).min(2) as usize]);

    // Mark with the reference 1, then draw where the mark is.
    let face = |pass_op, compare_op| vk::StencilOpState {
        fail_op: vk::StencilOp::KEEP,
        pass_op,
        depth_fail_op: vk::StencilOp::KEEP,
        compare_op,
        compare_mask: 0xff,
        write_mask: 0xff,
        reference: 0,
    };
    let none = vk::PipelineColorBlendAttachmentState { color_write_mask: Default::default(), ..WRITE };
    let mark = face(vk::StencilOp::REPLACE, vk::CompareOp::ALWAYS);
    let mark = pipeline(&vk, &canvas, &Setup { stencil: Some(mark), blend: none, ..Setup::default() });
    let inside_mark = face(vk::StencilOp::KEEP, vk::CompareOp::EQUAL);
    let fill = pipeline(&vk, &canvas, &Setup { stencil: Some(inside_mark), ..Setup::default() });
    let picture = canvas.draw(&vk, canvas.whole(), |device, commands| {
        draw(device, commands, mark, &canvas, &near);
        draw(device, commands, fill, &canvas, &far);
    });
    picture.expect(|x, _| if (16..32).contains(&x) { GREEN } else { GREY });
}

#[test]
fn attachments_are_cleared_between_draws() {
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, 100, true, CLEAR);
    let setup = Setup { depth: Some(vk::CompareOp::LESS), ..Setup::default() };
    let pipeline = pipeline(&vk, &canvas, &setup);
    let red = Mesh::rect(&vk, 100, [0.0, 0.0, 100.0, 50.0], 0.25, RED);
    let blue = Mesh::rect(&vk, 100, [0.0, 0.0, 50.0, 100.0], 0.75, BLUE);
    let clear =
        |aspect_mask, clear_value| vk::ClearAttachment { aspect_mask, color_attachment: 0, clear_value };
    let green = clear(
        vk::ImageAspectFlags::COLOR,
        vk::ClearValue { color: vk::ClearColorValue { float32: color(GREEN) } },
    );
    let depth = vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 };
    let depth = clear(vk::ImageAspectFlags::DEPTH, vk::ClearValue { depth_stencil: depth });
    let rects = |x, y, w, h| [vk::ClearRect { rect: rect(x, y, w, h), base_array_layer: 0, layer_count: 1 }];
    let picture = canvas.draw(&vk, canvas.whole(), |device, commands| {
        draw(device, commands, pipeline, &canvas, &red);
        // SAFETY: valid usage.
        unsafe {
            device.cmd_clear_attachments(commands, &[green], &rects(60, 10, 20, 80));
            device.cmd_clear_attachments(commands, &[depth], &rects(0, 0, 100, 20));
        }
        draw(device, commands, pipeline, &canvas, &blue);
    });
    picture.expect(|x, y| match () {
        () if inside(x, y, [60, 10, 80, 90]) => GREEN,
        () if x < 50 && !(20..50).contains(&y) => BLUE,
        () if y < 50 => RED,
        () => GREY,
    });
}

#[test]
fn secondary_command_buffers_run_in_place() {
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, 64, false, CLEAR);
    let pipeline = pipeline(&vk, &canvas, &Setup::default());
    let mesh = Mesh::rect(&vk, 64, [0.0, 0.0, 64.0, 30.0], 0.0, RED);
    let secondary = vk.commands(vk::CommandBufferLevel::SECONDARY);
    let inheritance = vk::CommandBufferInheritanceInfo::default().render_pass(canvas.pass);
    let flags =
        vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE | vk::CommandBufferUsageFlags::SIMULTANEOUS_USE;
    let begin = vk::CommandBufferBeginInfo::default().flags(flags).inheritance_info(&inheritance);
    // SAFETY: valid usage.
    unsafe {
        vk.device.begin_command_buffer(secondary, &begin).unwrap();
        draw(&vk.device, secondary, pipeline, &canvas, &mesh);
        vk.device.end_command_buffer(secondary).unwrap();
        vk.run(|device, commands| {
            let contents = vk::SubpassContents::SECONDARY_COMMAND_BUFFERS;
            device.cmd_begin_render_pass(commands, &canvas.begin(canvas.whole()), contents);
            device.cmd_execute_commands(commands, &[secondary]);
            device.cmd_end_render_pass(commands);
        });
    }
    let picture = Picture { width: 64, words: vk.pixels(&canvas.image) };
    picture.expect(|_, y| if y < 30 { RED } else { GREY });
}

#[test]
fn transfers_move_and_fill() {
    let vk = Vk::new();
    let words: Vec<u8> = (0..64 * 48u32).flat_map(|n| (n * 0x0001_0203).to_le_bytes()).collect();
    let (src, middle) = (vk.buffer_with(&words), vk.buffer(words.len()));
    let usage = vk::ImageUsageFlags::empty();
    let (a, b) = (vk.image(RGBA, 64, 48, usage), vk.image(vk::Format::B8G8R8A8_UNORM, 100, 100, usage));
    let whole =
        vk::BufferImageCopy { image_subresource: COLOR, image_extent: extent(64, 48), ..Default::default() };
    let part = vk::ImageCopy {
        src_subresource: COLOR,
        src_offset: vk::Offset3D { x: 3, y: 5, z: 0 },
        dst_subresource: COLOR,
        dst_offset: vk::Offset3D { x: 33, y: 44, z: 0 },
        extent: extent(40, 30),
    };
    let range = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    };
    // SAFETY: valid usage.
    vk.run(|device, commands| unsafe {
        let copy = vk::BufferCopy { src_offset: 0, dst_offset: 0, size: words.len() as u64 };
        device.cmd_copy_buffer(commands, src.handle, middle.handle, &[copy]);
        device.cmd_fill_buffer(commands, middle.handle, 0, 16, 0x1111_1111);
        device.cmd_update_buffer(commands, middle.handle, 4, &[1, 2, 3, 4]);
        device.cmd_copy_buffer_to_image(commands, middle.handle, a.handle, GENERAL, &[whole]);
        let value = vk::ClearColorValue { float32: color(RED) };
        device.cmd_clear_color_image(commands, b.handle, GENERAL, &value, &[range]);
        device.cmd_copy_image(commands, a.handle, GENERAL, b.handle, GENERAL, &[part]);
    });
    let got = vk.pixels(&a);
    assert_eq!(got[..4], [0x1111_1111, 0x0403_0201, 0x1111_1111, 0x1111_1111]);
    assert!((4..64 * 48).all(|n| got[n as usize] == n * 0x0001_0203));
    let picture = Picture { width: 100, words: vk.pixels(&b) };
    picture.expect(|x, y| match inside(x, y, [33, 44, 73, 74]) {
        true => ((y - 44 + 5) * 64 + x - 33 + 3) * 0x0001_0203,
        // Red in the image's own order of bytes.
        false => 0xffff_0000,
    });
}

#[test]
fn blits_scale_and_mirror() {
    let vk = Vk::new();
    let usage = vk::ImageUsageFlags::empty();
    let (a, b) = (vk.image(RGBA, 2, 2, usage), vk.image(vk::Format::B8G8R8A8_UNORM, 40, 40, usage));
    let texels = vk.buffer_with(&[RED, GREEN, BLUE, GREY].map(u32::to_le_bytes).concat());
    let whole =
        vk::BufferImageCopy { image_subresource: COLOR, image_extent: extent(2, 2), ..Default::default() };
    let corner = |x, y, z| vk::Offset3D { x, y, z };
    let blit = vk::ImageBlit {
        src_subresource: COLOR,
        src_offsets: [corner(0, 0, 0), corner(2, 2, 1)],
        dst_subresource: COLOR,
        // Left and right are exchanged.
        dst_offsets: [corner(30, 10, 0), corner(10, 20, 1)],
    };
    // SAFETY: valid usage.
    vk.run(|device, commands| unsafe {
        device.cmd_copy_buffer_to_image(commands, texels.handle, a.handle, GENERAL, &[whole]);
        let filter = vk::Filter::NEAREST;
        device.cmd_blit_image(commands, a.handle, GENERAL, b.handle, GENERAL, &[blit], filter);
    });
    let picture = Picture { width: 40, words: vk.pixels(&b) };
    // Red and blue lie in each other's byte in the second image.
    picture.expect(|x, y| match (inside(x, y, [10, 10, 30, 20]), x < 20, y < 15) {
        (false, ..) => 0,
        (_, true, true) => GREEN,
        (_, false, true) => BLUE,
        (_, true, false) => GREY,
        (_, false, false) => RED,
    });
}

#[test]
fn events_timestamps_and_device_loss_behave() {
    let vk = Vk::new();
    let buffer = vk.buffer(16);
    // SAFETY: valid usage.
    unsafe {
        let device = &vk.device;
        let [host, queue] = [(); 2].map(|()| device.create_event(&Default::default(), None).unwrap());
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
        let pool = device.create_query_pool(&info, None).unwrap();
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let commands = vk.record(|device, commands| {
            device.cmd_reset_query_pool(commands, pool, 0, 1);
            device.cmd_wait_events(commands, &[host], all, all, &[], &[], &[]);
            device.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, 0);
            device.cmd_fill_buffer(commands, buffer.handle, 0, vk::WHOLE_SIZE, 7);
            device.cmd_set_event(commands, queue, all);
        });
        let fence = vk.submit(commands);
        assert_eq!(device.wait_for_fences(&[fence], true, 20_000_000), Err(vk::Result::TIMEOUT));
        assert!(!device.get_event_status(queue).unwrap());
        device.set_event(host).unwrap();
        device.queue_wait_idle(vk.queue).unwrap();
        assert!(device.get_fence_status(fence).unwrap() && device.get_event_status(queue).unwrap());
        assert_eq!(buffer.words(), [7; 4]);
        let mut time = [[5u64; 2]];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
        device.get_query_pool_results(pool, 0, &mut time, flags).unwrap();
        // Some time that was written, and available.
        assert!(time[0][0] != 5 && time[0][1] == 1, "{time:?}");
        // Memory that was never bound: the driver says so, leaves the command out and goes on.
        let info = vk::BufferCreateInfo::default().size(64).usage(vk::BufferUsageFlags::TRANSFER_DST);
        let nowhere = device.create_buffer(&info, None).unwrap();
        let commands = vk.record(|device, commands| {
            device.cmd_fill_buffer(commands, nowhere, 0, 64, 0);
            device.cmd_fill_buffer(commands, buffer.handle, 0, vk::WHOLE_SIZE, 9);
        });
        let fence = vk.submit(commands);
        device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        assert_eq!(buffer.words(), [9; 4]);
        device.destroy_buffer(nowhere, None);
    }
}

#[test]
fn attributes_may_be_more_than_arrays() {
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, 64, false, CLEAR);
    let (vertex, fragment) = (
        include_bytes!("../../tests/shaders/many_attributes.vert.spv").as_slice(),
        include_bytes!("../../tests/shaders/many_attributes.frag.spv").as_slice(),
    );
    let modules = [vertex, fragment].map(|spirv| spirv_module(&vk, spirv));
    let weight = (vk::Format::R32_SFLOAT, 4);
    let formats = [&[POSITION][..], &[weight; 11]].concat();
    let parts = Parts::new(&vk, modules[0], modules[1], &formats);
    let pipeline = build(&vk, &canvas, &Setup::default(), &parts).unwrap();
    // The first six vertices are not drawn.
    let points = [(8.0, 8.0), (40.0, 8.0), (40.0, 40.0), (8.0, 8.0), (40.0, 40.0), (8.0, 40.0)];
    let points = [[(0.0, 0.0); 6], points].concat();
    let positions = Mesh::new(&vk, 64, &points, 0.0, &[RED]).positions;
    let weights = |n: u16| {
        let data = (0..12).map(|vertex| if vertex < 6 { 0.0 } else { f32::from(n) / 55.0 });
        vk.buffer_with(&bytes(data)).handle
    };
    let buffers: Vec<vk::Buffer> = std::iter::once(positions.handle).chain((0..11).map(weights)).collect();
    let numbers: Vec<u8> = (0..6u16).flat_map(u16::to_le_bytes).collect();
    let indices = vk.buffer_with(&numbers);
    for indexed in [false, true] {
        let picture = canvas.draw(&vk, canvas.whole(), |device, commands| {
            bind(device, commands, pipeline, &canvas);
            // SAFETY: valid usage.
            unsafe {
                device.cmd_bind_vertex_buffers(commands, 0, &buffers, &[0; 12]);
                device.cmd_bind_index_buffer(commands, indices.handle, 0, vk::IndexType::UINT16);
                match indexed {
                    false => device.cmd_draw(commands, 6, 1, 6, 0),
                    true => device.cmd_draw_indexed(commands, 6, 1, 0, 6, 0),
                }
            }
        });
        // Fifty-five fifty-fifths, ten, five.
        picture.expect(|x, y| if inside(x, y, [8, 8, 40, 40]) { 0xff17_2eff } else { GREY });
    }
}

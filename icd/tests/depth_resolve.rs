//! VK_KHR_depth_stencil_resolve: samples whose values are known, resolved in every way.

mod support;

use ash::vk;
use support::canvas::{Canvas, Mesh, POSITION, Parts, Setup, build, draw, spirv_module};
use support::{Buffer, Image, Vk, extent, rect};
use vk::ResolveModeFlags as Mode;

const FORMAT: vk::Format = vk::Format::D24_UNORM_S8_UINT;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const BOTH: vk::ImageAspectFlags = vk::ImageAspectFlags::from_raw(
    vk::ImageAspectFlags::DEPTH.as_raw() | vk::ImageAspectFlags::STENCIL.as_raw(),
);
/// What the image that is resolved to holds before.
const BEFORE: vk::ClearDepthStencilValue = vk::ClearDepthStencilValue { depth: 0.0, stencil: 200 };

/// What a pass clears it to, where it does.
const CLEARED: vk::ClearDepthStencilValue = vk::ClearDepthStencilValue { depth: 0.125, stencil: 77 };

/// A pass over depth and stencil of four samples that ends with a resolve to what is loaded or cleared.
fn pass(
    vk: &Vk,
    edge: u32,
    images: [&Image; 2],
    [depth, stencil]: [Mode; 2],
    load: vk::AttachmentLoadOp,
) -> Canvas {
    let general = vk::ImageLayout::GENERAL;
    let attachment = |samples, load| {
        vk::AttachmentDescription2::default()
            .format(FORMAT)
            .samples(samples)
            .load_op(load)
            .stencil_load_op(load)
            .store_op(vk::AttachmentStoreOp::DONT_CARE)
            .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
            .final_layout(general)
    };
    let attachments =
        [attachment(FOUR, vk::AttachmentLoadOp::CLEAR), attachment(vk::SampleCountFlags::TYPE_1, load)];
    let reference =
        |index| vk::AttachmentReference2::default().attachment(index).layout(general).aspect_mask(BOTH);
    let (drawn, to) = (reference(0), reference(1));
    let mut resolve = vk::SubpassDescriptionDepthStencilResolve::default()
        .depth_resolve_mode(depth)
        .stencil_resolve_mode(stencil)
        .depth_stencil_resolve_attachment(&to);
    let subpasses =
        [vk::SubpassDescription2::default().depth_stencil_attachment(&drawn).push_next(&mut resolve)];
    let info = vk::RenderPassCreateInfo2::default().attachments(&attachments).subpasses(&subpasses);
    let passes = ash::khr::create_renderpass2::Device::new(&vk.instance, &vk.device);
    let views = images.map(|image| image.view);
    // SAFETY: valid usage.
    unsafe {
        let pass = passes.create_render_pass2(&info, None).unwrap();
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(edge)
            .height(edge)
            .layers(1);
        let framebuffer = vk.device.create_framebuffer(&info, None).unwrap();
        let depth_stencil = vk::ClearDepthStencilValue { depth: 1.0, stencil: 9 };
        let clears = [depth_stencil, CLEARED].map(|depth_stencil| vk::ClearValue { depth_stencil });
        Canvas { pass, framebuffer, image: *images[0], clears: clears.into() }
    }
}

fn aspect(vk: &Vk, edge: u32, image: &Image, aspect_mask: vk::ImageAspectFlags) -> Buffer {
    let bytes = if aspect_mask == vk::ImageAspectFlags::DEPTH { 4 } else { 1 };
    let buffer = vk.buffer((edge * edge) as usize * bytes);
    let region = vk::BufferImageCopy {
        image_subresource: vk::ImageSubresourceLayers { aspect_mask, layer_count: 1, ..Default::default() },
        image_extent: extent(edge, edge),
        ..Default::default()
    };
    // SAFETY: valid usage.
    vk.run(|device, commands| unsafe {
        let layout = vk::ImageLayout::GENERAL;
        device.cmd_copy_image_to_buffer(commands, image.handle, layout, buffer.handle, &[region]);
    });
    buffer
}

/// The CPU resolves what is small …
#[test]
fn every_way_finds_the_sample_that_it_names() {
    every_way(40, [5, 6, 27, 33]);
}

/// … and the QPUs what is worth a job.
#[test]
fn every_way_finds_the_sample_that_it_names_in_large_images() {
    every_way(150, [5, 6, 131, 143]);
}

fn every_way(edge: u32, area: [u32; 4]) {
    let vk = Vk::with(&[c"VK_KHR_create_renderpass2", c"VK_KHR_depth_stencil_resolve"]);
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
    let from = vk.image_of(FOUR, FORMAT, edge, edge, usage);
    let to = vk.image(FORMAT, edge, edge, usage);
    let vertex = spirv_module(&vk, include_bytes!("../../tests/shaders/pos_color.vert.spv"));
    let fragment = spirv_module(&vk, include_bytes!("../../tests/shaders/pos_color.frag.spv"));
    let parts = Parts::new(&vk, vertex, fragment, &[POSITION, support::canvas::FLOAT_COLOR]);
    let (load, clear) = (vk::AttachmentLoadOp::LOAD, vk::AttachmentLoadOp::CLEAR);
    let any = pass(&vk, edge, [&from, &to], [Mode::SAMPLE_ZERO; 2], load);
    // Sample 0 gets 0.5 and 10, sample 1 gets 0.25 and 5; the others keep 1.0 and 9.
    let write = |mask, stencil| {
        let face = vk::StencilOpState {
            pass_op: stencil,
            compare_op: vk::CompareOp::ALWAYS,
            compare_mask: 0xff,
            write_mask: 0xff,
            ..Default::default()
        };
        let setup = Setup {
            depth: Some(vk::CompareOp::ALWAYS),
            stencil: Some(face),
            samples: FOUR,
            mask,
            ..Setup::default()
        };
        build(&vk, &any, &setup, &parts).unwrap()
    };
    // The reference is 1.
    let pipelines =
        [write(0b0001, vk::StencilOp::INCREMENT_AND_CLAMP), write(0b0010, vk::StencilOp::REPLACE)];
    let whole = [0.0, 0.0, edge as f32, edge as f32];
    let meshes = [0.5, 0.25].map(|depth| Mesh::rect(&vk, edge, whole, depth, !0));
    let fraction = |value: f64| (value * f64::from(0xff_ffffu32)).round() as u32;
    let (old_depth, old_stencil) = (fraction(0.0), 200);
    for (modes, load, depth, stencil) in [
        ([Mode::SAMPLE_ZERO, Mode::SAMPLE_ZERO], load, fraction(0.5), 10),
        ([Mode::MIN, Mode::MIN], load, fraction(0.25), 1),
        ([Mode::MAX, Mode::MAX], clear, fraction(1.0), 10),
        ([Mode::AVERAGE, Mode::NONE], load, fraction(0.6875), old_stencil),
        ([Mode::NONE, Mode::MAX], load, old_depth, 10),
        ([Mode::MAX, Mode::MIN], load, fraction(1.0), 1),
        // What is not resolved stays as the pass found it, or cleared it.
        ([Mode::MIN, Mode::NONE], clear, fraction(0.25), 77),
        ([Mode::NONE, Mode::MIN], clear, fraction(0.125), 1),
    ] {
        let canvas = pass(&vk, edge, [&from, &to], modes, load);
        let [left, top, right, bottom] = area;
        let drawn = rect(left as i32, top as i32, right - left, bottom - top);
        let range = [vk::ImageSubresourceRange {
            aspect_mask: BOTH,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        }];
        // SAFETY: valid usage.
        vk.run(|device, commands| unsafe {
            let general = vk::ImageLayout::GENERAL;
            device.cmd_clear_depth_stencil_image(commands, to.handle, general, &BEFORE, &range);
            device.cmd_begin_render_pass(commands, &canvas.begin(drawn), vk::SubpassContents::INLINE);
            for (pipeline, mesh) in pipelines.into_iter().zip(&meshes) {
                draw(device, commands, pipeline, &canvas, mesh);
            }
            device.cmd_end_render_pass(commands);
        });
        let depths = aspect(&vk, edge, &to, vk::ImageAspectFlags::DEPTH).words();
        let stencils = aspect(&vk, edge, &to, vk::ImageAspectFlags::STENCIL).read();
        for (at, (got, got_stencil)) in (0..).zip(depths.into_iter().zip(stencils)) {
            let inside = support::canvas::inside(at % edge, at / edge, area);
            let (depth, stencil) = if inside { (depth, stencil) } else { (old_depth, old_stencil) };
            let (x, y) = (at % edge, at / edge);
            assert!(
                (got & 0xff_ffff).abs_diff(depth) <= 1,
                "{modes:?}: {got:#x}, not {depth:#x}, at {x}, {y}"
            );
            assert_eq!(got_stencil, stencil, "{modes:?} at {x}, {y}");
        }
    }
}

//! Images that lie as DRM format modifiers say: one device makes and fills them, another finds the same pixels, draws to them and
//! looks at them, also where rows are longer than they need to be.

mod support;

use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

use ash::vk;
use support::canvas::{Canvas, GREEN, Mesh, Parts, Setup, draw, pipeline, spirv_module};
use support::resources::{PUSH_BYTES, Resources};
use support::triangle::{POSITION4, UV, built, quad, waves};
use support::{COLOR, Image, RGBA, Vk, extent};

const LINEAR: u64 = 0;
/// DRM_FORMAT_MOD_BROADCOM_VC4_T_TILED.
const T_TILED: u64 = 7 << 56 | 1;
const DMA_BUF: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT;
const TILING: vk::ImageTiling = vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT;
const USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::TRANSFER_SRC.as_raw()
        | vk::ImageUsageFlags::TRANSFER_DST.as_raw()
        | vk::ImageUsageFlags::SAMPLED.as_raw()
        | vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw(),
);

fn sharing() -> Vk {
    Vk::of_version(
        vk::API_VERSION_1_2,
        &[
            c"VK_KHR_external_memory_fd",
            c"VK_EXT_external_memory_dma_buf",
            c"VK_EXT_image_drm_format_modifier",
        ],
    )
}

fn info<'a>(width: u32, height: u32) -> vk::ImageCreateInfo<'a> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(RGBA)
        .extent(extent(width, height))
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(TILING)
        .usage(USAGE)
}

/// An image that lies as one of the modifiers says.
fn listed(vk: &Vk, [width, height]: [u32; 2], modifiers: &[u64]) -> Result<vk::Image, vk::Result> {
    let mut list = vk::ImageDrmFormatModifierListCreateInfoEXT::default().drm_format_modifiers(modifiers);
    let mut external = vk::ExternalMemoryImageCreateInfo::default().handle_types(DMA_BUF);
    let info = info(width, height).push_next(&mut list).push_next(&mut external);
    // SAFETY: valid usage, or refused.
    unsafe { vk.device.create_image(&info, None) }
}

/// An image that lies as somebody else says.
fn explicit(
    vk: &Vk,
    [width, height]: [u32; 2],
    modifier: u64,
    planes: &[vk::SubresourceLayout],
) -> Result<vk::Image, vk::Result> {
    let mut explicit = vk::ImageDrmFormatModifierExplicitCreateInfoEXT::default()
        .drm_format_modifier(modifier)
        .plane_layouts(planes);
    let mut external = vk::ExternalMemoryImageCreateInfo::default().handle_types(DMA_BUF);
    let info = info(width, height).push_next(&mut explicit).push_next(&mut external);
    // SAFETY: valid usage, or refused.
    unsafe { vk.device.create_image(&info, None) }
}

fn modifier_of(vk: &Vk, image: vk::Image) -> u64 {
    let functions = ash::ext::image_drm_format_modifier::Device::new(&vk.instance, &vk.device);
    let mut out = vk::ImageDrmFormatModifierPropertiesEXT::default();
    // SAFETY: valid usage.
    unsafe { functions.get_image_drm_format_modifier_properties(image, &mut out) }.unwrap();
    out.drm_format_modifier
}

fn layout_of(vk: &Vk, image: vk::Image) -> vk::SubresourceLayout {
    let plane =
        vk::ImageSubresource { aspect_mask: vk::ImageAspectFlags::MEMORY_PLANE_0_EXT, ..Default::default() };
    // SAFETY: valid usage.
    unsafe { vk.device.get_image_subresource_layout(image, plane) }
}

/// Memory of `size` bytes that can leave.
fn exportable(vk: &Vk, size: u64) -> vk::DeviceMemory {
    let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(DMA_BUF);
    let info = vk::MemoryAllocateInfo::default().allocation_size(size).push_next(&mut export);
    // SAFETY: valid usage.
    unsafe { vk.device.allocate_memory(&info, None) }.unwrap()
}

/// Memory of one device on another.
fn passed(from: &Vk, memory: vk::DeviceMemory, to: &Vk, size: u64) -> vk::DeviceMemory {
    let functions = ash::khr::external_memory_fd::Device::new(&from.instance, &from.device);
    let get = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(DMA_BUF);
    // SAFETY: valid usage; the descriptor is new, and a success takes it over.
    unsafe {
        let fd = OwnedFd::from_raw_fd(functions.get_memory_fd(&get).unwrap());
        let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(DMA_BUF).fd(fd.as_raw_fd());
        let info = vk::MemoryAllocateInfo::default().allocation_size(size).push_next(&mut import);
        let memory = to.device.allocate_memory(&info, None).unwrap();
        let _ = fd.into_raw_fd();
        memory
    }
}

/// The image in memory, with a view.
fn bound(vk: &Vk, handle: vk::Image, memory: vk::DeviceMemory, [width, height]: [u32; 2]) -> Image {
    let range = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    };
    let view = vk::ImageViewCreateInfo::default().image(handle).view_type(vk::ImageViewType::TYPE_2D);
    let view = view.format(RGBA).subresource_range(range);
    // SAFETY: valid usage.
    unsafe {
        vk.device.bind_image_memory(handle, memory, 0).unwrap();
        Image { handle, view: vk.device.create_image_view(&view, None).unwrap(), width, height }
    }
}

fn size_of(vk: &Vk, image: vk::Image) -> u64 {
    // SAFETY: valid usage.
    unsafe { vk.device.get_image_memory_requirements(image) }.size
}

fn fill(vk: &Vk, image: &Image, texel: impl Fn(u32, u32) -> u32) -> Vec<u32> {
    let (width, height) = (image.width, image.height);
    let words: Vec<u32> = (0..width * height).map(|n| texel(n % width, n / width)).collect();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let buffer = vk.buffer_with(&bytes);
    let region = vk::BufferImageCopy {
        image_subresource: COLOR,
        image_extent: extent(width, height),
        ..Default::default()
    };
    let layout = vk::ImageLayout::GENERAL;
    // SAFETY: valid usage.
    vk.run(|device, commands| unsafe {
        device.cmd_copy_buffer_to_image(commands, buffer.handle, image.handle, layout, &[region]);
    });
    words
}

#[test]
fn what_one_device_fills_another_finds() {
    let (a, b) = (sharing(), sharing());
    for (size, offered, chosen) in [
        ([100, 75], &[LINEAR][..], LINEAR),
        ([100, 75], &[T_TILED], T_TILED),
        ([100, 75], &[LINEAR, T_TILED, 99], T_TILED),
        // So small that tiles are rows of utiles.
        ([7, 5], &[T_TILED], T_TILED),
        ([2048, 3], &[LINEAR], LINEAR),
    ] {
        let what = format!("{size:?} {offered:?}");
        let made = listed(&a, size, offered).unwrap();
        assert_eq!(modifier_of(&a, made), chosen, "{what}");
        let (layout, bytes) = (layout_of(&a, made), size_of(&a, made));
        assert!(layout.row_pitch >= u64::from(4 * size[0]) && layout.size <= bytes, "{what}: {layout:?}");
        let memory = exportable(&a, bytes);
        let made = bound(&a, made, memory, size);
        let words = fill(&a, &made, |x, y| 0x0101_0000_u32.wrapping_mul(y) + x);
        let seen = explicit(&b, size, chosen, &[layout]).unwrap();
        assert_eq!(modifier_of(&b, seen), chosen, "{what}");
        let seen = bound(&b, seen, passed(&a, memory, &b, bytes), size);
        assert!(b.pixels(&seen) == words, "{what}");
        let words = fill(&b, &seen, |x, y| 0x0100_0001_u32.wrapping_mul(x ^ y));
        assert!(a.pixels(&made) == words, "{what}");
    }
}

/// Rows of 320 bytes where 256 would do, from the second page on.
#[test]
fn longer_rows_are_looked_at_and_drawn_to() {
    const EDGE: u32 = 64;
    const PITCH: u64 = 320;
    const OFFSET: u64 = 4096;
    let vk = sharing();
    let place = vk::SubresourceLayout { offset: OFFSET, row_pitch: PITCH, ..Default::default() };
    let image = || {
        let handle = explicit(&vk, [EDGE; 2], LINEAR, &[place]).unwrap();
        let layout = layout_of(&vk, handle);
        assert_eq!((layout.offset, layout.row_pitch, layout.size), (OFFSET, PITCH, PITCH * u64::from(EDGE)));
        let memory = exportable(&vk, size_of(&vk, handle));
        (bound(&vk, handle, memory, [EDGE; 2]), memory)
    };
    // Texels lie where they should.
    let (source, memory) = image();
    let words = fill(&vk, &source, waves);
    // SAFETY: the queue is idle, the memory is larger.
    let row = unsafe {
        let flags = vk::MemoryMapFlags::empty();
        let mapped = vk.device.map_memory(memory, OFFSET + 3 * PITCH, PITCH, flags).unwrap();
        std::slice::from_raw_parts(mapped.cast::<u32>(), EDGE as usize).to_vec()
    };
    assert_eq!(row, words[3 * EDGE as usize..][..EDGE as usize]);
    // Programs sample them, and tiles are loaded from there and stored there, as elsewhere.
    let plain = listed(&vk, [EDGE; 2], &[LINEAR]).unwrap();
    let plain = bound(&vk, plain, exportable(&vk, size_of(&vk, plain)), [EDGE; 2]);
    fill(&vk, &plain, waves);
    let mut canvases = [(); 2].map(|()| Canvas::new(&vk, EDGE, true, vk::AttachmentLoadOp::CLEAR));
    let (target, _) = image();
    let depth =
        vk.image(vk::Format::D24_UNORM_S8_UINT, EDGE, EDGE, vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT);
    let views = [target.view, depth.view];
    let info = vk::FramebufferCreateInfo::default().render_pass(canvases[1].pass).attachments(&views);
    // SAFETY: valid usage.
    canvases[1].framebuffer =
        unsafe { vk.device.create_framebuffer(&info.width(EDGE).height(EDGE).layers(1), None) }.unwrap();
    canvases[1].image = target;
    let mesh = quad(&vk);
    let shows = |canvas: &Canvas, image: &Image| {
        let resources = Resources::new(&vk, image, &[0; 16]);
        let spirv = |bytes: &[u8]| spirv_module(&vk, bytes);
        let vertex = spirv(include_bytes!("../../tests/shaders/quad.vert.spv"));
        let fragment = spirv(include_bytes!("../../tests/shaders/quad.frag.spv"));
        let mut parts = Parts::new(&vk, vertex, fragment, &[POSITION4, UV]);
        parts.layout = resources.layout;
        let textured = built(&vk, canvas, &Setup::default(), &parts);
        let flat = pipeline(&vk, canvas, &Setup::default());
        let corner = Mesh::rect(&vk, EDGE, [0.0, 0.0, 9.0, 30.0], 0.2, GREEN);
        canvas.draw(&vk, canvas.whole(), |device, commands| {
            resources.bind(device, commands, &[0; PUSH_BYTES as usize]);
            draw(device, commands, textured, canvas, &mesh);
            draw(device, commands, flat, canvas, &corner);
        })
    };
    let [got, want] = [shows(&canvases[1], &source), shows(&canvases[0], &plain)];
    let first = got.words.iter().zip(&want.words).position(|(got, want)| got != want);
    assert_eq!(first, None);
    assert!(want.words.contains(&GREEN) && want.words.iter().any(|&word| word & 0xff > 0x80));
    // An offset alone.
    let shifted = vk::SubresourceLayout { row_pitch: 256, ..place };
    assert!(explicit(&vk, [EDGE; 2], LINEAR, &[shifted]).is_ok());
}

#[test]
fn layouts_that_cannot_be_are_refused() {
    let vk = sharing();
    let layout = |offset, row_pitch| vk::SubresourceLayout { offset, row_pitch, ..Default::default() };
    let wrong = Err(vk::Result::ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT);
    let edge = [64; 2];
    for (modifier, planes) in [
        (LINEAR, vec![layout(0, 252)]),
        (LINEAR, vec![layout(0, 0)]),
        (LINEAR, vec![layout(0, 260)]),
        (LINEAR, vec![layout(0, u64::MAX)]),
        (LINEAR, vec![layout(64, 256)]),
        (LINEAR, vec![layout(!4095, 256)]),
        (LINEAR, vec![]),
        (LINEAR, vec![layout(0, 256); 2]),
        (T_TILED, vec![layout(0, 512)]),
        (T_TILED, vec![layout(2048, 256)]),
    ] {
        assert_eq!(explicit(&vk, edge, modifier, &planes), wrong, "{modifier:#x} {planes:?}");
    }
    let unknown = Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
    assert_eq!(listed(&vk, edge, &[]), unknown);
    assert_eq!(listed(&vk, edge, &[5, u64::MAX]), unknown);
    assert_eq!(listed(&vk, [2049, 8], &[T_TILED, LINEAR]), unknown);
    assert_eq!(explicit(&vk, edge, 5, &[layout(0, 256)]), unknown);
    // Without either structure.
    // SAFETY: refused.
    assert!(unsafe { vk.device.create_image(&info(64, 64), None) }.is_err());
}

#[test]
fn formats_say_which_modifiers_they_have() {
    let vk = sharing();
    // SAFETY: valid usage.
    unsafe {
        let physical = vk.instance.enumerate_physical_devices().unwrap()[0];
        let list = |format| {
            let mut count = vk::DrmFormatModifierPropertiesListEXT::default();
            let mut out = vk::FormatProperties2::default().push_next(&mut count);
            vk.instance.get_physical_device_format_properties2(physical, format, &mut out);
            let mut all = vec![Default::default(); count.drm_format_modifier_count as usize];
            let mut list =
                vk::DrmFormatModifierPropertiesListEXT::default().drm_format_modifier_properties(&mut all);
            let mut out = vk::FormatProperties2::default().push_next(&mut list);
            vk.instance.get_physical_device_format_properties2(physical, format, &mut out);
            all
        };
        let all = list(RGBA);
        let modifiers: Vec<u64> = all.iter().map(|one| one.drm_format_modifier).collect();
        assert_eq!(modifiers, [T_TILED, LINEAR]);
        assert!(all.iter().all(|one| one.drm_format_modifier_plane_count == 1));
        assert!(list(vk::Format::D24_UNORM_S8_UINT).is_empty());
        // What a format lists, images can be.
        let answer = |modifier, usage| {
            let mut by =
                vk::PhysicalDeviceImageDrmFormatModifierInfoEXT::default().drm_format_modifier(modifier);
            let mut external = vk::PhysicalDeviceExternalImageFormatInfo::default().handle_type(DMA_BUF);
            let info = vk::PhysicalDeviceImageFormatInfo2::default()
                .format(RGBA)
                .ty(vk::ImageType::TYPE_2D)
                .tiling(TILING)
                .usage(usage)
                .push_next(&mut by)
                .push_next(&mut external);
            let mut shared = vk::ExternalImageFormatProperties::default();
            let mut out = vk::ImageFormatProperties2::default().push_next(&mut shared);
            vk.instance.get_physical_device_image_format_properties2(physical, &info, &mut out)?;
            let most = out.image_format_properties;
            assert_eq!((most.max_mip_levels, most.max_array_layers), (1, 1));
            assert_eq!(most.sample_counts, vk::SampleCountFlags::TYPE_1);
            Ok(shared.external_memory_properties.external_memory_features)
        };
        let both = vk::ExternalMemoryFeatureFlags::EXPORTABLE | vk::ExternalMemoryFeatureFlags::IMPORTABLE;
        assert_eq!([T_TILED, LINEAR].map(|modifier| answer(modifier, USAGE)), [Ok(both); 2]);
        let unknown = Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
        assert_eq!(answer(5, USAGE), unknown);
        let stored = vk::ImageUsageFlags::STORAGE;
        assert_eq!([T_TILED, LINEAR].map(|modifier| answer(modifier, stored)), [unknown, Ok(both)]);
    }
}

//! VK_KHR_maintenance4: what memory objects will need before they are made.

mod support;

use ash::vk;
use support::{RGBA, Vk, extent};

/// Sizes, alignments and types of requirements.
fn parts(r: vk::MemoryRequirements) -> (u64, u64, u32) {
    (r.size, r.alignment, r.memory_type_bits)
}

struct Asker {
    vk: Vk,
    functions: ash::khr::maintenance4::Device,
}

impl Asker {
    fn new() -> Asker {
        let vk = Vk::with(&[c"VK_KHR_maintenance4"]);
        let functions = ash::khr::maintenance4::Device::new(&vk.instance, &vk.device);
        Asker { vk, functions }
    }

    /// Of an image that is not made, and whether the chain was answered, too.
    fn of_image(&self, info: &vk::ImageCreateInfo<'_>) -> (u64, u64, u32) {
        let mut dedicated =
            vk::MemoryDedicatedRequirements { requires_dedicated_allocation: 7, ..Default::default() };
        let mut out = vk::MemoryRequirements2::default().push_next(&mut dedicated);
        let info = vk::DeviceImageMemoryRequirements::default().create_info(info);
        // SAFETY: valid usage.
        unsafe { self.functions.get_device_image_memory_requirements(&info, &mut out) };
        let requirements = out.memory_requirements;
        assert_eq!(dedicated.requires_dedicated_allocation, vk::FALSE);
        parts(requirements)
    }

    fn of_buffer(&self, size: u64) -> (u64, u64, u32) {
        let info = vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::VERTEX_BUFFER);
        let info = vk::DeviceBufferMemoryRequirements::default().create_info(&info);
        let mut out = vk::MemoryRequirements2::default();
        // SAFETY: valid usage.
        unsafe { self.functions.get_device_buffer_memory_requirements(&info, &mut out) };
        parts(out.memory_requirements)
    }
}

fn image(edge: u32, usage: vk::ImageUsageFlags) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(RGBA)
        .extent(extent(edge, edge))
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage)
}

#[test]
fn objects_need_what_was_said_before_they_were_made() {
    let asker = Asker::new();
    let device = &asker.vk.device;
    for size in [1, 63, 64, 65, 100_000] {
        let info = vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::VERTEX_BUFFER);
        // SAFETY: valid usage.
        let made = unsafe {
            let buffer = device.create_buffer(&info, None).unwrap();
            device.get_buffer_memory_requirements(buffer)
        };
        assert_eq!(asker.of_buffer(size), parts(made));
    }
    let sampled = vk::ImageUsageFlags::SAMPLED;
    let volume = vk::Extent3D { width: 20, height: 30, depth: 5 };
    let mut stencil =
        vk::ImageStencilUsageCreateInfo::default().stencil_usage(vk::ImageUsageFlags::INPUT_ATTACHMENT);
    let attachment = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
    let images = [
        image(100, sampled),
        image(128, sampled).mip_levels(8),
        image(33, sampled).array_layers(6).flags(vk::ImageCreateFlags::CUBE_COMPATIBLE),
        image(1, sampled).image_type(vk::ImageType::TYPE_3D).extent(volume),
        image(50, vk::ImageUsageFlags::TRANSFER_DST).tiling(vk::ImageTiling::LINEAR),
        image(70, vk::ImageUsageFlags::COLOR_ATTACHMENT).samples(vk::SampleCountFlags::TYPE_4),
        image(64, sampled).format(vk::Format::ETC2_R8G8B8_UNORM_BLOCK),
        image(40, attachment).format(vk::Format::D24_UNORM_S8_UINT).push_next(&mut stencil),
    ];
    let mut sizes = Vec::new();
    for info in images {
        // SAFETY: valid usage.
        let made = unsafe {
            let image = device.create_image(&info, None).unwrap();
            device.get_image_memory_requirements(image)
        };
        assert_eq!(asker.of_image(&info), parts(made), "{info:?}");
        sizes.push(made.size);
        let info = vk::DeviceImageMemoryRequirements::default().create_info(&info);
        // SAFETY: valid usage.
        let sparse = unsafe { asker.functions.get_device_image_sparse_memory_requirements_len(&info) };
        assert_eq!(sparse, 0);
    }
    sizes.dedup();
    assert_eq!(sizes.len(), images.len(), "{sizes:?}");
}

#[test]
fn what_no_heap_holds_has_a_size_and_what_cannot_be_has_no_memory() {
    let asker = Asker::new();
    // SAFETY: valid usage.
    let (heap, most) = unsafe {
        let physical = asker.vk.instance.enumerate_physical_devices().unwrap()[0];
        let heaps = asker.vk.instance.get_physical_device_memory_properties(physical).memory_heaps;
        let mut most = vk::PhysicalDeviceMaintenance4Properties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut most);
        asker.vk.instance.get_physical_device_properties2(physical, &mut properties);
        (heaps[0].size, most.max_buffer_size)
    };
    // The minimum of the specification, and no buffer that could be is above it.
    assert!(most >= heap.max(1 << 30), "{most} with a heap of {heap}");
    assert_eq!(asker.of_buffer(1 << 30), (1 << 30, 64, 0b11011));
    assert_eq!(asker.of_buffer(u64::MAX).0, u64::MAX);

    let sampled = vk::ImageUsageFlags::SAMPLED;
    let huge = vk::Extent3D { width: 2048, height: 2048, depth: 2048 };
    let huge = image(1, sampled).image_type(vk::ImageType::TYPE_3D).extent(huge);
    // SAFETY: valid usage.
    let refused = unsafe { asker.vk.device.create_image(&huge, None) };
    assert_eq!(refused, Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
    assert_eq!(asker.of_image(&huge), (4 << 33, 4096, 0b1011));

    let impossible = image(16, sampled).format(vk::Format::BC1_RGB_UNORM_BLOCK);
    let (size, _, types) = asker.of_image(&impossible);
    assert_eq!((size, types), (0, 0));
}

//! Presentation through the driver's own `vk_icdGetInstanceProcAddr`, without a window.

use std::ffi::CStr;
use std::path::PathBuf;

use ash::vk;
use vulkan_vc4::entry::vk_icdGetInstanceProcAddr;

const INSTANCE_EXTENSIONS: [&CStr; 2] = [ash::khr::surface::NAME, ash::ext::headless_surface::NAME];

const USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw() | vk::ImageUsageFlags::TRANSFER_DST.as_raw(),
);

/// A device that can present, its surface, and the functions.
struct Fixture {
    entry: ash::Entry,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    device: ash::Device,
    surface: vk::SurfaceKHR,
    surfaces: ash::khr::surface::Instance,
    swapchains: ash::khr::swapchain::Device,
    waits: ash::khr::present_wait::Device,
    times: ash::google::display_timing::Device,
}

fn capture() -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("presentation");
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

impl Fixture {
    fn new() -> Fixture {
        let functions = ash::StaticFn { get_instance_proc_addr: vk_icdGetInstanceProcAddr };
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
        let (instance_names, names) = (
            INSTANCE_EXTENSIONS.map(CStr::as_ptr),
            [
                ash::khr::swapchain::NAME,
                ash::khr::bind_memory2::NAME,
                ash::khr::device_group::NAME,
                ash::khr::swapchain_mutable_format::NAME,
                ash::khr::present_id::NAME,
                ash::khr::present_wait::NAME,
                ash::google::display_timing::NAME,
            ]
            .map(CStr::as_ptr),
        );
        // SAFETY: valid usage; the functions are the driver's own.
        unsafe {
            let entry = ash::Entry::from_static_fn(functions);
            let info = vk::InstanceCreateInfo::default().enabled_extension_names(&instance_names);
            let instance = entry.create_instance(&info, None).unwrap();
            let physical = instance.enumerate_physical_devices().unwrap()[0];
            let mut ids = vk::PhysicalDevicePresentIdFeaturesKHR::default().present_id(true);
            let mut waits = vk::PhysicalDevicePresentWaitFeaturesKHR::default().present_wait(true);
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&names)
                .push_next(&mut ids)
                .push_next(&mut waits);
            let device = instance.create_device(physical, &info, None).unwrap();
            let headless = ash::ext::headless_surface::Instance::new(&entry, &instance);
            let surface = headless.create_headless_surface(&Default::default(), None).unwrap();
            let surfaces = ash::khr::surface::Instance::new(&entry, &instance);
            let swapchains = ash::khr::swapchain::Device::new(&instance, &device);
            let waits = ash::khr::present_wait::Device::new(&instance, &device);
            let times = ash::google::display_timing::Device::new(&instance, &device);
            Fixture { entry, instance, physical, device, surface, surfaces, swapchains, waits, times }
        }
    }

    /// One whose images may be seen in other formats.
    fn swapchain(&self) -> vk::SwapchainKHR {
        let formats = [vk::Format::B8G8R8A8_UNORM, vk::Format::B8G8R8A8_SRGB];
        let mut formats = vk::ImageFormatListCreateInfo::default().view_formats(&formats);
        let info = vk::SwapchainCreateInfoKHR::default()
            .flags(vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT)
            .push_next(&mut formats)
            .surface(self.surface)
            .min_image_count(3)
            .image_format(vk::Format::B8G8R8A8_UNORM)
            .image_extent(vk::Extent2D { width: 30, height: 20 })
            .image_array_layers(1)
            .image_usage(USAGE)
            .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
            .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
            .present_mode(vk::PresentModeKHR::IMMEDIATE);
        // SAFETY: valid usage.
        unsafe { self.swapchains.create_swapchain(&info, None) }.unwrap()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        // SAFETY: tests destroy their swapchains first.
        unsafe {
            self.device.destroy_device(None);
            self.surfaces.destroy_surface(self.surface, None);
            self.instance.destroy_instance(None);
        }
    }
}

/// One test, because the environment and the capture belong to the process.
#[test]
fn a_headless_swapchain_presents_and_reports() {
    // SAFETY: this is the only test of the process and no thread runs yet.
    unsafe {
        std::env::set_var("VC4VK_DEVICE", "sim");
        std::env::set_var("VC4VK_CAPTURE", capture());
    }
    let fixture = Fixture::new();
    surface_queries(&fixture);
    present_frames(&fixture, 5);
    report();
}

fn surface_queries(fixture: &Fixture) {
    let Fixture { physical, surface, surfaces, .. } = fixture;
    // SAFETY: valid usage.
    unsafe {
        let offered = fixture.entry.enumerate_instance_extension_properties(None).unwrap();
        let offered: Vec<_> = offered.iter().map(|row| row.extension_name_as_c_str().unwrap()).collect();
        for name in [ash::khr::surface::NAME, ash::khr::xcb_surface::NAME, ash::khr::xlib_surface::NAME] {
            assert!(offered.contains(&name), "{name:?}");
        }
        assert!(surfaces.get_physical_device_surface_support(*physical, 0, *surface).unwrap());
        let capabilities = surfaces.get_physical_device_surface_capabilities(*physical, *surface).unwrap();
        assert_eq!((capabilities.min_image_count, capabilities.max_image_count), (2, 8));
        assert_eq!(capabilities.current_extent.width, u32::MAX);
        let usage = capabilities.supported_usage_flags;
        assert!(usage.contains(vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::INPUT_ATTACHMENT));
        assert!(
            !usage.contains(vk::ImageUsageFlags::STORAGE),
            "blue comes first, and kernels store red first"
        );
        let formats = surfaces.get_physical_device_surface_formats(*physical, *surface).unwrap();
        assert_eq!(formats[0].format, vk::Format::B8G8R8A8_UNORM);
        let group = ash::khr::device_group::Device::new(&fixture.instance, &fixture.device);
        let mut present = vk::DeviceGroupPresentCapabilitiesKHR::default();
        group.get_device_group_present_capabilities(&mut present).unwrap();
        assert_eq!((present.present_mask[0], present.present_mask[1]), (1, 0));
        assert_eq!(present.modes, vk::DeviceGroupPresentModeFlagsKHR::LOCAL);
        let modes = group.get_device_group_surface_present_modes(*surface).unwrap();
        assert_eq!(modes, vk::DeviceGroupPresentModeFlagsKHR::LOCAL);
        let modes = surfaces.get_physical_device_surface_present_modes(*physical, *surface).unwrap();
        assert_eq!(modes, [vk::PresentModeKHR::FIFO, vk::PresentModeKHR::IMMEDIATE]);
    }
}

fn present_frames(fixture: &Fixture, frames: u32) {
    let Fixture { device, swapchains, .. } = fixture;
    let swapchain = fixture.swapchain();
    // SAFETY: valid usage.
    unsafe {
        let queue = device.get_device_queue(0, 0);
        let fence = device.create_fence(&Default::default(), None).unwrap();
        // One a frame: a semaphore may only be handed to an acquire again once its wait has been executed.
        let semaphores: Vec<_> =
            (0..frames).map(|_| device.create_semaphore(&Default::default(), None).unwrap()).collect();
        let images = swapchains.get_swapchain_images(swapchain).unwrap();
        assert_eq!(images.len(), 3);
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        let info = vk::ImageViewCreateInfo::default()
            .image(images[0])
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(vk::Format::B8G8R8A8_SRGB)
            .subresource_range(range);
        let view = device.create_image_view(&info, None).unwrap();
        let aliases = [0, 1, 2].map(|index| alias(fixture, swapchain, index));
        paint(fixture, queue, &aliases);
        for (&semaphore, id) in semaphores.iter().zip(1..) {
            let (index, suboptimal) =
                swapchains.acquire_next_image(swapchain, u64::MAX, semaphore, fence).unwrap();
            assert!(!suboptimal);
            device.wait_for_fences(&[fence], true, 0).unwrap();
            device.reset_fences(&[fence]).unwrap();
            let (waits, chains, indices) = ([semaphore], [swapchain], [index]);
            let mut results = [vk::Result::NOT_READY];
            let ids = [id];
            let mut ids = vk::PresentIdKHR::default().present_ids(&ids);
            let times = [vk::PresentTimeGOOGLE { present_id: id as u32, desired_present_time: id }];
            let mut times = vk::PresentTimesInfoGOOGLE::default().times(&times);
            let info = vk::PresentInfoKHR::default()
                .push_next(&mut ids)
                .push_next(&mut times)
                .wait_semaphores(&waits)
                .swapchains(&chains)
                .image_indices(&indices)
                .results(&mut results);
            swapchains.queue_present(queue, &info).unwrap();
            assert_eq!(results, [vk::Result::SUCCESS]);
            fixture.waits.wait_for_present(swapchain, id, u64::MAX).unwrap();
        }
        let late = fixture.waits.wait_for_present(swapchain, u64::from(frames) + 1, 1_000_000);
        assert_eq!(late, Err(vk::Result::TIMEOUT));
        fixture.waits.wait_for_present(swapchain, 1, 0).unwrap();
        ask_for_times(fixture, swapchain, frames);
        device.device_wait_idle().unwrap();
        device.destroy_image_view(view, None);
        aliases.into_iter().for_each(|image| device.destroy_image(image, None));
        swapchains.destroy_swapchain(swapchain, None);
        semaphores.into_iter().for_each(|semaphore| device.destroy_semaphore(semaphore, None));
        device.destroy_fence(fence, None);
    }
}

/// Of so many pictures, whose numbers are from 1 on and by which they were to be seen.
unsafe fn ask_for_times(fixture: &Fixture, swapchain: vk::SwapchainKHR, frames: u32) {
    let (functions, device) = (fixture.times.fp(), fixture.device.handle());
    let mut refresh = vk::RefreshCycleDurationGOOGLE::default();
    let mut count = 0;
    let mut times = vec![vk::PastPresentationTimingGOOGLE::default(); frames as usize];
    // SAFETY: valid usage; there is room for as many as `count` says.
    unsafe {
        (functions.get_refresh_cycle_duration_google)(device, swapchain, &mut refresh).result().unwrap();
        assert_eq!(refresh.refresh_duration, 16_666_666);
        let ask = |count: &mut u32, out| {
            (functions.get_past_presentation_timing_google)(device, swapchain, count, out)
        };
        assert_eq!(ask(&mut count, std::ptr::null_mut()), vk::Result::SUCCESS);
        assert_eq!(count, frames);
        count = 2;
        assert_eq!(ask(&mut count, times.as_mut_ptr()), vk::Result::INCOMPLETE);
        assert_eq!(count, 2);
        count = frames;
        assert_eq!(ask(&mut count, times[2..].as_mut_ptr()), vk::Result::SUCCESS);
        assert_eq!(count, frames - 2);
        assert_eq!(ask(&mut count, std::ptr::null_mut()), vk::Result::SUCCESS);
        assert_eq!(count, 0, "each is told once");
    }
    for (id, time) in (1..).zip(&times) {
        assert_eq!((time.present_id, time.desired_present_time), (id, id.into()));
        assert!(time.earliest_present_time <= time.actual_present_time);
    }
    assert!(times.is_sorted_by_key(|time| time.actual_present_time));
}

/// An image in the memory of a swapchain's.
unsafe fn alias(fixture: &Fixture, swapchain: vk::SwapchainKHR, index: u32) -> vk::Image {
    let Fixture { instance, device, .. } = fixture;
    let bind2 = ash::khr::bind_memory2::Device::new(instance, device);
    let mut of = vk::ImageSwapchainCreateInfoKHR::default().swapchain(swapchain);
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::B8G8R8A8_UNORM)
        .extent(vk::Extent3D { width: 30, height: 20, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(USAGE)
        .push_next(&mut of);
    // SAFETY: valid usage but for the last index.
    unsafe {
        let image = device.create_image(&info, None).unwrap();
        let bind = |index| {
            let mut of =
                vk::BindImageMemorySwapchainInfoKHR::default().swapchain(swapchain).image_index(index);
            let info = [vk::BindImageMemoryInfo::default().image(image).push_next(&mut of)];
            (bind2.fp().bind_image_memory2_khr)(device.handle(), 1, info.as_ptr()).result()
        };
        assert_eq!(bind(3), Err(vk::Result::ERROR_VALIDATION_FAILED_EXT));
        bind(index).unwrap();
        image
    }
}

/// Makes images white.
unsafe fn paint(fixture: &Fixture, queue: vk::Queue, images: &[vk::Image]) {
    let device = &fixture.device;
    let range = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    };
    let white = vk::ClearColorValue { float32: [1.0; 4] };
    // SAFETY: valid usage.
    unsafe {
        let pool = device.create_command_pool(&Default::default(), None).unwrap();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info).unwrap();
        device.begin_command_buffer(commands[0], &Default::default()).unwrap();
        for image in images {
            device.cmd_clear_color_image(commands[0], *image, vk::ImageLayout::GENERAL, &white, &[range]);
        }
        device.end_command_buffer(commands[0]).unwrap();
        let info = vk::SubmitInfo::default().command_buffers(&commands);
        device.queue_submit(queue, &[info], vk::Fence::null()).unwrap();
        device.queue_wait_idle(queue).unwrap();
        device.destroy_command_pool(pool, None);
    }
}

fn report() {
    let picture = std::fs::read(capture().join("last.ppm")).unwrap();
    assert!(picture.starts_with(b"P6\n30 20\n255\n"));
    assert_eq!(picture.len(), 13 + 30 * 20 * 3);
    assert!(picture[13..].iter().all(|&byte| byte == 255), "the images that lie in its memory are white");
    let text = std::fs::read_to_string(capture().join("present.txt")).unwrap();
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).to_owned()
    };
    assert_eq!(field("frames"), "5");
    assert!(field("seconds").parse::<f64>().unwrap() >= 0.0);
    let first: f64 = field("first_frame_seconds").parse().unwrap();
    assert!(first > 0.0 && first < 600.0, "{first}");
    assert!(field("device").contains("VideoCore IV"), "{text}");
    assert!(field("peak_resident_kib").parse::<u64>().unwrap() > 0);
}

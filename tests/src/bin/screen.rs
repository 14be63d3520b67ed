//! Shows pictures on a display without a window system, by VK_KHR_display, as a client of the loader.
//!
//! `screen list`; `screen show FORMAT PRESENT_MODE PICTURE MODE FRAMES` (`screen show rgb565 fifo 320x240 640x480 10`);
//! `screen storm COUNT`; `screen restore`; `screen lend`. What was seen goes to the standard output, one `name=value` a line.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::process::ExitCode;

use ash::vk;
use drm::Device as _;
use drm::control::Device as _;

type Answer<T> = Result<T, String>;

/// The answer of a command by its name.
trait Named<T> {
    fn named(self, name: &str) -> Answer<T>;
}

impl<T> Named<T> for Result<T, vk::Result> {
    fn named(self, name: &str) -> Answer<T> {
        self.map_err(|error| format!("{name}={error:?}"))
    }
}

impl<T> Named<T> for std::io::Result<T> {
    fn named(self, name: &str) -> Answer<T> {
        self.map_err(|error| format!("{name}={error}"))
    }
}

/// `WIDTHxHEIGHT`.
fn size(text: &str) -> Answer<vk::Extent2D> {
    let size = text.split_once('x').and_then(|(width, height)| {
        Some(vk::Extent2D { width: width.parse().ok()?, height: height.parse().ok()? })
    });
    size.ok_or_else(|| format!("{text} is no WIDTHxHEIGHT"))
}

/// A device, its queue and its displays.
struct Machine {
    entry: ash::Entry,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    device: ash::Device,
    queue: vk::Queue,
    displays: ash::khr::display::Instance,
    surfaces: ash::khr::surface::Instance,
    swapchains: ash::khr::swapchain::Device,
    waits: ash::khr::present_wait::Device,
    times: ash::google::display_timing::Device,
    pool: vk::CommandPool,
}

// SAFETY (for every block of this file): handles come from this device and live until their `drop` or `end`; create infos
// point to locals that outlive the call; one thread uses them.
impl Machine {
    fn new() -> Answer<Machine> {
        // SAFETY: see above.
        unsafe {
            let entry = ash::Entry::load().map_err(|error| error.to_string())?;
            let names = [
                ash::khr::surface::NAME,
                ash::khr::display::NAME,
                ash::khr::get_physical_device_properties2::NAME,
                ash::ext::direct_mode_display::NAME,
                ash::ext::acquire_drm_display::NAME,
            ];
            let names = names.map(CStr::as_ptr);
            let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
            let instance = entry.create_instance(&info, None).named("vkCreateInstance")?;
            let physical = instance.enumerate_physical_devices().named("vkEnumeratePhysicalDevices")?;
            let physical = *physical.first().ok_or("no device")?;
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
            let names = [
                ash::khr::swapchain::NAME,
                ash::khr::present_id::NAME,
                ash::khr::present_wait::NAME,
                ash::google::display_timing::NAME,
            ];
            let names = names.map(CStr::as_ptr);
            let mut ids = vk::PhysicalDevicePresentIdFeaturesKHR::default().present_id(true);
            let mut waits = vk::PhysicalDevicePresentWaitFeaturesKHR::default().present_wait(true);
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&names)
                .push_next(&mut ids)
                .push_next(&mut waits);
            let device = instance.create_device(physical, &info, None).named("vkCreateDevice")?;
            let info = vk::CommandPoolCreateInfo::default();
            let pool = device.create_command_pool(&info, None).named("vkCreateCommandPool")?;
            Ok(Machine {
                queue: device.get_device_queue(0, 0),
                displays: ash::khr::display::Instance::new(&entry, &instance),
                surfaces: ash::khr::surface::Instance::new(&entry, &instance),
                swapchains: ash::khr::swapchain::Device::new(&instance, &device),
                waits: ash::khr::present_wait::Device::new(&instance, &device),
                times: ash::google::display_timing::Device::new(&instance, &device),
                entry,
                instance,
                physical,
                device,
                pool,
            })
        }
    }

    fn list(&self) -> Answer<()> {
        // SAFETY: see above; the name is terminated.
        unsafe {
            let displays = self.displays.get_physical_device_display_properties(self.physical);
            for display in displays.named("vkGetPhysicalDeviceDisplayPropertiesKHR")? {
                let name = CStr::from_ptr(display.display_name).to_string_lossy();
                let size = display.physical_resolution;
                println!("display={name} {}x{}", size.width, size.height);
                let modes = self.displays.get_display_mode_properties(self.physical, display.display);
                for mode in modes.named("vkGetDisplayModePropertiesKHR")? {
                    let vk::Extent2D { width, height } = mode.parameters.visible_region;
                    println!("mode={width}x{height} {}", mode.parameters.refresh_rate);
                }
                let strange = vk::DisplayModeParametersKHR {
                    visible_region: vk::Extent2D { width: 123, height: 45 },
                    refresh_rate: 60_000,
                };
                let info = vk::DisplayModeCreateInfoKHR::default().parameters(strange);
                let made = self.displays.create_display_mode(self.physical, display.display, &info, None);
                println!("strange_mode={:?}", made.err());
            }
            let planes = self.displays.get_physical_device_display_plane_properties(self.physical);
            for (index, plane) in (0..).zip(planes.named("vkGetPhysicalDeviceDisplayPlanePropertiesKHR")?) {
                let shown = plane.current_display != vk::DisplayKHR::null();
                let reached = self.displays.get_display_plane_supported_displays(self.physical, index);
                let reached = reached.named("vkGetDisplayPlaneSupportedDisplaysKHR")?.len();
                println!("plane={index} shown={shown} displays={reached}");
            }
        }
        Ok(())
    }

    fn display(&self) -> Answer<vk::DisplayKHR> {
        // SAFETY: see above.
        let displays = unsafe { self.displays.get_physical_device_display_properties(self.physical) };
        let displays = displays.named("vkGetPhysicalDeviceDisplayPropertiesKHR")?;
        Ok(displays.first().ok_or("displays=none")?.display)
    }

    /// A surface on the first display, in a mode of that size.
    fn surface(&self, picture: vk::Extent2D, mode: vk::Extent2D) -> Answer<vk::SurfaceKHR> {
        // SAFETY: see above.
        unsafe {
            let modes = self.displays.get_display_mode_properties(self.physical, self.display()?);
            let modes = modes.named("vkGetDisplayModePropertiesKHR")?;
            let found = modes.iter().find(|row| row.parameters.visible_region == mode);
            let info = vk::DisplaySurfaceCreateInfoKHR::default()
                .display_mode(found.ok_or("no mode of that size")?.display_mode)
                .transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
                .alpha_mode(vk::DisplayPlaneAlphaFlagsKHR::OPAQUE)
                .image_extent(picture);
            let surface = self.displays.create_display_plane_surface(&info, None);
            surface.named("vkCreateDisplayPlaneSurfaceKHR")
        }
    }

    fn swapchain(
        &self,
        surface: vk::SurfaceKHR,
        format: vk::Format,
        mode: vk::PresentModeKHR,
        old: vk::SwapchainKHR,
    ) -> Answer<vk::SwapchainKHR> {
        // SAFETY: see above.
        unsafe {
            let formats = self.surfaces.get_physical_device_surface_formats(self.physical, surface);
            let formats = formats.named("vkGetPhysicalDeviceSurfaceFormatsKHR")?;
            if !formats.iter().any(|row| row.format == format) {
                return Err(format!("{format:?} is not offered"));
            }
            let capabilities = self.surfaces.get_physical_device_surface_capabilities(self.physical, surface);
            let extent = capabilities.named("vkGetPhysicalDeviceSurfaceCapabilitiesKHR")?.current_extent;
            let info = vk::SwapchainCreateInfoKHR::default()
                .surface(surface)
                .min_image_count(3)
                .image_format(format)
                .image_extent(extent)
                .image_array_layers(1)
                .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT)
                .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
                .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
                .present_mode(mode)
                .old_swapchain(old);
            self.swapchains.create_swapchain(&info, None).named("vkCreateSwapchainKHR")
        }
    }

    /// Nanoseconds between two refreshes.
    fn refresh(&self, swapchain: vk::SwapchainKHR) -> Answer<u64> {
        let ask = self.times.fp().get_refresh_cycle_duration_google;
        let mut refresh = vk::RefreshCycleDurationGOOGLE::default();
        // SAFETY: see above.
        let asked = unsafe { ask(self.device.handle(), swapchain, &mut refresh) };
        asked.result().named("vkGetRefreshCycleDurationGOOGLE")?;
        Ok(refresh.refresh_duration)
    }

    /// When pictures were seen that nobody asked for yet.
    fn times(&self, swapchain: vk::SwapchainKHR) -> Answer<Vec<vk::PastPresentationTimingGOOGLE>> {
        let ask = self.times.fp().get_past_presentation_timing_google;
        let mut times = vec![vk::PastPresentationTimingGOOGLE::default(); 64];
        let mut count = times.len() as u32;
        // SAFETY: see above; there is room for so many.
        let asked = unsafe { ask(self.device.handle(), swapchain, &mut count, times.as_mut_ptr()) };
        asked.result().named("vkGetPastPresentationTimingGOOGLE")?;
        times.truncate(count as usize);
        Ok(times)
    }

    fn end(self) {
        // SAFETY: see above.
        unsafe {
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// What draws to the images of a swapchain.
struct Painter<'a> {
    machine: &'a Machine,
    extent: vk::Extent2D,
    /// Begins with what is there, or with a colour.
    passes: [vk::RenderPass; 2],
    targets: Vec<(vk::ImageView, vk::Framebuffer)>,
    swapchain: vk::SwapchainKHR,
    fence: vk::Fence,
    semaphore: vk::Semaphore,
}

/// Every third picture has one colour, which the GPU gives it; else none.
fn color(number: u32) -> Option<[f32; 4]> {
    let channel = |bit: u32| (number >> bit & 1) as f32;
    (number % 3 == 0).then(|| [channel(0), channel(1), channel(2), 1.0])
}

/// Red, green, blue and white quarters, and a black square that wanders: none of that depends on how channels are rounded.
fn rectangles(extent: vk::Extent2D, number: u32) -> Vec<([f32; 4], vk::Rect2D)> {
    let (width, height) = (extent.width / 2, extent.height / 2);
    let rect = |x: u32, y: u32, width: u32, height: u32| vk::Rect2D {
        offset: vk::Offset2D { x: x as i32, y: y as i32 },
        extent: vk::Extent2D { width, height },
    };
    vec![
        ([1.0, 0.0, 0.0, 1.0], rect(0, 0, width, height)),
        ([0.0, 1.0, 0.0, 1.0], rect(width, 0, extent.width - width, height)),
        ([0.0, 0.0, 1.0, 1.0], rect(0, height, width, extent.height - height)),
        ([1.0, 1.0, 1.0, 1.0], rect(width, height, extent.width - width, extent.height - height)),
        ([0.0, 0.0, 0.0, 1.0], rect(number * 8 % (extent.width - 8), height - 4, 8, 8)),
    ]
}

impl<'a> Painter<'a> {
    fn new(
        machine: &'a Machine,
        swapchain: vk::SwapchainKHR,
        format: vk::Format,
        extent: vk::Extent2D,
    ) -> Answer<Painter<'a>> {
        let device = &machine.device;
        let pass = |load_op| {
            let attachments = [vk::AttachmentDescription::default()
                .format(format)
                .samples(vk::SampleCountFlags::TYPE_1)
                .load_op(load_op)
                .store_op(vk::AttachmentStoreOp::STORE)
                .final_layout(vk::ImageLayout::PRESENT_SRC_KHR)];
            let layout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
            let colors = [vk::AttachmentReference { attachment: 0, layout }];
            let subpasses = [vk::SubpassDescription::default().color_attachments(&colors)];
            let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
            // SAFETY: see above.
            unsafe { device.create_render_pass(&info, None) }.named("vkCreateRenderPass")
        };
        let passes = [pass(vk::AttachmentLoadOp::DONT_CARE)?, pass(vk::AttachmentLoadOp::CLEAR)?];
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        // SAFETY: see above.
        unsafe {
            let images =
                machine.swapchains.get_swapchain_images(swapchain).named("vkGetSwapchainImagesKHR")?;
            let mut targets = Vec::new();
            for image in images {
                let info = vk::ImageViewCreateInfo::default()
                    .image(image)
                    .view_type(vk::ImageViewType::TYPE_2D)
                    .format(format)
                    .subresource_range(range);
                let view = device.create_image_view(&info, None).named("vkCreateImageView")?;
                let views = [view];
                let info = vk::FramebufferCreateInfo::default()
                    .render_pass(passes[0])
                    .attachments(&views)
                    .width(extent.width)
                    .height(extent.height)
                    .layers(1);
                targets.push((view, device.create_framebuffer(&info, None).named("vkCreateFramebuffer")?));
            }
            let fence = device.create_fence(&Default::default(), None).named("vkCreateFence")?;
            let semaphore = device.create_semaphore(&Default::default(), None).named("vkCreateSemaphore")?;
            Ok(Painter { machine, extent, passes, targets, swapchain, fence, semaphore })
        }
    }

    /// Draws picture `number`, from 1, and presents it, at a time of CLOCK_MONOTONIC in nanoseconds or as soon as can be.
    fn paint(&self, number: u32, desired: u64) -> Answer<()> {
        let Machine { device, swapchains, queue, pool, .. } = self.machine;
        // SAFETY: see above.
        unsafe {
            let acquired = swapchains.acquire_next_image(
                self.swapchain,
                10_000_000_000,
                vk::Semaphore::null(),
                self.fence,
            );
            let (index, _) = acquired.named("vkAcquireNextImageKHR")?;
            device.wait_for_fences(&[self.fence], true, u64::MAX).named("vkWaitForFences")?;
            device.reset_fences(&[self.fence]).named("vkResetFences")?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(*pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info).named("vkAllocateCommandBuffers")?;
            let buffer = commands[0];
            device.begin_command_buffer(buffer, &Default::default()).named("vkBeginCommandBuffer")?;
            let color = color(number);
            let clears =
                [vk::ClearValue { color: vk::ClearColorValue { float32: color.unwrap_or_default() } }];
            let begin = vk::RenderPassBeginInfo::default()
                .render_pass(self.passes[usize::from(color.is_some())])
                .clear_values(&clears)
                .framebuffer(self.targets[index as usize].1)
                .render_area(self.extent.into());
            device.cmd_begin_render_pass(buffer, &begin, vk::SubpassContents::INLINE);
            let rectangles = rectangles(self.extent, number).into_iter().filter(|_| color.is_none());
            for (float32, rect) in rectangles {
                let clear = vk::ClearAttachment {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    color_attachment: 0,
                    clear_value: vk::ClearValue { color: vk::ClearColorValue { float32 } },
                };
                let rect = vk::ClearRect { rect, base_array_layer: 0, layer_count: 1 };
                device.cmd_clear_attachments(buffer, &[clear], &[rect]);
            }
            device.cmd_end_render_pass(buffer);
            device.end_command_buffer(buffer).named("vkEndCommandBuffer")?;
            let signals = [self.semaphore];
            let submit = vk::SubmitInfo::default().command_buffers(&commands).signal_semaphores(&signals);
            device.queue_submit(*queue, &[submit], self.fence).named("vkQueueSubmit")?;
            let (chains, indices, ids) = ([self.swapchain], [index], [u64::from(number)]);
            let mut ids = vk::PresentIdKHR::default().present_ids(&ids);
            let times = [vk::PresentTimeGOOGLE { present_id: number, desired_present_time: desired }];
            let mut times = vk::PresentTimesInfoGOOGLE::default().times(&times);
            let info = vk::PresentInfoKHR::default()
                .wait_semaphores(&signals)
                .swapchains(&chains)
                .image_indices(&indices)
                .push_next(&mut ids)
                .push_next(&mut times);
            swapchains.queue_present(*queue, &info).named("vkQueuePresentKHR")?;
            // Present and submission were handed over together: the next frame may use the objects again.
            device.wait_for_fences(&[self.fence], true, u64::MAX).named("vkWaitForFences")?;
            device.reset_fences(&[self.fence]).named("vkResetFences")?;
            device.free_command_buffers(*pool, &commands);
        }
        Ok(())
    }

    fn wait(&self, number: u32) -> Answer<()> {
        // SAFETY: see above.
        let waited =
            unsafe { self.machine.waits.wait_for_present(self.swapchain, number.into(), 10_000_000_000) };
        waited.named("vkWaitForPresentKHR")
    }

    fn end(self) {
        let device = &self.machine.device;
        // SAFETY: see above.
        unsafe {
            let _ = device.device_wait_idle();
            for (view, framebuffer) in self.targets {
                device.destroy_framebuffer(framebuffer, None);
                device.destroy_image_view(view, None);
            }
            self.passes.into_iter().for_each(|pass| device.destroy_render_pass(pass, None));
            device.destroy_fence(self.fence, None);
            device.destroy_semaphore(self.semaphore, None);
            self.machine.swapchains.destroy_swapchain(self.swapchain, None);
        }
    }
}

fn format_of(name: &str) -> Answer<vk::Format> {
    match name {
        "bgra" => Ok(vk::Format::B8G8R8A8_UNORM),
        "rgba" => Ok(vk::Format::R8G8B8A8_UNORM),
        "srgb" => Ok(vk::Format::B8G8R8A8_SRGB),
        "rgb565" => Ok(vk::Format::R5G6B5_UNORM_PACK16),
        _ => Err(format!("{name} is no format")),
    }
}

fn mode_of(name: &str) -> Answer<vk::PresentModeKHR> {
    match name {
        "fifo" => Ok(vk::PresentModeKHR::FIFO),
        "mailbox" => Ok(vk::PresentModeKHR::MAILBOX),
        "immediate" => Ok(vk::PresentModeKHR::IMMEDIATE),
        _ => Err(format!("{name} is no present mode")),
    }
}

/// Draws `frames` pictures, the last of which is on the screen when it ends.
fn show(
    machine: &Machine,
    (format, mode): (vk::Format, vk::PresentModeKHR),
    (picture, screen): (vk::Extent2D, vk::Extent2D),
    frames: u32,
) -> Answer<()> {
    let surface = machine.surface(picture, screen)?;
    let done = machine.swapchain(surface, format, mode, vk::SwapchainKHR::null()).and_then(|swapchain| {
        let painter = Painter::new(machine, swapchain, format, picture)?;
        let start = std::time::Instant::now();
        let done =
            (1..=frames).try_for_each(|number| painter.paint(number, 0)).and_then(|()| painter.wait(frames));
        println!("milliseconds={}", start.elapsed().as_millis());
        painter.end();
        done
    });
    // SAFETY: see above.
    unsafe { machine.surfaces.destroy_surface(surface, None) };
    done
}

/// Presents pictures that are to be seen every third refresh, and says when they were; the first one is to be seen at once.
fn pace(machine: &Machine, frames: u32) -> Answer<()> {
    let (picture, format) = (vk::Extent2D { width: 640, height: 480 }, vk::Format::B8G8R8A8_UNORM);
    let surface = machine.surface(picture, picture)?;
    let swapchain = machine.swapchain(surface, format, vk::PresentModeKHR::FIFO, vk::SwapchainKHR::null())?;
    let painter = Painter::new(machine, swapchain, format, picture)?;
    painter.paint(1, 0)?;
    painter.wait(1)?;
    let first = machine.times(swapchain)?;
    let first = first.first().ok_or("times=none")?;
    let refresh = machine.refresh(swapchain)?;
    println!("refresh={refresh}");
    for number in 2..=frames {
        painter.paint(number, first.actual_present_time + u64::from(number - 1) * 3 * refresh)?;
    }
    painter.wait(frames)?;
    for time in std::iter::once(first).chain(&machine.times(swapchain)?) {
        let vk::PastPresentationTimingGOOGLE {
            present_id, desired_present_time, actual_present_time, ..
        } = time;
        println!(
            "time={present_id} {desired_present_time} {} {actual_present_time}",
            time.earliest_present_time
        );
    }
    painter.end();
    // SAFETY: see above.
    unsafe { machine.surfaces.destroy_surface(surface, None) };
    Ok(())
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Makes swapchains again and again, with and without a predecessor, and now and then a surface.
fn storm(machine: &Machine, count: u32) -> Answer<()> {
    let (format, mode) = (vk::Format::B8G8R8A8_UNORM, vk::PresentModeKHR::FIFO);
    let round = |count: u32| -> Answer<()> {
        let screen = vk::Extent2D { width: 640, height: 480 };
        let sizes =
            [screen, vk::Extent2D { width: 320, height: 200 }, vk::Extent2D { width: 33, height: 31 }];
        for number in 0..count {
            let picture = sizes[number as usize % sizes.len()];
            let surface = machine.surface(picture, screen)?;
            let first = machine.swapchain(surface, format, mode, vk::SwapchainKHR::null())?;
            let first = Painter::new(machine, first, format, picture)?;
            let shows = number % 16 == 0;
            if shows {
                first.paint(1, 0)?;
            }
            let second = machine.swapchain(surface, format, mode, first.swapchain)?;
            let second = Painter::new(machine, second, format, picture)?;
            first.end();
            if shows {
                second.paint(1, 0)?;
                second.wait(1)?;
            }
            second.end();
            // SAFETY: see above.
            unsafe { machine.surfaces.destroy_surface(surface, None) };
        }
        Ok(())
    };
    // What is made once is there after the first ones.
    round(16)?;
    let before = descriptors();
    round(count)?;
    println!("descriptors={before} {}", descriptors());
    Ok(())
}

/// Another client of the display.
struct Card(File);

impl AsFd for Card {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
impl drm::Device for Card {}
impl drm::control::Device for Card {}

fn card() -> Answer<Card> {
    File::options().read(true).write(true).open("/dev/dri/card0").map(Card).named("open")
}

/// Whether the screen shows again what another program had put there.
fn restore() -> Answer<()> {
    let card = card()?;
    let mut dumb = card.create_dumb_buffer((640, 480), drm::buffer::DrmFourcc::Xrgb8888, 32).named("dumb")?;
    card.map_dumb_buffer(&mut dumb).named("map")?.as_mut().fill(0x55);
    let framebuffer = card.add_framebuffer(&dumb, 24, 32).named("framebuffer")?;
    let resources = card.resource_handles().named("resources")?;
    let (crtc, connector) = (resources.crtcs()[0], resources.connectors()[0]);
    let modes = card.get_modes(connector).named("modes")?;
    let mode = modes.into_iter().find(|mode| mode.size() == (640, 480)).ok_or("no mode")?;
    card.set_crtc(crtc, Some(framebuffer), (0, 0), &[connector], Some(mode)).named("set_crtc")?;
    let picture = vk::Extent2D { width: 640, height: 480 };
    let kind = (vk::Format::B8G8R8A8_UNORM, vk::PresentModeKHR::FIFO);
    let machine = Machine::new()?;
    println!("while_master={:?}", show(&machine, kind, (picture, picture), 1).err());
    card.release_master_lock().named("release")?;
    show(&machine, kind, (picture, picture), 3)?;
    let now = card.get_crtc(crtc).named("get_crtc")?;
    println!("restored={}", now.framebuffer() == Some(framebuffer) && now.mode() == Some(mode));
    // It can be master again: the driver is none any more.
    println!("master_again={}", card.acquire_master_lock().is_ok());
    machine.end();
    Ok(())
}

/// Presents with a descriptor of a master's.
fn lend() -> Answer<()> {
    let card = card()?;
    card.acquire_master_lock().named("master")?;
    let connector = u32::from(card.resource_handles().named("resources")?.connectors()[0]);
    let machine = Machine::new()?;
    let acquire = ash::ext::acquire_drm_display::Instance::new(&machine.entry, &machine.instance);
    let direct = ash::ext::direct_mode_display::Instance::new(&machine.entry, &machine.instance);
    let (picture, fd) = (vk::Extent2D { width: 640, height: 480 }, card.0.as_raw_fd());
    let kind = (vk::Format::B8G8R8A8_UNORM, vk::PresentModeKHR::FIFO);
    // SAFETY: see above; the descriptor is open.
    unsafe {
        println!("unknown={:?}", acquire.get_drm_display(machine.physical, fd, 9999).err());
        let display = acquire.get_drm_display(machine.physical, fd, connector).named("vkGetDrmDisplayEXT")?;
        println!("same={}", display == machine.display()?);
        let strange = File::open("/dev/null").named("open")?;
        println!(
            "strange={:?}",
            acquire.acquire_drm_display(machine.physical, strange.as_raw_fd(), display).err()
        );
        acquire.acquire_drm_display(machine.physical, fd, display).named("vkAcquireDrmDisplayEXT")?;
        println!("twice={:?}", acquire.acquire_drm_display(machine.physical, fd, display).err());
        show(&machine, kind, (picture, picture), 3)?;
        (direct.fp().release_display_ext)(machine.physical, display).result().named("vkReleaseDisplayEXT")?;
    }
    println!("still_master={}", card.acquire_master_lock().is_ok());
    println!("after_release={:?}", show(&machine, kind, (picture, picture), 1).err());
    machine.end();
    Ok(())
}

fn run(arguments: &[&str]) -> Answer<()> {
    match arguments {
        ["restore"] => return restore(),
        ["lend"] => return lend(),
        _ => {}
    }
    let machine = Machine::new()?;
    match arguments {
        ["list"] => machine.list()?,
        ["show", format, mode, picture, screen, frames] => {
            let kind = (format_of(format)?, mode_of(mode)?);
            let frames = frames.parse().map_err(|_| format!("{frames} is no number"))?;
            show(&machine, kind, (size(picture)?, size(screen)?), frames)?;
        }
        ["pace", frames] => {
            pace(&machine, frames.parse().map_err(|_| format!("{frames} is no number"))?)?;
        }
        ["storm", count] => storm(&machine, count.parse().map_err(|_| format!("{count} is no number"))?)?,
        _ => {
            return Err(
                "usage: screen list|show FORMAT PRESENT PICTURE MODE FRAMES|pace FRAMES|storm COUNT|restore|lend"
                    .into(),
            );
        }
    }
    machine.end();
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

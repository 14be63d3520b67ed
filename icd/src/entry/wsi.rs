//! VK_KHR_surface with its platforms, and VK_KHR_swapchain.

use std::sync::Arc;

use ash::vk;

use super::guard::{entry_points, guard_void};
use super::read::{destroy, enumerate, enumerate_into, extension, give, objects, slice};
use crate::execution::open_device::OpenDevice;
use crate::execution::queue::Queue;
use crate::execution::work::Call;
use crate::foundation::error::Error;
use crate::foundation::extension::Extension;
use crate::foundation::handle::{self, HostAllocator, get, opt};
use crate::objects::instance::Instance;
use crate::objects::semaphore::Semaphore;
use crate::objects::sync::Fence;
use crate::presentation::{self, Acquired, Fit, Handling, Present, Surface, Swapchain, Tags};

fn bool32(yes: bool) -> vk::Bool32 {
    if yes { vk::TRUE } else { vk::FALSE }
}

/// The only queue family presents.
fn check_family(family: u32) -> Result<(), Error> {
    match family {
        0 => Ok(()),
        _ => Err(Error::InvalidUse(format!("queue family {family}; the device has only family 0"))),
    }
}

/// As `entry_points!`, for commands that answer with a VkBool32: no when the guard catches something.
macro_rules! presentation_support {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $presents:path;)*) => {$(
        #[allow(non_snake_case, reason = "the API's own name")]
        pub(crate) unsafe extern "system" fn $name(
            _device: vk::PhysicalDevice,
            family: u32,
            $($argument: $type,)*
        ) -> vk::Bool32 {
            let mut answer = vk::FALSE;
            guard_void(stringify!($name), || {
                // SAFETY: the connection is live by valid usage.
                answer = bool32(family == 0 && unsafe { $presents($($argument),*) });
            });
            answer
        }
    )*};
}

presentation_support! {
    fn vkGetPhysicalDeviceXcbPresentationSupportKHR(
        connection: *mut vk::xcb_connection_t,
        visual: vk::xcb_visualid_t
    ) presentation::xcb_presents;
    fn vkGetPhysicalDeviceXlibPresentationSupportKHR(
        display: *mut vk::Display,
        visual: vk::VisualID
    ) presentation::xlib_presents;
    fn vkGetPhysicalDeviceWaylandPresentationSupportKHR(
        display: *mut vk::wl_display
    ) presentation::wayland_presents;
}

/// Runs `vkQueuePresentKHR`: every picture goes to the queue; the worst answer is the command's.
unsafe fn present(queue: &Queue, info: &vk::PresentInfoKHR<'_>) -> Result<vk::Result, Error> {
    // SAFETY: the caller passes a valid structure with live handles.
    let (waits, swapchains, indices, results) = unsafe {
        (
            objects::<Semaphore>(info.p_wait_semaphores, info.wait_semaphore_count),
            slice(info.p_swapchains, info.swapchain_count),
            slice(info.p_image_indices, info.swapchain_count),
            info.p_results,
        )
    };
    // SAFETY: as above; without identifiers all are 0.
    let ids = unsafe {
        let ids = extension::<vk::PresentIdKHR<'_>>(info.p_next);
        ids.map_or(&[][..], |ids| slice(ids.p_present_ids, ids.swapchain_count))
    };
    let ids = ids.iter().copied().chain(std::iter::repeat(0));
    // SAFETY: as above; without times no picture has any.
    let times = unsafe {
        let times = extension::<vk::PresentTimesInfoGOOGLE<'_>>(info.p_next);
        times.map_or(&[][..], |times| slice(times.p_times, times.swapchain_count))
    };
    let times = times.iter().copied().map(Some).chain(std::iter::repeat(None));
    let tags = ids.zip(times).map(|(id, time)| Tags { id, time });
    let mut presents = Vec::new();
    let mut answers = Vec::new();
    for ((handle, index), tags) in swapchains.iter().zip(indices).zip(tags) {
        // SAFETY: as above.
        match unsafe { get::<Swapchain>(*handle) }.present(*index, tags) {
            Ok((present, answer)) => {
                presents.push(present);
                answers.push(answer);
            }
            Err(error) => answers.push(Err(error)),
        }
    }
    let handlings: Vec<Handling> = presents.iter().map(Present::handling).collect();
    let run: Call = Box::new(|last| presents.into_iter().for_each(|present| present.hand_over(last)));
    let queued = queue.call(&waits, run);
    for (at, answer) in answers.iter().enumerate().filter(|_| !results.is_null()) {
        let answer = queued.as_ref().map_err(Error::result).and(answer.as_ref().map_err(Error::result));
        // SAFETY: room for one result per swapchain by valid usage.
        unsafe { results.add(at).write(answer.map_or_else(|error| error, |fit| fit.result())) };
    }
    queued?;
    handlings.into_iter().for_each(Handling::wait);
    let suboptimal = answers.iter().any(|answer| matches!(answer, Ok(Fit::Suboptimal)));
    let worst = answers.into_iter().filter_map(Result::err).max_by_key(severity);
    let fit = if suboptimal { Fit::Suboptimal } else { Fit::Good };
    worst.map_or(Ok(fit.result()), Err)
}

/// Hands an image out and signals what waits for it.
fn acquire(
    swapchain: &Swapchain,
    timeout: u64,
    semaphore: Option<&Arc<Semaphore>>,
    fence: Option<&Arc<Fence>>,
    out: &mut u32,
) -> Result<vk::Result, Error> {
    let (index, result) = match swapchain.acquire(timeout)? {
        Acquired::NotReady => return Ok(vk::Result::NOT_READY),
        Acquired::Timeout => return Ok(vk::Result::TIMEOUT),
        Acquired::Image(index) => (index, vk::Result::SUCCESS),
        Acquired::Suboptimal(index) => (index, vk::Result::SUBOPTIMAL_KHR),
    };
    *out = index;
    // Nothing reads the image any more, so there is nothing left to wait for.
    if let Some(semaphore) = semaphore {
        semaphore.signal(0).give();
    }
    if let Some(fence) = fence {
        fence.signal();
    }
    Ok(result)
}

/// Hands a surface to an application, whose instance says what it knows of.
///
/// # Safety
/// As for [`give`].
pub(super) unsafe fn give_surface(
    instance: &Instance,
    callbacks: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::SurfaceKHR,
    surface: Surface,
) -> Result<(), Error> {
    let surface = surface.of_spaces(instance.has(Extension::SwapchainColorspace));
    // SAFETY: by the contract.
    unsafe { give(instance.allocator(), callbacks, out, surface) }
}

/// Orders what presents answer.
fn severity(error: &Error) -> u32 {
    match error.result() {
        vk::Result::ERROR_OUT_OF_DATE_KHR => 0,
        vk::Result::ERROR_SURFACE_LOST_KHR => 1,
        _ => 2,
    }
}

entry_points! {
    fn vkCreateXcbSurfaceKHR(
        instance: vk::Instance,
        info: *const vk::XcbSurfaceCreateInfoKHR<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::SurfaceKHR,
    ) -> vk::Result {
        let surface = Surface::xcb((*info).connection, (*info).window)?;
        give_surface(get::<Instance>(instance), callbacks, out, surface)
    }

    fn vkCreateXlibSurfaceKHR(
        instance: vk::Instance,
        info: *const vk::XlibSurfaceCreateInfoKHR<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::SurfaceKHR,
    ) -> vk::Result {
        let surface = Surface::xlib((*info).dpy, (*info).window)?;
        give_surface(get::<Instance>(instance), callbacks, out, surface)
    }

    fn vkCreateWaylandSurfaceKHR(
        instance: vk::Instance,
        info: *const vk::WaylandSurfaceCreateInfoKHR<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::SurfaceKHR,
    ) -> vk::Result {
        let surface = Surface::wayland((*info).display, (*info).surface)?;
        give_surface(get::<Instance>(instance), callbacks, out, surface)
    }

    fn vkCreateHeadlessSurfaceEXT(
        instance: vk::Instance,
        _info: *const vk::HeadlessSurfaceCreateInfoEXT<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::SurfaceKHR,
    ) -> vk::Result {
        give_surface(get::<Instance>(instance), callbacks, out, Surface::headless())
    }

    fn vkDestroySurfaceKHR(
        _instance: vk::Instance,
        surface: vk::SurfaceKHR,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<Surface>(surface, callbacks);
    }

    fn vkGetPhysicalDeviceSurfaceSupportKHR(
        _device: vk::PhysicalDevice,
        family: u32,
        surface: vk::SurfaceKHR,
        out: *mut vk::Bool32,
    ) -> vk::Result {
        check_family(family)?;
        out.write(bool32(get::<Surface>(surface).is_supported()?));
        Ok(())
    }

    fn vkGetPhysicalDeviceSurfaceCapabilitiesKHR(
        _device: vk::PhysicalDevice,
        surface: vk::SurfaceKHR,
        out: *mut vk::SurfaceCapabilitiesKHR,
    ) -> vk::Result {
        out.write(get::<Surface>(surface).capabilities()?);
        Ok(())
    }

    fn vkGetPhysicalDeviceSurfaceFormatsKHR(
        _device: vk::PhysicalDevice,
        surface: vk::SurfaceKHR,
        count: *mut u32,
        out: *mut vk::SurfaceFormatKHR,
    ) -> vk::Result {
        Ok(enumerate(count, out, &get::<Surface>(surface).formats()))
    }

    fn vkGetPhysicalDeviceSurfacePresentModesKHR(
        _device: vk::PhysicalDevice,
        surface: vk::SurfaceKHR,
        count: *mut u32,
        out: *mut vk::PresentModeKHR,
    ) -> vk::Result {
        Ok(enumerate(count, out, get::<Surface>(surface).present_modes()))
    }

    fn vkGetPhysicalDevicePresentRectanglesKHR(
        _device: vk::PhysicalDevice,
        surface: vk::SurfaceKHR,
        count: *mut u32,
        out: *mut vk::Rect2D,
    ) -> vk::Result {
        let extent = get::<Surface>(surface).capabilities()?.current_extent;
        Ok(enumerate(count, out, &[vk::Rect2D { offset: vk::Offset2D::default(), extent }]))
    }

    fn vkGetPhysicalDeviceSurfaceCapabilities2KHR(
        _device: vk::PhysicalDevice,
        info: *const vk::PhysicalDeviceSurfaceInfo2KHR<'_>,
        out: *mut vk::SurfaceCapabilities2KHR<'_>,
    ) -> vk::Result {
        (*out).surface_capabilities = get::<Surface>((*info).surface).capabilities()?;
        Ok(())
    }

    fn vkGetPhysicalDeviceSurfaceFormats2KHR(
        _device: vk::PhysicalDevice,
        info: *const vk::PhysicalDeviceSurfaceInfo2KHR<'_>,
        count: *mut u32,
        out: *mut vk::SurfaceFormat2KHR<'_>,
    ) -> vk::Result {
        let formats = get::<Surface>((*info).surface).formats();
        Ok(enumerate_into(count, out, &formats, |out, format| out.surface_format = *format))
    }

    fn vkCreateSwapchainKHR(
        device: vk::Device,
        info: *const vk::SwapchainCreateInfoKHR<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::SwapchainKHR,
    ) -> vk::Result {
        let (device, info) = (get::<OpenDevice>(device), &*info);
        let allocator = HostAllocator::new(callbacks).or(device.allocator());
        let old = opt::<Swapchain>(info.old_swapchain).map(|old| &**old);
        let swapchain = Swapchain::new(device, get::<Surface>(info.surface), info, old, allocator)?;
        give(device.allocator(), callbacks, out, swapchain)
    }

    fn vkDestroySwapchainKHR(
        _device: vk::Device,
        swapchain: vk::SwapchainKHR,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        if let Some(swapchain) = handle::take::<Swapchain>(swapchain, HostAllocator::new(callbacks)) {
            // A present that still waits in the queue may hold it; the window is left alone from here on.
            swapchain.close();
        }
    }

    fn vkGetSwapchainImagesKHR(
        _device: vk::Device,
        swapchain: vk::SwapchainKHR,
        count: *mut u32,
        out: *mut vk::Image,
    ) -> vk::Result {
        Ok(enumerate(count, out, &get::<Swapchain>(swapchain).images()))
    }

    fn vkAcquireNextImageKHR(
        _device: vk::Device,
        swapchain: vk::SwapchainKHR,
        timeout: u64,
        semaphore: vk::Semaphore,
        fence: vk::Fence,
        out: *mut u32,
    ) -> vk::Result {
        acquire(get::<Swapchain>(swapchain), timeout, opt(semaphore), opt(fence), &mut *out)
    }

    fn vkAcquireNextImage2KHR(
        _device: vk::Device,
        info: *const vk::AcquireNextImageInfoKHR<'_>,
        out: *mut u32,
    ) -> vk::Result {
        let info = &*info;
        let swapchain = get::<Swapchain>(info.swapchain);
        acquire(swapchain, info.timeout, opt(info.semaphore), opt(info.fence), &mut *out)
    }

    fn vkWaitForPresentKHR(
        _device: vk::Device,
        swapchain: vk::SwapchainKHR,
        id: u64,
        timeout: u64,
    ) -> vk::Result {
        match get::<Swapchain>(swapchain).wait_for_present(id, timeout)? {
            true => Ok(vk::Result::SUCCESS),
            false => Ok(vk::Result::TIMEOUT),
        }
    }

    fn vkGetRefreshCycleDurationGOOGLE(
        _device: vk::Device,
        swapchain: vk::SwapchainKHR,
        out: *mut vk::RefreshCycleDurationGOOGLE,
    ) -> vk::Result {
        let refresh_duration = get::<Swapchain>(swapchain).refresh()?;
        out.write(vk::RefreshCycleDurationGOOGLE { refresh_duration });
        Ok(())
    }

    fn vkGetPastPresentationTimingGOOGLE(
        _device: vk::Device,
        swapchain: vk::SwapchainKHR,
        count: *mut u32,
        out: *mut vk::PastPresentationTimingGOOGLE,
    ) -> vk::Result {
        let swapchain = get::<Swapchain>(swapchain);
        if out.is_null() {
            count.write(swapchain.times()? as u32);
            return Ok(vk::Result::SUCCESS);
        }
        let (times, more) = swapchain.take_times(count.read() as usize)?;
        let told = enumerate(count, out, &times);
        Ok(if more { vk::Result::INCOMPLETE } else { told })
    }

    fn vkQueuePresentKHR(queue: vk::Queue, info: *const vk::PresentInfoKHR<'_>) -> vk::Result {
        present(get::<Queue>(queue), &*info)
    }
}

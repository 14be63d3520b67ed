//! Swapchains on a device that executes nothing: the tests draw by writing to the images' BOs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;

use super::{Acquired, Surface, Swapchain, Tags, timing};
use crate::foundation::error::Error;
use crate::foundation::handle::{HostAllocator, get};
use crate::objects::device::Device;
use crate::testing::device;

/// What a plain application asks for.
pub(crate) fn info(width: u32, height: u32) -> vk::SwapchainCreateInfoKHR<'static> {
    vk::SwapchainCreateInfoKHR {
        min_image_count: 2,
        image_format: vk::Format::B8G8R8A8_UNORM,
        image_color_space: vk::ColorSpaceKHR::SRGB_NONLINEAR,
        image_extent: vk::Extent2D { width, height },
        image_array_layers: 1,
        image_usage: vk::ImageUsageFlags::COLOR_ATTACHMENT,
        pre_transform: vk::SurfaceTransformFlagsKHR::IDENTITY,
        composite_alpha: vk::CompositeAlphaFlagsKHR::OPAQUE,
        present_mode: vk::PresentModeKHR::IMMEDIATE,
        ..Default::default()
    }
}

/// A swapchain without predecessor.
pub(crate) fn swapchain(
    device: &Arc<Device>,
    surface: &Surface,
    info: &vk::SwapchainCreateInfoKHR<'_>,
) -> Result<Arc<Swapchain>, Error> {
    Swapchain::new(device, surface, info, None, HostAllocator::default()).map(Arc::new)
}

/// An image within a second.
pub(super) fn acquire(swapchain: &Swapchain) -> u32 {
    acquire_in(swapchain, 1_000_000_000)
}

/// An image within so many nanoseconds.
pub(super) fn acquire_in(swapchain: &Swapchain, timeout: u64) -> u32 {
    match swapchain.acquire(timeout).unwrap() {
        Acquired::Image(index) => index,
        other => panic!("{other:?}"),
    }
}

/// Presents an image as the queue does.
pub(crate) fn present(swapchain: &Arc<Swapchain>, index: u32) -> Result<(), Error> {
    let (present, answer) = swapchain.present(index, Tags::default())?;
    present.hand_over(None);
    answer.map(drop)
}

/// Fills an image by coordinates.
pub(super) fn fill(swapchain: &Swapchain, index: u32, pixel: impl Fn(u32, u32) -> [u8; 4]) {
    // SAFETY: the swapchain keeps the handle alive.
    let image = unsafe { get::<crate::objects::image::Image>(swapchain.images()[index as usize]) };
    let mapping = image.binding().unwrap().bo.map().unwrap();
    let level = image.level(0, 0).unwrap();
    for y in 0..image.extent().height {
        for x in 0..image.extent().width {
            mapping.write((level.offset + level.offset_of(x, y)) as usize, &pixel(x, y));
        }
    }
}

fn code<T>(result: Result<T, Error>) -> Option<vk::Result> {
    result.err().map(|error| error.result())
}

#[test]
fn images_take_turns() {
    let (device, surface) = (device(), Surface::headless());
    let swapchain = swapchain(&device, &surface, &info(64, 32)).unwrap();
    assert_eq!(swapchain.images().len(), 2);
    assert_eq!((acquire(&swapchain), acquire(&swapchain)), (0, 1));
    assert_eq!(swapchain.acquire(0).unwrap(), Acquired::NotReady);
    let start = Instant::now();
    assert_eq!(swapchain.acquire(3_000_000).unwrap(), Acquired::Timeout);
    assert!(start.elapsed() >= Duration::from_millis(3));
    present(&swapchain, 1).unwrap();
    assert_eq!(acquire(&swapchain), 1);
    present(&swapchain, 1).unwrap();
    present(&swapchain, 0).unwrap();
    assert_eq!((acquire(&swapchain), acquire(&swapchain)), (1, 0));
}

#[test]
fn only_acquired_images_are_presented() {
    let (device, surface) = (device(), Surface::headless());
    let swapchain = swapchain(&device, &surface, &info(64, 32)).unwrap();
    let invalid = Some(vk::Result::ERROR_VALIDATION_FAILED_EXT);
    assert_eq!(code(swapchain.present(0, Tags::default())), invalid);
    assert_eq!(code(swapchain.present(2, Tags::default())), invalid);
    let index = acquire(&swapchain);
    present(&swapchain, index).unwrap();
    assert_eq!(code(swapchain.present(index, Tags::default())), invalid);
}

#[test]
fn a_successor_retires_its_predecessor() {
    let (device, surface) = (device(), Surface::headless());
    let first = swapchain(&device, &surface, &info(64, 32)).unwrap();
    let index = acquire(&first);
    let second = swapchain(&device, &surface, &info(64, 32));
    assert_eq!(code(second), Some(vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR));
    let second =
        Swapchain::new(&device, &surface, &info(32, 32), Some(&first), HostAllocator::default()).unwrap();
    assert_eq!(code(first.acquire(0)), Some(vk::Result::ERROR_OUT_OF_DATE_KHR));
    assert_eq!(second.acquire(0).unwrap(), Acquired::Image(0));
    // What was acquired may still be shown.
    present(&first, index).unwrap();
    first.close();
    second.close();
    swapchain(&device, &surface, &info(64, 32)).unwrap();
}

#[test]
fn what_the_surface_does_not_offer_is_refused() {
    let device = device();
    let refused = |change: &dyn Fn(&mut vk::SwapchainCreateInfoKHR<'_>)| {
        let mut info = info(64, 32);
        change(&mut info);
        code(swapchain(&device, &Surface::headless(), &info)).expect("a refusal")
    };
    let invalid = vk::Result::ERROR_VALIDATION_FAILED_EXT;
    assert_eq!(refused(&|info| info.image_format = vk::Format::D16_UNORM), invalid);
    assert_eq!(refused(&|info| info.image_usage = vk::ImageUsageFlags::STORAGE), invalid);
    assert_eq!(refused(&|info| info.present_mode = vk::PresentModeKHR::MAILBOX), invalid);
    assert_eq!(refused(&|info| info.min_image_count = 9), invalid);
    // Of an application that knows of no such space.
    assert_eq!(refused(&|info| info.image_color_space = vk::ColorSpaceKHR::PASS_THROUGH_EXT), invalid);
    assert_eq!(refused(&|info| info.image_array_layers = 2), invalid);
    assert_eq!(refused(&|info| info.image_extent.width = 0), invalid);
    let huge = refused(&|info| info.image_extent.width = u32::MAX);
    assert_eq!(huge, vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
}

#[test]
fn every_offered_format_and_mode_makes_a_swapchain() {
    let (device, surface) = (device(), Surface::headless().of_spaces(true));
    let formats = surface.formats();
    assert_eq!(formats[0].format, vk::Format::B8G8R8A8_UNORM);
    assert_eq!(formats[0].color_space, vk::ColorSpaceKHR::SRGB_NONLINEAR);
    assert_eq!(formats.len(), 2 * Surface::headless().formats().len());
    for format in formats {
        for &present_mode in surface.present_modes() {
            let info = vk::SwapchainCreateInfoKHR {
                image_format: format.format,
                image_color_space: format.color_space,
                present_mode,
                ..info(64, 32)
            };
            let swapchain = swapchain(&device, &surface, &info).unwrap();
            let index = acquire(&swapchain);
            present(&swapchain, index).unwrap();
        }
    }
}

#[test]
fn fifo_keeps_the_pace() {
    let (device, surface) = (device(), Surface::headless());
    let info = vk::SwapchainCreateInfoKHR { present_mode: vk::PresentModeKHR::FIFO, ..info(64, 32) };
    let swapchain = swapchain(&device, &surface, &info).unwrap();
    let start = Instant::now();
    for _ in 0..6 {
        let index = acquire(&swapchain);
        present(&swapchain, index).unwrap();
    }
    // The sixth picture had to wait for the fourth to be shown: three periods after the first.
    assert!(start.elapsed() >= Duration::from_millis(50), "{:?}", start.elapsed());
}

#[test]
fn pictures_wait_for_their_time() {
    let (device, surface) = (device(), Surface::headless());
    for present_mode in [vk::PresentModeKHR::IMMEDIATE, vk::PresentModeKHR::FIFO] {
        let info = vk::SwapchainCreateInfoKHR { present_mode, ..info(64, 32) };
        let swapchain = swapchain(&device, &surface, &info).unwrap();
        let mut desired = timing::now();
        for present_id in 1..=4 {
            desired += 30_000_000;
            let time = Some(vk::PresentTimeGOOGLE { present_id, desired_present_time: desired });
            let index = acquire(&swapchain);
            swapchain.present(index, Tags { id: present_id.into(), time }).unwrap().0.hand_over(None);
        }
        assert!(swapchain.wait_for_present(4, 10_000_000_000).unwrap());
        assert_eq!(swapchain.times().unwrap(), 4);
        let (told, more) = swapchain.take_times(3).unwrap();
        assert!(more, "one is left");
        for (told, number) in told.iter().zip(1..) {
            assert_eq!(told.present_id, number);
            assert!(told.actual_present_time >= told.desired_present_time);
            assert!(told.earliest_present_time <= told.actual_present_time);
        }
        assert_eq!(swapchain.take_times(3).unwrap().0[0].present_id, 4);
        assert_eq!(swapchain.times().unwrap(), 0, "each is told once");
        // What nobody asks for does not pile up.
        for present_id in 1..=200 {
            let time = Some(vk::PresentTimeGOOGLE { present_id, desired_present_time: 0 });
            let index = acquire(&swapchain);
            let id = 4 + u64::from(present_id);
            swapchain.present(index, Tags { id, time }).unwrap().0.hand_over(None);
            if present_mode == vk::PresentModeKHR::FIFO && present_id == 3 {
                break;
            }
        }
        // The end waits for no time.
        let index = acquire(&swapchain);
        let time = Some(vk::PresentTimeGOOGLE { present_id: 0, desired_present_time: u64::MAX });
        swapchain.present(index, Tags { id: 0, time }).unwrap().0.hand_over(None);
        assert!(swapchain.times().unwrap() <= 64);
        swapchain.close();
    }
}

#[test]
fn a_lost_device_ends_the_wait_for_an_image() {
    let (device, surface) = (device(), Surface::headless());
    let swapchain = swapchain(&device, &surface, &info(64, 32)).unwrap();
    assert_eq!((acquire(&swapchain), acquire(&swapchain)), (0, 1));
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| swapchain.acquire(u64::MAX));
        std::thread::sleep(Duration::from_millis(5));
        device.lose(&"test");
        assert_eq!(code(waiter.join().unwrap()), Some(vk::Result::ERROR_DEVICE_LOST));
    });
}

#[test]
fn a_present_that_comes_after_the_end_is_dropped() {
    let (device, surface) = (device(), Surface::headless());
    let swapchain = swapchain(&device, &surface, &info(64, 32)).unwrap();
    let index = acquire(&swapchain);
    let (late, answer) = swapchain.present(index, Tags::default()).unwrap();
    answer.unwrap();
    swapchain.close();
    late.hand_over(None);
}

#[test]
fn null_connections_are_refused() {
    let invalid = Some(vk::Result::ERROR_VALIDATION_FAILED_EXT);
    let null = std::ptr::null_mut();
    // SAFETY: null is allowed.
    unsafe {
        assert_eq!(code(Surface::xcb(null, 1)), invalid);
        assert_eq!(code(Surface::xlib(null, 1)), invalid);
        assert!(!super::xcb_presents(null, 1) && !super::xlib_presents(null, 1));
    }
}

//! Images as pixmaps: what the server hears of them, when they come back, and that nobody copies them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use drm::buffer::DrmFourcc;
use vc4_kernel_abi::uapi::{MODIFIER_INVALID, MODIFIER_LINEAR, MODIFIER_T_TILED};
use x11rb::connection::Connection as _;
use x11rb::protocol::present::{self, CompleteMode};

use super::super::{Connection, Planned};
use super::server::{Server, WINDOW};
use crate::foundation::traffic::Cause;
use crate::presentation::backend::Native;
use crate::presentation::foreign::Foreign;
use crate::presentation::frame::Frame;
use crate::presentation::shared_image::SharedImage;
use crate::presentation::shm::SharedMemory;
use crate::presentation::tests::{acquire, fill, info, present, swapchain};
use crate::presentation::{Acquired, Fit, Surface, Swapchain, Tags, timing};
use crate::testing::sharing_device;

const BOTH: &[u64] = &[MODIFIER_LINEAR, MODIFIER_T_TILED];

fn surface(server: &Server) -> Surface {
    // SAFETY: the connection outlives the tests' surfaces.
    unsafe { Surface::xcb(server.pointer(), WINDOW) }.unwrap()
}

fn fifo(width: u32, height: u32) -> vk::SwapchainCreateInfoKHR<'static> {
    vk::SwapchainCreateInfoKHR { present_mode: vk::PresentModeKHR::FIFO, ..info(width, height) }
}

fn color(x: u32, y: u32) -> [u8; 4] {
    [x as u8, y as u8, (3 * x + 5 * y) as u8, (x ^ y) as u8]
}

#[test]
fn images_are_shown_as_they_are() {
    for (lists, layout) in [
        ([BOTH, &[]], MODIFIER_T_TILED),
        ([&[], BOTH], MODIFIER_T_TILED),
        ([&[MODIFIER_LINEAR], BOTH], MODIFIER_LINEAR),
        ([&[99, MODIFIER_T_TILED], &[MODIFIER_LINEAR]], MODIFIER_T_TILED),
        ([&[99], &[MODIFIER_LINEAR]], MODIFIER_LINEAR),
    ] {
        let server = Server::new((53, 31), lists);
        let (device, surface) = (sharing_device(), surface(&server));
        let mut count = 0;
        for mode in surface.present_modes() {
            let info = vk::SwapchainCreateInfoKHR { present_mode: *mode, ..info(53, 31) };
            let swapchain = swapchain(&device, &surface, &info).unwrap();
            for number in 0..5 {
                let index = acquire(&swapchain);
                fill(&swapchain, index, |x, y| color(x + number, y));
                present(&swapchain, index).unwrap();
                count += 1;
                let picture = server.pictures(count).pop().unwrap();
                assert_eq!(picture.modifier, layout);
                for (at, pixel) in picture.bytes.chunks_exact(4).enumerate() {
                    assert_eq!(pixel, color(at as u32 % 53 + number, at as u32 / 53), "pixel {at}");
                }
                let tears = picture.options & u32::from(present::Option::ASYNC) != 0;
                assert_eq!(tears, *mode == vk::PresentModeKHR::IMMEDIATE);
            }
            swapchain.close();
        }
        assert_eq!(device.physical().traffic().total().of(Cause::Present).read, 0);
    }
}

/// Put by requests, as this server shares no memory.
fn assert_copied(server: &Server, info: &vk::SwapchainCreateInfoKHR<'_>) {
    let (device, surface) = (sharing_device(), surface(server));
    let swapchain = swapchain(&device, &surface, info).unwrap();
    let index = acquire(&swapchain);
    fill(&swapchain, index, color);
    present(&swapchain, index).unwrap();
    let picture = server.pictures(1).pop().unwrap();
    assert_eq!(picture.pixmap, None);
    assert!(device.physical().traffic().total().of(Cause::Present).read > 0);
    swapchain.close();
}

#[test]
fn what_the_server_does_not_take_is_copied() {
    let refusing = Server::new((40, 20), [BOTH, BOTH]);
    refusing.seen().refuses = true;
    assert_copied(&refusing, &info(40, 20));
    let strange = Server::new((40, 20), [&[99], &[98]]);
    assert_copied(&strange, &info(40, 20));
    for minor_version in [0, 1] {
        let old = Server::new((40, 20), [BOTH, BOTH]);
        old.seen().minor_version = minor_version;
        assert_copied(&old, &info(40, 20));
    }
    // Pixmaps are blue first.
    let server = Server::new((40, 20), [BOTH, BOTH]);
    let image_format = vk::Format::R8G8B8A8_UNORM;
    assert_copied(&server, &vk::SwapchainCreateInfoKHR { image_format, ..info(40, 20) });
    // Their alpha lets through what is behind the window.
    let server = Server::new((40, 20), [BOTH, BOTH]);
    server.seen().visual = 1;
    assert_copied(&server, &info(40, 20));
}

#[test]
fn transparent_windows_are_shown_with_their_alpha() {
    let server = Server::new((40, 20), [BOTH, BOTH]);
    server.seen().visual = 1;
    let (device, surface) = (sharing_device(), surface(&server));
    let composite_alpha = vk::CompositeAlphaFlagsKHR::INHERIT;
    let info = vk::SwapchainCreateInfoKHR { composite_alpha, ..info(40, 20) };
    let swapchain = swapchain(&device, &surface, &info).unwrap();
    let index = acquire(&swapchain);
    fill(&swapchain, index, color);
    present(&swapchain, index).unwrap();
    assert_eq!(server.pictures(1)[0].bytes[4..8], color(1, 0));
}

/// A server that lists no layouts is given images without any: its kernel driver knows them, if it is ours.
#[test]
fn the_kernel_knows_layouts_that_are_not_told() {
    let server = Server::new((64, 64), [&[], &[]]);
    let connection = Foreign::new(server.pointer()).unwrap();
    // SAFETY: the server outlives it.
    let connection = Arc::new(unsafe { Connection::borrow(connection) }.unwrap());
    let planned = |ours: bool| Planned::new(&connection, WINDOW, vk::PresentModeKHR::FIFO, |_| ours).unwrap();
    assert!(planned(false).is_none());
    let planned = Box::new(planned(true).unwrap());
    assert_eq!(planned.modifiers(), [MODIFIER_T_TILED, MODIFIER_LINEAR]);
    let memory = SharedMemory::new(64 * 64 * 4).unwrap();
    let image = SharedImage {
        fd: memory.fd().try_clone_to_owned().unwrap(),
        offset: 0,
        stride: 256,
        modifier: MODIFIER_T_TILED,
        extent: vk::Extent2D { width: 64, height: 64 },
        format: DrmFourcc::Xrgb8888,
    };
    let mut backend = planned.take(&[image]).unwrap();
    backend
        .show(Frame { index: 0, rendered: None, fence: None, tags: Tags::default(), pushed: 0, number: 1 })
        .unwrap();
    assert_eq!(server.pictures(1)[0].modifier, MODIFIER_INVALID);
}

#[test]
fn fifo_waits_for_the_server() {
    let server = Server::new((40, 20), [BOTH, BOTH]);
    server.seen().holds = true;
    let (device, surface) = (sharing_device(), surface(&server));
    let info = vk::SwapchainCreateInfoKHR { min_image_count: 4, ..fifo(40, 20) };
    let swapchain = swapchain(&device, &surface, &info).unwrap();
    for _ in 0..2 {
        let index = acquire(&swapchain);
        present(&swapchain, index).unwrap();
    }
    let first = server.pictures(1).remove(0);
    assert_eq!(first.target, 0, "nothing was shown before");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(server.seen().pictures.len(), 1, "the second picture waits for the first one's turn");
    // One that belongs to nobody changes nothing.
    server.seen().complete(first.serial.wrapping_add(7), CompleteMode::FLIP);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(server.seen().pictures.len(), 1);
    server.seen().complete(first.serial, CompleteMode::FLIP);
    let refresh = server.seen().refresh();
    assert_eq!(server.pictures(2)[1].target, refresh + 1, "in the refresh behind");
    // A screen that sleeps shows nothing, and the program goes on all the same.
    let index = acquire(&swapchain);
    present(&swapchain, index).unwrap();
    server.pictures(3);
    // The end waits for no turn.
    let begin = Instant::now();
    let index = acquire(&swapchain);
    present(&swapchain, index).unwrap();
    swapchain.close();
    assert!(begin.elapsed() < Duration::from_millis(900), "{:?}", begin.elapsed());
    assert_eq!(server.pictures(4).len(), 4);
}

#[test]
fn an_image_is_the_servers_until_it_is_idle() {
    let server = Server::new((40, 20), [BOTH, BOTH]);
    server.seen().holds = true;
    let (device, surface) = (sharing_device(), surface(&server));
    let swapchain = swapchain(&device, &surface, &info(40, 20)).unwrap();
    for index in [acquire(&swapchain), acquire(&swapchain)] {
        present(&swapchain, index).unwrap();
    }
    let pictures = server.pictures(2);
    assert_eq!(swapchain.acquire(50_000_000).unwrap(), Acquired::Timeout);
    let first = pictures[0].pixmap.unwrap();
    // Said twice, it is free once.
    (0..2).for_each(|_| server.seen().idle(first));
    server.seen().idle(12345);
    assert_eq!(acquire(&swapchain), 0);
    assert_eq!(swapchain.acquire(50_000_000).unwrap(), Acquired::Timeout);
}

/// The application's thread waits for events and takes the driver's off the connection, too.
#[test]
fn events_arrive_whoever_reads_them() {
    let server = Server::new((40, 20), [BOTH, BOTH]);
    let (device, surface) = (sharing_device(), surface(&server));
    let swapchain = swapchain(&device, &surface, &fifo(40, 20)).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| server.xcb.as_ref().unwrap().wait_for_event().unwrap());
        for _ in 0..50 {
            let index = acquire(&swapchain);
            present(&swapchain, index).unwrap();
        }
        server.pictures(50);
        server.seen().expose();
        let event = waiting.join().unwrap();
        assert!(matches!(event, x11rb::protocol::Event::Expose(_)), "{event:?}");
    });
}

#[test]
fn a_resized_window_outdates_its_swapchain() {
    let server = Server::new((40, 20), [BOTH, BOTH]);
    let (device, surface) = (sharing_device(), surface(&server));
    let late = swapchain(&device, &surface, &info(41, 20)).unwrap();
    assert_eq!(late.acquire(0).err().unwrap().result(), vk::Result::ERROR_OUT_OF_DATE_KHR);
    late.close();
    let old = swapchain(&device, &surface, &info(40, 20)).unwrap();
    let index = acquire(&old);
    present(&old, index).unwrap();
    server.pictures(1);
    // The same once more is no news.
    server.seen().configure(0);
    let index = acquire(&old);
    present(&old, index).unwrap();
    server.pictures(2);
    server.seen().size = (50, 20);
    server.seen().configure(0);
    assert_eq!(error_of(&old), Some(vk::Result::ERROR_OUT_OF_DATE_KHR));
    let allocator = crate::foundation::handle::HostAllocator::default();
    let new = Swapchain::new(&device, &surface, &info(50, 20), Some(&old), allocator).unwrap();
    let new = Arc::new(new);
    old.close();
    let count = server.seen().pictures.len();
    let index = acquire(&new);
    present(&new, index).unwrap();
    assert_eq!(server.pictures(count + 1)[count].bytes.len(), 50 * 20 * 4);
}

/// What a program hears that goes on presenting.
fn error_of(swapchain: &Arc<Swapchain>) -> Option<vk::Result> {
    let answer = (0..20).find_map(|_| match swapchain.acquire(500_000_000) {
        Ok(Acquired::Image(index)) => present(swapchain, index).err(),
        Ok(_) => None,
        Err(error) => Some(error),
    });
    answer.map(|error| error.result())
}

#[test]
fn a_window_that_is_gone_loses_the_surface() {
    for says_so in [true, false] {
        let server = Server::new((40, 20), [BOTH, BOTH]);
        server.seen().holds = true;
        let (device, surface) = (sharing_device(), surface(&server));
        let swapchain = swapchain(&device, &surface, &fifo(40, 20)).unwrap();
        let indices = [acquire(&swapchain), acquire(&swapchain)];
        indices.into_iter().for_each(|index| present(&swapchain, index).unwrap());
        server.pictures(1);
        // One picture waits for its turn, and the application for an image.
        server.seen().gone = true;
        if says_so {
            server.seen().configure(1);
        }
        assert_eq!(error_of(&swapchain), Some(vk::Result::ERROR_SURFACE_LOST_KHR));
        assert!(!device.is_lost());
        swapchain.close();
        // The window took them with it.
        server.seen().listeners.clear();
    }
}

#[test]
fn a_server_that_dies_with_images_loses_the_surface() {
    let mut server = Server::new((40, 20), [BOTH, BOTH]);
    server.seen().holds = true;
    let (device, surface) = (sharing_device(), surface(&server));
    let swapchain = swapchain(&device, &surface, &info(40, 20)).unwrap();
    let indices = [acquire(&swapchain), acquire(&swapchain)];
    indices.into_iter().for_each(|index| present(&swapchain, index).unwrap());
    server.pictures(2);
    server.end();
    assert_eq!(error_of(&swapchain), Some(vk::Result::ERROR_SURFACE_LOST_KHR));
    assert!(!device.is_lost());
    swapchain.close();
}

#[test]
fn better_layouts_make_a_swapchain_suboptimal() {
    let server = Server::new((40, 20), [&[MODIFIER_LINEAR], &[MODIFIER_LINEAR]]);
    server.seen().holds = true;
    let (device, surface) = (sharing_device(), surface(&server));
    let swapchain = swapchain(&device, &surface, &info(40, 20)).unwrap();
    let show = |count: usize| {
        let index = match swapchain.acquire(1_000_000_000).unwrap() {
            Acquired::Image(index) | Acquired::Suboptimal(index) => index,
            other => panic!("{other:?}"),
        };
        let (present, answer) = swapchain.present(index, Tags::default()).unwrap();
        present.hand_over(None);
        let picture = server.pictures(count).pop().unwrap();
        let mut seen = server.seen();
        seen.complete(picture.serial, CompleteMode::SUBOPTIMAL_COPY);
        seen.idle(picture.pixmap.unwrap());
        answer.unwrap()
    };
    // A copy that nothing would make better is no news.
    for count in 1..=4 {
        assert_eq!(show(count), Fit::Good);
    }
    server.seen().modifiers[0] = BOTH.to_vec();
    let fits: Vec<Fit> = (5..=8).map(show).collect();
    assert_eq!(fits[3], Fit::Suboptimal, "{fits:?}");
}

#[test]
fn times_of_presents_are_told() {
    let server = Server::new((40, 20), [BOTH, BOTH]);
    server.seen().holds = true;
    let (device, surface) = (sharing_device(), surface(&server));
    let info = vk::SwapchainCreateInfoKHR { min_image_count: 4, ..info(40, 20) };
    let swapchain = swapchain(&device, &surface, &info).unwrap();
    let start_us = timing::now() / 1000;
    let show = |number: u32, at_us: u64, mode: CompleteMode| {
        let time = vk::PresentTimeGOOGLE { present_id: number, desired_present_time: 0 };
        let tags = Tags { id: number.into(), time: Some(time) };
        let index = acquire(&swapchain);
        let (present, _) = swapchain.present(index, tags).unwrap();
        present.hand_over(None);
        let picture = server.pictures(number as usize).pop().unwrap();
        assert!(!swapchain.wait_for_present(number.into(), 20_000_000).unwrap(), "nobody has seen it");
        let mut seen = server.seen();
        seen.at_us = at_us;
        seen.complete(picture.serial, mode);
        seen.idle(picture.pixmap.unwrap());
        drop(seen);
        assert!(swapchain.wait_for_present(number.into(), 10_000_000_000).unwrap());
        swapchain.take_times(10).unwrap().0
    };
    let told = show(1, start_us + 1000, CompleteMode::FLIP);
    let [told] = told[..] else { panic!("{} times", told.len()) };
    assert_eq!((told.present_id, told.actual_present_time), (1, (start_us + 1000) * 1000));
    assert!(told.earliest_present_time <= told.actual_present_time);
    assert_eq!(swapchain.refresh().unwrap(), 16_666_666, "one time tells no rate");
    assert_eq!(show(2, start_us + 21_000, CompleteMode::COPY).len(), 1);
    assert_eq!(swapchain.refresh().unwrap(), 20_000_000);
    assert!(show(3, start_us + 41_000, CompleteMode::SKIP).is_empty(), "another one came before");
    // A server that counts from its own start.
    let before = timing::now();
    let told = show(4, 5, CompleteMode::COPY);
    assert!((before..=timing::now()).contains(&told[0].actual_present_time));
    assert_eq!(swapchain.refresh().unwrap(), 20_000_000);
    swapchain.close();
}

/// A display that says nothing of a picture must not stop a program that waits for it.
#[test]
fn a_picture_that_is_never_done_counts_as_shown_in_the_end() {
    let server = Server::new((40, 20), [BOTH, BOTH]);
    server.seen().holds = true;
    let (device, surface) = (sharing_device(), surface(&server));
    let swapchain = swapchain(&device, &surface, &info(40, 20)).unwrap();
    let time = Some(vk::PresentTimeGOOGLE::default());
    let index = acquire(&swapchain);
    swapchain.present(index, Tags { id: 9, time }).unwrap().0.hand_over(None);
    assert!(swapchain.wait_for_present(9, 10_000_000_000).unwrap());
    assert_eq!(swapchain.times().unwrap(), 0);
    swapchain.close();
}

//! When pictures are seen, as the compositor tells it.

use wayland_protocols::wp::presentation_time::server::wp_presentation::{self, WpPresentation};
use wayland_protocols::wp::presentation_time::server::wp_presentation_feedback::Kind;

use super::super::super::{Swapchain, timing};
use super::*;

/// Offers the protocol.
pub(super) fn offer(handle: &DisplayHandle) {
    handle.create_global::<Compositor, WpPresentation, ()>(1, ());
}

impl GlobalDispatch<WpPresentation, ()> for Compositor {
    fn bind(
        compositor: &mut Self,
        _: &DisplayHandle,
        _: &Client,
        resource: New<WpPresentation>,
        _: &(),
        init: &mut DataInit<'_, Self>,
    ) {
        let clock = compositor.seen.lock().unwrap().clock.expect("not offered without");
        init.init(resource, ()).clock_id(clock);
    }
}

requests!(WpPresentation, (), |state, request, _data, init| {
    if let wp_presentation::Request::Feedback { callback, .. } = request {
        let feedback = init.init(callback, ());
        state.seen.lock().unwrap().feedback.push(feedback);
    }
});

requests!(WpPresentationFeedback, (), |_state, _request, _data, _init| {});

/// Tells that a picture was seen at a time in nanoseconds, on a screen that refreshes so often.
fn seen_at(feedback: &WpPresentationFeedback, at: u64, refresh: u32) {
    let (seconds, ns) = (at / 1_000_000_000, (at % 1_000_000_000) as u32);
    feedback.presented((seconds >> 32) as u32, seconds as u32, ns, refresh, 0, 0, Kind::Vsync);
}

fn stage(clock: libc::clockid_t) -> Stage {
    Stage::of(Seen { clock: Some(clock as u32), ..Seen::default() })
}

/// Presents picture `number`; what the compositor has to tell of it.
fn show(stage: &Stage, swapchain: &Arc<Swapchain>, number: u32) -> WpPresentationFeedback {
    let time = vk::PresentTimeGOOGLE { present_id: number, desired_present_time: 0 };
    let tags = Tags { id: number.into(), time: Some(time) };
    let index = acquire(swapchain);
    swapchain.present(index, tags).unwrap().0.hand_over(None);
    stage.pictures(number as usize);
    stage.seen().feedback.pop().expect("asked for with each picture")
}

fn mailbox() -> vk::SwapchainCreateInfoKHR<'static> {
    vk::SwapchainCreateInfoKHR { present_mode: vk::PresentModeKHR::MAILBOX, ..info(40, 20) }
}

#[test]
fn times_of_pictures_are_told() {
    let stage = stage(libc::CLOCK_MONOTONIC);
    let (device, surface) = (device(), stage.surface());
    let swapchain = swapchain(&device, &surface, &mailbox()).unwrap();
    let wait = |id: u64, ns: u64| swapchain.wait_for_present(id, ns).unwrap();
    let first = show(&stage, &swapchain, 1);
    assert!(!wait(1, 50_000_000), "nobody has seen it");
    let at = timing::now();
    seen_at(&first, at, 13_000_000);
    assert!(wait(1, 10_000_000_000));
    let (told, more) = swapchain.take_times(5).unwrap();
    assert!(!more && told.len() == 1);
    assert_eq!((told[0].present_id, told[0].actual_present_time), (1, at));
    assert_eq!(swapchain.refresh().unwrap(), 13_000_000);
    // Replaced before it was seen.
    show(&stage, &swapchain, 2).discarded();
    assert!(wait(2, 10_000_000_000));
    assert_eq!(swapchain.times().unwrap(), 0);
    // A screen without a rate of its own keeps what was known.
    seen_at(&show(&stage, &swapchain, 3), at + 40_000_000, 0);
    assert!(wait(3, 10_000_000_000));
    assert_eq!((swapchain.times().unwrap(), swapchain.refresh().unwrap()), (1, 13_000_000));
    swapchain.close();
}

#[test]
fn other_clocks_are_not_believed() {
    let stage = stage(libc::CLOCK_REALTIME);
    let (device, surface) = (device(), stage.surface());
    let swapchain = swapchain(&device, &surface, &mailbox()).unwrap();
    let before = timing::now();
    seen_at(&show(&stage, &swapchain, 1), 77, 20_000_000);
    assert!(swapchain.wait_for_present(1, 10_000_000_000).unwrap());
    let (told, _) = swapchain.take_times(5).unwrap();
    assert!((before..=timing::now()).contains(&told[0].actual_present_time));
    assert_eq!(swapchain.refresh().unwrap(), 20_000_000);
    swapchain.close();
}

/// What the compositor still has to tell when nobody listens any more.
#[test]
fn late_events_find_nobody() {
    let mut stage = stage(libc::CLOCK_MONOTONIC);
    stage.seen().holds_frames = true;
    let (device, surface) = (device(), stage.surface());
    let fifo = vk::SwapchainCreateInfoKHR { present_mode: vk::PresentModeKHR::FIFO, ..info(40, 20) };
    let swapchain = swapchain(&device, &surface, &fifo).unwrap();
    let late = show(&stage, &swapchain, 1);
    swapchain.close();
    drop((swapchain, surface));
    seen_at(&late, timing::now(), 0);
    stage.seen().callbacks.drain(..).for_each(|callback| callback.done(0));
    for _ in 0..3 {
        assert_eq!(stage.queue.roundtrip(&mut Application).unwrap(), 0);
    }
}

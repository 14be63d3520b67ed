//! What a compositor said of a surface and its buffers last: where its events go.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Instant;

use wayland_client::protocol::wl_buffer::{self, WlBuffer};
use wayland_client::protocol::wl_callback::{self, WlCallback};
use wayland_client::protocol::wl_shm_pool::WlShmPool;
use wayland_client::{Connection as Display, Dispatch, QueueHandle, delegate_noop, event_created_child};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_buffer_params_v1::{
    self, EVT_CREATED_OPCODE, Flags, ZwpLinuxBufferParamsV1,
};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_feedback_v1::{
    self, ZwpLinuxDmabufFeedbackV1,
};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_v1::ZwpLinuxDmabufV1;

use wayland_protocols::wp::presentation_time::client::wp_presentation_feedback::{
    self, WpPresentationFeedback,
};

use super::dmabuf::Feedback;
use crate::presentation::shared_image::SharedImage;
use crate::presentation::timing::Sight;

/// What the compositor said last.
#[derive(Default)]
pub(super) struct State {
    /// Those that pictures are shown with.
    pub buffers: Vec<WlBuffer>,
    /// Which of them the compositor does not have.
    pub free: Vec<bool>,
    /// Those that it gave back since somebody asked.
    pub released: VecDeque<usize>,
    /// The last picture's frame callback has not come; since when it is waited for.
    pub waits: Option<Instant>,
    /// Pictures that had their turn since somebody asked; unseen ones without a sight.
    pub turns: VecDeque<(u64, Option<Sight>)>,
    /// Whether times are by CLOCK_MONOTONIC.
    pub monotonic: bool,
    /// Buffers of images, as they were made.
    pub created: Vec<(usize, WlBuffer)>,
    /// What is good for the surface.
    pub feedback: Feedback,
}

impl Dispatch<WlBuffer, ()> for State {
    fn event(
        state: &mut State,
        buffer: &WlBuffer,
        event: wl_buffer::Event,
        _: &(),
        _: &Display,
        _: &QueueHandle<State>,
    ) {
        let place = state.buffers.iter().position(|known| known == buffer);
        if let (wl_buffer::Event::Release, Some(at)) = (event, place) {
            // Once for each time that it was attached.
            if !std::mem::replace(&mut state.free[at], true) {
                state.released.push_back(at);
            }
        }
    }
}

impl Dispatch<WlCallback, ()> for State {
    fn event(
        state: &mut State,
        _: &WlCallback,
        event: wl_callback::Event,
        _: &(),
        _: &Display,
        _: &QueueHandle<State>,
    ) {
        if let wl_callback::Event::Done { .. } = event {
            state.waits = None;
        }
    }
}

impl Dispatch<WpPresentationFeedback, u64> for State {
    fn event(
        state: &mut State,
        _: &WpPresentationFeedback,
        event: wp_presentation_feedback::Event,
        number: &u64,
        _: &Display,
        _: &QueueHandle<State>,
    ) {
        use wp_presentation_feedback::Event;
        let sight = match event {
            Event::Presented { tv_sec_hi, tv_sec_lo, tv_nsec, refresh, .. } => {
                let seconds = u64::from(tv_sec_hi) << 32 | u64::from(tv_sec_lo);
                let at = seconds.checked_mul(1_000_000_000).and_then(|ns| ns.checked_add(tv_nsec.into()));
                // Screens without a constant rate tell 0.
                let refresh = (refresh > 0).then_some(refresh.into());
                Some(Sight { at: at.filter(|_| state.monotonic), refresh })
            }
            Event::Discarded => None,
            _ => return,
        };
        state.turns.push_back((*number, sight));
    }
}

/// Set by the answer to a wl_display.sync: the compositor has seen all requests before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Answered(Arc<AtomicBool>);

impl Answered {
    /// Whether it came.
    pub fn is_set(&self) -> bool {
        self.0.load(SeqCst)
    }
}

impl Dispatch<WlCallback, Answered> for State {
    fn event(
        _: &mut State,
        _: &WlCallback,
        event: wl_callback::Event,
        answered: &Answered,
        _: &Display,
        _: &QueueHandle<State>,
    ) {
        if let wl_callback::Event::Done { .. } = event {
            answered.0.store(true, SeqCst);
        }
    }
}

delegate_noop!(State: WlShmPool);

/// Asks for a buffer that is image `index`; the answer comes as an event.
pub(super) fn ask_for_buffer(
    dmabuf: &ZwpLinuxDmabufV1,
    handle: &QueueHandle<State>,
    index: usize,
    image: &SharedImage,
) {
    let params = dmabuf.create_params(handle, index);
    let (high, low) = ((image.modifier >> 32) as u32, image.modifier as u32);
    params.add(image.fd.as_fd(), 0, image.offset, image.stride, high, low);
    let (width, height) = (image.extent.width as i32, image.extent.height as i32);
    params.create(width, height, image.format as u32, Flags::empty());
}

impl Dispatch<ZwpLinuxBufferParamsV1, usize> for State {
    fn event(
        state: &mut State,
        params: &ZwpLinuxBufferParamsV1,
        event: zwp_linux_buffer_params_v1::Event,
        index: &usize,
        _: &Display,
        _: &QueueHandle<State>,
    ) {
        match event {
            zwp_linux_buffer_params_v1::Event::Created { buffer } => state.created.push((*index, buffer)),
            // What is refused is missing among those that were made.
            zwp_linux_buffer_params_v1::Event::Failed => {}
            _ => return,
        }
        params.destroy();
    }

    event_created_child!(State, ZwpLinuxBufferParamsV1, [
        EVT_CREATED_OPCODE => (WlBuffer, ()),
    ]);
}

impl Dispatch<ZwpLinuxDmabufFeedbackV1, ()> for State {
    fn event(
        state: &mut State,
        _: &ZwpLinuxDmabufFeedbackV1,
        event: zwp_linux_dmabuf_feedback_v1::Event,
        _: &(),
        _: &Display,
        _: &QueueHandle<State>,
    ) {
        state.feedback.hear(event);
    }
}

// What it told when it was bound, the connection keeps.
delegate_noop!(State: ignore ZwpLinuxDmabufV1);

//! Surfaces: what they show, what they will show, and who waits for that.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use vc4_compositor::Image;
use wayland_protocols::wp::presentation_time::server::wp_presentation_feedback::{
    Kind, WpPresentationFeedback,
};
use wayland_protocols::xdg::shell::server::xdg_surface::XdgSurface;
use wayland_protocols::xdg::shell::server::xdg_toplevel::XdgToplevel;
use wayland_server::Resource as _;
use wayland_server::protocol::wl_buffer::WlBuffer;
use wayland_server::protocol::wl_callback::WlCallback;
use wayland_server::protocol::wl_surface::WlSurface;

/// What a buffer holds.
#[derive(Clone)]
pub enum Content {
    /// An image as the client's GPU drew it.
    Image(Arc<Image>),
    /// Pixels in shared memory.
    Memory,
}

/// What a commit brings.
#[derive(Default)]
pub struct Change {
    /// Another buffer, or none any more.
    pub buffer: Option<Option<WlBuffer>>,
    /// To be called when it is seen.
    pub callbacks: Vec<WlCallback>,
    /// To be told when it is seen.
    pub feedback: Vec<WpPresentationFeedback>,
}

/// What is known of a surface.
#[derive(Default)]
pub struct State {
    /// Not committed yet.
    pub pending: Change,
    /// Committed, and not seen.
    next: Change,
    current: Option<WlBuffer>,
    /// What was committed since somebody asked.
    committed: Vec<Content>,
    /// Its window, and whether that was told its size.
    pub window: Option<(XdgSurface, XdgToplevel)>,
    pub told: bool,
}

/// A surface, as its requests find it.
#[derive(Default)]
pub struct Surface(Mutex<State>);

impl Surface {
    /// That of a protocol object.
    pub fn of(surface: &WlSurface) -> &Surface {
        surface.data::<Surface>().expect("every surface is made here")
    }

    /// What is known of it.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives a buffer back.
fn release(buffer: Option<WlBuffer>) {
    if let Some(buffer) = buffer.filter(WlBuffer::is_alive) {
        buffer.release();
    }
}

impl State {
    /// Takes what was asked for since the last time.
    pub fn commit(&mut self) {
        let change = std::mem::take(&mut self.pending);
        if let Some(buffer) = &change.buffer {
            self.committed.extend(buffer.as_ref().and_then(|buffer| buffer.data::<Content>().cloned()));
            // What was to be seen before never is.
            release(self.next.buffer.take().flatten());
            self.next.feedback.drain(..).for_each(|feedback| feedback.discarded());
            self.next.buffer = change.buffer;
        }
        self.next.callbacks.extend(change.callbacks);
        self.next.feedback.extend(change.feedback);
        if let Some((surface, toplevel)) = self.window.as_ref().filter(|_| !self.told) {
            // The client decides on its size.
            toplevel.configure(0, 0, Vec::new());
            surface.configure(1);
            self.told = true;
        }
    }

    /// Shows what was committed last; all that was committed.
    pub fn refresh(&mut self, period: Duration) -> Vec<Content> {
        let Change { buffer, callbacks, feedback } = std::mem::take(&mut self.next);
        let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
        for callback in callbacks {
            callback.done(now.as_millis() as u32);
        }
        for feedback in feedback {
            let seconds = now.as_secs();
            let period = period.as_nanos() as u32;
            feedback.presented(
                (seconds >> 32) as u32,
                seconds as u32,
                now.subsec_nanos(),
                period,
                0,
                0,
                Kind::Vsync,
            );
        }
        if let Some(buffer) = buffer {
            release(std::mem::replace(&mut self.current, buffer));
        }
        std::mem::take(&mut self.committed)
    }
}

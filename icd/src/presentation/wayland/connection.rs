//! The application's display, and what its compositor offers.

use std::sync::OnceLock;

use wayland_backend::client::Backend;
use wayland_client::globals::{GlobalListContents, registry_queue_init};
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_shm::WlShm;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection as Display, Dispatch, EventQueue, Proxy, QueueHandle, delegate_noop};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_v1::{self, ZwpLinuxDmabufV1};
use wayland_protocols::wp::presentation_time::client::wp_presentation::{self, WpPresentation};
use wayland_protocols::wp::tearing_control::v1::client::wp_tearing_control_manager_v1::WpTearingControlManagerV1;
use wayland_protocols::wp::tearing_control::v1::client::wp_tearing_control_v1::{
    PresentationHint, WpTearingControlV1,
};

use super::dmabuf::{FEEDBACK_SINCE, Formats, VERSIONS};
use super::state::State;
use crate::foundation::error::Error;
use crate::presentation::foreign::{self, Foreign};

/// The application's display, and what its compositor offers.
pub(in crate::presentation) struct Connection {
    pub(super) display: Display,
    /// Shares memory.
    pub(super) shm: WlShm,
    /// Takes images as they are.
    pub(super) dmabuf: Option<ZwpLinuxDmabufV1>,
    /// Formats with modifiers that were told when that was bound, before version 4.
    pub(super) formats: Formats,
    /// Tells when pictures are seen.
    presentation: Option<WpPresentation>,
    /// Whether it tells that by CLOCK_MONOTONIC.
    pub(super) monotonic: bool,
    tearing: Option<WpTearingControlManagerV1>,
    /// A surface has one at most. Of the surface that this connection is for.
    control: OnceLock<WpTearingControlV1>,
    /// Keeps what was bound.
    _queue: EventQueue<Globals>,
}

/// A surface that does not answer is lost: its compositor ended, or refused a request of the application's.
pub(super) fn lost(what: &str, error: &dyn std::fmt::Display) -> Error {
    Error::Result(ash::vk::Result::ERROR_SURFACE_LOST_KHR, format!("{what}: {error}"))
}

impl Connection {
    /// Borrows a display; the error says what is missing.
    ///
    /// # Safety
    /// `display` is a `wl_display` that lives at least as long as the result.
    pub unsafe fn borrow(display: Foreign) -> Result<Connection, String> {
        foreign::symbol(c"libwayland-client.so.0", c"wl_display_create_queue")?;
        // SAFETY: by the contract.
        let backend = unsafe { Backend::from_foreign_display(display.as_ptr().cast()) };
        let display = Display::from_backend(backend);
        let (globals, mut queue) =
            registry_queue_init::<Globals>(&display).map_err(|error| format!("the compositor: {error}"))?;
        let handle = queue.handle();
        let shm = globals.bind(&handle, 1..=1, ()).map_err(|error| format!("wl_shm: {error}"))?;
        let tearing = globals.bind(&handle, 1..=1, ()).ok();
        let dmabuf: Option<ZwpLinuxDmabufV1> = globals.bind(&handle, VERSIONS, ()).ok();
        let presentation: Option<WpPresentation> = globals.bind(&handle, 1..=1, ()).ok();
        let mut told = Globals::default();
        let lists = dmabuf.as_ref().is_some_and(|dmabuf| dmabuf.version() < FEEDBACK_SINCE);
        if lists || presentation.is_some() {
            queue.roundtrip(&mut told).map_err(|error| format!("the compositor: {error}"))?;
        }
        let Globals { formats, clock } = told;
        Ok(Connection {
            display,
            shm,
            dmabuf,
            formats,
            presentation,
            monotonic: clock == Some(libc::CLOCK_MONOTONIC as u32),
            tearing,
            control: OnceLock::new(),
            _queue: queue,
        })
    }

    /// Whether pictures may replace others while these are sent to the screen.
    pub fn tears(&self) -> bool {
        self.tearing.is_some()
    }

    /// Tells the compositor whether pictures of a surface may do so.
    pub(super) fn set_tearing(&self, surface: &WlSurface, tears: bool) {
        let hint = if tears { PresentationHint::Async } else { PresentationHint::Vsync };
        let control = match &self.tearing {
            Some(manager) if tears => Some(
                self.control.get_or_init(|| manager.get_tearing_control(surface, &self._queue.handle(), ())),
            ),
            _ => self.control.get(),
        };
        if let Some(control) = control {
            control.set_presentation_hint(hint);
        }
    }

    /// Whether the compositor tells when pictures are seen.
    pub(super) fn tells_turns(&self) -> bool {
        self.presentation.is_some()
    }

    /// Asks to be told when the next picture of a surface is seen, which has this number.
    pub(super) fn ask_for_turn(&self, surface: &WlSurface, handle: &QueueHandle<State>, number: u64) {
        if let Some(presentation) = &self.presentation {
            presentation.feedback(surface, handle, number);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(control) = self.control.get() {
            control.destroy();
        }
        if let Some(tearing) = &self.tearing {
            tearing.destroy();
        }
        if let Some(dmabuf) = &self.dmabuf {
            dmabuf.destroy();
        }
        if let Some(presentation) = &self.presentation {
            presentation.destroy();
        }
        // Nobody is left to tell about failures.
        let _ = self.display.flush();
    }
}

/// What the events of globals go to.
#[derive(Default)]
struct Globals {
    formats: Formats,
    /// By which pictures' times are told.
    clock: Option<u32>,
}

impl Dispatch<WpPresentation, ()> for Globals {
    fn event(
        globals: &mut Globals,
        _: &WpPresentation,
        event: wp_presentation::Event,
        _: &(),
        _: &Display,
        _: &QueueHandle<Globals>,
    ) {
        if let wp_presentation::Event::ClockId { clk_id } = event {
            globals.clock = Some(clk_id);
        }
    }
}

impl Dispatch<ZwpLinuxDmabufV1, ()> for Globals {
    fn event(
        globals: &mut Globals,
        _: &ZwpLinuxDmabufV1,
        event: zwp_linux_dmabuf_v1::Event,
        _: &(),
        _: &Display,
        _: &QueueHandle<Globals>,
    ) {
        if let zwp_linux_dmabuf_v1::Event::Modifier { format, modifier_hi, modifier_lo } = event {
            globals.formats.push((format, u64::from(modifier_hi) << 32 | u64::from(modifier_lo)));
        }
    }
}

impl Dispatch<WlRegistry, GlobalListContents> for Globals {
    fn event(
        _: &mut Globals,
        _: &WlRegistry,
        _: wl_registry::Event,
        _: &GlobalListContents,
        _: &Display,
        _: &QueueHandle<Globals>,
    ) {
    }
}

// Formats are told; those used here are always offered.
delegate_noop!(Globals: ignore WlShm);
delegate_noop!(Globals: WpTearingControlManagerV1);
delegate_noop!(Globals: WpTearingControlV1);

//! What clients ask of surfaces, and of their times.

use nix::time::ClockId;
use wayland_protocols::wp::presentation_time::server::wp_presentation::{self, WpPresentation};
use wayland_protocols::wp::presentation_time::server::wp_presentation_feedback::WpPresentationFeedback;
use wayland_server::protocol::wl_callback::WlCallback;
use wayland_server::protocol::wl_compositor::{self, WlCompositor};
use wayland_server::protocol::wl_region::WlRegion;
use wayland_server::protocol::wl_subcompositor::{self, WlSubcompositor};
use wayland_server::protocol::wl_subsurface::WlSubsurface;
use wayland_server::protocol::wl_surface::{self, WlSurface};
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New};

use crate::desk::Desk;
use crate::surface::Surface;

/// Takes requests that change nothing here.
macro_rules! quiet_requests {
    ($($interface:ty),* $(,)?) => {$(
        impl Dispatch<$interface, ()> for Desk {
            fn request(
                _: &mut Desk,
                _: &Client,
                _: &$interface,
                _: <$interface as wayland_server::Resource>::Request,
                _: &(),
                _: &DisplayHandle,
                _: &mut DataInit<'_, Desk>,
            ) {
            }
        }
    )*};
}
pub(crate) use quiet_requests;

quiet_requests!(WlRegion, WlSubsurface, WlCallback, WpPresentationFeedback);

impl Dispatch<WlCompositor, ()> for Desk {
    fn request(
        desk: &mut Desk,
        _: &Client,
        _: &WlCompositor,
        request: wl_compositor::Request,
        _: &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Desk>,
    ) {
        match request {
            wl_compositor::Request::CreateSurface { id } => {
                desk.surfaces.push(init.init(id, Surface::default()));
            }
            wl_compositor::Request::CreateRegion { id } => drop(init.init(id, ())),
            _ => {}
        }
    }
}

impl Dispatch<WlSubcompositor, ()> for Desk {
    fn request(
        _: &mut Desk,
        _: &Client,
        _: &WlSubcompositor,
        request: wl_subcompositor::Request,
        _: &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Desk>,
    ) {
        if let wl_subcompositor::Request::GetSubsurface { id, .. } = request {
            init.init(id, ());
        }
    }
}

impl Dispatch<WlSurface, Surface> for Desk {
    fn request(
        _: &mut Desk,
        _: &Client,
        _: &WlSurface,
        request: wl_surface::Request,
        surface: &Surface,
        _: &DisplayHandle,
        init: &mut DataInit<'_, Desk>,
    ) {
        match request {
            wl_surface::Request::Attach { buffer, .. } => surface.lock().pending.buffer = Some(buffer),
            wl_surface::Request::Frame { callback } => {
                let callback = init.init(callback, ());
                surface.lock().pending.callbacks.push(callback);
            }
            wl_surface::Request::Commit => surface.lock().commit(),
            _ => {}
        }
    }
}

impl GlobalDispatch<WpPresentation, ()> for Desk {
    fn bind(
        _: &mut Desk,
        _: &DisplayHandle,
        _: &Client,
        resource: New<WpPresentation>,
        _: &(),
        init: &mut DataInit<'_, Desk>,
    ) {
        init.init(resource, ()).clock_id(ClockId::CLOCK_MONOTONIC.as_raw() as u32);
    }
}

impl Dispatch<WpPresentation, ()> for Desk {
    fn request(
        _: &mut Desk,
        _: &Client,
        _: &WpPresentation,
        request: wp_presentation::Request,
        _: &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Desk>,
    ) {
        if let wp_presentation::Request::Feedback { surface, callback } = request {
            let feedback = init.init(callback, ());
            Surface::of(&surface).lock().pending.feedback.push(feedback);
        }
    }
}

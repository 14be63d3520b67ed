//! Windows: they have the size that their clients choose, and no decoration.

use wayland_protocols::xdg::decoration::zv1::server::zxdg_decoration_manager_v1::{
    self, ZxdgDecorationManagerV1,
};
use wayland_protocols::xdg::decoration::zv1::server::zxdg_toplevel_decoration_v1::{
    Mode, ZxdgToplevelDecorationV1,
};
use wayland_protocols::xdg::shell::server::xdg_popup::XdgPopup;
use wayland_protocols::xdg::shell::server::xdg_positioner::XdgPositioner;
use wayland_protocols::xdg::shell::server::xdg_surface::{self, XdgSurface};
use wayland_protocols::xdg::shell::server::xdg_toplevel::XdgToplevel;
use wayland_protocols::xdg::shell::server::xdg_wm_base::{self, XdgWmBase};
use wayland_server::protocol::wl_surface::WlSurface;
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle};

use crate::desk::Desk;
use crate::requests::quiet_requests;
use crate::surface::Surface;

quiet_requests!(XdgPositioner, XdgPopup, XdgToplevel, ZxdgToplevelDecorationV1);

impl Dispatch<XdgWmBase, ()> for Desk {
    fn request(
        _: &mut Desk,
        _: &Client,
        _: &XdgWmBase,
        request: xdg_wm_base::Request,
        _: &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Desk>,
    ) {
        match request {
            xdg_wm_base::Request::GetXdgSurface { id, surface } => drop(init.init(id, surface)),
            xdg_wm_base::Request::CreatePositioner { id } => drop(init.init(id, ())),
            _ => {}
        }
    }
}

impl Dispatch<XdgSurface, WlSurface> for Desk {
    fn request(
        _: &mut Desk,
        _: &Client,
        window: &XdgSurface,
        request: xdg_surface::Request,
        surface: &WlSurface,
        _: &DisplayHandle,
        init: &mut DataInit<'_, Desk>,
    ) {
        match request {
            xdg_surface::Request::GetToplevel { id } => {
                let toplevel = init.init(id, ());
                let mut state = Surface::of(surface).lock();
                state.window = Some((window.clone(), toplevel));
                state.told = false;
            }
            xdg_surface::Request::GetPopup { id, .. } => drop(init.init(id, ())),
            _ => {}
        }
    }
}

impl Dispatch<ZxdgDecorationManagerV1, ()> for Desk {
    fn request(
        _: &mut Desk,
        _: &Client,
        _: &ZxdgDecorationManagerV1,
        request: zxdg_decoration_manager_v1::Request,
        _: &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Desk>,
    ) {
        if let zxdg_decoration_manager_v1::Request::GetToplevelDecoration { id, .. } = request {
            init.init(id, ()).configure(Mode::ServerSide);
        }
    }
}

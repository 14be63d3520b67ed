//! A screen of 1280 x 1024 pixels, and a seat where nobody sits.

use wayland_server::protocol::wl_data_device::WlDataDevice;
use wayland_server::protocol::wl_data_device_manager::{self, WlDataDeviceManager};
use wayland_server::protocol::wl_data_source::WlDataSource;
use wayland_server::protocol::wl_keyboard::WlKeyboard;
use wayland_server::protocol::wl_output::{self, WlOutput};
use wayland_server::protocol::wl_pointer::WlPointer;
use wayland_server::protocol::wl_seat::{self, WlSeat};
use wayland_server::protocol::wl_touch::WlTouch;
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource as _};

use crate::desk::Desk;
use crate::requests::quiet_requests;

quiet_requests!(WlOutput, WlPointer, WlKeyboard, WlTouch, WlDataDevice, WlDataSource);

impl GlobalDispatch<WlOutput, ()> for Desk {
    fn bind(
        _: &mut Desk,
        _: &DisplayHandle,
        _: &Client,
        resource: New<WlOutput>,
        _: &(),
        init: &mut DataInit<'_, Desk>,
    ) {
        let output = init.init(resource, ());
        let (maker, model) = ("vulkan-vc4".into(), "none".into());
        let (subpixel, transform) = (wl_output::Subpixel::Unknown, wl_output::Transform::Normal);
        output.geometry(0, 0, 340, 270, subpixel, maker, model, transform);
        output.mode(wl_output::Mode::Current | wl_output::Mode::Preferred, 1280, 1024, 60_000);
        if output.version() >= 2 {
            output.scale(1);
            output.done();
        }
    }
}

impl GlobalDispatch<WlSeat, ()> for Desk {
    fn bind(
        _: &mut Desk,
        _: &DisplayHandle,
        _: &Client,
        resource: New<WlSeat>,
        _: &(),
        init: &mut DataInit<'_, Desk>,
    ) {
        let seat = init.init(resource, ());
        seat.capabilities(wl_seat::Capability::empty());
        if seat.version() >= 2 {
            seat.name("nobody".into());
        }
    }
}

impl Dispatch<WlSeat, ()> for Desk {
    fn request(
        _: &mut Desk,
        _: &Client,
        _: &WlSeat,
        request: wl_seat::Request,
        _: &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Desk>,
    ) {
        match request {
            wl_seat::Request::GetPointer { id } => drop(init.init(id, ())),
            wl_seat::Request::GetKeyboard { id } => drop(init.init(id, ())),
            wl_seat::Request::GetTouch { id } => drop(init.init(id, ())),
            _ => {}
        }
    }
}

impl Dispatch<WlDataDeviceManager, ()> for Desk {
    fn request(
        _: &mut Desk,
        _: &Client,
        _: &WlDataDeviceManager,
        request: wl_data_device_manager::Request,
        _: &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Desk>,
    ) {
        match request {
            wl_data_device_manager::Request::CreateDataSource { id } => drop(init.init(id, ())),
            wl_data_device_manager::Request::GetDataDevice { id, .. } => drop(init.init(id, ())),
            _ => {}
        }
    }
}

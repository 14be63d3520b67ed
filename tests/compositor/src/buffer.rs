//! Buffers: images as they are, and shared memory.

use std::sync::{Arc, Mutex, PoisonError};

use vc4_compositor::{FORMATS, Image, tell};
use vc4_kernel_abi::uapi::{MODIFIER_LINEAR, MODIFIER_T_TILED};
use wayland_protocols::wp::linux_dmabuf::zv1::server::zwp_linux_buffer_params_v1::{
    self, Error, ZwpLinuxBufferParamsV1,
};
use wayland_protocols::wp::linux_dmabuf::zv1::server::zwp_linux_dmabuf_feedback_v1::ZwpLinuxDmabufFeedbackV1;
use wayland_protocols::wp::linux_dmabuf::zv1::server::zwp_linux_dmabuf_v1::{self, ZwpLinuxDmabufV1};
use wayland_server::protocol::wl_buffer::WlBuffer;
use wayland_server::protocol::wl_shm::{self, WlShm};
use wayland_server::protocol::wl_shm_pool::{self, WlShmPool};
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource as _};

use crate::desk::Desk;
use crate::requests::quiet_requests;
use crate::surface::Content;

/// Formats in the layouts that are taken.
fn formats() -> impl Iterator<Item = (u32, u64)> {
    FORMATS.into_iter().flat_map(|format| [(format, MODIFIER_LINEAR), (format, MODIFIER_T_TILED)])
}

quiet_requests!(ZwpLinuxDmabufFeedbackV1);

impl Dispatch<WlBuffer, Content> for Desk {
    fn request(
        _: &mut Desk,
        _: &Client,
        _: &WlBuffer,
        _: <WlBuffer as wayland_server::Resource>::Request,
        _: &Content,
        _: &DisplayHandle,
        _: &mut DataInit<'_, Desk>,
    ) {
    }
}

impl GlobalDispatch<ZwpLinuxDmabufV1, ()> for Desk {
    fn bind(
        _: &mut Desk,
        _: &DisplayHandle,
        _: &Client,
        resource: New<ZwpLinuxDmabufV1>,
        _: &(),
        init: &mut DataInit<'_, Desk>,
    ) {
        let dmabuf = init.init(resource, ());
        if dmabuf.version() < 4 {
            for (format, modifier) in formats() {
                dmabuf.modifier(format, (modifier >> 32) as u32, modifier as u32);
            }
        }
    }
}

impl Dispatch<ZwpLinuxDmabufV1, ()> for Desk {
    fn request(
        _: &mut Desk,
        _: &Client,
        dmabuf: &ZwpLinuxDmabufV1,
        request: zwp_linux_dmabuf_v1::Request,
        _: &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Desk>,
    ) {
        use zwp_linux_dmabuf_v1::Request;
        let feedback = match request {
            Request::CreateParams { params_id } => {
                init.init(params_id, Params::default());
                return;
            }
            Request::GetDefaultFeedback { id } | Request::GetSurfaceFeedback { id, .. } => init.init(id, ()),
            _ => return,
        };
        if let Err(error) = tell(&feedback, formats()) {
            dmabuf.post_error(0u32, error.to_string());
        }
    }
}

/// A buffer's plane, until the buffer is made.
#[derive(Default)]
pub struct Params(Mutex<Option<Image>>);

impl Dispatch<ZwpLinuxBufferParamsV1, Params> for Desk {
    fn request(
        _: &mut Desk,
        client: &Client,
        params: &ZwpLinuxBufferParamsV1,
        request: zwp_linux_buffer_params_v1::Request,
        data: &Params,
        handle: &DisplayHandle,
        init: &mut DataInit<'_, Desk>,
    ) {
        use zwp_linux_buffer_params_v1::Request;
        let mut plane = data.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut finish = |width, height, format| -> Option<Content> {
            let image = Image { width, height, format, ..plane.take()? };
            let known = formats().any(|known| known == (format, image.modifier));
            (known && width > 0 && height > 0).then(|| Content::Image(Arc::new(image)))
        };
        match request {
            Request::Add { plane_idx: 1.., .. } => {
                params.post_error(Error::PlaneIdx, "images of one plane are taken");
            }
            Request::Add { fd, offset, stride, modifier_hi, modifier_lo, .. } => {
                let modifier = u64::from(modifier_hi) << 32 | u64::from(modifier_lo);
                let (memory, width, height, format) = (fd.into(), 0, 0, 0);
                *plane = Some(Image { memory, offset, stride, width, height, format, modifier });
            }
            Request::Create { width, height, format, .. } => {
                let content = finish(width, height, format);
                let buffer = content.and_then(|content| {
                    client.create_resource::<WlBuffer, Content, Desk>(handle, 1, content).ok()
                });
                match buffer {
                    Some(buffer) => params.created(&buffer),
                    None => params.failed(),
                }
            }
            Request::CreateImmed { buffer_id, width, height, format, .. } => {
                match finish(width, height, format) {
                    Some(content) => drop(init.init(buffer_id, content)),
                    None => params.post_error(Error::InvalidFormat, "an image that was not offered"),
                }
            }
            _ => {}
        }
    }
}

impl GlobalDispatch<WlShm, ()> for Desk {
    fn bind(
        _: &mut Desk,
        _: &DisplayHandle,
        _: &Client,
        resource: New<WlShm>,
        _: &(),
        init: &mut DataInit<'_, Desk>,
    ) {
        let shm = init.init(resource, ());
        shm.format(wl_shm::Format::Argb8888);
        shm.format(wl_shm::Format::Xrgb8888);
    }
}

impl Dispatch<WlShm, ()> for Desk {
    fn request(
        _: &mut Desk,
        _: &Client,
        _: &WlShm,
        request: wl_shm::Request,
        _: &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Desk>,
    ) {
        if let wl_shm::Request::CreatePool { id, .. } = request {
            init.init(id, ());
        }
    }
}

impl Dispatch<WlShmPool, ()> for Desk {
    fn request(
        _: &mut Desk,
        _: &Client,
        _: &WlShmPool,
        request: wl_shm_pool::Request,
        _: &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Desk>,
    ) {
        if let wl_shm_pool::Request::CreateBuffer { id, .. } = request {
            init.init(id, Content::Memory);
        }
    }
}

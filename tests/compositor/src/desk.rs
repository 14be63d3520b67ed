//! The surfaces of all clients, and what they committed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use vc4_compositor::Image;
use wayland_protocols::wp::linux_dmabuf::zv1::server::zwp_linux_dmabuf_v1::ZwpLinuxDmabufV1;
use wayland_protocols::wp::presentation_time::server::wp_presentation::WpPresentation;
use wayland_protocols::xdg::decoration::zv1::server::zxdg_decoration_manager_v1::ZxdgDecorationManagerV1;
use wayland_protocols::xdg::shell::server::xdg_wm_base::XdgWmBase;
use wayland_server::DisplayHandle;
use wayland_server::protocol::wl_compositor::WlCompositor;
use wayland_server::protocol::wl_data_device_manager::WlDataDeviceManager;
use wayland_server::protocol::wl_output::WlOutput;
use wayland_server::protocol::wl_seat::WlSeat;
use wayland_server::protocol::wl_shm::WlShm;
use wayland_server::protocol::wl_subcompositor::WlSubcompositor;
use wayland_server::protocol::wl_surface::WlSurface;

use crate::surface::{Content, Surface};

/// The surfaces of all clients, and what they committed.
#[derive(Default)]
pub struct Desk {
    pub surfaces: Vec<WlSurface>,
    /// The last one of the images.
    last: Option<Arc<Image>>,
    /// Pictures that are images.
    images: u64,
    /// Pictures in shared memory.
    copies: u64,
}

/// Binds a global without saying anything.
macro_rules! quiet_globals {
    ($($interface:ty),* $(,)?) => {$(
        impl wayland_server::GlobalDispatch<$interface, ()> for Desk {
            fn bind(
                _: &mut Desk,
                _: &DisplayHandle,
                _: &wayland_server::Client,
                resource: wayland_server::New<$interface>,
                _: &(),
                init: &mut wayland_server::DataInit<'_, Desk>,
            ) {
                init.init(resource, ());
            }
        }
    )*};
}

quiet_globals!(WlCompositor, WlSubcompositor, XdgWmBase, ZxdgDecorationManagerV1, WlDataDeviceManager);

impl Desk {
    /// Offers all that clients want.
    pub fn offer(handle: &DisplayHandle) {
        handle.create_global::<Desk, WlCompositor, ()>(5, ());
        handle.create_global::<Desk, WlSubcompositor, ()>(1, ());
        handle.create_global::<Desk, WlShm, ()>(1, ());
        handle.create_global::<Desk, WlSeat, ()>(5, ());
        handle.create_global::<Desk, WlOutput, ()>(3, ());
        handle.create_global::<Desk, WlDataDeviceManager, ()>(3, ());
        handle.create_global::<Desk, XdgWmBase, ()>(2, ());
        handle.create_global::<Desk, ZxdgDecorationManagerV1, ()>(1, ());
        handle.create_global::<Desk, ZwpLinuxDmabufV1, ()>(4, ());
        handle.create_global::<Desk, WpPresentation, ()>(1, ());
    }

    /// The screen shows what was committed before.
    pub fn refresh(&mut self, period: Duration) {
        for surface in &self.surfaces {
            for content in Surface::of(surface).lock().refresh(period) {
                match content {
                    Content::Image(image) => {
                        self.images += 1;
                        self.last = Some(image);
                    }
                    Content::Memory => self.copies += 1,
                }
            }
        }
        self.surfaces.retain(wayland_server::Resource::is_alive);
    }

    /// Writes what was committed.
    ///
    /// # Errors
    /// The directory cannot be written to, or the image not read.
    pub fn report(mut self, period: Duration, directory: &Path) -> std::io::Result<()> {
        self.refresh(period);
        if let Some(image) = &self.last {
            let mut ppm = format!("P6\n{} {}\n255\n", image.width, image.height).into_bytes();
            ppm.extend(image.rows()?.chunks_exact(4).flat_map(|bgrx| [bgrx[2], bgrx[1], bgrx[0]]));
            std::fs::write(directory.join("last.ppm"), ppm)?;
        }
        // The last file that is written: who sees it finds the others.
        let seen = format!("images={}\ncopies={}\n", self.images, self.copies);
        std::fs::write(directory.join("seen.txt.new"), seen)?;
        std::fs::rename(directory.join("seen.txt.new"), directory.join("seen.txt"))
    }
}

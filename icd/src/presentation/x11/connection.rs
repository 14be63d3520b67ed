//! X11: the application's connection, borrowed.
//!
//! The connection stays the application's. Requests are sent checked and their answers collected here, so that no error of ours
//! reaches the application's event queue, where it would end most programs; events are only asked for where they have a queue of
//! their own (`events`). libxcb may be used from any thread; an application that presents to an Xlib window calls XInitThreads, as
//! the specification of VK_KHR_xlib_surface demands.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;
use x11rb::connection::{Connection as _, RequestConnection};
use x11rb::errors::{ReplyError, ReplyOrIdError};
use x11rb::protocol::shm;
use x11rb::protocol::xproto::{ConnectionExt, GetGeometryReply, ImageOrder, Setup, VisualClass, Visualid};
use x11rb::xcb_ffi::XCBConnection;

use crate::foundation::error::Error;
use crate::presentation::foreign::{self, Foreign};
use crate::presentation::shm::SharedMemory;

/// The application's connection.
pub(in crate::presentation) struct Connection {
    /// For requests.
    pub xcb: XCBConnection,
    /// Presents so far: no two swapchains of a surface give theirs the same number.
    presents: AtomicU32,
}

/// What a window is at the moment.
#[derive(Clone, Copy, Debug)]
pub(in crate::presentation) struct WindowState {
    /// Size in pixels.
    pub extent: vk::Extent2D,
    /// Bits of a pixel that mean something, 24 or 32; `None` when the pixels are not BGRX.
    pub depth: Option<u8>,
}

/// A window that does not answer is lost, whatever the reason: it was destroyed, or the server ended.
pub(super) fn lost(what: &str, error: &dyn std::fmt::Display) -> Error {
    Error::Result(vk::Result::ERROR_SURFACE_LOST_KHR, format!("{what}: {error}"))
}

impl Connection {
    /// Borrows a connection; the error says what is missing.
    ///
    /// # Safety
    /// `connection` is an `xcb_connection_t` that lives at least as long as the result.
    pub unsafe fn borrow(connection: Foreign) -> Result<Connection, String> {
        let missing = |error| format!("{error}; presenting to X11 needs libxcb, install it");
        x11rb::xcb_ffi::load_libxcb().map_err(missing)?;
        // SAFETY: by the contract.
        if unsafe { foreign::xcb_has_error(connection)? } {
            return Err("the X connection is broken".into());
        }
        // SAFETY: by the contract; without ownership nothing is disconnected on drop.
        let xcb = unsafe { XCBConnection::from_raw_xcb_connection(connection.as_ptr(), false) };
        xcb.map(|xcb| Connection { xcb, presents: AtomicU32::new(0) }).map_err(|error| error.to_string())
    }

    /// The depth of a visual whose pixels are BGRX words in memory; `None` for any other.
    pub fn depth_of(&self, visual: Visualid) -> Option<u8> {
        depth_of(self.xcb.setup(), visual)
    }

    /// Size and kind of a window.
    pub fn window(&self, window: u32) -> Result<WindowState, Error> {
        let (geometry, attributes) = self.query(window).map_err(|error| lost("the window", &error))?;
        Ok(WindowState { extent: extent_of(&geometry), depth: self.depth_of(attributes) })
    }

    /// Both questions in one round trip.
    fn query(&self, window: u32) -> Result<(GetGeometryReply, Visualid), ReplyError> {
        let geometry = self.xcb.get_geometry(window)?;
        let attributes = self.xcb.get_window_attributes(window)?;
        Ok((geometry.reply()?, attributes.reply()?.visual))
    }

    /// The connection, for functions of libxcb that have no name here.
    pub fn raw(&self) -> Option<Foreign> {
        Foreign::new(self.xcb.get_raw_xcb_connection())
    }

    /// What is readable when the server has sent something that no thread has read yet.
    pub fn fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the connection keeps its descriptor as long as it lives.
        unsafe { BorrowedFd::borrow_raw(self.xcb.as_raw_fd()) }
    }

    /// A number for a present.
    pub fn next_present(&self) -> u32 {
        self.presents.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    /// Whether the server can take descriptors of this process. Asking one that cannot would end the
    /// connection.
    pub(super) fn is_local(&self) -> bool {
        // SAFETY: an all-zero address is valid, and the kernel writes no more than `length` bytes.
        unsafe {
            let mut address: libc::sockaddr_storage = std::mem::zeroed();
            let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
            let fd = self.xcb.as_raw_fd();
            libc::getpeername(fd, (&raw mut address).cast(), &raw mut length) == 0
                && i32::from(address.ss_family) == libc::AF_UNIX
        }
    }

    /// Shares `memory` with the server; `None` if that is impossible.
    pub(super) fn share(&self, bytes: usize) -> Result<Option<(SharedMemory, shm::Seg)>, ReplyOrIdError> {
        if !self.is_local() || self.xcb.extension_information(shm::X11_EXTENSION_NAME)?.is_none() {
            return Ok(None);
        }
        // Descriptors came with version 1.2.
        let version = shm::query_version(&self.xcb)?.reply()?;
        if (version.major_version, version.minor_version) < (1, 2) {
            return Ok(None);
        }
        let Ok(memory) = SharedMemory::new(bytes) else { return Ok(None) };
        let Ok(fd) = memory.fd().try_clone_to_owned() else { return Ok(None) };
        let segment = self.xcb.generate_id()?;
        match shm::attach_fd(&self.xcb, segment, fd, true)?.check() {
            Ok(()) => Ok(Some((memory, segment))),
            Err(ReplyError::X11Error(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Size of what a reply is about.
pub(super) fn extent_of(geometry: &GetGeometryReply) -> vk::Extent2D {
    vk::Extent2D { width: geometry.width.into(), height: geometry.height.into() }
}

fn depth_of(setup: &Setup, visual: Visualid) -> Option<u8> {
    let depths = setup.roots.iter().flat_map(|screen| &screen.allowed_depths);
    let mut visuals = depths.flat_map(|depth| depth.visuals.iter().map(|visual| (depth.depth, visual)));
    let (depth, visual) = visuals.find(|(_, row)| row.visual_id == visual)?;
    let words =
        setup.pixmap_formats.iter().any(|format| format.depth == depth && format.bits_per_pixel == 32);
    let masks = (visual.red_mask, visual.green_mask, visual.blue_mask) == (0xff_0000, 0xff00, 0xff);
    let bgrx = words
        && masks
        && matches!(depth, 24 | 32)
        // Windows of SDL have direct colour where the server offers it, with a map that changes nothing.
        && matches!(visual.class, VisualClass::TRUE_COLOR | VisualClass::DIRECT_COLOR)
        && setup.image_byte_order == ImageOrder::LSB_FIRST;
    bgrx.then_some(depth)
}

/// A size as requests have it: coordinates in them are signed.
pub(super) fn side(px: u32) -> Result<u16, Error> {
    let side = u16::try_from(px).ok().filter(|&side| i16::try_from(side).is_ok());
    side.ok_or_else(|| Error::InvalidUse(format!("a window edge of {px} pixels")))
}

/// The depth of a window that can be presented to.
pub(super) fn presented_depth(state: &WindowState) -> Result<u8, Error> {
    let what = "the window's pixels are not 32-bit BGRX words";
    state.depth.ok_or_else(|| Error::unsupported(what, "create it with a 24-bit TrueColor visual"))
}

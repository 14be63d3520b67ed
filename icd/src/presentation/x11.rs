//! X11: the application's connection, borrowed, and a window that pictures are put into.
//!
//! The connection stays the application's. Requests are sent checked and their answers collected here,
//! so that no error of ours reaches the application's event queue, where it would end most programs; no
//! event is ever asked for. libxcb may be used from any thread; an application that presents to an Xlib
//! window calls XInitThreads, as the specification of VK_KHR_xlib_surface demands.

use std::os::fd::AsRawFd;
use std::sync::Arc;

use ash::vk;
use x11rb::connection::{Connection as _, RequestConnection};
use x11rb::errors::{ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::shm;
use x11rb::protocol::xproto::{
    ConnectionExt, CreateGCAux, Gcontext, GetGeometryReply, ImageFormat, ImageOrder, Setup, VisualClass,
    Visualid,
};
use x11rb::xcb_ffi::XCBConnection;

use super::backend::{Backend, News, Storage};
use super::foreign::{self, Foreign};
use super::frame::Frame;
use super::shm::SharedMemory;
use crate::foundation::error::Error;

/// Bytes of a pixel in every window that can be presented to.
const PIXEL_BYTES: usize = 4;

/// Bytes of a PutImage request before its pixels, in the form for big requests.
const PUT_IMAGE_HEADER: usize = 28;

/// The application's connection.
pub(super) struct Connection {
    xcb: XCBConnection,
}

/// What a window is at the moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowState {
    /// Size in pixels.
    pub extent: vk::Extent2D,
    /// Bits of a pixel that mean something, 24 or 32; `None` when the pixels are not BGRX.
    pub depth: Option<u8>,
}

/// A window that does not answer is lost, whatever the reason: it was destroyed, or the server ended.
fn lost(what: &str, error: &dyn std::fmt::Display) -> Error {
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
        xcb.map(|xcb| Connection { xcb }).map_err(|error| error.to_string())
    }

    /// The depth of a visual whose pixels are BGRX words in memory; `None` for any other.
    pub fn depth_of(&self, visual: Visualid) -> Option<u8> {
        depth_of(self.xcb.setup(), visual)
    }

    /// Size and kind of a window.
    pub fn window(&self, window: u32) -> Result<WindowState, Error> {
        let (geometry, attributes) = self.query(window).map_err(|error| lost("the window", &error))?;
        Ok(WindowState { extent: extent(&geometry), depth: self.depth_of(attributes) })
    }

    /// Both questions in one round trip.
    fn query(&self, window: u32) -> Result<(GetGeometryReply, Visualid), ReplyError> {
        let geometry = self.xcb.get_geometry(window)?;
        let attributes = self.xcb.get_window_attributes(window)?;
        Ok((geometry.reply()?, attributes.reply()?.visual))
    }

    /// Whether the server can take descriptors of this process. Asking one that cannot would end the
    /// connection.
    fn is_local(&self) -> bool {
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
    fn share(&self, bytes: usize) -> Result<Option<(SharedMemory, shm::Seg)>, ReplyOrIdError> {
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

fn extent(geometry: &GetGeometryReply) -> vk::Extent2D {
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

/// Where a picture waits for being put.
enum Memory {
    /// Shared with the server.
    Shared(SharedMemory, shm::Seg),
    /// Sent through the connection.
    Own(Vec<u8>),
}

/// A window as a swapchain draws to it.
pub(super) struct Target {
    connection: Arc<Connection>,
    window: u32,
    gc: Gcontext,
    depth: u8,
    width: u16,
    height: u16,
    memory: Memory,
    /// Bytes that a request may have.
    request_bytes: usize,
    /// The window's size when it got its last picture, until somebody was told.
    news: Option<vk::Extent2D>,
}

impl Target {
    /// A target for pictures of `extent`, and the window's size; `share` allows memory that is shared
    /// with the server.
    pub fn new(
        connection: &Arc<Connection>,
        window: u32,
        extent: vk::Extent2D,
        share: bool,
    ) -> Result<(Target, vk::Extent2D), Error> {
        let state = connection.window(window)?;
        let what = "the window's pixels are not 32-bit BGRX words";
        let depth = state
            .depth
            .ok_or_else(|| Error::unsupported(what, "create it with a 24-bit TrueColor visual"))?;
        let side = |px: u32| {
            // Coordinates in requests are signed.
            let side = u16::try_from(px).ok().filter(|&side| i16::try_from(side).is_ok());
            side.ok_or_else(|| Error::InvalidUse(format!("a window edge of {px} pixels")))
        };
        let (width, height) = (side(extent.width)?, side(extent.height)?);
        let bytes = usize::from(width) * usize::from(height) * PIXEL_BYTES;
        let make = || {
            let gc = connection.xcb.generate_id()?;
            let aux = CreateGCAux::new().graphics_exposures(0);
            connection.xcb.create_gc(gc, window, &aux)?.check()?;
            let shared = if share { connection.share(bytes)? } else { None };
            Ok::<_, ReplyOrIdError>((gc, shared))
        };
        let (gc, shared) = make().map_err(|error| lost("preparing the window", &error))?;
        let memory = shared
            .map_or_else(|| Memory::Own(vec![0; bytes]), |(memory, segment)| Memory::Shared(memory, segment));
        if matches!(memory, Memory::Own(_)) {
            log::info!(target: "vc4::wsi", "presenting through the connection: the X server shares no memory");
        }
        let (connection, request_bytes) = (connection.clone(), connection.xcb.maximum_request_bytes());
        let news = None;
        let target = Target { connection, window, gc, depth, width, height, memory, request_bytes, news };
        Ok((target, state.extent))
    }

    /// The rows to be put next, without gaps, BGRX.
    fn pixels(&mut self) -> &mut [u8] {
        match &mut self.memory {
            Memory::Shared(memory, _) => memory.bytes(),
            Memory::Own(bytes) => bytes,
        }
    }

    /// Puts the picture into the window and waits until the server has read it. Answers the window's
    /// size after that.
    fn put(&mut self) -> Result<vk::Extent2D, Error> {
        let put = || {
            let mut cookies = Vec::new();
            match &self.memory {
                Memory::Shared(_, segment) => cookies.push(self.put_shared(*segment)?),
                Memory::Own(bytes) => {
                    for (row, rows) in (0..).step_by(self.rows_per_request()).zip(self.requests(bytes)) {
                        cookies.push(self.put_rows(row, rows)?);
                    }
                }
            }
            // Requests are executed in order, so this answer ends the wait for the puts as well.
            let geometry = self.connection.xcb.get_geometry(self.window)?.reply()?;
            for cookie in cookies {
                cookie.check()?;
            }
            Ok::<_, ReplyError>(extent(&geometry))
        };
        put().map_err(|error| lost("presenting", &error))
    }

    fn put_shared(&self, segment: shm::Seg) -> Result<Cookie<'_>, ConnectionError> {
        let (width, height, format) = (self.width, self.height, ImageFormat::Z_PIXMAP.into());
        let xcb = &self.connection.xcb;
        shm::put_image(
            xcb,
            self.window,
            self.gc,
            width,
            height,
            0,
            0,
            width,
            height,
            0,
            0,
            self.depth,
            format,
            false,
            segment,
            0,
        )
    }

    fn row_bytes(&self) -> usize {
        usize::from(self.width) * PIXEL_BYTES
    }

    /// Rows that fit a request; a row always does: requests have at least 16 KiB, and rows longer than
    /// that only meet servers with big requests.
    fn rows_per_request(&self) -> usize {
        (self.request_bytes.saturating_sub(PUT_IMAGE_HEADER) / self.row_bytes()).max(1)
    }

    fn requests<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        bytes.chunks(self.rows_per_request() * self.row_bytes())
    }

    fn put_rows(&self, row: u16, rows: &[u8]) -> Result<Cookie<'_>, ConnectionError> {
        let height = (rows.len() / self.row_bytes()) as u16;
        let (xcb, format) = (&self.connection.xcb, ImageFormat::Z_PIXMAP);
        xcb.put_image(format, self.window, self.gc, self.width, height, 0, row as i16, 0, self.depth, rows)
    }
}

type Cookie<'a> = x11rb::cookie::VoidCookie<'a, XCBConnection>;

impl Backend for Target {
    fn storage(&mut self) -> Storage<'_> {
        Storage::Host(Some(self.pixels()))
    }

    fn path(&self) -> String {
        match self.memory {
            Memory::Shared(..) => "X11, by shared memory".into(),
            Memory::Own(_) => "X11, through the connection".into(),
        }
    }

    fn has_alpha(&self) -> bool {
        self.depth == 32
    }

    fn show(&mut self, _: Frame) -> Result<(), Error> {
        self.news = Some(self.put()?);
        Ok(())
    }

    fn news(&mut self) -> Option<News> {
        self.news.take().map(News::Extent)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // Nobody is left to tell about failures; the server frees what a broken connection held.
        let xcb = &self.connection.xcb;
        if let Memory::Shared(_, segment) = &self.memory {
            let _ = shm::detach(xcb, *segment).map(|cookie| cookie.ignore_error());
        }
        let _ = xcb.free_gc(self.gc).map(|cookie| cookie.ignore_error());
        let _ = xcb.flush();
    }
}

#[cfg(test)]
#[path = "x11_tests.rs"]
mod tests;

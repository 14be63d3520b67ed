//! A window that pictures are put into: copied into memory that the server shares, or sent to it.

use std::sync::Arc;

use ash::vk;
use x11rb::connection::{Connection as _, RequestConnection};
use x11rb::errors::{ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::shm;
use x11rb::protocol::xproto::{ConnectionExt, CreateGCAux, Gcontext, ImageFormat};
use x11rb::xcb_ffi::XCBConnection;

use super::connection::{Connection, extent_of, lost, presented_depth, side};
use crate::foundation::error::Error;
use crate::presentation::backend::{Backend, News, Storage};
use crate::presentation::frame::Frame;
use crate::presentation::shm::SharedMemory;

/// Bytes of a pixel in every window that can be presented to.
const PIXEL_BYTES: usize = 4;

/// Bytes of a PutImage request before its pixels, in the form for big requests.
const PUT_IMAGE_HEADER: usize = 28;

/// Where a picture waits for being put.
pub(super) enum Memory {
    /// Shared with the server.
    Shared(SharedMemory, shm::Seg),
    /// Sent through the connection.
    Own(Vec<u8>),
}

/// A window as a swapchain draws to it.
pub(in crate::presentation) struct Target {
    connection: Arc<Connection>,
    window: u32,
    gc: Gcontext,
    depth: u8,
    width: u16,
    height: u16,
    pub(super) memory: Memory,
    /// Bytes that a request may have.
    pub(super) request_bytes: usize,
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
        let depth = presented_depth(&state)?;
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
    pub(super) fn pixels(&mut self) -> &mut [u8] {
        match &mut self.memory {
            Memory::Shared(memory, _) => memory.bytes(),
            Memory::Own(bytes) => bytes,
        }
    }

    /// Puts the picture into the window and waits until the server has read it. Answers the window's
    /// size after that.
    pub(super) fn put(&mut self) -> Result<vk::Extent2D, Error> {
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
            Ok::<_, ReplyError>(extent_of(&geometry))
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

    fn show(&mut self, _: Frame) -> Result<bool, Error> {
        self.news = Some(self.put()?);
        Ok(true)
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

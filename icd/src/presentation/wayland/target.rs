//! A surface as a swapchain draws to it: buffers in memory shared with the compositor, which takes turns with the presenter
//! in using them.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ash::vk;
use wayland_client::backend::WaylandError;
use wayland_client::protocol::wl_buffer::{self, WlBuffer};
use wayland_client::protocol::wl_callback::{self, WlCallback};
use wayland_client::protocol::wl_shm::Format;
use wayland_client::protocol::wl_shm_pool::WlShmPool;
use wayland_client::protocol::wl_surface::{REQ_DAMAGE_BUFFER_SINCE, WlSurface};
use wayland_client::{
    Connection as Display, Dispatch, DispatchError, EventQueue, Proxy, QueueHandle, delegate_noop,
};

use super::connection::{Connection, lost};
use crate::foundation::error::Error;
use crate::presentation::foreign::Foreign;
use crate::presentation::shm::SharedMemory;

/// One on the screen, one on its way, one being written.
const BUFFERS: usize = 3;

/// Bytes of a pixel.
const PIXEL_BYTES: usize = 4;

/// How long a picture waits for its turn. A compositor gives none to surfaces that nobody sees; their programs go on slowly
/// instead of standing still.
const UNSEEN: Duration = Duration::from_secs(1);

/// How often a wait looks whether the swapchain comes to its end.
const LOOK: Duration = Duration::from_millis(50);

/// What pictures mean and when they are shown.
#[derive(Clone, Copy, Debug)]
pub(in crate::presentation) struct Manner {
    /// Alpha lets through what is behind.
    pub alpha: bool,
    /// As swapchains say it.
    pub mode: vk::PresentModeKHR,
}

/// What the compositor said last.
struct State {
    free: [bool; BUFFERS],
    /// The last picture's frame callback has not come.
    waits: bool,
}

/// A surface with its buffers.
pub(in crate::presentation) struct Target {
    connection: Arc<Connection>,
    surface: WlSurface,
    queue: EventQueue<State>,
    state: State,
    memory: SharedMemory,
    pool: WlShmPool,
    buffers: [WlBuffer; BUFFERS],
    extent: vk::Extent2D,
    fifo: bool,
    /// The buffer being written.
    next: usize,
}

impl Target {
    /// A target for pictures of `extent`.
    ///
    /// # Safety
    /// `surface` is a `wl_surface` of the connection's display that outlives the target.
    pub unsafe fn new(
        connection: &Arc<Connection>,
        surface: Foreign,
        extent: vk::Extent2D,
        manner: Manner,
    ) -> Result<Target, Error> {
        // SAFETY: by the contract.
        let surface = unsafe { connection.surface(surface)? };
        connection.set_tearing(&surface, manner.mode == vk::PresentModeKHR::IMMEDIATE);
        let queue: EventQueue<State> = connection.display.new_event_queue();
        let handle = queue.handle();
        let bytes = extent.width as usize * extent.height as usize * PIXEL_BYTES;
        let all = i32::try_from(bytes * BUFFERS).map_err(|_| {
            Error::InvalidUse(format!("pictures of {} x {} pixels", extent.width, extent.height))
        })?;
        let memory = SharedMemory::new(bytes * BUFFERS).map_err(|error| {
            log::error!(target: "vc4::wsi", "no memory for the compositor: {error}");
            Error::OutOfHostMemory
        })?;
        let pool = connection.shm.create_pool(memory.fd(), all, &handle, ());
        let format = if manner.alpha { Format::Argb8888 } else { Format::Xrgb8888 };
        let (width, height) = (extent.width as i32, extent.height as i32);
        let stride = width * PIXEL_BYTES as i32;
        let buffers = std::array::from_fn(|at| {
            pool.create_buffer((at * bytes) as i32, width, height, stride, format, &handle, at)
        });
        let fifo = manner.mode == vk::PresentModeKHR::FIFO;
        let state = State { free: [true; BUFFERS], waits: false };
        let connection = connection.clone();
        Ok(Target { connection, surface, queue, state, memory, pool, buffers, extent, fifo, next: 0 })
    }

    /// Waits until the picture before had its turn, in FIFO mode, and a buffer is free. `hurry` ends waits.
    pub fn wait(&mut self, hurry: &AtomicBool) -> Result<(), Error> {
        if self.fifo {
            self.wait_for(hurry, |state| !state.waits)?;
        }
        let seen = self.wait_for(hurry, |state| state.free.contains(&true))?;
        // Without one, what the compositor has had longest.
        let free = self.state.free.iter().position(|&free| free).filter(|_| seen);
        self.next = free.unwrap_or((self.next + 1) % BUFFERS);
        Ok(())
    }

    /// The rows to be shown next, without gaps, BGRX or BGRA.
    pub fn pixels(&mut self) -> &mut [u8] {
        let bytes = self.extent.width as usize * self.extent.height as usize * PIXEL_BYTES;
        &mut self.memory.bytes()[self.next * bytes..][..bytes]
    }

    /// Hands the picture to the compositor.
    pub fn show(&mut self) -> Result<(), Error> {
        let (width, height) = (self.extent.width as i32, self.extent.height as i32);
        self.surface.attach(Some(&self.buffers[self.next]), 0, 0);
        if self.surface.version() >= REQ_DAMAGE_BUFFER_SINCE {
            self.surface.damage_buffer(0, 0, width, height);
        } else {
            // In the surface's own units, which scaling makes others.
            self.surface.damage(0, 0, i32::MAX, i32::MAX);
        }
        if self.fifo {
            self.surface.frame(&self.queue.handle(), ());
            self.state.waits = true;
        }
        self.surface.commit();
        self.state.free[self.next] = false;
        self.flush()?;
        self.dispatch()
    }

    fn flush(&self) -> Result<(), Error> {
        match self.connection.display.flush() {
            Err(WaylandError::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(()),
            flushed => flushed.map_err(|error| lost("presenting", &error)),
        }
    }

    fn dispatch(&mut self) -> Result<(), Error> {
        let dispatched = self.queue.dispatch_pending(&mut self.state).map(drop);
        dispatched.map_err(|error: DispatchError| lost("presenting", &error))
    }

    /// Reads events until `done` holds; no longer than [`UNSEEN`]. Whether it holds.
    fn wait_for(&mut self, hurry: &AtomicBool, done: fn(&State) -> bool) -> Result<bool, Error> {
        let end = Instant::now() + UNSEEN;
        loop {
            self.dispatch()?;
            if done(&self.state) {
                return Ok(true);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || hurry.load(Ordering::Relaxed) {
                return Ok(false);
            }
            self.flush()?;
            let Some(guard) = self.queue.prepare_read() else { continue };
            if is_readable(guard.connection_fd(), left.min(LOOK)) {
                match guard.read() {
                    Err(WaylandError::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    read => drop(read.map_err(|error| lost("waiting for the compositor", &error))?),
                }
            }
        }
    }
}

/// Whether there is something to read, or the other end is gone, before `limit` is over.
fn is_readable(fd: BorrowedFd<'_>, limit: Duration) -> bool {
    let mut poll = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let limit = i32::try_from(limit.as_millis()).unwrap_or(i32::MAX).max(1);
    // SAFETY: one record, of a descriptor that is borrowed for the call.
    unsafe { libc::poll(&raw mut poll, 1, limit) > 0 }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.buffers.iter().for_each(WlBuffer::destroy);
        self.pool.destroy();
        // Nobody is left to tell about failures.
        let _ = self.connection.display.flush();
    }
}

impl Dispatch<WlBuffer, usize> for State {
    fn event(
        state: &mut State,
        _: &WlBuffer,
        event: wl_buffer::Event,
        at: &usize,
        _: &Display,
        _: &QueueHandle<State>,
    ) {
        if let wl_buffer::Event::Release = event {
            state.free[*at] = true;
        }
    }
}

impl Dispatch<WlCallback, ()> for State {
    fn event(
        state: &mut State,
        _: &WlCallback,
        event: wl_callback::Event,
        _: &(),
        _: &Display,
        _: &QueueHandle<State>,
    ) {
        if let wl_callback::Event::Done { .. } = event {
            state.waits = false;
        }
    }
}

delegate_noop!(State: WlShmPool);

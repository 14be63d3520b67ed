//! A surface as a swapchain draws to it: its buffers are the images of the swapchain, or memory shared with the compositor,
//! which takes turns with the presenter in using them.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use drm::buffer::DrmFourcc;
use wayland_client::backend::WaylandError;
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_shm::Format;
use wayland_client::protocol::wl_shm_pool::WlShmPool;
use wayland_client::protocol::wl_surface::REQ_DAMAGE_BUFFER_SINCE;
use wayland_client::{DispatchError, EventQueue, Proxy};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_feedback_v1::ZwpLinuxDmabufFeedbackV1;

use super::alias::Alias;
use super::connection::{Connection, lost};
use super::dmabuf::{self, FEEDBACK_SINCE};
use super::state::{Answered, State, ask_for_buffer};
use crate::foundation::error::Error;
use crate::presentation::backend::{Backend, Native, News, Storage};
use crate::presentation::bell::{Bell, poll};
use crate::presentation::foreign::Foreign;
use crate::presentation::frame::Frame;
use crate::presentation::shared_image::SharedImage;
use crate::presentation::shm::SharedMemory;

/// Of shared memory: one on the screen, one on its way, one being written.
const BUFFERS: usize = 3;

/// Bytes of a pixel in shared memory.
const PIXEL_BYTES: usize = 4;

/// How long a picture waits for its turn. A compositor gives none to surfaces that nobody sees; their programs go on slowly
/// instead of standing still.
const UNSEEN: Duration = Duration::from_secs(1);

/// How long to wait for answers to requests that may not have left yet.
const FLUSH_AGAIN: Duration = Duration::from_millis(100);

/// What pictures mean and when they are shown.
#[derive(Clone, Copy, Debug)]
pub(in crate::presentation) struct Manner {
    /// Alpha lets through what is behind.
    pub alpha: bool,
    /// As swapchains say it.
    pub mode: vk::PresentModeKHR,
}

/// A surface without buffers, and its queue.
struct Seat {
    connection: Arc<Connection>,
    alias: Alias,
    queue: EventQueue<State>,
    state: State,
    fifo: bool,
    /// What tells of changes.
    feedback: Option<ZwpLinuxDmabufFeedbackV1>,
}

impl Seat {
    /// # Safety
    /// `surface` is a `wl_surface` of the connection's display that outlives the result.
    unsafe fn new(
        connection: &Arc<Connection>,
        surface: Foreign,
        mode: vk::PresentModeKHR,
    ) -> Result<Seat, Error> {
        // SAFETY: by the contract.
        let alias = unsafe { Alias::new(&connection.display, surface)? };
        connection.set_tearing(&alias.surface, mode == vk::PresentModeKHR::IMMEDIATE);
        let queue = connection.display.new_event_queue();
        let (connection, fifo) = (connection.clone(), mode == vk::PresentModeKHR::FIFO);
        let state = State { monotonic: connection.monotonic, ..State::default() };
        Ok(Seat { connection, alias, queue, state, fifo, feedback: None })
    }

    /// Shows a buffer, with picture `number` in it, or leaves it out; whether it was shown.
    ///
    /// One whose turn has not come is: either nobody sees the surface, or it is no more.
    fn attach(&mut self, buffer: usize, extent: vk::Extent2D, number: u64) -> Result<bool, Error> {
        if self.state.waits.is_some() {
            self.state.waits = Some(Instant::now());
            self.state.turns.push_back((number, None));
            return Ok(false);
        }
        self.alias.surface.attach(self.state.buffers.get(buffer), 0, 0);
        if self.alias.surface.version() >= REQ_DAMAGE_BUFFER_SINCE {
            self.alias.surface.damage_buffer(0, 0, extent.width as i32, extent.height as i32);
        } else {
            // In the surface's own units, which scaling makes others.
            self.alias.surface.damage(0, 0, i32::MAX, i32::MAX);
        }
        if self.fifo {
            self.alias.surface.frame(&self.queue.handle(), ());
            self.state.waits = Some(Instant::now());
        }
        self.connection.ask_for_turn(&self.alias.surface, &self.queue.handle(), number);
        self.alias.surface.commit();
        self.state.free[buffer] = false;
        self.flush()?;
        self.dispatch()?;
        Ok(true)
    }

    /// Whether the picture before had its turn, in FIFO mode, or is not to be waited for any more.
    fn is_ready(&self, hurry: bool) -> bool {
        hurry || self.state.waits.is_none_or(|since| since.elapsed() >= UNSEEN)
    }

    /// A picture that had its turn.
    fn turn(&mut self) -> Option<News> {
        self.state.turns.pop_front().map(|(number, sight)| News::Turn(number, sight))
    }

    fn flush(&self) -> Result<(), Error> {
        match self.connection.display.flush() {
            Err(WaylandError::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(()),
            flushed => flushed.map_err(|error| lost("presenting", &error)),
        }
    }

    /// Hands out what was read; how much it was.
    fn dispatch(&mut self) -> Result<usize, Error> {
        self.queue
            .dispatch_pending(&mut self.state)
            .map_err(|error: DispatchError| lost("presenting", &error))
    }

    /// Waits for the answers to all requests so far.
    fn roundtrip(&mut self) -> Result<(), Error> {
        let answered = Answered::default();
        self.connection.display.display().sync(&self.queue.handle(), answered.clone());
        while !answered.is_set() {
            // A compositor that was too slow to take all requests gets the rest of them in the next round.
            self.receive(|display| poll([display], Some(FLUSH_AGAIN))[0])?;
        }
        Ok(())
    }

    /// Reads events, when there are some before the bell rings and the time is over.
    fn read(&mut self, bell: &Bell, limit: Option<Duration>) -> Result<(), Error> {
        self.receive(|display| poll([display, bell.fd()], limit)[0])
    }

    /// Reads events if `wait`, which is given the display, says that there are some; it is not asked where others have read some for
    /// this queue.
    ///
    /// The presenter of one swapchain reads while another swapchain is made for the same surface, and who reads hands out to the queues
    /// of all. A prepared read keeps others from reading alone. What they had read before is in our queue once the dispatch after
    /// that ends, as it waits for theirs. To look before, and then wait, could be to wait for what is there already.
    fn receive(&mut self, wait: impl FnOnce(BorrowedFd<'_>) -> bool) -> Result<(), Error> {
        self.flush()?;
        // Without it, there are events to be dispatched.
        if let Some(guard) = self.queue.prepare_read() {
            if self.dispatch()? == 0 && wait(guard.connection_fd()) {
                match guard.read() {
                    Err(WaylandError::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    read => drop(read.map_err(|error| lost("waiting for the compositor", &error))?),
                }
            }
        }
        self.dispatch().map(drop)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.state.buffers.iter().for_each(WlBuffer::destroy);
        self.state.created.iter().for_each(|(_, buffer)| buffer.destroy());
        if let Some(feedback) = &self.feedback {
            feedback.destroy();
        }
        // Nobody is left to tell about failures.
        let _ = self.connection.display.flush();
    }
}

/// A surface with buffers in shared memory.
pub(in crate::presentation) struct Target {
    seat: Seat,
    memory: SharedMemory,
    pool: WlShmPool,
    extent: vk::Extent2D,
    /// The buffer to be written, or being written.
    next: usize,
    /// Since when none is free.
    full: Option<Instant>,
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
        let mut seat = unsafe { Seat::new(connection, surface, manner.mode)? };
        let handle = seat.queue.handle();
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
        let buffers = (0..BUFFERS)
            .map(|at| pool.create_buffer((at * bytes) as i32, width, height, stride, format, &handle, ()));
        seat.state.buffers = buffers.collect();
        seat.state.free = vec![true; BUFFERS];
        Ok(Target { seat, memory, pool, extent, next: 0, full: None })
    }

    /// Chooses the buffer for the next picture; whether it may be written.
    fn choose_buffer(&mut self, hurry: bool) -> bool {
        if let Some(free) = self.seat.state.free.iter().position(|&free| free) {
            (self.next, self.full) = (free, None);
            return true;
        }
        let since = *self.full.get_or_insert_with(Instant::now);
        // Without one, what the compositor has had longest.
        let anyway = hurry || since.elapsed() >= UNSEEN;
        if anyway {
            (self.next, self.full) = ((self.next + 1) % BUFFERS, None);
        }
        anyway
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.pool.destroy();
    }
}

impl Backend for Target {
    /// Rows without gaps, BGRX or BGRA.
    fn storage(&mut self) -> Storage<'_> {
        let bytes = self.extent.width as usize * self.extent.height as usize * PIXEL_BYTES;
        Storage::Host(Some(&mut self.memory.bytes()[self.next * bytes..][..bytes]))
    }

    fn path(&self) -> String {
        "Wayland, by shared memory".into()
    }

    fn has_pace(&self) -> bool {
        true
    }

    fn tells_turns(&self) -> bool {
        self.seat.connection.tells_turns()
    }

    fn is_tied(&self) -> bool {
        true
    }

    fn is_ready(&mut self, hurry: bool) -> bool {
        self.seat.is_ready(hurry) && self.choose_buffer(hurry)
    }

    fn show(&mut self, frame: Frame) -> Result<bool, Error> {
        self.seat.attach(self.next, self.extent, frame.number)
    }

    fn news(&mut self) -> Option<News> {
        self.seat.turn()
    }

    fn wait(&mut self, bell: &Bell, limit: Option<Duration>) -> Result<(), Error> {
        self.seat.read(bell, limit)
    }
}

/// A surface that is still to get the images of its swapchain as buffers.
pub(in crate::presentation) struct Planned {
    seat: Seat,
    format: DrmFourcc,
    modifiers: Vec<u64>,
}

impl Planned {
    /// For pixels of a format; `None` where the compositor takes no such images.
    ///
    /// # Safety
    /// `surface` is a `wl_surface` of the connection's display that outlives the target.
    pub unsafe fn new(
        connection: &Arc<Connection>,
        surface: Foreign,
        format: DrmFourcc,
        mode: vk::PresentModeKHR,
    ) -> Result<Option<Planned>, Error> {
        let Some(dmabuf) = &connection.dmabuf else { return Ok(None) };
        // SAFETY: by the contract.
        let mut seat = unsafe { Seat::new(connection, surface, mode)? };
        let formats = match dmabuf.version() < FEEDBACK_SINCE {
            true => connection.formats.clone(),
            false => {
                let handle = seat.queue.handle();
                seat.feedback = Some(dmabuf.get_surface_feedback(&seat.alias.surface, &handle, ()));
                seat.roundtrip()?;
                seat.state.feedback.formats.take().unwrap_or_default()
            }
        };
        let modifiers = dmabuf::modifiers(&formats, format);
        Ok((!modifiers.is_empty()).then_some(Planned { seat, format, modifiers }))
    }
}

impl Native for Planned {
    fn modifiers(&self) -> &[u64] {
        &self.modifiers
    }

    fn take(self: Box<Self>, images: &[SharedImage]) -> Result<Box<dyn Backend>, Error> {
        let Planned { mut seat, format, modifiers } = *self;
        if let Some(dmabuf) = &seat.connection.dmabuf {
            let handle = seat.queue.handle();
            images.iter().enumerate().for_each(|(at, image)| ask_for_buffer(dmabuf, &handle, at, image));
        }
        seat.roundtrip()?;
        let mut created = std::mem::take(&mut seat.state.created);
        created.sort_by_key(|(index, _)| *index);
        seat.state.buffers = created.into_iter().map(|(_, buffer)| buffer).collect();
        if seat.state.buffers.len() != images.len() {
            return Err(Error::unsupported(
                "a compositor that cannot use the images",
                "let pictures be copied",
            ));
        }
        seat.state.free = vec![true; images.len()];
        let extent = images.first().map(|image| image.extent).unwrap_or_default();
        let layout = images.first().map_or("none", SharedImage::layout);
        let waited_for = images.iter().all(SharedImage::is_waited_for);
        Ok(Box::new(Images { seat, extent, layout, waited_for, format, best: modifiers.first().copied() }))
    }
}

/// A surface whose buffers are the images of its swapchain.
struct Images {
    seat: Seat,
    extent: vk::Extent2D,
    layout: &'static str,
    waited_for: bool,
    format: DrmFourcc,
    /// The best layout that the compositor knew.
    best: Option<u64>,
}

impl Backend for Images {
    fn storage(&mut self) -> Storage<'_> {
        Storage::Native
    }

    fn path(&self) -> String {
        format!("Wayland, images shown as they are ({})", self.layout)
    }

    fn has_pace(&self) -> bool {
        true
    }

    fn tells_turns(&self) -> bool {
        self.seat.connection.tells_turns()
    }

    fn is_tied(&self) -> bool {
        true
    }

    fn is_waited_for(&self) -> bool {
        self.waited_for
    }

    fn is_ready(&mut self, hurry: bool) -> bool {
        self.seat.is_ready(hurry)
    }

    fn show(&mut self, frame: Frame) -> Result<bool, Error> {
        let index = frame.index as usize;
        let shown = self.seat.attach(index, self.extent, frame.number)?;
        if !shown {
            self.seat.state.released.push_back(index);
        }
        Ok(shown)
    }

    fn news(&mut self) -> Option<News> {
        if let Some(turn) = self.seat.turn() {
            return Some(turn);
        }
        if let Some(index) = self.seat.state.released.pop_front() {
            return Some(News::Free(index as u32));
        }
        let formats = self.seat.state.feedback.formats.take()?;
        let best = dmabuf::modifiers(&formats, self.format).first().copied();
        let changed = best != self.best;
        self.best = best;
        changed.then_some(News::Suboptimal)
    }

    fn wait(&mut self, bell: &Bell, limit: Option<Duration>) -> Result<(), Error> {
        self.seat.read(bell, limit)
    }
}

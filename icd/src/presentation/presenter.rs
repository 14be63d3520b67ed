//! The thread of a swapchain: waits for the GPU, keeps the pace, shows pictures.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use vc4_kernel_abi::{Gpu, Seqno};

use super::backend::{Backend, News, Storage};
use super::bell::Inbox;
use super::capture::{self, Picture};
use super::copying::{Conversion, copy, copy_as_words};
use super::frame::Frame;
use super::pool::Pool;
use crate::foundation::debug::{Debug, flags};
use crate::foundation::error::Error;
use crate::foundation::threads::{Builder, JoinHandle};
use crate::foundation::traffic::Total;

/// Time between pictures in FIFO mode. The X protocol alone does not tell when a screen refreshes, and
/// 60 Hz is what the monitors and televisions on these boards run at.
const REFRESH: Duration = Duration::from_nanos(1_000_000_000 / 60);

/// How often a wait for the GPU looks whether the device was lost: the queue watches for hangs.
const LOOK: Duration = Duration::from_millis(200);

/// How often a picture that waits for its turn asks for it, besides when something happens.
const ASK: Duration = Duration::from_millis(50);

/// Ticks of [`REFRESH`]. A picture that comes late starts a new count.
#[derive(Default)]
struct Pace {
    next: Option<Instant>,
}

impl Pace {
    /// The moment for the next picture, which is ready at `now`.
    fn tick(&mut self, now: Instant) -> Instant {
        let tick = self.next.map_or(now, |next| next.max(now));
        self.next = Some(tick + REFRESH);
        tick
    }
}

/// The handle of the thread.
pub(super) struct Presenter {
    inbox: Arc<Inbox>,
    takes_fences: bool,
    thread: JoinHandle<()>,
}

impl Presenter {
    /// Starts the thread. The queue of frames is bounded by the images that there are.
    pub fn start(
        pool: Arc<Pool>,
        backend: Box<dyn Backend>,
        mode: vk::PresentModeKHR,
        conversion: Conversion,
    ) -> Result<Presenter, Error> {
        let inbox = Arc::new(Inbox::new()?);
        let takes_fences = backend.takes_fences();
        let opaque = conversion.opaque && backend.has_alpha();
        let pace = (mode == vk::PresentModeKHR::FIFO && !backend.has_pace()).then(Pace::default);
        let worker = Worker {
            conversion: Conversion { opaque, ..conversion },
            moved: (0, pool.device().physical().traffic().total()),
            newest_only: mode == vk::PresentModeKHR::MAILBOX,
            inbox: inbox.clone(),
            pool,
            backend,
            pace,
            frames: VecDeque::new(),
            next: None,
            broken: false,
            shown: Shown::default(),
        };
        let thread = Builder::new().name("vc4-present".into());
        let thread = thread.spawn(move || worker.run()).map_err(|error| {
            log::error!(target: "vc4::wsi", "the present thread cannot start: {error}");
            Error::OutOfHostMemory
        })?;
        Ok(Presenter { inbox, takes_fences, thread })
    }

    /// Appends a picture that is complete after a job.
    pub fn push(&self, index: u32, rendered: Option<Seqno>, id: u64, gpu: &dyn Gpu) {
        // The queue has submitted nothing behind that job yet.
        let fence = rendered.filter(|_| self.takes_fences).and_then(|_| gpu.last_job_fence());
        self.inbox.push(Frame { index, rendered, fence, id });
    }

    /// Shows what was pushed, without pauses, and ends the thread.
    pub fn finish(self) {
        self.inbox.close();
        // A panic of the thread was reported where it happened.
        let _ = self.thread.join();
    }
}

/// The last picture that was shown.
#[derive(Default)]
struct Shown {
    /// Its number in the capture, from 1.
    number: u64,
    /// Its image, if pictures are not copied.
    index: u32,
}

struct Worker {
    pool: Arc<Pool>,
    backend: Box<dyn Backend>,
    pace: Option<Pace>,
    conversion: Conversion,
    /// A picture that still waits when there is a newer one is not shown.
    newest_only: bool,
    inbox: Arc<Inbox>,
    frames: VecDeque<Frame>,
    /// The next picture, and when it may be shown.
    next: Option<(Frame, Instant)>,
    /// Nothing can be shown any more.
    broken: bool,
    shown: Shown,
    /// Pictures that this thread was given, and what the CPU had moved when it was done with the last one.
    moved: (u64, Total),
}

impl Worker {
    fn run(mut self) {
        loop {
            // A panic must not leave the application waiting for an image that never comes back.
            let round = catch_unwind(AssertUnwindSafe(|| self.round()));
            match round.unwrap_or_else(|_| Err(Error::Panic("in the present thread".into()))) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    self.pool.fail(&error);
                    self.broken = true;
                }
            }
        }
        if let Err(error) = self.save() {
            log::error!(target: "vc4::wsi", "the last picture cannot be captured: {error}");
        }
    }

    /// Does what can be done, or waits; whether there will be more to do.
    fn round(&mut self) -> Result<bool, Error> {
        let closed = self.inbox.take(&mut self.frames);
        if self.broken {
            self.frames.clear();
            self.next = None;
            if !closed {
                self.inbox.bell().wait(None);
            }
            return Ok(!closed);
        }
        while let Some(news) = self.backend.news() {
            self.hear(news);
        }
        self.choose()?;
        let Some((_, due)) = &self.next else {
            if closed {
                return Ok(false);
            }
            self.backend.wait(self.inbox.bell(), None)?;
            return Ok(true);
        };
        let early = due.saturating_duration_since(Instant::now());
        if (early.is_zero() || closed) && self.backend.is_ready(closed) {
            if let Some((frame, _)) = self.next.take() {
                self.show(frame)?;
            }
        } else if let Some((frame, _)) = self.next.take_if(|_| self.newest_only && !self.frames.is_empty()) {
            self.pool.release(frame.index);
        } else {
            let limit = if early.is_zero() { ASK } else { early };
            self.backend.wait(self.inbox.bell(), Some(limit))?;
        }
        Ok(true)
    }

    fn hear(&self, news: News) {
        match news {
            News::Free(index) => self.pool.release(index),
            News::Extent(extent) if extent != self.pool.extent() => self.pool.outdate(),
            News::Extent(_) => {}
            News::Suboptimal => self.pool.suboptimal(),
        }
    }

    /// Chooses the picture to be shown next, if there is one.
    fn choose(&mut self) -> Result<(), Error> {
        if self.next.is_none() {
            if let Some(frame) = self.frames.pop_front() {
                if let (Some(seqno), None) = (frame.rendered, &frame.fence) {
                    self.wait_for(seqno)?;
                }
                let now = Instant::now();
                self.next = Some((frame, self.pace.as_mut().map_or(now, |pace| pace.tick(now))));
            }
        }
        Ok(())
    }

    fn show(&mut self, frame: Frame) -> Result<(), Error> {
        let (index, id) = (frame.index, frame.id);
        let copied = match self.backend.storage() {
            Storage::Native => false,
            Storage::Host(None) => true,
            Storage::Host(Some(pixels)) => {
                copy(self.pool.image(index)?, pixels)?;
                self.conversion.apply(pixels);
                true
            }
        };
        if copied {
            // The image is free before the window has its picture.
            self.pool.release(index);
        }
        self.backend.show(frame)?;
        self.shown.index = index;
        if let Some(capture) = capture::active() {
            self.shown.number = capture.presented();
        }
        self.pool.has_shown(id);
        while let Some(news) = self.backend.news() {
            self.hear(news);
        }
        if flags().contains(Debug::PERF) {
            self.report();
        }
        Ok(())
    }

    /// Says what the CPU moved since the last picture. The queue may be ahead by what waits to be shown.
    fn report(&mut self) {
        let (number, before) = self.moved;
        let total = self.pool.device().physical().traffic().total();
        self.moved = (number + 1, total);
        eprintln!("perf: frame {}: {}", number + 1, total.since(&before));
    }

    /// Gives the last picture to who captures.
    fn save(&mut self) -> Result<(), Error> {
        let Some(capture) = capture::active().filter(|_| self.shown.number > 0) else { return Ok(()) };
        let vk::Extent2D { width, height } = self.pool.extent();
        let mut own = Vec::new();
        let bgrx: &[u8] = match self.backend.storage() {
            Storage::Host(pixels) => pixels.unwrap_or_default(),
            Storage::Native => {
                let image = self.pool.image(self.shown.index)?;
                own.resize(width as usize * height as usize * 4, 0);
                copy_as_words(image, &mut own)?;
                self.conversion.apply(&mut own);
                &own
            }
        };
        let device = self.pool.device().gpu().description();
        capture.save(&Picture { width, height, bgrx }, self.shown.number, &device);
        Ok(())
    }

    fn wait_for(&self, seqno: Seqno) -> Result<(), Error> {
        let device = self.pool.device();
        while !device.gpu().wait_seqno(seqno, Some(LOOK))? {
            device.check()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_is_even_and_forgives_lateness() {
        let mut pace = Pace::default();
        let start = Instant::now();
        assert_eq!(pace.tick(start), start);
        assert_eq!(pace.tick(start + REFRESH / 2), start + REFRESH);
        assert_eq!(pace.tick(start + REFRESH), start + 2 * REFRESH);
        let late = start + 10 * REFRESH;
        assert_eq!(pace.tick(late), late);
        assert_eq!(pace.tick(late), late + REFRESH);
    }
}

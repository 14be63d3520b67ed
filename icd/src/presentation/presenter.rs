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
use super::timing::{self, REFRESH_NS, Sight, Tags, Ticks};
use crate::foundation::debug::{Debug, flags};
use crate::foundation::error::Error;
use crate::foundation::threads::{Builder, JoinHandle};
use crate::foundation::traffic::Total;

/// Time between pictures in FIFO mode, where the display does not tell when it refreshes.
const REFRESH: Duration = Duration::from_nanos(REFRESH_NS);

/// How often a wait for the GPU looks whether the device was lost: the queue watches for hangs.
const LOOK: Duration = Duration::from_millis(200);

/// A time behind everything.
const FAR: Duration = Duration::from_secs(1 << 30);

/// How often a picture that waits for its turn asks for it, besides when something happens.
const ASK: Duration = Duration::from_millis(50);

/// How long a picture may wait for being seen before nobody waits for it any more: some displays say nothing of what they do not show.
const UNSEEN: Duration = Duration::from_secs(1);

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
    is_tied: bool,
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
        let (is_tied, takes_fences) = (backend.is_tied(), backend.takes_fences());
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
            tears: mode == vk::PresentModeKHR::IMMEDIATE,
            broken: false,
            shown: Shown::default(),
            awaited: VecDeque::new(),
            number: 0,
            ticks: Ticks::default(),
        };
        let thread = Builder::new().name("vc4-present".into());
        let thread = thread.spawn(move || worker.run()).map_err(|error| {
            log::error!(target: "vc4::wsi", "the present thread cannot start: {error}");
            Error::OutOfHostMemory
        })?;
        Ok(Presenter { inbox, is_tied, takes_fences, thread })
    }

    /// Whether presents have to wait until their picture was handled.
    pub fn is_tied(&self) -> bool {
        self.is_tied
    }

    /// Appends a picture that is complete after a job.
    pub fn push(&self, index: u32, rendered: Option<Seqno>, tags: Tags, gpu: &dyn Gpu) {
        // The queue has submitted nothing behind that job yet.
        let fence = rendered.filter(|_| self.takes_fences).and_then(|_| gpu.last_job_fence());
        self.inbox.push(Frame { index, rendered, fence, tags, pushed: timing::now(), number: 0 });
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

/// The picture to be shown next.
struct Next {
    frame: Frame,
    /// When it may be shown.
    due: Instant,
    /// Since when it is complete; `None` if the display waits for the GPU.
    ready: Option<u64>,
}

/// A picture that the display has and that nobody has seen yet.
struct Awaited {
    number: u64,
    tags: Tags,
    pushed: u64,
    ready: Option<u64>,
    since: Instant,
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
    next: Option<Next>,
    /// Pictures are seen as soon as they are shown, in the middle of a refresh.
    tears: bool,
    /// Nothing can be shown any more.
    broken: bool,
    shown: Shown,
    /// In the order in which the display got them.
    awaited: VecDeque<Awaited>,
    /// Of the last picture.
    number: u64,
    ticks: Ticks,
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
        let patience = self.patience();
        self.choose()?;
        let Some(Next { due, .. }) = &self.next else {
            if closed {
                return Ok(false);
            }
            self.backend.wait(self.inbox.bell(), patience)?;
            return Ok(true);
        };
        let early = due.saturating_duration_since(Instant::now());
        if (early.is_zero() || closed) && self.backend.is_ready(closed) {
            if let Some(next) = self.next.take() {
                self.show(next)?;
            }
        } else if let Some(next) = self.next.take_if(|_| self.newest_only && !self.frames.is_empty()) {
            self.pool.release(next.frame.index);
            self.pool.has_handled();
        } else {
            let limit = if early.is_zero() { ASK } else { early };
            self.backend.wait(self.inbox.bell(), patience.into_iter().chain([limit]).min())?;
        }
        Ok(true)
    }

    /// How long the display may still take to say that a picture was seen. One that took too long counts as shown.
    fn patience(&mut self) -> Option<Duration> {
        while let Some(first) = self.awaited.front() {
            let left = UNSEEN.saturating_sub(first.since.elapsed());
            if !left.is_zero() {
                return Some(left);
            }
            self.pool.has_shown(first.tags.id);
            self.awaited.pop_front();
        }
        None
    }

    fn hear(&mut self, news: News) {
        match news {
            News::Free(index) => self.pool.release(index),
            News::Extent(extent) if extent != self.pool.extent() => self.pool.outdate(),
            News::Extent(_) => {}
            News::Suboptimal => self.pool.suboptimal(),
            News::Turn(number, sight) => {
                let place = self.awaited.iter().position(|awaited| awaited.number == number);
                if let Some(awaited) = place.and_then(|place| self.awaited.remove(place)) {
                    self.had_its_turn(&awaited, sight);
                }
            }
        }
    }

    /// Tells the application of a picture that was seen, or that nobody saw.
    fn had_its_turn(&mut self, awaited: &Awaited, sight: Option<Sight>) {
        let Tags { id, time } = awaited.tags;
        let Some(sight) = sight else { return self.pool.has_shown(id) };
        let told = self.ticks.see(sight, awaited.ready, time.unwrap_or_default());
        if flags().contains(Debug::PERF) {
            let late = told.actual_present_time.saturating_sub(awaited.pushed) as f64;
            let refreshes = late / self.ticks.refresh() as f64;
            let ms = late / 1e6;
            eprintln!(
                "perf: picture {}: seen {refreshes:.1} refreshes ({ms:.1} ms) after its present",
                awaited.number
            );
        }
        self.pool.has_seen(id, self.ticks.refresh(), time.map(|_| told));
    }

    /// Chooses the picture to be shown next, if there is one.
    fn choose(&mut self) -> Result<(), Error> {
        if self.next.is_none() {
            if let Some(frame) = self.frames.pop_front() {
                let waits = frame.fence.is_none() && !self.backend.is_waited_for();
                let complete = match frame.rendered {
                    None => true,
                    Some(seqno) if waits => self.wait_for(seqno).map(|()| true)?,
                    Some(seqno) => self.pool.device().gpu().wait_seqno(seqno, Some(Duration::ZERO))?,
                };
                let ready = timing::now();
                let wanted = self.wanted(&frame.tags, ready);
                let due = self.pace.as_mut().map_or(wanted, |pace| pace.tick(wanted));
                self.next = Some(Next { frame, due, ready: complete.then_some(ready) });
            }
        }
        Ok(())
    }

    /// When the application wants a picture to be handed to the display.
    fn wanted(&self, tags: &Tags, now: u64) -> Instant {
        let desired = tags.time.map_or(0, |time| time.desired_present_time);
        let when = if self.tears { desired } else { self.ticks.hand_over(desired) };
        let start = Instant::now();
        // Who wants one in a thousand years gets it at the swapchain's end.
        start.checked_add(Duration::from_nanos(when.saturating_sub(now))).unwrap_or(start + FAR)
    }

    fn show(&mut self, next: Next) -> Result<(), Error> {
        let Next { mut frame, ready, .. } = next;
        let (index, tags, pushed) = (frame.index, frame.tags, frame.pushed);
        self.number += 1;
        frame.number = self.number;
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
        let shown = self.backend.show(frame)?;
        self.pool.has_handled();
        if shown {
            self.shown.index = index;
            if let Some(capture) = capture::active() {
                self.shown.number = capture.presented();
            }
        }
        let awaited = Awaited { number: self.number, tags, pushed, ready, since: Instant::now() };
        match self.backend.tells_turns() {
            true => self.awaited.push_back(awaited),
            false => self.had_its_turn(&awaited, Some(Sight::default())),
        }
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

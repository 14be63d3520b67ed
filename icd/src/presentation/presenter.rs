//! The thread of a swapchain: waits for the GPU, keeps the pace, shows pictures.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ash::vk;
use vc4::image::Rect;
use vc4_kernel_abi::Seqno;

use super::canvas::Canvas;
use super::capture::{self, Picture};
use super::pool::Pool;
use crate::foundation::debug::{Debug, flags};
use crate::foundation::error::Error;
use crate::foundation::traffic::{Cause, Total};
use crate::objects::image::Image;

/// Time between pictures in FIFO mode. The X protocol alone does not tell when a screen refreshes, and
/// 60 Hz is what the monitors and televisions on these boards run at.
const REFRESH: Duration = Duration::from_nanos(1_000_000_000 / 60);

/// How often a wait for the GPU looks whether the device was lost: the queue watches for hangs.
const LOOK: Duration = Duration::from_millis(200);

/// A picture to be shown.
pub(super) struct Frame {
    /// Which image.
    pub index: u32,
    /// The job after which it is complete.
    pub rendered: Option<Seqno>,
}

/// What happens to pixels on their way to the canvas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Conversion {
    /// Red and blue change places.
    pub exchange: bool,
    /// Alpha becomes one.
    pub opaque: bool,
}

impl Conversion {
    fn apply(self, pixels: &mut [u8]) {
        if self == Conversion::default() {
            return;
        }
        for pixel in pixels.chunks_exact_mut(4) {
            if self.exchange {
                pixel.swap(0, 2);
            }
            if self.opaque {
                pixel[3] = u8::MAX;
            }
        }
    }
}

/// Copies level 0 of an image into rows without gaps.
fn copy(image: &Image, pixels: &mut [u8]) -> Result<(), Error> {
    let memory = image.binding()?.bo.access(Cause::Present)?;
    let vk::Extent3D { width, height, .. } = image.extent();
    let rect = Rect { x: 0, y: 0, width, height };
    let copied =
        image.level(0, 0)?.read_rect(rect, pixels, width as usize * 4, |at, run| memory.read(at, run));
    copied.map_err(|error| Error::InvalidUse(error.to_string()))
}

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
    sender: Sender<Frame>,
    hurry: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Presenter {
    /// Starts the thread. The queue of frames is bounded by the images that there are.
    pub fn start(
        pool: Arc<Pool>,
        canvas: Canvas,
        mode: vk::PresentModeKHR,
        conversion: Conversion,
    ) -> Result<Presenter, Error> {
        let hurry = Arc::new(AtomicBool::new(false));
        let opaque = conversion.opaque && canvas.has_alpha();
        let pace = (mode == vk::PresentModeKHR::FIFO && !canvas.has_pace()).then(Pace::default);
        let conversion = Conversion { opaque, ..conversion };
        let moved = (0, pool.device().physical().traffic().total());
        let worker = Worker { pool, canvas, pace, conversion, hurry: hurry.clone(), shown: 0, moved };
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::Builder::new().name("vc4-present".into());
        let thread = thread.spawn(move || worker.run(&receiver)).map_err(|error| {
            log::error!(target: "vc4::wsi", "the present thread cannot start: {error}");
            Error::OutOfHostMemory
        })?;
        Ok(Presenter { sender, hurry, thread })
    }

    /// Appends a picture.
    pub fn push(&self, frame: Frame) {
        // Fails only when the thread is gone, and then nothing can be shown any more.
        let _ = self.sender.send(frame);
    }

    /// Shows what was pushed, without pauses, and ends the thread.
    pub fn finish(self) {
        self.hurry.store(true, Ordering::Relaxed);
        drop(self.sender);
        // A panic of the thread was reported where it happened.
        let _ = self.thread.join();
    }
}

struct Worker {
    pool: Arc<Pool>,
    canvas: Canvas,
    pace: Option<Pace>,
    conversion: Conversion,
    /// No pauses any more.
    hurry: Arc<AtomicBool>,
    /// Number of the last picture in the capture.
    shown: u64,
    /// Pictures that this thread was given, and what the CPU had moved when it was done with the last one.
    moved: (u64, Total),
}

impl Worker {
    fn run(mut self, frames: &Receiver<Frame>) {
        for frame in frames {
            let shown = catch_unwind(AssertUnwindSafe(|| self.show(&frame)));
            // A panic must not leave the application waiting for an image that never comes back.
            let shown = shown.unwrap_or_else(|_| Err(Error::Panic("in the present thread".into())));
            if let Err(error) = shown {
                self.pool.fail(&error);
            }
            if flags().contains(Debug::PERF) {
                self.report();
            }
        }
        if let (Some(capture), Some(pixels)) = (capture::active(), self.canvas.pixels()) {
            if self.shown > 0 {
                let vk::Extent2D { width, height } = self.pool.extent();
                let device = self.pool.device().gpu().description();
                capture.save(&Picture { width, height, bgrx: pixels }, self.shown, &device);
            }
        }
    }

    fn show(&mut self, frame: &Frame) -> Result<(), Error> {
        if let Some(seqno) = frame.rendered {
            self.wait_for(seqno)?;
        }
        self.pause();
        self.canvas.wait(&self.hurry)?;
        if let Some(pixels) = self.canvas.pixels() {
            copy(self.pool.image(frame.index)?, pixels)?;
            self.conversion.apply(pixels);
        }
        // The picture is copied: the image is free before the window has it.
        self.pool.release(frame.index);
        let wanted = self.canvas.show()?;
        if let Some(capture) = capture::active() {
            self.shown = capture.presented();
        }
        if wanted.is_some_and(|wanted| wanted != self.pool.extent()) {
            self.pool.outdate();
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

    fn wait_for(&self, seqno: Seqno) -> Result<(), Error> {
        let device = self.pool.device();
        while !device.gpu().wait_seqno(seqno, Some(LOOK))? {
            device.check()?;
        }
        Ok(())
    }

    fn pause(&mut self) {
        if let Some(pace) = self.pace.as_mut().filter(|_| !self.hurry.load(Ordering::Relaxed)) {
            let now = Instant::now();
            std::thread::sleep(pace.tick(now).duration_since(now));
        }
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

    #[test]
    fn conversions_touch_only_their_bytes() {
        let convert = |exchange, opaque| {
            let mut pixels = [1, 2, 3, 4, 5, 6, 7, 8];
            Conversion { exchange, opaque }.apply(&mut pixels);
            pixels
        };
        assert_eq!(convert(false, false), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(convert(true, false), [3, 2, 1, 4, 7, 6, 5, 8]);
        assert_eq!(convert(false, true), [1, 2, 3, 255, 5, 6, 7, 255]);
    }
}

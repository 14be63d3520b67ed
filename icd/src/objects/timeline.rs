//! Timeline semaphores: a number that only grows.
//!
//! The queue executes in order, so work behind a signal may begin once the queue has come to it, while the host sees the
//! value when the GPU has finished what is in front. Both numbers are kept, and host signals move both.

use std::sync::Arc;

use ash::vk;

use crate::foundation::error::Error;
use crate::foundation::threads::{AtomicU64, Ordering};
use crate::foundation::waker::Waker;
use crate::objects::device::Device;

/// The payload of a timeline semaphore.
pub struct Timeline {
    waker: Arc<Waker>,
    /// What the queue has come to.
    reached: AtomicU64,
    /// What is complete.
    complete: AtomicU64,
}

impl Timeline {
    /// A timeline that begins at `value`.
    pub fn new(device: &Device, value: u64) -> Arc<Timeline> {
        let waker = device.waker().clone();
        Arc::new(Timeline { waker, reached: AtomicU64::new(value), complete: AtomicU64::new(value) })
    }

    /// vkGetSemaphoreCounterValue.
    pub fn value(&self) -> u64 {
        self.complete.load(Ordering::SeqCst)
    }

    /// The queue has come to a signal of `value`; what is in front of it may still run.
    pub fn reach(&self, value: u64) {
        self.reached.fetch_max(value, Ordering::SeqCst);
        self.waker.ring();
    }

    /// Everything in front of a signal of `value` is complete; or vkSignalSemaphore.
    pub fn complete(&self, value: u64) {
        self.complete.fetch_max(value, Ordering::SeqCst);
        self.reach(value);
    }

    /// Waits on the queue thread until the queue or the host has come to `value`.
    pub fn wait_reached(&self, device: &Device, value: u64) -> Result<(), Error> {
        let reached = || self.reached.load(Ordering::SeqCst) >= value;
        self.waker.wait_until(None, || reached() || device.is_lost());
        if reached() { Ok(()) } else { Err(Error::DeviceLost) }
    }
}

/// vkWaitSemaphores: waits until all or any of `timelines` are complete up to their values, `timeout` in nanoseconds.
pub fn wait(
    device: &Device,
    timelines: &[(Arc<Timeline>, u64)],
    any: bool,
    timeout: u64,
) -> Result<vk::Result, Error> {
    let complete = |(timeline, value): &(Arc<Timeline>, u64)| timeline.value() >= *value;
    let done = || match any {
        true => timelines.iter().any(complete),
        false => timelines.iter().all(complete),
    };
    device.waker().wait(&device.patience(timeout), || done() || device.is_lost());
    if done() {
        return Ok(vk::Result::SUCCESS);
    }
    device.check().map(|()| vk::Result::TIMEOUT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;
    use std::time::Duration;

    #[test]
    fn the_host_sees_what_is_complete_and_the_queue_what_it_came_to() {
        let device = device();
        let timeline = Timeline::new(&device, 3);
        timeline.reach(5);
        timeline.wait_reached(&device, 5).unwrap();
        assert_eq!(timeline.value(), 3);
        let wait = |value, timeout| wait(&device, &[(timeline.clone(), value)], false, timeout).unwrap();
        assert_eq!(wait(5, 0), vk::Result::TIMEOUT);
        timeline.complete(5);
        assert_eq!(wait(5, 0), vk::Result::SUCCESS);
        assert_eq!(wait(6, 1_000_000), vk::Result::TIMEOUT);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(5));
                timeline.complete(7);
            });
            assert_eq!(wait(6, u64::MAX), vk::Result::SUCCESS);
        });
        // It never goes back.
        timeline.complete(1);
        assert_eq!(timeline.value(), 7);
    }

    #[test]
    fn any_of_several_is_enough_if_so_asked() {
        let device = device();
        let timelines: Vec<_> = (0..2).map(|_| (Timeline::new(&device, 0), 1)).collect();
        timelines[1].0.complete(1);
        assert_eq!(wait(&device, &timelines, true, 0).unwrap(), vk::Result::SUCCESS);
        assert_eq!(wait(&device, &timelines, false, 0).unwrap(), vk::Result::TIMEOUT);
        device.lose(&"test");
        assert!(matches!(wait(&device, &timelines, false, u64::MAX), Err(Error::DeviceLost)));
        assert!(matches!(timelines[0].0.wait_reached(&device, 1), Err(Error::DeviceLost)));
    }
}

//! VkSemaphore, binary and timeline. The queue executes submissions in order, so a semaphore between them needs no device
//! object (vulkan-on-vc4.md §10).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;

use crate::foundation::error::Error;
use crate::foundation::handle::Object;
use crate::foundation::waker::Waker;
use crate::objects::device::Device;
use crate::objects::sync::Flag;
use crate::objects::timeline::Timeline;

/// A semaphore of either type.
pub enum Semaphore {
    /// Signalled or not.
    Binary(Binary),
    /// A number that grows.
    Timeline(Arc<Timeline>),
}

/// A binary semaphore: a chain of signals. A wait takes the newest one when it is submitted, before the queue gets to
/// it. So signals that come meanwhile are for later waits, as programs expect that acquire every image with the same
/// semaphore.
pub struct Binary {
    waker: Arc<Waker>,
    newest: Mutex<Arc<Flag>>,
}

/// One signal of a semaphore, for who gives it and who waits for it.
#[derive(Clone)]
pub enum Signal {
    /// Of a binary one.
    Flag(Arc<Flag>),
    /// That a timeline comes to a value.
    Value(Arc<Timeline>, u64),
}

impl Object for Semaphore {
    type Handle = vk::Semaphore;
}

impl Semaphore {
    /// An unsignalled binary semaphore.
    pub fn binary(device: &Device) -> Semaphore {
        let waker = device.waker().clone();
        Semaphore::Binary(Binary { newest: Mutex::new(Arc::new(Flag::new(&waker, false))), waker })
    }

    /// A timeline semaphore that begins at `value`.
    pub fn timeline(device: &Device, value: u64) -> Semaphore {
        Semaphore::Timeline(Timeline::new(device, value))
    }

    /// What an operation that is submitted now signals; `value` is a timeline's.
    pub fn signal(&self, value: u64) -> Signal {
        match self {
            Semaphore::Binary(binary) => Signal::Flag(binary.newest().clone()),
            Semaphore::Timeline(timeline) => Signal::Value(timeline.clone(), value),
        }
    }

    /// What an operation that is submitted now waits for; `value` is a timeline's.
    pub fn take(&self, value: u64) -> Signal {
        match self {
            Semaphore::Binary(binary) => Signal::Flag(binary.take()),
            Semaphore::Timeline(timeline) => Signal::Value(timeline.clone(), value),
        }
    }
}

impl Binary {
    fn newest(&self) -> MutexGuard<'_, Arc<Flag>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Arc<Flag> {
        std::mem::replace(&mut self.newest(), Arc::new(Flag::new(&self.waker, false)))
    }
}

impl Signal {
    /// Gives it to work behind it: from the queue thread at a batch's end, or when an image was acquired.
    pub fn give(&self) {
        match self {
            Signal::Flag(flag) => flag.set(),
            Signal::Value(timeline, value) => timeline.reach(*value),
        }
    }

    /// Waits on the queue thread until it is given; an error when the device is lost meanwhile.
    pub fn wait(&self, device: &Device) -> Result<(), Error> {
        match self {
            Signal::Flag(flag) => flag.wait(device),
            Signal::Value(timeline, value) => timeline.wait_reached(device, *value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;

    #[test]
    fn a_submitted_wait_takes_the_signal_before_it() {
        let device = device();
        let semaphore = Semaphore::binary(&device);
        semaphore.signal(0).give();
        let first = semaphore.take(0);
        // Before the queue gets to the first wait, the semaphore is signalled again.
        semaphore.signal(0).give();
        let second = semaphore.take(0);
        first.wait(&device).unwrap();
        second.wait(&device).unwrap();
        device.lose(&"test");
        assert!(semaphore.take(0).wait(&device).is_err());
    }

    #[test]
    fn a_timeline_is_reached_by_any_larger_value() {
        let device = device();
        let semaphore = Semaphore::timeline(&device, 1);
        semaphore.take(1).wait(&device).unwrap();
        semaphore.signal(4).give();
        semaphore.take(3).wait(&device).unwrap();
        device.lose(&"test");
        assert!(semaphore.take(5).wait(&device).is_err());
    }
}

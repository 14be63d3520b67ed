//! Fences, binary semaphores and events: host-side states that waiters look at under one lock.
//!
//! The queue executes submissions in order, so a semaphore between submissions needs no device object
//! and a fence is a flag that the queue sets (vulkan-on-vc4.md §10).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;

use crate::foundation::error::Error;
use crate::foundation::handle::Object;
use crate::foundation::waker::{Waker, deadline};
use crate::objects::device::Device;

/// A flag that others wait for.
struct Flag {
    set: AtomicBool,
    waker: Arc<Waker>,
}

impl Flag {
    fn new(device: &Device, set: bool) -> Flag {
        Flag { set: AtomicBool::new(set), waker: device.waker().clone() }
    }

    fn get(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    fn set(&self) {
        self.set.store(true, Ordering::Release);
        self.waker.ring();
    }

    fn clear(&self) {
        self.set.store(false, Ordering::Release);
    }
}

/// VkFence.
pub struct Fence(Flag);

impl Object for Fence {
    type Handle = vk::Fence;
}

impl Fence {
    /// A fence, unsignalled unless the flags say otherwise.
    pub fn new(device: &Device, flags: vk::FenceCreateFlags) -> Fence {
        Fence(Flag::new(device, flags.contains(vk::FenceCreateFlags::SIGNALED)))
    }

    /// Whether it is signalled.
    pub fn is_signalled(&self) -> bool {
        self.0.get()
    }

    /// Signals it; waiters wake.
    pub fn signal(&self) {
        self.0.set();
    }

    /// Makes it unsignalled.
    pub fn reset(&self) {
        self.0.clear();
    }
}

/// vkGetFenceStatus.
pub fn fence_status(device: &Device, fence: &Fence) -> Result<vk::Result, Error> {
    match fence.is_signalled() {
        true => Ok(vk::Result::SUCCESS),
        false => device.check().map(|()| vk::Result::NOT_READY),
    }
}

/// vkWaitForFences: waits for all or any of `fences`, `timeout` in nanoseconds.
pub fn wait_for_fences(
    device: &Device,
    fences: &[Arc<Fence>],
    all: bool,
    timeout: u64,
) -> Result<vk::Result, Error> {
    let done = || match all {
        true => fences.iter().all(|fence| fence.is_signalled()),
        false => fences.iter().any(|fence| fence.is_signalled()),
    };
    device.waker().wait_until(deadline(timeout), || done() || device.is_lost());
    if done() {
        return Ok(vk::Result::SUCCESS);
    }
    device.check().map(|()| vk::Result::TIMEOUT)
}

/// VkSemaphore, binary: a chain of signals. A wait takes the newest one when it is submitted, before the queue gets to
/// it. So signals that come meanwhile are for later waits, as programs expect that acquire every image with the same
/// semaphore.
pub struct Semaphore {
    waker: Arc<Waker>,
    newest: Mutex<Arc<Signal>>,
}

/// One signal of a semaphore, and the wait for it.
pub struct Signal(Flag);

impl Object for Semaphore {
    type Handle = vk::Semaphore;
}

impl Semaphore {
    /// An unsignalled semaphore.
    pub fn new(device: &Device) -> Semaphore {
        let waker = device.waker().clone();
        Semaphore { newest: Mutex::new(Signal::new(&waker)), waker }
    }

    fn newest(&self) -> MutexGuard<'_, Arc<Signal>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What an operation that is submitted now signals.
    pub fn signal(&self) -> Arc<Signal> {
        self.newest().clone()
    }

    /// What an operation that is submitted now waits for.
    pub fn take(&self) -> Arc<Signal> {
        std::mem::replace(&mut self.newest(), Signal::new(&self.waker))
    }
}

impl Signal {
    fn new(waker: &Arc<Waker>) -> Arc<Signal> {
        Arc::new(Signal(Flag { set: AtomicBool::new(false), waker: waker.clone() }))
    }

    /// Gives it: from the queue thread at a batch's end, or when an image was acquired.
    pub fn give(&self) {
        self.0.set();
    }

    /// Waits until it is given; an error when the device is lost meanwhile.
    pub fn wait(&self, device: &Device) -> Result<(), Error> {
        self.0.waker.wait_until(None, || self.0.get() || device.is_lost());
        if self.0.get() { Ok(()) } else { Err(Error::DeviceLost) }
    }
}

/// VkEvent.
pub struct Event(Flag);

impl Object for Event {
    type Handle = vk::Event;
}

impl Event {
    /// An event that is not set.
    pub fn new(device: &Device) -> Event {
        Event(Flag::new(device, false))
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        self.0.get()
    }

    /// Sets it, from host or queue.
    pub fn set(&self) {
        self.0.set();
    }

    /// Resets it, from host or queue.
    pub fn reset(&self) {
        self.0.clear();
    }

    /// Waits on the queue thread until it is set.
    pub fn wait(&self, device: &Device) -> Result<(), Error> {
        self.0.waker.wait_until(None, || self.is_set() || device.is_lost());
        if self.is_set() { Ok(()) } else { Err(Error::DeviceLost) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;
    use std::time::Duration;

    #[test]
    fn a_wait_ends_by_signal_or_by_time() {
        let device = device();
        let fences: Vec<_> =
            (0..2).map(|_| Arc::new(Fence::new(&device, vk::FenceCreateFlags::empty()))).collect();
        let wait = |all, timeout| wait_for_fences(&device, &fences, all, timeout).unwrap();
        assert_eq!(wait(false, 0), vk::Result::TIMEOUT);
        assert_eq!(wait(true, 1_000_000), vk::Result::TIMEOUT);
        fences[1].signal();
        assert_eq!(wait(false, 0), vk::Result::SUCCESS);
        assert_eq!(wait(true, 0), vk::Result::TIMEOUT);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(5));
                fences[0].signal();
            });
            assert_eq!(wait(true, u64::MAX), vk::Result::SUCCESS);
        });
        fences[0].reset();
        assert_eq!(fence_status(&device, &fences[0]).unwrap(), vk::Result::NOT_READY);
    }

    #[test]
    fn losing_the_device_ends_every_wait() {
        let device = device();
        let fence = Arc::new(Fence::new(&device, vk::FenceCreateFlags::empty()));
        let semaphore = Semaphore::new(&device);
        std::thread::scope(|scope| {
            let waiter =
                scope.spawn(|| wait_for_fences(&device, std::slice::from_ref(&fence), true, u64::MAX));
            let other = scope.spawn(|| semaphore.take().wait(&device));
            std::thread::sleep(Duration::from_millis(5));
            device.lose(&"test");
            assert!(matches!(waiter.join().unwrap(), Err(Error::DeviceLost)));
            assert!(matches!(other.join().unwrap(), Err(Error::DeviceLost)));
        });
    }

    #[test]
    fn a_submitted_wait_takes_the_signal_before_it() {
        let device = device();
        let semaphore = Semaphore::new(&device);
        semaphore.signal().give();
        let first = semaphore.take();
        // Before the queue gets to the first wait, the semaphore is signalled again.
        semaphore.signal().give();
        let second = semaphore.take();
        first.wait(&device).unwrap();
        second.wait(&device).unwrap();
        assert!(!semaphore.signal().0.get());
    }
}

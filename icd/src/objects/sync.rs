//! Fences and events: host-side states that waiters look at under one lock. A fence is a flag that the queue sets
//! (vulkan-on-vc4.md §10).

use std::os::fd::OwnedFd;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;

use crate::foundation::error::Error;
use crate::foundation::handle::Object;
use crate::foundation::shared_flag::SharedFlag;
use crate::foundation::threads::{AtomicBool, Mutex, MutexGuard, Ordering};
use crate::foundation::waker::Waker;
use crate::objects::device::Device;

/// A flag that others wait for.
pub struct Flag {
    set: AtomicBool,
    waker: Arc<Waker>,
}

impl Flag {
    /// A flag whose waiters `waker` wakes.
    pub fn new(waker: &Arc<Waker>, set: bool) -> Flag {
        Flag { set: AtomicBool::new(set), waker: waker.clone() }
    }

    /// Whether it is set.
    pub fn get(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// Sets it; waiters wake.
    pub fn set(&self) {
        self.set.store(true, Ordering::Release);
        self.waker.ring();
    }

    /// Waits on the queue thread until it is set; an error when the device is lost meanwhile.
    pub fn wait(&self, device: &Device) -> Result<(), Error> {
        self.waker.wait_until(None, || self.get() || device.is_lost());
        if self.get() { Ok(()) } else { Err(Error::DeviceLost) }
    }

    fn clear(&self) {
        self.set.store(false, Ordering::Release);
    }
}

/// VkFence.
pub struct Fence {
    flag: Flag,
    shared: Mutex<Shared>,
}

/// What stands for the flag of a fence, if others may have it, too.
#[derive(Default)]
struct Shared {
    permanent: Option<Arc<SharedFlag>>,
    /// Stands for both until the fence is reset.
    temporary: Option<Arc<SharedFlag>>,
}

/// How often a wait looks at fences that others signal.
const LOOK: Duration = Duration::from_millis(1);

impl Object for Fence {
    type Handle = vk::Fence;
}

impl Fence {
    /// A fence, unsignalled unless the flags say otherwise.
    pub fn new(device: &Device, flags: vk::FenceCreateFlags) -> Fence {
        let flag = Flag::new(device.waker(), flags.contains(vk::FenceCreateFlags::SIGNALED));
        Fence { flag, shared: Mutex::default() }
    }

    /// A fence that others may get, too.
    pub fn shared(device: &Device, flags: vk::FenceCreateFlags) -> Result<Fence, Error> {
        let fence = Fence::new(device, flags);
        fence.import(SharedFlag::new(fence.flag.get())?, false);
        Ok(fence)
    }

    fn state(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What stands for the flag.
    fn standing(&self) -> Option<Arc<SharedFlag>> {
        let state = self.state();
        state.temporary.as_ref().or(state.permanent.as_ref()).cloned()
    }

    /// Whether others may have its state.
    pub fn is_shared(&self) -> bool {
        self.standing().is_some()
    }

    /// Whether it is signalled.
    pub fn is_signalled(&self) -> bool {
        self.standing().map_or_else(|| self.flag.get(), |shared| shared.get())
    }

    /// Signals it; waiters wake.
    pub fn signal(&self) {
        match self.standing() {
            Some(shared) => {
                shared.set();
                self.flag.waker.ring();
            }
            None => self.flag.set(),
        }
    }

    /// Makes it unsignalled. What was imported for a time is gone.
    pub fn reset(&self) {
        let mut state = self.state();
        state.temporary = None;
        match &state.permanent {
            Some(shared) => shared.clear(),
            None => self.flag.clear(),
        }
    }

    /// vkImportFenceFdKHR: takes what others may have, too, for its state; until the next reset if `temporary`.
    pub fn import(&self, shared: SharedFlag, temporary: bool) {
        let mut state = self.state();
        match temporary {
            true => state.temporary = Some(Arc::new(shared)),
            false => *state = Shared { permanent: Some(Arc::new(shared)), temporary: None },
        }
    }

    /// Its state, for others.
    pub fn export(&self) -> Result<OwnedFd, Error> {
        match self.standing() {
            Some(shared) => shared.export(),
            None => Err(Error::InvalidUse("a descriptor of a fence that was not made to be exported".into())),
        }
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
    let patience = device.patience(timeout);
    // Others do not wake us.
    let looks = fences.iter().any(|fence| fence.is_shared());
    loop {
        let next = if looks { Instant::now().checked_add(LOOK) } else { None };
        let until = [next, patience.end()].into_iter().flatten().min();
        device.waker().wait_until(until, || done() || device.is_lost());
        if done() {
            return Ok(vk::Result::SUCCESS);
        }
        device.check()?;
        if patience.is_over() {
            return Ok(vk::Result::TIMEOUT);
        }
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
        Event(Flag::new(device.waker(), false))
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
        self.0.wait(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;

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
    fn a_fence_that_others_have_is_what_they_make_it() {
        let device = device();
        let fence = Arc::new(Fence::shared(&device, vk::FenceCreateFlags::SIGNALED).unwrap());
        let there = SharedFlag::import(fence.export().unwrap()).unwrap();
        let wait = |timeout| wait_for_fences(&device, std::slice::from_ref(&fence), true, timeout).unwrap();
        assert!(there.get() && wait(0) == vk::Result::SUCCESS);
        fence.reset();
        assert!(!there.get() && wait(3_000_000) == vk::Result::TIMEOUT);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(5));
                there.set();
            });
            assert_eq!(wait(u64::MAX), vk::Result::SUCCESS);
        });
        // For a time it is something else.
        fence.import(SharedFlag::new(false).unwrap(), true);
        assert_eq!(wait(0), vk::Result::TIMEOUT);
        fence.signal();
        assert_eq!(wait(0), vk::Result::SUCCESS);
        there.clear();
        there.set();
        fence.reset();
        assert!(!there.get());
        assert!(Fence::new(&device, vk::FenceCreateFlags::empty()).export().is_err());
    }

    #[test]
    fn losing_the_device_ends_every_wait() {
        let device = device();
        let fence = Arc::new(Fence::new(&device, vk::FenceCreateFlags::empty()));
        let event = Event::new(&device);
        std::thread::scope(|scope| {
            let waiter =
                scope.spawn(|| wait_for_fences(&device, std::slice::from_ref(&fence), true, u64::MAX));
            let other = scope.spawn(|| event.wait(&device));
            std::thread::sleep(Duration::from_millis(5));
            device.lose(&"test");
            assert!(matches!(waiter.join().unwrap(), Err(Error::DeviceLost)));
            assert!(matches!(other.join().unwrap(), Err(Error::DeviceLost)));
        });
    }
}

//! VkSemaphore, binary and timeline. The queue executes submissions in order, so a semaphore between them needs no device
//! object (vulkan-on-vc4.md §10).

use std::os::fd::OwnedFd;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use ash::vk;

use crate::foundation::error::Error;
use crate::foundation::handle::Object;
use crate::foundation::shared_flag::SharedFlag;
use crate::foundation::threads::{Mutex, MutexGuard};
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
    state: Mutex<State>,
}

struct State {
    newest: Arc<Flag>,
    /// Stands for the chain, if others may have the semaphore, too.
    shared: Option<Arc<SharedFlag>>,
    /// Stands for both until something waits for it.
    temporary: Option<Arc<SharedFlag>>,
}

/// How often a wait for what others signal looks whether the device was lost meanwhile.
const LOOK: Duration = Duration::from_millis(100);

/// One signal of a semaphore, for who gives it and who waits for it.
#[derive(Clone)]
pub enum Signal {
    /// Of a binary one.
    Flag(Arc<Flag>),
    /// Of a binary one that others may have, too: given when everything in front of it is complete.
    Shared(Arc<SharedFlag>),
    /// That a timeline comes to a value.
    Value(Arc<Timeline>, u64),
}

impl Object for Semaphore {
    type Handle = vk::Semaphore;
}

impl Semaphore {
    /// An unsignalled binary semaphore.
    pub fn binary(device: &Device) -> Semaphore {
        Semaphore::Binary(Binary::new(device, None))
    }

    /// An unsignalled binary semaphore that others may get, too.
    pub fn shared(device: &Device) -> Result<Semaphore, Error> {
        Ok(Semaphore::Binary(Binary::new(device, Some(SharedFlag::new(false)?))))
    }

    /// A timeline semaphore that begins at `value`.
    pub fn timeline(device: &Device, value: u64) -> Semaphore {
        Semaphore::Timeline(Timeline::new(device, value))
    }

    /// What an operation that is submitted now signals; `value` is a timeline's.
    pub fn signal(&self, value: u64) -> Signal {
        match self {
            Semaphore::Binary(binary) => binary.signal(),
            Semaphore::Timeline(timeline) => Signal::Value(timeline.clone(), value),
        }
    }

    /// What an operation that is submitted now waits for; `value` is a timeline's.
    pub fn take(&self, value: u64) -> Signal {
        match self {
            Semaphore::Binary(binary) => binary.take(),
            Semaphore::Timeline(timeline) => Signal::Value(timeline.clone(), value),
        }
    }
}

impl Binary {
    fn new(device: &Device, shared: Option<SharedFlag>) -> Binary {
        let waker = device.waker().clone();
        let newest = Arc::new(Flag::new(&waker, false));
        let state = State { newest, shared: shared.map(Arc::new), temporary: None };
        Binary { waker, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal(&self) -> Signal {
        let state = self.state();
        match state.temporary.as_ref().or(state.shared.as_ref()) {
            Some(shared) => Signal::Shared(shared.clone()),
            None => Signal::Flag(state.newest.clone()),
        }
    }

    fn take(&self) -> Signal {
        let mut state = self.state();
        if let Some(shared) = state.temporary.take().or_else(|| state.shared.clone()) {
            return Signal::Shared(shared);
        }
        let next = Arc::new(Flag::new(&self.waker, false));
        Signal::Flag(std::mem::replace(&mut state.newest, next))
    }

    /// vkImportSemaphoreFdKHR: takes what others may have, too, for its state; until the next wait if `temporary`.
    pub fn import(&self, shared: SharedFlag, temporary: bool) {
        let mut state = self.state();
        match temporary {
            true => state.temporary = Some(Arc::new(shared)),
            false => (state.shared, state.temporary) = (Some(Arc::new(shared)), None),
        }
    }

    /// Whether others may have its state.
    pub fn is_shared(&self) -> bool {
        matches!(self.signal(), Signal::Shared(_))
    }

    /// Its state, for others.
    pub fn export(&self) -> Result<OwnedFd, Error> {
        match self.signal() {
            Signal::Shared(shared) => shared.export(),
            _ => {
                Err(Error::InvalidUse("a descriptor of a semaphore that was not made to be exported".into()))
            }
        }
    }
}

impl Signal {
    /// Gives it to work behind it: from the queue thread at a batch's end, or when an image was acquired.
    pub fn give(&self) {
        match self {
            Signal::Flag(flag) => flag.set(),
            Signal::Shared(shared) => shared.set(),
            Signal::Value(timeline, value) => timeline.reach(*value),
        }
    }

    /// Waits on the queue thread until it is given; an error when the device is lost meanwhile.
    pub fn wait(&self, device: &Device) -> Result<(), Error> {
        match self {
            Signal::Flag(flag) => flag.wait(device),
            Signal::Shared(shared) => {
                // Others may take the signal first.
                while !(shared.wait(LOOK) && shared.take()) {
                    device.check()?;
                }
                Ok(())
            }
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
    fn a_temporary_state_lasts_until_the_next_wait() {
        let device = device();
        let semaphore = Semaphore::shared(&device).unwrap();
        let Semaphore::Binary(binary) = &semaphore else { panic!("a binary one was asked for") };
        let there = SharedFlag::import(binary.export().unwrap()).unwrap();
        binary.import(SharedFlag::new(true).unwrap(), true);
        semaphore.take(0).wait(&device).unwrap();
        semaphore.signal(0).give();
        assert!(there.take());
        there.set();
        semaphore.take(0).wait(&device).unwrap();
        device.lose(&"test");
        assert!(matches!(semaphore.take(0).wait(&device), Err(Error::DeviceLost)));
        assert!(matches!(&Semaphore::binary(&device), Semaphore::Binary(alone) if alone.export().is_err()));
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

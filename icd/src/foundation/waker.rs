//! Waiting for states to change: everybody waits in one place, under one lock.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::foundation::threads::{Condvar, Mutex};

/// Wakes everybody who waits for a state to change. One per device: waiting for any of several fences
/// is then waiting in one place.
#[derive(Default)]
pub struct Waker {
    lock: Mutex<()>,
    changed: Condvar,
}

impl Waker {
    /// Tells the waiters to look again. States change before this call.
    pub fn ring(&self) {
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    /// Waits until `ready` holds; false when patience ended first.
    pub fn wait(&self, patience: &Patience<impl Fn() -> Duration>, mut ready: impl FnMut() -> bool) -> bool {
        loop {
            if self.wait_until(patience.end(), &mut ready) {
                return true;
            }
            if patience.is_over() {
                return false;
            }
        }
    }

    /// Waits until `ready` holds; false when the deadline came first. `None` waits for ever.
    pub fn wait_until(&self, deadline: Option<Instant>, mut ready: impl FnMut() -> bool) -> bool {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if ready() {
                return true;
            }
            guard = match deadline {
                None => self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    self.changed.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0
                }
            }
        }
    }
}

/// How long an application waits: what it asks for, and what the device simulates meanwhile. Who waits a second for a frame takes
/// a device for broken that needs more, but a simulator may (Vulkan 1.0 §7.3: a timeout may be longer than what is asked for).
pub struct Patience<C> {
    /// Tells how long jobs were simulated so far.
    simulated: C,
    /// What it told when this began.
    before: Duration,
    /// When it ends, if nothing is simulated from there on; `None` when that is beyond any clock.
    end: Option<Instant>,
}

impl<C: Fn() -> Duration> Patience<C> {
    /// While jobs are simulated, this is how often one looks whether they are done.
    const GRAIN: Duration = Duration::from_millis(1);

    /// Of `timeout` nanoseconds from now; `u64::MAX` has no end.
    pub fn new(simulated: C, timeout: u64) -> Patience<C> {
        let end = Instant::now().checked_add(Duration::from_nanos(timeout)).filter(|_| timeout != u64::MAX);
        Patience { before: simulated(), simulated, end }
    }

    fn moved(&self) -> Option<Instant> {
        self.end?.checked_add((self.simulated)().saturating_sub(self.before))
    }

    /// When to look whether it is over; `None` when it never is.
    pub fn end(&self) -> Option<Instant> {
        let end = self.moved()?;
        let later = self.end.is_some_and(|first| first < end);
        Some(if later { end.max(Instant::now() + Self::GRAIN) } else { end })
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.moved().is_some_and(|end| end <= Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn patience_ends_with_the_time_that_is_asked_for() {
        let none = || Duration::ZERO;
        assert!(Patience::new(none, 0).is_over());
        assert!(!Patience::new(none, 1000 * SECOND).is_over());
        let endless = Patience::new(none, u64::MAX);
        assert!(endless.end().is_none() && !endless.is_over());
        assert!(!Waker::default().wait(&Patience::new(none, 1000), || false));
    }

    #[test]
    fn what_is_simulated_does_not_count() {
        let told = std::cell::Cell::new(Duration::ZERO);
        let patience = Patience::new(|| told.get(), 1000);
        told.set(Duration::from_secs(1000));
        std::thread::sleep(Duration::from_millis(1));
        assert!(!patience.is_over());
        assert!(patience.end().is_some_and(|end| end > Instant::now()));
        // As long as jobs are simulated all the time, it never ends.
        let start = Instant::now();
        let mut asked = 0;
        let done = Waker::default().wait(&Patience::new(|| start.elapsed(), 1000), || {
            asked += 1;
            asked > 20
        });
        assert!(done);
    }
}

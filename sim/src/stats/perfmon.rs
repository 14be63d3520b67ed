//! Performance monitors: sums of chosen events over jobs (kernel-abi.md §4.11–§4.13).

use std::sync::{Mutex, MutexGuard, PoisonError};

use vc4_kernel_abi::uapi::MAX_PERF_COUNTERS;

use super::counters::{EVENTS, Event};
use super::tally::Stats;

/// A performance monitor (kernel-abi.md §4.11–§4.13): sums of chosen events over jobs.
#[derive(Debug)]
pub struct Perfmon {
    events: Vec<u8>,
    counts: Mutex<[u64; MAX_PERF_COUNTERS]>,
}

impl Perfmon {
    /// A monitor of 1 to 16 events; `None` for other numbers and for unknown events.
    pub fn new(events: &[u8]) -> Option<Perfmon> {
        let fits = (1..=MAX_PERF_COUNTERS).contains(&events.len());
        let known = events.iter().all(|&event| usize::from(event) < EVENTS);
        (fits && known).then(|| Perfmon { events: events.to_vec(), counts: Mutex::default() })
    }

    /// Its events.
    pub fn events(&self) -> &[u8] {
        &self.events
    }

    /// Whether it watches what is modelled only when somebody does: clocks, stalls and caches.
    pub fn counts_caches(&self) -> bool {
        self.events.iter().any(|&event| event >= Event::QpuIdle as u8)
    }

    /// Adds what a job did.
    pub fn add(&self, stats: &Stats) {
        for (sum, &event) in self.counts().iter_mut().zip(&self.events) {
            *sum += stats.counters.get(event);
        }
    }

    /// The sums in the order of the events.
    pub fn values(&self) -> [u64; MAX_PERF_COUNTERS] {
        *self.counts()
    }

    fn counts(&self) -> MutexGuard<'_, [u64; MAX_PERF_COUNTERS]> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monitors_sum_their_events() {
        assert!(
            Perfmon::new(&[]).is_none() && Perfmon::new(&[30]).is_none() && Perfmon::new(&[0; 17]).is_none()
        );
        let monitor = Perfmon::new(&[24, 3]).unwrap();
        let mut stats = Stats::default();
        stats.counters.add(Event::ValidQuads, 5);
        stats.counters.add(Event::TextureQuads, 7);
        stats.counters.add(Event::QpuFragment, 1);
        monitor.add(&stats);
        monitor.add(&stats);
        assert_eq!(monitor.values()[..3], [14, 10, 0]);
        assert!(monitor.counts_caches() && !Perfmon::new(&[6, 9]).unwrap().counts_caches());
    }
}

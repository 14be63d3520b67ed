//! Performance monitors (kernel-abi.md §4.11–§4.15): they count what the simulator really did.

use std::sync::{Arc, Mutex};

use vc4_kernel_abi::uapi::{MAX_PERF_COUNTERS, PerfmonCreate, PerfmonDestroy, PerfmonGetValues};

use super::{Answer, Errno, File, Process, lock};
use crate::qpu::Stats;

/// Events that exist.
const EVENTS: u8 = crate::counters::EVENTS as u8;
/// A set of counters.
pub struct Perfmon {
    events: Vec<u8>,
    counts: Mutex<[u64; MAX_PERF_COUNTERS]>,
}

impl Perfmon {
    /// Adds what a job did.
    pub fn add(&self, stats: &Stats) {
        for (sum, &event) in lock(&self.counts).iter_mut().zip(&self.events) {
            *sum += stats.counters.get(event);
        }
    }
}

impl File {
    /// SUB-8: the monitor of a job.
    pub(super) fn perfmon(&self, id: u32) -> Result<Option<Arc<Perfmon>>, Errno> {
        if id == 0 { Ok(None) } else { lock(&self.perfmons).get(id).map(Some).ok_or(Errno::ENOENT) }
    }

    pub(super) fn perfmon_create(&self, arg: &mut PerfmonCreate, _: &dyn Process) -> Answer {
        let events = arg.events.get(..arg.ncounters as usize).ok_or(Errno::EINVAL)?;
        if events.is_empty() || events.iter().any(|&event| event >= EVENTS) {
            return Err(Errno::EINVAL);
        }
        let monitor = Perfmon { events: events.to_vec(), counts: Mutex::default() };
        arg.id = lock(&self.perfmons).insert(Arc::new(monitor))?;
        Ok(())
    }

    pub(super) fn perfmon_destroy(&self, arg: &mut PerfmonDestroy, _: &dyn Process) -> Answer {
        lock(&self.perfmons).remove(arg.id).map(drop).ok_or(Errno::EINVAL)
    }

    pub(super) fn perfmon_get_values(&self, arg: &mut PerfmonGetValues, process: &dyn Process) -> Answer {
        let monitor = lock(&self.perfmons).get(arg.id).ok_or(Errno::EINVAL)?;
        let counts = *lock(&monitor.counts);
        let bytes: Vec<u8> =
            counts[..monitor.events.len()].iter().flat_map(|count| count.to_le_bytes()).collect();
        process.write(arg.values, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Event;

    #[test]
    fn monitors_sum_their_events() {
        let monitor = Perfmon { events: vec![24, 3], counts: Mutex::default() };
        let mut stats = Stats::default();
        stats.counters.add(Event::ValidQuads, 5);
        stats.counters.add(Event::TextureQuads, 7);
        stats.counters.add(Event::QpuFragment, 1);
        monitor.add(&stats);
        monitor.add(&stats);
        assert_eq!(lock(&monitor.counts)[..3], [14, 10, 0]);
    }
}

//! Performance monitors (kernel-abi.md §4.11–§4.15): they count what the simulator really did.

use std::sync::{Arc, Mutex};

use vc4_kernel_abi::uapi::{MAX_PERF_COUNTERS, PerfmonCreate, PerfmonDestroy, PerfmonGetValues};

use super::{Answer, Errno, File, Process, lock};
use crate::qpu::Stats;

/// Events that exist.
const EVENTS: u8 = 30;
/// Clock cycles of an instruction: 16 lanes on 4 wide units (v3d.md §2).
const CYCLES: u64 = 4;
/// Quads of a lookup of 16 lanes.
const QUADS: u64 = 4;

/// A set of counters.
pub struct Perfmon {
    events: Vec<u8>,
    counts: Mutex<[u64; MAX_PERF_COUNTERS]>,
}

/// How often an event happened in a job. Clocks, caches and stalls are not simulated, and the fixed-function
/// blocks do not count: their events read zero.
fn count(event: u8, stats: &Stats) -> u64 {
    match event {
        14 => stats.vertex_instructions * CYCLES,
        15 => (stats.instructions - stats.vertex_instructions) * CYCLES,
        16 => stats.instructions * CYCLES,
        24 => stats.lookups * QUADS,
        _ => 0,
    }
}

impl Perfmon {
    /// Adds what a job did.
    pub fn add(&self, stats: &Stats) {
        for (sum, &event) in lock(&self.counts).iter_mut().zip(&self.events) {
            *sum += count(event, stats);
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

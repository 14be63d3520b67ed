//! VkQueryPool: results on the host. What a queue does to them happens on its retire thread, once all work before it
//! is complete.
//!
//! Occlusion queries and those of pipeline statistics attach a performance monitor to the jobs between their begin and their end
//! (T-OCC).

use std::sync::{Arc, LazyLock, PoisonError};
use std::time::Instant;

use ash::vk;
use vc4_kernel_abi::perfmon::Event;
use vc4_kernel_abi::uapi::MAX_PERF_COUNTERS;
use vc4_kernel_abi::{Gpu, GpuError, PerfmonId};

use crate::foundation::error::Error;
use crate::foundation::handle::Object;
use crate::foundation::threads::{AtomicUsize, Mutex, MutexGuard, Ordering};
use crate::foundation::waker::Waker;
use crate::objects::device::Device;

/// Most queries of a pool: the specification names no limit, and more are a mistake.
const MAX_QUERIES: u32 = 1 << 20;
/// Most values of a query: bits of VkQueryPipelineStatisticFlagBits.
const MAX_VALUES: usize = 11;
/// Pixels of a quad: what counters count (kernel-abi.md §4.15).
pub const QUAD_PIXELS: u8 = 4;

/// Events that queries count.
///
/// The first two tell whether samples passed (kernel-abi.md §4.15): quads that pass the depth and stencil
/// tests, where programs start them, and quads whose colour is written, where they do not. Failed tests, discards and
/// masks keep colour from being written. Behind them quads that fragment programs get.
///
/// UNVERIFIED: do both events leave out quads whose samples are all discarded or masked away?
const EVENTS: [u8; 3] =
    [Event::QuadsPassingZAndStencil as u8, Event::QuadsWrittenToColor as u8, Event::ValidQuads as u8];

/// Quads of which samples passed: 0 only if none did. Of programs that draw one sample of a quad at a time it is the number of
/// samples.
fn passing(counts: [u64; MAX_PERF_COUNTERS]) -> u64 {
    counts[0].max(counts[1])
}

/// Nanoseconds of a clock that never goes backwards: the GPU has none of its own (T-TIME).
pub fn timestamp() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}

/// A performance monitor of what queries count.
pub struct Monitor {
    gpu: Arc<dyn Gpu>,
    id: PerfmonId,
}

impl Monitor {
    /// One that has counted nothing.
    pub fn new(device: &Device) -> Result<Monitor, GpuError> {
        let gpu = device.gpu().clone();
        Ok(Monitor { id: gpu.create_perfmon(&EVENTS)?, gpu })
    }

    /// What jobs name it by.
    pub fn id(&self) -> PerfmonId {
        self.id
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.gpu.destroy_perfmon(self.id);
    }
}

/// What the driver knows of commands without asking the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Vertices of draws, as often as draws name them.
    pub vertices: u64,
    /// Primitives that they make.
    pub primitives: u64,
    /// Invocations of compute stages.
    pub invocations: u64,
}

impl Drawn {
    /// Adds what others drew.
    pub fn add(&mut self, other: &Drawn) {
        self.vertices = self.vertices.saturating_add(other.vertices);
        self.primitives = self.primitives.saturating_add(other.primitives);
        self.invocations = self.invocations.saturating_add(other.invocations);
    }
}

/// What was done between the begin and the end of a query.
#[derive(Default)]
pub struct Counts {
    /// Monitors of the jobs.
    pub monitors: Vec<Arc<Monitor>>,
    /// What commands said of themselves.
    pub drawn: Drawn,
}

/// A pool of queries.
pub struct QueryPool {
    ty: vk::QueryType,
    /// Which statistics its queries are of.
    statistics: vk::QueryPipelineStatisticFlags,
    results: Mutex<Results>,
    /// Changes that the retire thread has yet to make.
    pending: AtomicUsize,
    waker: Arc<Waker>,
}

/// Values of all queries of a pool, one behind the other.
struct Results {
    values: Vec<u64>,
    available: Vec<bool>,
}

impl Results {
    /// How many values a query has.
    fn width(&self) -> usize {
        self.values.len() / self.available.len().max(1)
    }

    /// The values of a query that is available.
    fn of(&self, query: usize) -> Option<&[u64]> {
        let width = self.width();
        self.available[query].then(|| &self.values[query * width..][..width])
    }
}

/// What a query asks that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Whether samples pass, or `exact`ly how many.
    Occlusion {
        /// How many.
        exact: bool,
    },
    /// Statistics.
    Statistics,
}

/// What queries that are under way ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counting {
    /// Whether samples pass.
    pub samples: bool,
    /// How many exactly.
    pub exact: bool,
    /// Statistics.
    pub statistics: bool,
}

impl Counting {
    /// What they ask after a command.
    pub fn note(&mut self, command: &QueryCommand) {
        match command {
            QueryCommand::Begin(Asked::Occlusion { exact }) => (self.samples, self.exact) = (true, *exact),
            QueryCommand::Begin(Asked::Statistics) => self.statistics = true,
            QueryCommand::End(pool, _) if pool.ty() == vk::QueryType::PIPELINE_STATISTICS => {
                self.statistics = false;
            }
            QueryCommand::End(..) => (self.samples, self.exact) = (false, false),
            QueryCommand::Reset(..) | QueryCommand::Timestamp(..) => {}
        }
    }
}

/// A command of a query pool in its place among segments.
#[derive(Clone)]
pub enum QueryCommand {
    /// vkCmdResetQueryPool: first query and count.
    Reset(Arc<QueryPool>, u32, u32),
    /// vkCmdWriteTimestamp.
    Timestamp(Arc<QueryPool>, u32),
    /// vkCmdBeginQuery.
    Begin(Asked),
    /// vkCmdEndQuery of the one of the pool's type that began last.
    End(Arc<QueryPool>, u32),
}

/// What becomes of queries when all work before is complete.
pub enum QueryChange {
    /// They have no results any more.
    Reset(u32, u32),
    /// It gets the time.
    Timestamp(u32),
    /// It gets what was counted.
    Counted(u32, Counts),
}

impl Object for QueryPool {
    type Handle = vk::QueryPool;
}

impl QueryPool {
    /// A pool.
    pub fn new(device: &Device, info: &vk::QueryPoolCreateInfo<'_>) -> Result<QueryPool, Error> {
        let (ty, count) = (info.query_type, info.query_count);
        let statistics = match ty {
            vk::QueryType::TIMESTAMP | vk::QueryType::OCCLUSION => vk::QueryPipelineStatisticFlags::empty(),
            vk::QueryType::PIPELINE_STATISTICS => info.pipeline_statistics,
            _ => return Err(Error::InvalidUse(format!("query type {ty:?}"))),
        };
        if count > MAX_QUERIES {
            log::error!(target: "vc4::api", "vkCreateQueryPool: {count} queries; a pool has {MAX_QUERIES} at most");
            return Err(Error::OutOfHostMemory);
        }
        let count = count as usize;
        let width = match ty {
            vk::QueryType::PIPELINE_STATISTICS => statistics.as_raw().count_ones() as usize,
            _ => 1,
        };
        let results = Mutex::new(Results { values: vec![0; count * width], available: vec![false; count] });
        Ok(QueryPool { ty, statistics, results, pending: AtomicUsize::new(0), waker: device.waker().clone() })
    }

    /// How many values a query has.
    pub fn width(&self) -> usize {
        self.results().width()
    }

    /// The values of a query of which so much was counted.
    fn values(&self, counts: &Counts) -> Result<Vec<u64>, GpuError> {
        let (mut passed, mut quads) = (0, 0);
        for monitor in &counts.monitors {
            let counts = monitor.gpu.perfmon_values(monitor.id)?;
            passed += passing(counts);
            quads += counts[2];
        }
        if self.ty != vk::QueryType::PIPELINE_STATISTICS {
            return Ok(vec![passed]);
        }
        let Drawn { vertices, primitives, invocations } = counts.drawn;
        // By their bits: assembled vertices and primitives, vertex stages, two of geometry stages, primitives that reach clipping
        // and that leave it, fragment stages, two of tessellation, compute stages.
        let all: [u64; MAX_VALUES] = [
            vertices,
            primitives,
            vertices,
            0,
            0,
            primitives,
            primitives,
            quads * u64::from(QUAD_PIXELS),
            0,
            0,
            invocations,
        ];
        let asked = (0..32).filter(|bit| self.statistics.as_raw() >> bit & 1 == 1);
        Ok(asked.map(|bit: usize| all.get(bit).copied().unwrap_or(0)).collect())
    }

    /// Announces a change: whoever copies results waits for it.
    pub fn expect_change(&self) {
        self.pending.fetch_add(1, Ordering::SeqCst);
    }

    /// Makes a change that was announced.
    pub fn change(&self, change: &QueryChange) -> Result<(), Error> {
        match *change {
            QueryChange::Reset(first, count) => self.reset(first, count),
            QueryChange::Timestamp(query) => self.set(query, &[timestamp()]),
            QueryChange::Counted(query, ref counts) => self.set(query, &self.values(counts)?),
        }
        self.pending.fetch_sub(1, Ordering::SeqCst);
        self.waker.ring();
        Ok(())
    }

    /// Waits until all changes are made that the queue has come to.
    pub fn settle(&self, device: &Device) -> Result<(), Error> {
        let settled = || self.pending.load(Ordering::SeqCst) == 0;
        self.waker.wait_until(None, || settled() || device.is_lost());
        device.check()
    }

    /// Its type.
    pub fn ty(&self) -> vk::QueryType {
        self.ty
    }

    fn results(&self) -> MutexGuard<'_, Results> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes queries unavailable.
    pub fn reset(&self, first: u32, count: u32) {
        let mut results = self.results();
        let queries = results.available.iter_mut().skip(first as usize).take(count as usize);
        queries.for_each(|available| *available = false);
    }

    /// Sets a result.
    pub fn set(&self, query: u32, values: &[u64]) {
        let mut results = self.results();
        let (query, width) = (query as usize, results.width());
        if query < results.available.len() {
            results.available[query] = true;
            let place = results.values[query * width..].iter_mut().take(width);
            place.zip(values).for_each(|(place, value)| *place = *value);
        }
        drop(results);
        self.waker.ring();
    }

    /// Whether `count` queries from `first` on exist.
    pub fn has(&self, first: u32, count: u32) -> bool {
        let len = self.results().available.len() as u64;
        u64::from(first) + u64::from(count) <= len
    }

    /// vkGetQueryPoolResults into `out`, `stride` bytes per query; NOT_READY if one is missing.
    pub fn read(
        &self,
        device: &Device,
        (first, count): (u32, u32),
        out: &mut [u8],
        stride: usize,
        flags: vk::QueryResultFlags,
    ) -> Result<vk::Result, Error> {
        let range = first as usize..first as usize + count as usize;
        if !self.has(first, count) {
            return Err(Error::InvalidUse(format!(
                "queries {range:?} of a pool of {}",
                self.results().available.len()
            )));
        }
        if flags.contains(vk::QueryResultFlags::WAIT) {
            let ready = || self.results().available[range.clone()].iter().all(|available| *available);
            self.waker.wait_until(None, || ready() || device.is_lost());
            device.check()?;
        }
        let results = self.results();
        let mut result = vk::Result::SUCCESS;
        for (index, query) in range.enumerate() {
            let values = results.of(query);
            if values.is_none() && !flags.contains(vk::QueryResultFlags::PARTIAL) {
                result = vk::Result::NOT_READY;
            }
            put(out, index * stride, values, results.width(), flags);
        }
        Ok(result)
    }
}

/// Writes a query's values, of which there are `width`, and availability as `flags` say; what does not fit `out` is dropped.
fn put(out: &mut [u8], at: usize, values: Option<&[u64]>, width: usize, flags: vk::QueryResultFlags) {
    let wide = flags.contains(vk::QueryResultFlags::TYPE_64);
    let size = if wide { 8 } else { 4 };
    let mut word = |slot: usize, word: u64| {
        let at = at + slot * size;
        if let Some(place) = out.get_mut(at..at + size) {
            place.copy_from_slice(&word.to_le_bytes()[..size]);
        }
    };
    if let Some(values) = values {
        values.iter().enumerate().for_each(|(slot, value)| word(slot, *value));
    } else if flags.contains(vk::QueryResultFlags::PARTIAL) {
        (0..width).for_each(|slot| word(slot, 0));
    }
    if flags.contains(vk::QueryResultFlags::WITH_AVAILABILITY) {
        word(width, u64::from(values.is_some()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;

    fn pool(ty: vk::QueryType, count: u32) -> Result<QueryPool, Error> {
        let statistics = vk::QueryPipelineStatisticFlags::INPUT_ASSEMBLY_PRIMITIVES
            | vk::QueryPipelineStatisticFlags::VERTEX_SHADER_INVOCATIONS
            | vk::QueryPipelineStatisticFlags::COMPUTE_SHADER_INVOCATIONS;
        let info = vk::QueryPoolCreateInfo::default().query_type(ty).query_count(count);
        QueryPool::new(&device(), &info.pipeline_statistics(statistics))
    }

    #[test]
    fn changes_are_made_in_order() {
        let device = device();
        let pool = pool(vk::QueryType::OCCLUSION, 2).unwrap();
        let monitor = Arc::new(Monitor::new(&device).unwrap());
        let counted = Counts { monitors: vec![monitor.clone()], ..Counts::default() };
        let changes = [
            QueryChange::Reset(0, 2),
            QueryChange::Timestamp(0),
            QueryChange::Counted(0, Counts::default()),
            QueryChange::Counted(1, counted),
        ];
        changes.iter().for_each(|_| pool.expect_change());
        changes.iter().for_each(|change| pool.change(change).unwrap());
        pool.settle(&device).unwrap();
        let mut out = [0xff; 8];
        let flags = vk::QueryResultFlags::empty();
        assert_eq!(pool.read(&device, (0, 2), &mut out, 4, flags).unwrap(), vk::Result::SUCCESS);
        assert_eq!(out, [0; 8]);
        let id = monitor.id();
        drop((changes, monitor));
        assert!(device.gpu().perfmon_values(id).is_err());
    }

    #[test]
    fn statistics_lie_in_the_order_of_their_bits() {
        let pool = pool(vk::QueryType::PIPELINE_STATISTICS, 2).unwrap();
        let drawn = Drawn { vertices: 7, primitives: 3, invocations: 9 };
        pool.expect_change();
        pool.change(&QueryChange::Counted(1, Counts { drawn, ..Counts::default() })).unwrap();
        let mut out = [0xff; 32];
        let flags = vk::QueryResultFlags::WITH_AVAILABILITY | vk::QueryResultFlags::PARTIAL;
        assert_eq!(pool.read(&device(), (0, 2), &mut out, 16, flags).unwrap(), vk::Result::SUCCESS);
        let words: Vec<u8> = out.chunks(4).map(|word| word[0]).collect();
        assert_eq!(words, [0, 0, 0, 0, 3, 7, 9, 1]);
    }

    #[test]
    fn a_pool_that_no_host_has_memory_for_is_refused() {
        assert!(matches!(pool(vk::QueryType::OCCLUSION, u32::MAX), Err(Error::OutOfHostMemory)));
        assert!(pool(vk::QueryType::OCCLUSION, 1000).is_ok());
    }

    #[test]
    fn the_larger_count_is_the_result() {
        let mut counts = [0; MAX_PERF_COUNTERS];
        assert_eq!(passing(counts), 0);
        counts[1] = 3;
        assert_eq!(passing(counts), 3);
        counts[0] = 7;
        assert_eq!(passing(counts), 7);
    }

    #[test]
    fn results_are_written_as_the_flags_say() {
        let device = device();
        let pool = pool(vk::QueryType::TIMESTAMP, 2).unwrap();
        pool.set(1, &[0x1_0000_0007]);
        let mut out = [0xff; 16];
        let read = |out: &mut [u8], flags| pool.read(&device, (0, 2), out, 8, flags).unwrap();
        let flags = vk::QueryResultFlags::WITH_AVAILABILITY;
        assert_eq!(read(&mut out, flags), vk::Result::NOT_READY);
        assert_eq!(out, [255, 255, 255, 255, 0, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0]);
        pool.set(0, &[5]);
        assert_eq!(read(&mut out, vk::QueryResultFlags::TYPE_64), vk::Result::SUCCESS);
        assert_eq!(out[8..], [7, 0, 0, 0, 1, 0, 0, 0]);
        pool.reset(0, 1);
        assert_eq!(read(&mut out, vk::QueryResultFlags::empty()), vk::Result::NOT_READY);
        assert!(pool.read(&device, (1, 2), &mut out, 8, flags).is_err());
    }
}
